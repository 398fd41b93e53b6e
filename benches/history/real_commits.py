"""What the history of a real server's commits finds and costs: `ledger_error`, `history_found`, and machine seconds.

The commits are those of `planted_commits`, or of the range `ZEROLAP_BENCH_RANGE` of the repository
`ZEROLAP_BENCH_SOURCE`. What is measured is kept in `.bench/history`, so that a bench that was stopped goes on.
"""

import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from benches.figures import DIRECTORY, Figure
from benches.history.planted_commits import PlantedRepository, planted_repository
from benches.truth.builds import SOURCE_VARIABLE
from zerolap import Options, compare
from zerolap.build import commits_of
from zerolap.cases import core_suite
from zerolap.history import Filling, FillOptions, HistoryHeader, HistoryRange, history_of
from zerolap.lab import Lab
from zerolap.records import BASE, HEAD, Event, History, Note
from zerolap.store import Store

RANGE_VARIABLE: Final = "ZEROLAP_BENCH_RANGE"
BUDGET_VARIABLE: Final = "ZEROLAP_BENCH_BUDGET"
"""Seconds of trials that a measurement of time may take; without a limit by default."""
PLACE: Final = DIRECTORY / "history"
INSTRUCTIONS: Final = "instructions_per_op"


@dataclass(frozen=True)
class MeasuredRange:
    """A range as it is measured: the document, what it cost, and where it lies."""

    history: History
    repository: Path
    store: Path
    planted: PlantedRepository | None
    machine_seconds: float


def ledger_error() -> Figure:
    """Measure how far the sum of all steps is from a comparison of both ends by itself; the largest of all cases.

    The comparison chooses its own windows. Its first block has the seed of the history: what a command costs depends on
    what it gets, so that the change over several seeds, which the samples have too, may be another one.
    """
    measured = _counted()
    first, last = measured.history.commits[0].commit, measured.history.commits[-1].commit
    options = Options(engines=["counted"], seed=0)
    comparison = compare(first, last, repo=measured.repository, options=options, store=measured.store)
    over_seeds = {
        result.case: verdict.change
        for result in comparison.cases
        for verdict in result.verdicts
        if verdict.metric == INSTRUCTIONS
    }
    counts: dict[str, dict[str, float]] = {}
    with Store.open(str(measured.store)) as store:
        for trial, measurement in store.measurements(comparison.id):
            if trial.block == 0 and trial.engine == "counted":
                counts.setdefault(trial.case, {})[trial.side] = measurement.metrics[INSTRUCTIONS]
    by_itself = {case: sides[HEAD] / sides[BASE] - 1.0 for case, sides in counts.items() if len(sides) == 2}
    errors = {
        series.case: math.expm1(series.points[-1].level) - by_itself[series.case]
        for series in measured.history.series
        if series.metric == INSTRUCTIONS and series.case in by_itself
    }
    worst = max(errors, key=lambda case: abs(errors[case]))
    samples = [
        {"case": case, "error": error, "by_itself": by_itself[case], "over_seeds": over_seeds.get(case)}
        for case, error in errors.items()
    ]
    commits = len(measured.history.commits)
    return Figure(abs(errors[worst]), "of the work", samples, commits, notes=[f"{worst}, over {commits} commits"])


def history_found() -> Figure:
    """Count the planted steps and the drift that the history names at their commits, and what it names besides."""
    measured = _counted()
    planted = measured.planted
    if planted is None:
        raise SystemExit(f"history_found needs the planted commits: leave {SOURCE_VARIABLE} out")
    changes = [(series.case, series.metric, change) for series in measured.history.series for change in series.changes]
    commits = measured.history.commits
    steps = {(case, commits[change.position].commit) for case, _, change in changes if change.kind == "step"}
    wanted = {(case, commit) for commit, case in planted.steps.items()}
    drifts = {case for case, _, change in changes if change.kind == "drift"}
    drifting = "get-100B"
    hits = len(steps & wanted) + (drifting in drifts)
    false = sorted(f"{case} at {commit[:12]}" for case, commit in steps - wanted)
    notes = [f"drift of {case}" for case in sorted(drifts)] + [f"not planted: {name}" for name in false]
    return Figure(hits / (len(wanted) + 1), "of what is planted", [len(false), *notes], len(commits), notes=notes)


def machine_seconds_per_commit() -> Figure:
    """Measure what work and time of all cases take a commit, in seconds of trials, builds apart."""
    measured = _filled(("counted", "timed"))
    commits = len(measured.history.commits)
    notes = list(measured.history.notes)
    return Figure(measured.machine_seconds / commits, "s", [measured.machine_seconds], commits, notes=notes)


@cache
def _counted() -> MeasuredRange:
    return _filled(("counted",))


def _filled(engines: tuple[str, ...]) -> MeasuredRange:
    source, text = os.environ.get(SOURCE_VARIABLE), os.environ.get(RANGE_VARIABLE)
    planted = None if source else planted_repository(PLACE / "repository")
    repository = Path(source) if source else planted.path if planted else Path()
    text = text or (planted.range if planted else "HEAD~200..HEAD")
    asked = HistoryRange(repository.resolve(), text, commits_of(repository, text), core_suite())
    budget = os.environ.get(BUDGET_VARIABLE)
    # Machine seconds are those of all trials of a store: another repository has its own.
    place = PLACE / (f"store-of-{repository.resolve().parent.name}" if source else "store")
    with Store.open(str(place)) as store:
        wanted = FillOptions(engines, None if budget is None else float(budget))
        outcome = Filling(asked, wanted, Lab(store, _show)).fill()
        seconds = store.history.trial_seconds()
        notes = ("the budget was used up before all was measured",) if outcome.is_over_budget else ()
        history = history_of(asked, Lab(store), HistoryHeader("bench-history", outcome.machine_seconds, notes))
    return MeasuredRange(history, repository, place, planted, seconds)


def _show(event: Event) -> None:
    if isinstance(event, Note):
        print(event.text, file=sys.stderr)


FIGURES: Final[Mapping[str, Callable[[], Figure]]] = {
    "ledger_error": ledger_error,
    "history_found": history_found,
    "machine_seconds_per_commit": machine_seconds_per_commit,
}
