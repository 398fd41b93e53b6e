"""Drift of time: many losses that are each too small to be seen, and that no commit owns.

Work needs none of this: its ledger is exact (`judge/ledger.py`). Of time, a cumulative sum over residuals from a
release is the trigger, cheap and often wrong; an equivalence test of fresh comparisons of HEAD against the release
decides.
"""

import math
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from zerolap import _core
from zerolap.judge.change_points import LevelChange, SeriesChanges, SeriesLevels
from zerolap.judge.verdict_rule import EQUIVALENCE_LEVEL

SLACK: Final = 0.25
"""What a residual's standard deviations must exceed for the sum to grow."""
LIMIT: Final = 14.0
"""The sum at which it alarms: of independent normal points one in some 11,000, in each direction."""
MOST_DEVIATIONS: Final = 3.0
"""No single point counts as more."""

BudgetAnswer: TypeAlias = Literal["within", "beyond", "unsure"]


@dataclass(frozen=True)
class TimeDrift:
    """A series that left its level at a release for good, from the commit `start` on; noticed at `position`.

    `slope` is the logarithm of the change a commit, with an interval of 95 % from `slope_low` to `slope_high`;
    `log_change` is what that comes to over the range. `steps` are the changes of level in the range, the largest first;
    a drift that has none is spread over all commits.
    """

    start: int
    position: int
    slope: float
    slope_low: float
    slope_high: float
    log_change: float
    steps: tuple[LevelChange, ...]


def time_drift(levels: SeriesLevels, changes: SeriesChanges, reference: float = 0.0) -> TimeDrift | None:
    """Return the drift of a series from the level `reference` of a release; none while it stays there.

    `levels` are the points from the release on, measured against it or against an anchor whose level is `reference`;
    `changes` is what was found in them, whose noise is used.

    Raises `ValueError` for numbers that are not finite.
    """
    if changes.noise_sd == 0:
        return None
    # In standard deviations, as uncorrelated ones would be.
    unit = changes.noise_sd * math.sqrt(changes.long_run_factor)
    residuals = [
        max(-MOST_DEVIATIONS, min(MOST_DEVIATIONS, (value - reference) / (unit * math.sqrt(variance))))
        for value, variance in zip(levels.values, levels.variances or [1.0] * len(levels.values), strict=True)
    ]
    alarm = _core.cusum(residuals, SLACK, LIMIT)
    if alarm is None:
        return None
    end, start, _ = alarm
    span = slice(start, end + 1)
    positions, values = levels.positions[span], levels.values[span]
    slope, low, high = _core.slope(list(map(float, positions)), list(values), changes.long_run_factor)
    steps = [change for change in changes.changes if positions[0] <= change.position <= positions[-1]]
    return TimeDrift(
        positions[0],
        positions[-1],
        slope,
        low,
        high,
        slope * (positions[-1] - positions[0]),
        tuple(sorted(steps, key=lambda change: -abs(change.log_change))),
    )


def budget_answer(log_change: float, error: float, degrees: float, budget: float) -> BudgetAnswer:
    """Return whether a change against a release, measured afresh, is within the budget of losses.

    `error` is the standard error of `log_change` with its degrees of freedom, `budget` a logarithm. "within" and
    "beyond" are certain at the level of the lab's equivalence tests, by two one-sided tests.

    Raises `ValueError` when error, degrees or budget are not above 0.
    """
    not_below, not_above = _core.equivalence(log_change, error, degrees, budget)
    if max(not_below, not_above) <= EQUIVALENCE_LEVEL:
        return "within"
    if min(1 - not_below, 1 - not_above) <= EQUIVALENCE_LEVEL:
        return "beyond"
    return "unsure"
