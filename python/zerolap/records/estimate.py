"""Predicted and measured values with their bounds."""

from typing import Final

from zerolap.records.base import Record


class Estimate(Record):
    """A value with the bounds that it is expected in."""

    low: float
    expected: float
    high: float

    def times(self, factor: float) -> "Estimate":
        """Return the estimate of so much of it."""
        return Estimate(low=self.low * factor, expected=self.expected * factor, high=self.high * factor)

    def plus(self, other: "Estimate") -> "Estimate":
        """Return the estimate of both together, whose bounds are reached at the same time."""
        return Estimate(low=self.low + other.low, expected=self.expected + other.expected, high=self.high + other.high)


NO_SAVING: Final = Estimate(low=0.0, expected=0.0, high=0.0)
