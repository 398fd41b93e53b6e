"""What measures: each engine turns a build, a case and a seed into a measurement."""

from zerolap.engines.counted import Counted, CountedTrial, Requests, count, missing_for_counting

__all__ = ["Counted", "CountedTrial", "Requests", "count", "missing_for_counting"]
