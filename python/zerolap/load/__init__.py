"""Load on a server: the load generator driven slice by slice, data sets, companions, other load tools."""

from zerolap.load.latencies import latencies_us, sum_of_histograms
from zerolap.load.tools import OWN_TOOL, LoadOutcome, LoadTool, LoadWork, connection_requests

__all__ = [
    "OWN_TOOL",
    "LoadOutcome",
    "LoadTool",
    "LoadWork",
    "connection_requests",
    "latencies_us",
    "sum_of_histograms",
]
