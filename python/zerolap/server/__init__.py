"""Build and settings in, running server out."""

from zerolap.server.memory import read_resident_bytes
from zerolap.server.running import RunningServer, start
from zerolap.server.threads import CpuTimes, descendants, find_server, is_asleep, is_running, read_cpu_times

__all__ = [
    "CpuTimes",
    "RunningServer",
    "descendants",
    "find_server",
    "is_asleep",
    "is_running",
    "read_cpu_times",
    "read_resident_bytes",
    "start",
]
