"""What detectors report of planted waste: whether they name it, are silent once it is mended, and predict its cost.

Each edit of `tests/planted` is compared, counted, with the tree that lacks the waste, which is what a fix would bring.
Which comparisons these are is kept in `.bench/explain`, so that a bench that was stopped goes on: what detectors report
of them is looked for anew each time, and is what the present ones report.
"""

import functools
import json
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from planted import CASES, Planted, all_planted, title

from benches.explain.calibrating import calibrate
from benches.figures import DIRECTORY, Figure
from benches.truth.edited import Edited
from zerolap import Options, load_cases, open_store
from zerolap.build import functions_of_build
from zerolap.cases import core_suite
from zerolap.opportunities import counted_version, version_opportunities
from zerolap.records import CaseWeights, DrawnSide, KnownEdit, Opportunity, OpportunityCase, StatedWeights

PLACE: Final = DIRECTORY / "explain"
FILE: Final = PLACE / "planted-comparisons.json"
STORE: Final = PLACE / "planted-store"
SIDES: Final[tuple[DrawnSide, ...]] = ("head", "base")
"""The slow tree, and the fixed one."""
FACTOR: Final = 2.0
"""Predicted and measured may differ by so much."""


@dataclass(frozen=True)
class Ranked:
    """An opportunity as it is ranked for the case, with the part of its counted instructions that it would save.

    `is_counted` states that this is most of what it saves.
    """

    detector: str
    function: str
    saved_share: float
    is_counted: bool
    text: str


@dataclass(frozen=True)
class Compared:
    """A comparison of the fixed tree, its base, with the slow one, and the part of the slow one that is waste."""

    identity: str
    version: str
    measured_share: float


@dataclass(frozen=True)
class Detected:
    """What is detected in the slow and the fixed tree, and how these compare."""

    name: str
    compared: Compared
    slow: list[Ranked]
    fixed: list[Ranked]

    def place(self, planted: Planted) -> int | None:
        """Return the rank of the first opportunity in a responsible function, from 1; none where there is none."""
        places = (place for place, ranked in enumerate(self.slow, 1) if ranked.function in planted.functions)
        return next(places, None)

    def of_detector(self, planted: Planted, tree: list[Ranked]) -> Ranked | None:
        """Return the largest that the detector of this waste reports in a responsible function of a tree."""
        of_waste = [
            ranked for ranked in tree if ranked.detector == planted.detector and ranked.function in planted.functions
        ]
        return max(of_waste, key=lambda ranked: ranked.saved_share, default=None)

    def known_edit(self, planted: Planted) -> KnownEdit | None:
        """Return what the detector predicts of the edit, and what it saves; none where the waste is not detected."""
        slow = self.of_detector(planted, self.slow)
        if slow is None:
            return None
        return KnownEdit(
            detector=planted.detector,
            name=title(self.name),
            version=self.compared.version,
            predicted=slow.saved_share,
            measured=self.compared.measured_share,
            is_counted=slow.is_counted,
        )


def planted_first() -> Figure:
    """Return the share of planted waste whose function is ranked first."""
    places = {detected.name: detected.place(planted) for planted, detected in _all()}
    notes = [f"{name}: {place or 'not detected'}" for name, place in places.items()]
    first = sum(place == 1 for place in places.values())
    return Figure(first / len(places), "of planted waste", [places], len(places), notes=notes)


def planted_in_three() -> Figure:
    """Return the share of planted waste whose function is ranked among the first three."""
    places = [detected.place(planted) for planted, detected in _all()]
    within = sum(place is not None and place <= 3 for place in places)
    return Figure(within / len(places), "of planted waste", [places], len(places))


def false_on_fixed() -> Figure:
    """Return in how many fixed trees the detector does not report less than in the slow one."""
    samples, false = [], 0
    for planted, detected in _all():
        slow, fixed = (detected.of_detector(planted, tree) for tree in (detected.slow, detected.fixed))
        is_false = fixed is not None and (slow is None or fixed.saved_share >= slow.saved_share)
        false += is_false
        samples.append({"name": detected.name, "slow": slow and asdict(slow), "fixed": fixed and asdict(fixed)})
    return Figure(false, "fixed trees", samples, len(samples))


