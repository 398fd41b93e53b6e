"""The ledger of counted work: every difference between neighbouring commits, summed exactly.

Counts repeat to some instructions in ten thousand, so that no statistical test is needed: a difference of more than
`SMALLEST_CHANGE` is a change, and one of more than `REPORTED` is reported with its commit. The ledger sums all
differences, also smaller ones: many of them can add up to a drift.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

SMALLEST_CHANGE: Final = 0.0002
"""Smaller differences are those of counting itself."""
REPORTED: Final = 0.005
DRIFT: Final = 0.02
"""What changes that are not reported add up to when they are named as a drift: the smallest effect of time."""
FEWEST_STEPS_OF_DRIFT: Final = 4
"""The fewest changes of a drift: fewer are steps, each of which can be examined."""

# Of logarithms: what is reported one way round is reported the other way round too.
LOG_REPORTED: Final = math.log1p(REPORTED)
LOG_DRIFT: Final = math.log1p(DRIFT)


@dataclass(frozen=True)
class WorkStep:
    """The change of work from a measured commit to the next one, as a logarithm of their ratio.

    `after` and `position` are those of both commits. `same_code`: the case executes the same on both. `accepted`: the
    change is known and belongs to no open drift. `is_rare`: what is counted happens so rarely that its change does not
    matter, whatever the ratio; it is summed, and is no event. `log_by_places` is what the places of strings in memory
    account for, which is no change of the work; `by_string_places`: they account for the change, which is summed then,
    and neither reported nor a part of a drift.
    """

    after: int
    position: int
    log_change: float
    same_code: bool = False
    accepted: bool = False
    is_rare: bool = False
    by_string_places: bool = False
    log_by_places: float = 0.0

    @property
    def log_of_work(self) -> float:
        """The change without what the places of strings account for."""
        return self.log_change - self.log_by_places

    @property
    def is_change(self) -> bool:
        """Whether work changed at all."""
        return not self.same_code and not self.is_rare and abs(self.log_change) > SMALLEST_CHANGE

    @property
    def is_reported(self) -> bool:
        """Whether work changed by so much that the change is reported by itself."""
        return self.is_change and not self.by_string_places and abs(self.log_change) >= LOG_REPORTED


@dataclass(frozen=True)
class Drift:
    """Many changes of one direction, from the commit `after` to `position`, which add up to `log_change`.

    `slope` is the change a commit; `steps` are those that make it up, the largest in its direction first.
    """

    after: int
    position: int
    log_change: float
    slope: float
    steps: tuple[WorkStep, ...]


@dataclass(frozen=True)
class Ledger:
    """The sums of the steps since the position `since`, as logarithms.

    `by_string_places` is the part of `unreported` that the places of strings account for; `slope` is without it.
    """

    since: int
    total: float
    reported: float
    unreported: float
    slope: float
    by_string_places: float = 0.0

    @classmethod
    def of(cls, steps: Sequence[WorkStep], since: int) -> "Ledger":
        """Return the sums of the steps after a position; steps are in the order of commits."""
        summed = [step for step in steps if step.after >= since]
        reported = math.fsum(step.log_change for step in summed if step.is_reported)
        total = math.fsum(step.log_change for step in summed)
        by_places = math.fsum(step.log_by_places for step in summed if not step.is_reported)
        unreported = total - reported
        commits = summed[-1].position - since if summed else 0
        slope = (unreported - by_places) / commits if commits else 0.0
        return cls(since, total, reported, unreported, slope, by_places)


def drifts_of(steps: Sequence[WorkStep], since: int) -> list[Drift]:
    """Return the drifts after a position: of each direction the small changes with the largest sum, if it is enough.

    Changes that are reported by themselves, or accepted, are no part of it, nor what the places of strings account for.
    A drift is the stretch of Kadane (in
    Bentley, Programming Pearls, 1986): the largest sum of neighbouring steps.
    """
    open_steps = [step for step in steps if step.after >= since and not step.accepted]
    small = [step for step in open_steps if not (step.is_reported or step.is_rare or step.by_string_places)]
    drifts = (_drift(_largest(small, sign)) for sign in (1.0, -1.0))
    return [drift for drift in drifts if drift is not None]


def _drift(stretch: Sequence[WorkStep]) -> Drift | None:
    events = [step for step in stretch if step.is_change]
    if abs(_sum(stretch)) < LOG_DRIFT or len(events) < FEWEST_STEPS_OF_DRIFT:
        return None
    after, position = events[0].after, events[-1].position
    total = _sum(stretch)
    direction = math.copysign(1.0, total)
    ordered = tuple(sorted(events, key=lambda step: direction * step.log_of_work, reverse=True))
    return Drift(after, position, total, total / (position - after), ordered)


def _largest(steps: Sequence[WorkStep], sign: float) -> Sequence[WorkStep]:
    """Return the neighbouring steps with the largest sum in the direction of `sign`."""
    best: tuple[float, int, int] = (0.0, 0, 0)
    total, first = 0.0, 0
    for number, step in enumerate(steps):
        if total <= 0.0:
            total, first = 0.0, number
        total += sign * step.log_of_work
        if total > best[0]:
            best = (total, first, number + 1)
    return steps[best[1] : best[2]]


def _sum(steps: Sequence[WorkStep]) -> float:
    return math.fsum(step.log_of_work for step in steps)
