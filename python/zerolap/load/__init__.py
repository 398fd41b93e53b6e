"""Load on a server: the load generator driven slice by slice, data sets, companions, other load tools."""

from zerolap.load.companions import Companions, companions
from zerolap.load.filling import Instrument, prepare
from zerolap.load.generator import (
    CommandResult,
    LoadProgram,
    LookUpCounts,
    SliceResult,
    counted_arguments,
    load_program,
    packaged,
    shown_errors,
    timed_arguments,
)
from zerolap.load.latencies import latencies_us, sum_of_histograms
from zerolap.load.load_host import LOAD_HOST, LoadGenerator, LoadHost, MachineWatch
from zerolap.load.load_series import NS_PER_SECOND, LatencySummary, LoadSeries, LoadSlot, longest_us
from zerolap.load.open_ended import SLOT_SECONDS, OpenEndedLoad, open_ended_load, read_series
from zerolap.load.reference_work import reference_ns
from zerolap.load.target import Target, by_socket
from zerolap.load.tools import OWN_TOOL, LoadOutcome, LoadTool, LoadWork, connection_requests

__all__ = [
    "LOAD_HOST",
    "NS_PER_SECOND",
    "OWN_TOOL",
    "SLOT_SECONDS",
    "CommandResult",
    "Companions",
    "Instrument",
    "LatencySummary",
    "LoadGenerator",
    "LoadHost",
    "LoadOutcome",
    "LoadProgram",
    "LoadSeries",
    "LoadSlot",
    "LoadTool",
    "LoadWork",
    "LookUpCounts",
    "MachineWatch",
    "OpenEndedLoad",
    "SliceResult",
    "Target",
    "by_socket",
    "companions",
    "connection_requests",
    "counted_arguments",
    "latencies_us",
    "load_program",
    "longest_us",
    "open_ended_load",
    "packaged",
    "prepare",
    "read_series",
    "reference_ns",
    "shown_errors",
    "sum_of_histograms",
    "timed_arguments",
]
