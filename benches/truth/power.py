"""What it costs to detect a change, drawn from starts of a harmless edit at many placements."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benches.truth.case_data import all_cases, data_of, has_timed_cases
from benches.truth.edited import Edited
from benches.truth.harmless import harmless_edits
from benches.truth.measuring import Estimate, TruthFigure
from benches.truth.nulls import TIMED_ALONE
from benches.truth.samples import Data, Experiment, PlannedSample, Sample
from benches.truth.sampling import seconds_for_power, share_of_alarms
from zerolap import Options
from zerolap.cases import core_suite

EDIT = "unused functions in all"
NEVER_EXCLUDED = {"timed": 1e-6}
"""As the smallest effect: every case takes all starts."""
SHIFT = 0.01


def _measure(case: str, directory: Path, seed: int) -> Data:
    edited, store = Edited.make(directory / "edited", harmless_edits()[EDIT]), directory / "store"
    edited.build(store)
    options = Options(engines=TIMED_ALONE, min_effect=NEVER_EXCLUDED, seed=seed)
    return data_of(edited.compare(options, store, [case]), store)


def _plan(directory: Path) -> list[PlannedSample]:
    return [PlannedSample(case.name, partial(_measure, case.name, directory)) for case in core_suite()]


EXPERIMENT = Experiment("starts", 1, ["harmless.py"], _plan, has_timed_cases)


def starts_by_case(samples: Sequence[Sample]) -> dict[str, list[float]]:
    """Return the log ratios of starts by case, of the cases that have any."""
    return {case.case: list(case.log_ratios) for case in all_cases(samples) if case.has_timed_verdict}


def _power(change: float, samples: Sequence[Sample]) -> Estimate | None:
    starts = starts_by_case(samples)
    if not starts:
        return None
    seconds_per_start = sum(sample.data["seconds"] for sample in samples) / sum(map(len, starts.values()))
    cost = seconds_for_power(starts, change, seconds_per_start)
    return Estimate(cost.seconds, len(starts), [f"power reached: {cost.reached:.0%}", *cost.notes])


def _regimes(samples: Sequence[Sample]) -> Estimate | None:
    starts = starts_by_case(samples)
    return Estimate(share_of_alarms(starts, SHIFT), len(starts)) if starts else None


CASES = 12
FIGURES = [
    TruthFigure("power_3pct_seconds", "machine seconds a case", [EXPERIMENT], CASES, "cases", partial(_power, 0.03)),
    TruthFigure("power_1_5pct_seconds", "machine seconds a case", [EXPERIMENT], CASES, "cases", partial(_power, 0.015)),
    TruthFigure("start_regimes", "of verdicts", [EXPERIMENT], CASES, "cases", _regimes),
]
