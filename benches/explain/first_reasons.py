"""`roots_first`: whether the first reason of a change names what the commit did, in both directions.

`ZEROLAP_BENCH_SOURCE` is a clone of the repository that the commits of `real_commits` are in. What was explained is
kept in `.bench/explain`, so that a bench that was stopped goes on.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from benches.explain.real_commits import CASES, REAL_COMMITS, RealCommit
from benches.figures import DIRECTORY, Figure
from benches.truth.builds import SOURCE_VARIABLE
from zerolap import Options, compare, load_cases
from zerolap.errors import ZerolapError
from zerolap.judge import DEFAULT_MIN_EFFECT
from zerolap.records import Case, Comparison, Finding

PLACE: Final = DIRECTORY / "explain"
FILE: Final = PLACE / "first_reasons.json"
FORWARD: Final = "forward"
BACKWARD: Final = "backward"


@dataclass(frozen=True)
class Explained:
    """What a comparison of a commit with its parent gave: the change of work, and its reasons from the first on."""

    commit: str
    case: str
    direction: str
    did: str
    change: float | None
    reasons: list[str]
    is_named: bool
    failure: str | None = None

    @property
    def is_same(self) -> bool:
        """Whether there is nothing to explain: the work was counted and changed by less than matters."""
        return self.failure is None and self.change is not None and abs(self.change) < DEFAULT_MIN_EFFECT["counted"]


def roots_first() -> Figure:
    """Explain all commits in both directions; without a repository there is nothing to explain."""
    source = os.environ.get(SOURCE_VARIABLE)
    if not source:
        raise SystemExit(f"{SOURCE_VARIABLE} has to be a clone of the repository of the commits")
    cases = {case.name: case for case in load_cases(CASES)}
    explained = _explained_before()
    for real in REAL_COMMITS:
        for direction in (FORWARD, BACKWARD):
            key = f"{real.commit} {direction}"
            if key not in explained:
                explained[key] = _explain(real, direction, cases[real.case], Path(source))
                _keep(explained)
                print(f"{key} {real.case}: {explained[key].reasons[:1]}", file=sys.stderr)
    changed = [one for one in explained.values() if not one.is_same]
    named = sum(one.is_named for one in changed)
    notes = [f"{len(explained) - len(changed)} whose work changed by less than the minimum effect"]
    notes += [f"not named: {one.commit} {one.direction} {one.case}" for one in changed if not one.is_named]
    samples = [asdict(one) for one in explained.values()]
    return Figure(named / max(1, len(changed)), "of first reasons", samples, len(changed), notes=notes)


FIGURES: Final[Mapping[str, Callable[[], Figure]]] = {"roots_first": roots_first}


def _explain(real: RealCommit, direction: str, case: Case, repository: Path) -> Explained:
    base, head = f"{real.commit}^", real.commit
    if direction == BACKWARD:
        base, head = head, base
    options = Options(engines=["counted"], quick=True, seed=1)
    try:
        document = compare(base, head, [case], repo=repository, options=options, store=PLACE / "store")
    except ZerolapError as fault:
        return Explained(real.commit, real.case, direction, real.did, None, [], is_named=False, failure=str(fault))
    return _read(real, direction, document)


def _read(real: RealCommit, direction: str, document: Comparison) -> Explained:
    (case,) = document.cases
    reasons = [finding for finding in case.findings if finding.kind == "culprit"]
    change = next((verdict.change for verdict in case.verdicts if verdict.metric == "instructions_per_op"), None)
    return Explained(
        commit=real.commit,
        case=real.case,
        direction=direction,
        did=real.did,
        change=change,
        reasons=[text for finding in reasons for text in (finding.text, *(f"  {part.text}" for part in finding.parts))],
        is_named=bool(reasons) and _names(reasons[0], real),
        failure=case.failure,
    )


def _names(finding: Finding, real: RealCommit) -> bool:
    """Whether the sentence of a reason names a function of each group."""
    return all(any(f"`{function}`" in finding.text for function in group) for group in real.named)


def _explained_before() -> dict[str, Explained]:
    if not FILE.exists():
        return {}
    known: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return {key: Explained(**fields) for key, fields in known.items()}


def _keep(explained: Mapping[str, Explained]) -> None:
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps({key: asdict(one) for key, one in explained.items()}, indent=2), encoding="utf-8")
