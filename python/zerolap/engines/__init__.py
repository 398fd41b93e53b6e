"""What measures: each engine turns builds, a case and a seed into measurements."""

from zerolap.engines.counted import Counted, CountedTrial, count, missing_for_counting
from zerolap.engines.latencies import latencies_us, sum_of_histograms
from zerolap.engines.probing import CommandSamples, Probe, ProbedCase, probe
from zerolap.engines.sampled import Sampled, SampledTrial, missing_for_sampling, sample
from zerolap.engines.server_abilities import ServerAbilities, server_abilities
from zerolap.engines.side import ServerProgram
from zerolap.engines.timed import Timed, TimedStart, time_start
from zerolap.engines.windows import Requests

__all__ = [
    "CommandSamples",
    "Counted",
    "CountedTrial",
    "Probe",
    "ProbedCase",
    "Requests",
    "Sampled",
    "SampledTrial",
    "ServerAbilities",
    "ServerProgram",
    "Timed",
    "TimedStart",
    "count",
    "latencies_us",
    "missing_for_counting",
    "missing_for_sampling",
    "probe",
    "sample",
    "server_abilities",
    "sum_of_histograms",
    "time_start",
]
