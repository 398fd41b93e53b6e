"""The demo's comparison on a machine that is not quiet, and harmless edits on a host that takes time away."""

import statistics
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

from benches.truth.case_data import CaseData, all_cases, cases_of, changes_by_sample, data_of
from benches.truth.edited import Edited, directory_name
from benches.truth.harmless import harmless_edits
from benches.truth.measuring import Estimate, Limit, TruthFigure
from benches.truth.neighbours import coming_and_going, endless, stolen_time
from benches.truth.nulls import TIMED_ALONE
from benches.truth.samples import Data, Experiment, PlannedSample, Sample
from zerolap import Options
from zerolap.sheets.comparison_sheet import headline_of_comparison

CHANGED_CASE = "xadd-auto-id"
"""The only case of the demo's commit whose code changes; it is slower."""
ROUNDS = 12
ROUNDS_BESIDE_TWO = 3
EDITS_UNDER_STEAL = ("unused functions in all", "cold branch in server.c")
QUIET, ONE, COMING, TWO = "quiet", "beside one endless process", "beside a load that comes and goes", "beside two"
NOISY = (ONE, COMING)
BESIDE: dict[str, Callable[[int], AbstractContextManager[None]]] = {
    QUIET: lambda _: nullcontext(),
    ONE: lambda _: endless(1),
    COMING: coming_and_going,
    TWO: lambda _: endless(2),
}


def _beside(kind: str, directory: Path, seed: int) -> Data:
    # What quiet comparisons learn of the machine is not for the others: a user's machine is one or the other.
    demo, store = Edited.demo(), directory / directory_name(kind)
    demo.build(store)
    with BESIDE[kind](seed):
        compared = demo.compare(Options(seed=seed), store)
    return data_of(
        compared,
        store,
        beside=kind,
        headline=headline_of_comparison(compared.document).plain,
        notes=compared.document.notes,
    )


def _under_steal(name: str, directory: Path, seed: int) -> Data:
    edited = Edited.make(directory / "edited" / directory_name(name), harmless_edits()[name])
    store = directory / "store"
    with stolen_time(seed) as theft:
        compared = edited.compare(Options(engines=TIMED_ALONE, seed=seed), store)
    return data_of(compared, store, edit=name, means=theft.means, processors_taken=theft.processors)


def _noisy(directory: Path) -> list[PlannedSample]:
    rounds = [(kind, number) for number in range(1, ROUNDS + 1) for kind in (QUIET, *NOISY)]
    beside_two = [(TWO, number) for number in range(1, ROUNDS_BESIDE_TWO + 1)]
    return [
        PlannedSample(f"{kind}, {number}", partial(_beside, kind, directory)) for kind, number in [*rounds, *beside_two]
    ]


def _steal(directory: Path) -> list[PlannedSample]:
    return [PlannedSample(name, partial(_under_steal, name, directory)) for name in EDITS_UNDER_STEAL]


EXPERIMENT = Experiment("noisy", 1, ["neighbours.py"], _noisy)
STEAL = Experiment("steal", 1, ["neighbours.py", "harmless.py"], _steal)


def of_kinds(samples: Sequence[Sample], *kinds: str) -> list[Sample]:
    """Return the samples that were measured beside some kinds of load."""
    return [sample for sample in samples if sample.data["beside"] in kinds]


def is_wrong(case: CaseData) -> bool:
    """Return whether a verdict on time contradicts what the demo's commit does; undecided contradicts nothing."""
    if case.case == CHANGED_CASE:
        return case.time in ("improvement", "same")
    return case.has_changed


def is_right(sample: Sample) -> bool:
    """Return whether a comparison's verdict on time is right: the case that changed is slower, and no other changed."""
    cases = cases_of(sample)
    slower = any(case.case == CHANGED_CASE and case.time == "regression" for case in cases)
    return slower and not any(map(is_wrong, cases))


def share_right(samples: Sequence[Sample]) -> Estimate | None:
    """Return the share of comparisons beside a load whose verdict on time is right."""
    noisy = of_kinds(samples, *NOISY)
    if not noisy:
        return None
    notes = []
    for kind in (*NOISY, QUIET):
        of_kind = of_kinds(samples, kind)
        notes.append(f"{kind}: {sum(map(is_right, of_kind))} of {len(of_kind)}")
    return Estimate(sum(map(is_right, noisy)) / len(noisy), len(noisy), notes)


def wrong(samples: Sequence[Sample]) -> Estimate | None:
    """Return the number of wrong verdicts on time of all comparisons beside a load."""
    noisy = of_kinds(samples, *NOISY, TWO)
    if not noisy:
        return None
    named = {sample.key: [case.case for case in cases_of(sample) if is_wrong(case)] for sample in noisy}
    notes = [f"{key}: {', '.join(cases)}" for key, cases in named.items() if cases]
    return Estimate(sum(map(len, named.values())), len(noisy), notes)


def time_ratio(samples: Sequence[Sample]) -> Estimate | None:
    """Return the seconds of comparisons beside a load, of the slower kind, for one of a quiet one; medians."""
    medians = {
        kind: statistics.median(sample.data["seconds"] for sample in of_kind)
        for kind in (QUIET, *NOISY)
        if (of_kind := of_kinds(samples, kind))
    }
    if QUIET not in medians or len(medians) < 2:
        return None
    slowest = max(seconds for kind, seconds in medians.items() if kind != QUIET)
    notes = [f"{kind}: {seconds:.0f} s" for kind, seconds in medians.items()]
    return Estimate(slowest / medians[QUIET], len(of_kinds(samples, *NOISY)), notes)


def work_decides(samples: Sequence[Sample]) -> Estimate | None:
    """Return the share of comparisons beside two endless processes whose case that changed is a regression."""
    beside_two = of_kinds(samples, TWO)
    if not beside_two:
        return None
    changed = [case for case in all_cases(beside_two) if case.case == CHANGED_CASE]
    right = sum(case.verdict == "regression" and case.work == "regression" for case in changed)
    return Estimate(
        right / len(beside_two), len(beside_two), [f"{one.key}: {one.data['headline']}" for one in beside_two]
    )


def decided(samples: Sequence[Sample]) -> Estimate:
    """Return the share of cases under steal that are decided, rightly as the same; a wrong one makes it 0."""
    cases = all_cases(samples)
    same, changed = sum(case.time == "same" for case in cases), sum(case.has_changed for case in cases)
    notes = [f"{changed} wrong", *changes_by_sample(samples)]
    for sample in samples:
        taken = sample.data["processors_taken"]
        notes.append(f"{sample.key}: {sample.data['means']}; {taken:.2f} processors' time taken away")
    return Estimate(0.0 if changed else same / len(cases), len(cases), notes)


FIGURES = [
    TruthFigure(
        "noisy_right", "of comparisons", [EXPERIMENT], 2 * ROUNDS, "comparisons", share_right, Limit(least=0.83)
    ),
    TruthFigure(
        "noisy_wrong",
        "case verdicts",
        [EXPERIMENT],
        2 * ROUNDS + ROUNDS_BESIDE_TWO,
        "comparisons",
        wrong,
        Limit(most=0),
    ),
    TruthFigure(
        "noisy_time_ratio", "of the quiet time", [EXPERIMENT], 2 * ROUNDS, "comparisons", time_ratio, Limit(most=3)
    ),
    TruthFigure(
        "noisy_work", "of comparisons", [EXPERIMENT], ROUNDS_BESIDE_TWO, "comparisons", work_decides, Limit(least=1)
    ),
    TruthFigure("steal_decided", "of cases", [STEAL], 24, "cases", decided, Limit(least=0.8)),
]
