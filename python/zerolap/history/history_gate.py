"""Why a history counts as failed, in a sentence."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from zerolap.fail_on import FailOn
from zerolap.history.history_range import MEMORY
from zerolap.history.judged_history import open_changes
from zerolap.records import History, HistoryChange, HistorySeries

MOST_NAMES: Final = 5
ENGINES: Final[dict[FailOn, tuple[str, ...]]] = {
    "work": ("counted",),
    "time": ("timed",),
    "memory": ("counted",),
}
NOTHING: Final[dict[FailOn, str]] = {"work": "counted", "time": "timed", "memory": "read for their bytes"}
FEWEST_POINTS: Final = 2
"""The fewest points of a series that can show a change."""


def history_gate_sentence(history: History, cases: Collection[str], when: FailOn) -> str | None:
    """Return why a history of these cases counts as failed, or None if it does not.

    `work`, `time`, `memory` and `regression` are an open regression or drift of that, or that nothing of it was
    measured at two commits: nothing shows then that there is none. `unsure` is also a change for the worse that is not
    confirmed, a commit that failed, a step that is not known, and a case that is not measured up to the last commit.

    For example `--fail-on regression applies: regression of get-100B at 4f8cdc2a1ea5`.
    """
    if when == "never":
        return None
    gate = _Gate(history, cases, when)
    if not gate.can_decide:
        nothing = NOTHING.get(when, "measured")
        return f"--fail-on {when} applies: no two commits were {nothing}, so a regression cannot be ruled out"
    parts = [*gate.regressions(), *(gate.undecided() if when == "unsure" else [])]
    if len(parts) > MOST_NAMES:
        parts[MOST_NAMES:] = [f"{len(parts) - MOST_NAMES:,} more"]
    return f"--fail-on {when} applies: {'; '.join(parts)}" if parts else None


@dataclass(frozen=True)
class _Gate:
    history: History
    cases: Collection[str]
    when: FailOn

    @property
    def can_decide(self) -> bool:
        """Whether any series could show a regression."""
        return any(len(series.points) >= FEWEST_POINTS for series in self._series(self.history))

    def regressions(self) -> list[str]:
        """Return the open regressions, as words."""
        return [
            f"{'drift' if change.kind == 'drift' else 'regression'} of {series.case} at {self._name(change)}"
            for series in self._series(open_changes(self.history))
            for change in series.changes
        ]

    def undecided(self) -> Iterator[str]:
        """Yield what is not decided, as words."""
        for series in self._series(self.history):
            for change in series.changes:
                if not change.confirmed and change.accepted is None and series.is_worse(change.change):
                    yield f"not confirmed: {series.case} at {self._name(change)}"
            if not all(point.is_joined_to(before) for before, point in pairwise(series.points)):
                yield f"a step of {series.case} is not known"
        last = len(self.history.commits) - 1
        for case in sorted(self.cases):
            points = [point for series in self._series(self.history) if series.case == case for point in series.points]
            if not any(point.position == last for point in points):
                yield f"{case} is not measured at {self.history.commits[last].name}"
        yield from (f"{commit.name} failed" for commit in self.history.commits if commit.failure is not None)

    def _series(self, history: History) -> list[HistorySeries]:
        engines = ENGINES.get(self.when)
        own = [series for series in history.series if not series.is_imported]
        chosen = [series for series in own if engines is None or series.engine in engines]
        if self.when in ("work", "memory"):
            chosen = [series for series in chosen if (series.metric in MEMORY) == (self.when == "memory")]
        return chosen

    def _name(self, change: HistoryChange) -> str:
        return self.history.commits[change.position].name
