"""What detectors report of planted waste: whether they name it, are silent once it is mended, and predict its cost.

Each edit of `tests/planted` is compared, counted, with the tree that lacks the waste, which is what a fix would bring.
What was compared is kept in `.bench/explain`, so that a bench that was stopped goes on.
"""

import functools
import json
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from planted import CASES, Planted, all_planted

from benches.figures import DIRECTORY, Figure
from benches.truth.edited import Edited
from zerolap import Options, load_cases, open_store
from zerolap.cases import core_suite
from zerolap.lab import Lab, counted_version, version_opportunities
from zerolap.records import DrawnSide, Opportunity, OpportunityWeights

PLACE: Final = DIRECTORY / "explain"
FILE: Final = PLACE / "planted.json"
FACTOR: Final = 2.0
"""Predicted and measured may differ by so much."""


@dataclass(frozen=True)
class Ranked:
    """An opportunity as it was ranked for the case, with the part of its counted instructions that it would save."""

    detector: str
    function: str
    saved_share: float
    text: str


@dataclass(frozen=True)
class Detected:
    """What was detected in the slow and the fixed tree, and the part of the slow one's instructions that is waste."""

    name: str
    detector: str
    measured_share: float
    slow: list[Ranked]
    fixed: list[Ranked]

    def place(self, planted: Planted) -> int | None:
        """Return the rank of the first opportunity in a responsible function, from 1; none where there is none."""
        places = (place for place, ranked in enumerate(self.slow, 1) if ranked.function in planted.functions)
        return next(places, None)

    def of_detector(self, planted: Planted, tree: list[Ranked]) -> Ranked | None:
        """Return the largest that the detector of this waste reports in a responsible function of a tree."""
        of_it = [one for one in tree if one.detector == planted.detector and one.function in planted.functions]
        return max(of_it, key=lambda ranked: ranked.saved_share, default=None)


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
    """Return the share of detected waste of which predicted and measured saving are within a factor of two."""
    shares = {
        detected.name: (slow.saved_share, detected.measured_share)
        for planted, detected in _all()
        if (slow := detected.of_detector(planted, detected.slow)) is not None and detected.measured_share > 0
    }
    within = sum(1 / FACTOR <= predicted / measured <= FACTOR for predicted, measured in shares.values())
    notes = [f"{name}: predicted {of_name[0]:.1%}, measured {of_name[1]:.1%}" for name, of_name in shares.items()]
    return Figure(within / max(1, len(shares)), "of detected waste", [shares], len(shares), notes=notes)


FIGURES: Final[Mapping[str, Callable[[], Figure]]] = {
    "planted_first": planted_first,
    "planted_in_three": planted_in_three,
    "false_on_fixed": false_on_fixed,
    "predicted_factor": predicted_factor,
}


@functools.cache
def _all() -> list[tuple[Planted, Detected]]:
    known: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    measured: list[tuple[Planted, Detected]] = []
    for name, planted in all_planted():
        if name not in known:
            known[name] = asdict(_compared(name, planted))
            FILE.parent.mkdir(parents=True, exist_ok=True)
            FILE.write_text(json.dumps(known, indent=2), encoding="utf-8")
        fields = known[name]
        trees = {tree: [Ranked(**ranked) for ranked in fields[tree]] for tree in ("slow", "fixed")}
        detected = Detected(**(fields | trees))
        print(f"{name}: {detected.slow[:1]}", file=sys.stderr)
        measured.append((planted, detected))
    return measured


def _compared(name: str, planted: Planted) -> Detected:
    cases = {case.name: case for case in [*core_suite(), *load_cases(CASES)]}
    repository, store = PLACE / "planted" / name, PLACE / "planted-store"
    edited = Edited.make(repository, lambda source: _edit(source, planted))
    if planted.fixed:
        edited = Edited(repository, base=edited.head, head=edited.base)
    options = Options(engines=["counted"], quick=True, seed=1)
    compared = edited.compare(options, store, [cases[planted.case]])
    verdict = compared.verdicts("instructions_per_op")[planted.case]
    identity = compared.document.id
    slow, fixed = _ranked(store, identity, "head"), _ranked(store, identity, "base")
    shutil.rmtree(repository, ignore_errors=True)
    return Detected(name, planted.detector, 1 - verdict.base / verdict.head, slow, fixed)


def _edit(source: Path, planted: Planted) -> None:
    for replacement in planted.slow or planted.fixed:
        replacement.apply(source)


def _ranked(store: Path, identity: str, side: DrawnSide) -> list[Ranked]:
    with open_store(store) as opened:
        version = counted_version(opened, identity, side=side)
        weights = OpportunityWeights(kind="equal"), {graph.case: 1.0 for graph in version.graphs}
        document = version_opportunities(version, weights, Lab(opened), "benches.explain")
    return [_read(opportunity) for opportunity in document.opportunities]


def _read(opportunity: Opportunity) -> Ranked:
    (case,) = opportunity.cases
    # What is not counted does not show in what is measured.
    counted = case.saved_instructions_per_op.expected - case.uncounted_instructions_per_op.expected
    return Ranked(opportunity.detector, opportunity.function, counted / case.instructions_per_op, case.text)
