"""Hardware counters: whether cycles decide where they are counted, and agree with CPU time."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benches.truth.case_data import CaseData, cases_of, data_of
from benches.truth.measuring import Estimate, Limit, TruthFigure
from benches.truth.nulls import TIMED_ALONE
from benches.truth.planted import CASE, edited
from benches.truth.samples import Data, Experiment, PlannedSample, Sample, Unavailable
from benches.truth.sampling import METRIC
from zerolap import Options
from zerolap.host import hardware_counters

CYCLES = "cycles_per_op"
LENGTHS = (0, 185, 445)
COMPARISONS = 2
"""Of each length of a planted chain."""


def _compare(length: int, directory: Path, seed: int) -> Data:
    store = directory / "store"
    compared = edited(length, directory).compare(Options(engines=TIMED_ALONE, seed=seed), store, [CASE])
    return data_of(compared, store, length=length, events=hardware_counters().events)


def _plan(directory: Path) -> list[PlannedSample]:
    """Plan comparisons; raises `Unavailable` without counters of cycles."""
    counters = hardware_counters()
    if not any(event.startswith("cycles") for event in counters.events):
        reasons = "; ".join(f"{event}: {reason}" for event, reason in counters.refused.items() if "cycles" in event)
        raise Unavailable(f"this machine has no hardware counters ({reasons or 'no event is counted'})")
    return [
        PlannedSample(f"{length}, {number}", partial(_compare, length, directory))
        for number in range(1, COMPARISONS + 1)
        for length in LENGTHS
    ]


EXPERIMENT = Experiment("counters", 2, ["planted.py"], _plan)


def _agrees(case: CaseData) -> bool:
    """Return whether cycles decided, and CPU time does not contradict them."""
    cycles, cpu = case.metric(CYCLES), case.metric(METRIC)
    if case.time_deciding != CYCLES or cycles is None or cpu is None:
        return False
    return cycles.verdict == cpu.verdict or "unsure" in (cycles.verdict, cpu.verdict)


def share_agreeing(samples: Sequence[Sample]) -> Estimate:
    """Return the share of comparisons in which cycles decide and agree with CPU time."""
    notes = []
    for sample in samples:
        [case] = cases_of(sample)
        parts = [f"{sample.key}: decided by {case.time_deciding}"]
        for name in (CYCLES, METRIC):
            metric = case.metric(name)
            if metric is not None and metric.change is not None and metric.half_width is not None:
                parts.append(f"{name} {metric.change:+.2%} ± {metric.half_width:.2%}")
        notes.append(", ".join(parts))
    agreeing = sum(_agrees(case) for sample in samples for case in cases_of(sample))
    return Estimate(agreeing / len(samples), len(samples), notes)


FIGURES = [
    TruthFigure(
        "counters",
        "of comparisons: cycles decide and agree",
        [EXPERIMENT],
        len(LENGTHS) * COMPARISONS,
        "comparisons",
        share_agreeing,
        Limit(least=1.0),
    )
]
