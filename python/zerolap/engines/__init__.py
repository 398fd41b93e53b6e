"""What measures: each engine turns a build, a case and a seed into a measurement."""

from zerolap.engines.counted import Counted, CountedTrial, count, missing_for_counting
from zerolap.engines.windows import Requests

__all__ = ["Counted", "CountedTrial", "Requests", "count", "missing_for_counting"]
