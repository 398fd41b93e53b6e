"""Regressions that no case meets in its own circumstances: how many are named with their regime, and what that costs.

Each comparison is of Redis 7.0.15 with a commit that plants regressions at drawn places (`regime_places.py`).
"""

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benches.figures import Figure
from benches.unseen.regime_places import PLACES, Place
from zerolap.store import Store

WORK: Final = Path(".bench") / "unseen"
PROJECT: Final = Path(__file__).resolve().parents[2]
IDENTITY: Final = ("-c", "user.name=bench", "-c", "user.email=bench@example.com")


@dataclass(frozen=True)
class PlantedCommit:
    """A commit with regressions at these places."""

    commit: str
    places: Sequence[Place]


def regime_figures(seed: int, number: int, together: int, cases: Sequence[str], engines: str) -> dict[str, Figure]:
    """Return the share of so many planted regressions that are named with their regime, and the machine time.

    A commit has `together` of them, which have no regime in common. All places are in turn before one is drawn again.
    """
    repository, base = _repository()
    samples: list[dict[str, Any]] = []
    for planted in _commits(repository, base, _drawn(seed, number, together)):
        samples.append(_compared(repository, base, planted, seed, cases, engines))
    found = [place for sample in samples for place in sample["places"]]
    share = sum(place["found"] for place in found) / max(1, len(found))
    own = sum(sample["own_seconds"] for sample in samples)
    ratio = sum(sample["own_seconds"] + sample["regime_seconds"] for sample in samples) / own if own else 0.0
    notes = [f"seed {seed}", f"{len(PLACES)} places", f"cases: {', '.join(cases) or 'core suite'}", f"by {engines}"]
    return {
        "regimes_found": Figure(share, "of planted regressions, at least 0.9", samples, len(found), notes=notes),
        "regimes_time_ratio": Figure(ratio, "of the time without, at most 2", samples, len(samples), notes=notes),
    }


def _drawn(seed: int, number: int, together: int) -> list[list[Place]]:
    """Return the places of each commit, drawn by the seed."""
    chance, left, drawn = random.Random(f"regimes {seed}"), list[Place](), 0
    commits: list[list[Place]] = []
    while drawn < number:
        if not left:
            left = chance.sample(PLACES, len(PLACES))
        chosen: list[Place] = []
        for place in list(left):
            taken = {regime for other in chosen for regime in other.regimes}
            if len(chosen) < min(together, number - drawn) and taken.isdisjoint(place.regimes):
                chosen.append(place)
                left.remove(place)
        commits.append(chosen)
        drawn += len(chosen)
    return commits


def _repository() -> tuple[Path, str]:
    """Return the repository of the demonstration's release, and its commit."""
    command = [sys.executable, str(PROJECT / "demo" / "source.py"), str(WORK)]
    subprocess.run(command, check=True, capture_output=True, text=True, cwd=PROJECT)
    repository = WORK / "redis"
    return repository, _git(repository, "rev-list", "--max-parents=0", "HEAD")


def _commits(repository: Path, base: str, drawn: Sequence[Sequence[Place]]) -> list[PlantedCommit]:
    commits = []
    for places in drawn:
        tree = WORK / "planted"
        shutil.rmtree(tree, ignore_errors=True)
        _git(repository, "worktree", "prune")
        _git(repository, "worktree", "add", "--detach", "--force", str(tree.resolve()), base)
        for place in places:
            place.plant(tree)
        _git(tree, "commit", "--quiet", "--all", "--message", "what nobody sees")
        commits.append(PlantedCommit(_git(tree, "rev-parse", "HEAD"), places))
        _git(repository, "worktree", "remove", "--force", str(tree.resolve()))
    return commits


def _compared(
    repository: Path, base: str, planted: PlantedCommit, seed: int, cases: Sequence[str], engines: str
) -> dict[str, Any]:
    report, store = WORK / "comparison.json", WORK / "store"
    command = [str(PROJECT / ".venv" / "bin" / "zerolap"), "compare", base, planted.commit, *cases]
    command += ["--repo", str(repository), "--engine", engines, "--regimes", "auto", "--seed", str(seed)]
    command += ["--store", str(store), "--json", str(report)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    document = json.loads(report.read_text(encoding="utf-8"))
    regressions = {
        (case["regime"], case["case"]) for case in document["cases"] if case["regime"] and _is_regression(case)
    }
    own, of_regimes = _seconds(store, document["id"])
    return {
        "commit": planted.commit,
        "places": [
            {"place": place.name, "found": any(regime in place.regimes for regime, _ in regressions)}
            for place in planted.places
        ],
        "regressions": sorted(f"{case}" for _, case in regressions),
        "own_regressions": [case["case"] for case in document["cases"] if not case["regime"] and _is_regression(case)],
        "headline": document["reading"]["headline"],
        "regimes": document["regimes"],
        "own_seconds": own,
        "regime_seconds": of_regimes,
    }


def _is_regression(case: dict[str, Any]) -> bool:
    return "regression" in (case["verdict"], case["work"], case["time"])


def _seconds(store: Path, comparison: str) -> tuple[float, float]:
    """Return the machine time of the trials of cases in their own circumstances, and in regimes."""
    own = of_regimes = 0.0
    with Store.open(str(store)) as results:
        for trial, measurement in results.measurements(comparison):
            if "@" in trial.case:
                of_regimes += measurement.seconds
            else:
                own += measurement.seconds
    return own, of_regimes


def _git(directory: Path, *arguments: str) -> str:
    command = ["git", *IDENTITY, "-C", str(directory), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