def predicted_factor() -> Figure:
    """Return the share of detected waste of which predicted and measured saving are within a factor of two.

    What is mostly not counted cannot be tested by counting: it is left out, and a note has the share with it. Writes
    the data that calibrate predictions, and the documents that state them.
    """
    edits = [edit for planted, detected in _all() if (edit := detected.known_edit(planted)) is not None]
    calibrate(edits)
    tested = [edit for edit in edits if edit.is_counted]
    whole = sum(map(_is_within, edits)) / max(1, len(edits))
    return Figure(
        sum(map(_is_within, tested)) / max(1, len(tested)),
        "of detected waste that is counted",
        [edit.model_dump() for edit in edits],
        len(edits),
        notes=[f"{whole:.2f} of all {len(edits)}, also of what is mostly not counted", *map(_note, edits)],
    )


def _is_within(edit: KnownEdit) -> bool:
    return edit.measured > 0 and 1 / FACTOR <= edit.predicted / edit.measured <= FACTOR


def _note(edit: KnownEdit) -> str:
    untested = "" if edit.is_counted else "; not tested: what it saves is mostly not counted"
    return f"{edit.name}: predicted {edit.predicted:.1%}, measured {edit.measured:.1%}{untested}"


FIGURES: Final[Mapping[str, Callable[[], Figure]]] = {
    "planted_first": planted_first,
    "planted_in_three": planted_in_three,
    "false_on_fixed": false_on_fixed,
    "predicted_factor": predicted_factor,
}


@functools.cache
def _all() -> list[tuple[Planted, Detected]]:
    measured: list[tuple[Planted, Detected]] = []
    compared = comparisons()
    for name, planted in all_planted():
        identity = compared[name].identity
        slow, fixed = (_ranked(identity, side, planted.case) for side in SIDES)
        detected = Detected(name, compared[name], slow, fixed)
        print(f"{name}: {detected.slow[:1]}", file=sys.stderr)
        measured.append((planted, detected))
    return measured


@functools.cache
def comparisons() -> Mapping[str, Compared]:
    """Return the comparisons of all planted waste by its name, those that were not made yet made first."""
    known: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    for name, planted in all_planted():
        if name not in known:
            known[name] = asdict(_compared(name, planted))
            FILE.parent.mkdir(parents=True, exist_ok=True)
            FILE.write_text(json.dumps(known, indent=2), encoding="utf-8")
    return {name: Compared(**fields) for name, fields in known.items()}


def _compared(name: str, planted: Planted) -> Compared:
    cases = {case.name: case for case in [*core_suite(), *load_cases(CASES)]}
    repository = PLACE / "planted" / name
    edited = Edited.make(repository, lambda source: _edit(source, planted))
    if planted.fixed:
        edited = Edited(repository, base=edited.head, head=edited.base)
    options = Options(engines=["counted"], quick=True, seed=1)
    compared = edited.compare(options, STORE, [cases[case] for case in (planted.case, *planted.beside)])
    verdict = compared.verdicts("instructions_per_op")[planted.case]
    shutil.rmtree(repository, ignore_errors=True)
    document = compared.document
    return Compared(document.id, f"Redis {document.head.version}", 1 - verdict.base / verdict.head)


def _edit(source: Path, planted: Planted) -> None:
    for replacement in planted.slow or planted.fixed:
        replacement.apply(source)


def _ranked(identity: str, side: DrawnSide, case: str) -> list[Ranked]:
    """Return what is reported of a side, as it is ranked for one case; those beside it only show how costs grow."""
    with open_store(STORE) as opened:
        version = counted_version(opened, identity, side=side)
        weights = CaseWeights(
            StatedWeights(kind="equal"), {graph.case: float(graph.case == case) for graph in version.graphs}
        )
        document = version_opportunities(version, weights, opened, functions_of_build, "benches.explain")
    of_case = [
        (opportunity, of) for opportunity in document.opportunities for of in opportunity.cases if of.case == case
    ]
    return [_read(opportunity, of) for opportunity, of in of_case]


def _read(opportunity: Opportunity, case: OpportunityCase) -> Ranked:
    # What is not counted does not show in what is measured.
    uncounted = case.uncounted_instructions_per_op.expected
    counted = case.saved_instructions_per_op.expected - uncounted
    share = counted / case.instructions_per_op
    return Ranked(opportunity.detector, opportunity.function, share, counted > uncounted, case.text)
