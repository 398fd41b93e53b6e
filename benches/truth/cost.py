"""What the demo's comparison takes once it is built, and its counting alone."""

import statistics
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benches.truth.case_data import data_of
from benches.truth.edited import Edited
from benches.truth.measuring import Estimate, Limit, TruthFigure
from benches.truth.samples import Data, Experiment, PlannedSample, Sample
from zerolap import Options
from zerolap.cases import core_suite

REPEATS = 3
WHOLE, COUNTED = "whole", "counted"


def _measure(kind: str, directory: Path, seed: int) -> Data:
    demo, store = Edited.demo(), directory / "store"
    demo.build(store)
    options = Options(seed=seed) if kind == WHOLE else Options(engines=["counted"], seed=seed)
    return data_of(demo.compare(options, store), store, kind=kind)


def _plan(directory: Path) -> list[PlannedSample]:
    kinds = [(kind, number) for kind in (WHOLE, COUNTED) for number in range(1, REPEATS + 1)]
    return [PlannedSample(f"{kind}, {number}", partial(_measure, kind, directory)) for kind, number in kinds]


EXPERIMENT = Experiment("cost", 1, [], _plan)


def _median(kind: str, name: str, cases: int, samples: Sequence[Sample]) -> Estimate | None:
    values = sorted(sample.data[name] / cases for sample in samples if sample.data["kind"] == kind)
    if not values:
        return None
    return Estimate(statistics.median(values), len(values), [", ".join(f"{value:.1f}" for value in values)])


FIGURES = [
    TruthFigure(
        "demo_seconds_cached",
        "s, median",
        [EXPERIMENT],
        REPEATS,
        "comparisons",
        partial(_median, WHOLE, "seconds", 1),
        Limit(most=60),
    ),
    TruthFigure(
        "counted_seconds",
        "machine seconds a case, median",
        [EXPERIMENT],
        REPEATS,
        "comparisons",
        partial(_median, COUNTED, "machine_seconds", len(core_suite())),
    ),
]
