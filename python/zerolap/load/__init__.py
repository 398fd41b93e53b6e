"""Load on a server: the load generator driven slice by slice, data sets, companions, other load tools."""

from zerolap.load.companions import Companions, companions
from zerolap.load.filling import Instrument, prepare
from zerolap.load.generator import (
    LoadProgram,
    SliceResult,
    counted_arguments,
    load_program,
    packaged,
    shown_errors,
    timed_arguments,
)
from zerolap.load.latencies import latencies_us, sum_of_histograms
from zerolap.load.load_host import LOAD_HOST, LoadGenerator, LoadHost, MachineWatch
from zerolap.load.reference_work import reference_ns
from zerolap.load.target import Target, by_socket
from zerolap.load.tools import OWN_TOOL, LoadOutcome, LoadTool, LoadWork, connection_requests

__all__ = [
    "LOAD_HOST",
    "OWN_TOOL",
    "Companions",
    "Instrument",
    "LoadGenerator",
    "LoadHost",
    "LoadOutcome",
    "LoadProgram",
    "LoadTool",
    "LoadWork",
    "MachineWatch",
    "SliceResult",
    "Target",
    "by_socket",
    "companions",
    "connection_requests",
    "counted_arguments",
    "latencies_us",
    "load_program",
    "packaged",
    "prepare",
    "reference_ns",
    "shown_errors",
    "sum_of_histograms",
    "timed_arguments",
]
