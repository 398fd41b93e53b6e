"""What measures: each engine turns builds, a case and a seed into measurements."""

from zerolap.engines.counted import Counted, CountedTrial, count, missing_for_counting
from zerolap.engines.timed import Timed, TimedServer, TimedStart, time_start
from zerolap.engines.windows import Requests

__all__ = [
    "Counted",
    "CountedTrial",
    "Requests",
    "Timed",
    "TimedServer",
    "TimedStart",
    "count",
    "missing_for_counting",
    "time_start",
]
