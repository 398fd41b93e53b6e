"""What sentences state of a change: one figure of both sides, from which word and numbers are made."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from zerolap.records import PerSide

LEAST_NUMBER: Final = 5e-4
"""Smaller values are written as 0: so little per request is left over from the difference of two windows."""
LEAST_CHANGE: Final = 1e-4
"""A figure that changed by a smaller share did not change."""
DIGITS: Final = (3, 4, 5, 6, 8)
"""The numbers of significant digits that are tried until both sides are written differently."""
A_CALL: Final = "instructions a call"
EACH_TIME: Final = "each time"


@dataclass(frozen=True)
class StatedFigure:
    """A figure of both sides; without a unit of its own it is of a request, or of whatever else was counted."""

    base: float
    head: float
    unit: str | None = None

    @classmethod
    def of(cls, values: PerSide | None, unit: str | None = None) -> "StatedFigure":
        """Return the figure of values as they are written: unknown ones, and those that are too small, are none."""
        base, head = (None, None) if values is None else (values.base, values.head)
        return cls(_written(base), _written(head), unit)

    @classmethod
    def sum_of(cls, figures: Iterable["StatedFigure"]) -> "StatedFigure":
        """Return the sums of figures without a unit of their own."""
        every = list(figures)
        return cls(sum(figure.base for figure in every), sum(figure.head for figure in every))

    @property
    def change(self) -> float:
        """By how much the figure rose."""
        return self.head - self.base

    @property
    def is_more(self) -> bool:
        """Whether the figure rose."""
        return self.head > self.base

    def agrees_with(self, instructions: float) -> bool:
        """Whether the figure rose where instructions were added, and fell where some were saved."""
        return self.change * instructions > 0 and abs(self.change) > LEAST_CHANGE * max(self.base, self.head)

    def changed_by(self, instructions: float) -> float:
        """Return what part of so many instructions the figure changed by; negative for the other direction."""
        return self.change / instructions if instructions else 0.0

    @property
    def numbers(self) -> str:
        """The figure without its unit, as "1 -> 2"; values that differ are written so that they do."""
        base, head = figure(self.base), figure(self.head)
        for digits in DIGITS:
            if base != head or self.base == self.head:
                break
            base, head = figure(self.base, digits), figure(self.head, digits)
        return f"{base} -> {head}"


def _written(value: float | None) -> float:
    return 0.0 if value is None or value < LEAST_NUMBER else value


def figure(value: float | None, digits: int = 3) -> str:
    """Return a number per request with the digits that matter; none is 0."""
    if value is None or abs(value) < LEAST_NUMBER:
        return "0"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def per_call(values: PerSide, calls: PerSide | None) -> PerSide:
    """Return values by the number of calls; none where there are no calls, or they are not known."""
    if calls is None:
        return PerSide(base=None, head=None)
    base = values.base / calls.base if values.base is not None and calls.base else None
    return PerSide(base=base, head=values.head / calls.head if values.head is not None and calls.head else None)


def sum_of_sides(values: Iterable[PerSide]) -> PerSide:
    """Return the sums of both sides; none on a side of which no value is known."""
    every = list(values)
    base = [value.base for value in every if value.base is not None]
    head = [value.head for value in every if value.head is not None]
    return PerSide(base=sum(base) if base else None, head=sum(head) if head else None)
