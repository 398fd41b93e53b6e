"""Changes of throughput with CPU time as it was: the server sleeps while requests wait."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benches.truth.case_data import all_cases, data_of
from benches.truth.changes_in_time import changes_in_throughput
from benches.truth.edited import Edited, directory_name
from benches.truth.measuring import Estimate, Limit, TruthFigure
from benches.truth.nulls import TIMED_ALONE
from benches.truth.samples import Data, Experiment, PlannedSample, Sample
from zerolap import Options

CASE = "get-100B"
COMPARISONS = 20
"""Of each edit."""
SHOWN = ("cpu_ns_per_op", "ops_per_sec", "elapsed_ns_per_op", "latency_p99_us")


def _compare(name: str, directory: Path, seed: int) -> Data:
    edited = Edited.make(directory / "edited" / directory_name(name), changes_in_throughput()[name])
    store = directory / "store"
    return data_of(edited.compare(Options(engines=TIMED_ALONE, seed=seed), store, [CASE]), store, edit=name)


def _plan(directory: Path) -> list[PlannedSample]:
    return [
        PlannedSample(f"{name}, {number}", partial(_compare, name, directory))
        for number in range(1, COMPARISONS + 1)
        for name in changes_in_throughput()
    ]


EXPERIMENT = Experiment("throughput", 1, ["changes_in_time.py"], _plan)


def by_edit(samples: Sequence[Sample]) -> dict[str, list[Sample]]:
    """Return samples by the name of their edit."""
    sorted_samples: dict[str, list[Sample]] = {}
    for sample in samples:
        sorted_samples.setdefault(sample.data["edit"], []).append(sample)
    return sorted_samples


def least_found(samples: Sequence[Sample]) -> Estimate:
    """Return the share of comparisons that report a regression of time, of the edit with the smallest."""
    shares, notes = [], []
    for name, of_edit in by_edit(samples).items():
        cases = all_cases(of_edit)
        shares.append(sum(case.time == "regression" for case in cases) / len(cases))
        words = [str(case.time) for case in cases]
        listed = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
        seen = [f"{metric} {_mean_change(of_edit, metric)}" for metric in SHOWN]
        notes.append(f"{name}: {listed}; on the average {', '.join(seen)}")
    return Estimate(min(shares), len(samples), notes)


def called_same(samples: Sequence[Sample]) -> Estimate:
    """Return the number of comparisons that call time the same."""
    return Estimate(sum(case.time == "same" for case in all_cases(samples)), len(samples))


def _mean_change(samples: Sequence[Sample], name: str) -> str:
    changes = [
        metric.change
        for case in all_cases(samples)
        if (metric := case.metric(name)) is not None and metric.change is not None
    ]
    return f"{sum(changes) / len(changes):+.1%}" if changes else "not measured"


FIGURES = [
    TruthFigure(
        "throughput_found",
        "of comparisons, of the edit least found",
        [EXPERIMENT],
        2 * COMPARISONS,
        "comparisons",
        least_found,
        Limit(least=0.9),
    ),
    TruthFigure(
        "throughput_called_same",
        "comparisons",
        [EXPERIMENT],
        2 * COMPARISONS,
        "comparisons",
        called_same,
        Limit(most=0),
    ),
]
