"""Drift: how much a loss of 0.05 % a commit has added up to when it is named."""

import math
import statistics
from collections.abc import Callable, Mapping
from typing import Final

from benches.figures import Figure
from benches.history.series import levels_of, seeded
from zerolap.judge import series_changes, time_drift
from zerolap.judge.ledger import WorkStep, drifts_of

LOSS: Final = 0.0005
"""A commit, as a logarithm."""
COMMITS: Final = 200
REPETITIONS: Final = 400
DEVIATIONS: Final = (0.005, 0.01, 0.02)
"""Of a point of time: of the mean of six starts whose ratios have a standard deviation of 1 to 5 %."""
USUAL_DEVIATION: Final = 0.01
NOT_NAMED: Final = math.inf


def drift_found_at() -> Figure:
    """Measure what the loss has added up to when a drift of time, or of work, is named.

    Of time it is named when the search is run after each commit and the cumulative sum alarms; the figure is the 95th
    of 100 under points of 1 %. Of work it is exact. The notes have other deviations, and how often a flat series of as
    many commits has a drift.
    """
    samples, notes, most = [], [], {}
    for deviation in DEVIATIONS:
        totals = [_named_at(deviation, LOSS, number) for number in range(REPETITIONS)]
        false = sum(_named_at(deviation, 0.0, number) != NOT_NAMED for number in range(REPETITIONS)) / REPETITIONS
        most[deviation] = _most(totals)
        samples.append({"deviation": deviation, "totals": totals, "flat_series_with_a_drift": false})
        notes.append(
            f"points of {deviation:.1%}: median {statistics.median(totals):.2%}, 95th of 100 {most[deviation]:.2%};"
            f" of flat series {false:.3f} have a drift"
        )
    work = _work_named_at()
    notes.append(f"work: {work:.2%}")
    return Figure(most[USUAL_DEVIATION], "log change", samples, REPETITIONS * len(DEVIATIONS), {}, notes)


def _named_at(deviation: float, loss: float, number: int) -> float:
    """Return the sum of losses when a drift is named, in a series that begins at a release."""
    randoms = seeded("drift", deviation, loss, number)
    values = [loss * commit + randoms.gauss(0, deviation) for commit in range(COMMITS)]
    levels = levels_of(values, variances=[deviation**2] * COMMITS)
    drift = time_drift(levels, series_changes(levels))
    if drift is None:
        return NOT_NAMED
    return loss * drift.position


def _work_named_at() -> float:
    steps = [WorkStep(commit, commit + 1, LOSS) for commit in range(COMMITS)]
    for count in range(1, COMMITS + 1):
        if drifts_of(steps[:count], 0):
            return LOSS * count
    return NOT_NAMED


def _most(totals: list[float]) -> float:
    return sorted(totals)[math.ceil(0.95 * len(totals)) - 1]


FIGURES: Final[Mapping[str, Callable[[], Figure]]] = {"drift_found_at": drift_found_at}
