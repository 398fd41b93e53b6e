"""Changes between versions in the series of cases, and their mean: the one rule of the version table and of its page.

Changes are added as logarithms, so that a change and its reversal cancel, and the changes of releases add up to that of
the range. The mean over cases is the geometric one, the only mean of ratios that does not depend on which version is
divided by which (Fleming and Wallace, How not to lie with statistics, Communications of the ACM 29(3), 1986).
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.judge.ledger import SMALLEST_CHANGE
from zerolap.records import BoundedChange, VersionPoint

COUNTED: Final = "counted"


@dataclass(frozen=True)
class LogChange:
    """A change as the logarithm of a ratio, with half the width of its interval of 95 %."""

    value: float
    half_width: float = 0.0

    def __add__(self, other: "LogChange") -> "LogChange":
        return LogChange(self.value + other.value, math.hypot(self.half_width, other.half_width))

    def __sub__(self, other: "LogChange") -> "LogChange":
        return LogChange(self.value - other.value, math.hypot(self.half_width, other.half_width))

    @property
    def bounded(self) -> BoundedChange:
        """The relative change with its bounds."""
        low, high = self.value - self.half_width, self.value + self.half_width
        return BoundedChange(change=math.expm1(self.value), low=math.expm1(low), high=math.expm1(high))


def version_positions(measured: Iterable[int], releases: Collection[int]) -> list[int]:
    """Return the positions of the versions of a table: all measured releases, the first commit and the last one."""
    ordered = sorted(set(measured))
    return [position for position in ordered if position in releases or position in (ordered[0], ordered[-1])]


def change_between(base: VersionPoint | None, head: VersionPoint | None, engine: str) -> LogChange | None:
    """Return the change from one point of a series to another; none where one is missing or nothing joins them.

    The bounds of two levels of time are added as if they were independent. Levels over a common reference have a
    covariance of at least 0, as the inverse of a grounded Laplacian has no negative entry (Berman and Plemmons,
    Nonnegative Matrices in the Mathematical Sciences, 1979, chapter 6), so that the interval is at most too wide.
    """
    if base is None or head is None or base.segment != head.segment:
        return None
    if base.code == head.code:
        return LogChange(head.level - base.level)
    half_width = SMALLEST_CHANGE if engine == COUNTED else math.hypot(base.half_width, head.half_width)
    return LogChange(head.level - base.level, half_width)


def mean_change(weighted: Sequence[tuple[float, LogChange]], *, is_counted: bool) -> LogChange | None:
    """Return the weighted mean of the changes of cases; none without any.

    Cases are timed by starts of their own, with independent errors; the bound of counting is no random error.
    """
    if not weighted:
        return None
    total = math.fsum(weight for weight, _ in weighted)
    value = math.fsum(weight / total * change.value for weight, change in weighted)
    errors = [weight / total * change.half_width for weight, change in weighted]
    return LogChange(value, math.fsum(errors) if is_counted else math.hypot(*errors))
