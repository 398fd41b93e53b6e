"""What measures: each engine turns builds, a case and a seed into measurements."""

from zerolap.engines.counted import Counted, CountedTrial, count, missing_for_counting
from zerolap.engines.counted_deployment import counted_part
from zerolap.engines.engine_names import BUILT_IN, LOADED, engine_named
from zerolap.engines.latencies import latencies_us, sum_of_histograms
from zerolap.engines.load_tools import OWN_TOOL, LoadOutcome, LoadTool, LoadWork, connection_requests
from zerolap.engines.plugged import Engine, EngineTrial, FilledServer, filled_server
from zerolap.engines.probing import CommandSamples, ProbedCase, probe
from zerolap.engines.sampled import Sampled, SampledTrial, missing_for_sampling, sample
from zerolap.engines.server_abilities import ServerAbilities, server_abilities
from zerolap.engines.side import ServerProgram
from zerolap.engines.timed import Timed, TimedStart, time_start
from zerolap.engines.windows import Requests

__all__ = [
    "BUILT_IN",
    "LOADED",
    "OWN_TOOL",
    "CommandSamples",
    "Counted",
    "CountedTrial",
    "Engine",
    "EngineTrial",
    "FilledServer",
    "LoadOutcome",
    "LoadTool",
    "LoadWork",
    "ProbedCase",
    "Requests",
    "Sampled",
    "SampledTrial",
    "ServerAbilities",
    "ServerProgram",
    "Timed",
    "TimedStart",
    "connection_requests",
    "count",
    "counted_part",
    "engine_named",
    "filled_server",
    "latencies_us",
    "missing_for_counting",
    "missing_for_sampling",
    "probe",
    "sample",
    "server_abilities",
    "sum_of_histograms",
    "time_start",
]
