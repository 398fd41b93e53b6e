"""The commits of each published history in short: what the worst significant change at each of them is."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from zerolap.records import ListedCommit, PublishedChange, PublishedCommit, PublishedHistory, PublishedSeries, Record
from zerolap.store import Store

MOST_STRIPS: Final = 12
COMMITS_OF_STRIP: Final = 60
"""The number of commits in a strip, the newest of the history."""
MOST_STEPS: Final = 2_000

State = Literal["failed", "not measured", "identical", "unchanged", "worse", "better"]


class StripCommit(ListedCommit):
    """A commit of a strip.

    `state` is what is known of it: it could not be built or measured, is not measured, has the program of the commit
    before or executes the same in all series, or has no confirmed step; else the worst step, of `case` and `metric`, is
    one for the worse or for the better. `change` is that step, `steps` how many there are.
    """

    state: State
    change: float | None
    case: str
    metric: str
    steps: int
    is_release: bool


class CommitStrip(Record):
    """The newest commits of a history, in its order; `earlier` is how many it has before them."""

    history: PublishedHistory
    commits: tuple[StripCommit, ...]
    earlier: int


def commit_strips(store: Store, histories: Sequence[PublishedHistory]) -> tuple[CommitStrip, ...]:
    """Return the strips of histories, in their order."""
    shown = histories[:MOST_STRIPS]
    commits = [store.published_histories.newest_commits(history.number, COMMITS_OF_STRIP) for history in shown]
    steps = [_confirmed_steps(store, of_history) for of_history in commits]
    worst = [
        {position: min(at_commit, key=_badness) for position, at_commit in of_history.items()} for of_history in steps
    ]
    series = store.published_histories.series_numbered(
        {change.series for of_history in worst for change in of_history.values()}
    )
    return tuple(_strip(*of_history, series) for of_history in zip(shown, commits, steps, worst, strict=True))


def _strip(
    history: PublishedHistory,
    commits: Sequence[PublishedCommit],
    steps: Mapping[int, Sequence[PublishedChange]],
    worst: Mapping[int, PublishedChange],
    series: Mapping[int, PublishedSeries],
) -> CommitStrip:
    before: Sequence[PublishedCommit | None] = (None, *commits[:-1])
    shown = []
    for commit, earlier in zip(commits, before, strict=True):
        change = worst.get(commit.position)
        of_change = None if change is None else series.get(change.series)
        shown.append(
            StripCommit(
                **dict(commit.listed),
                state=_state(commit, earlier, change, of_change),
                change=None if change is None else change.change,
                case="" if of_change is None else of_change.case,
                metric="" if of_change is None else of_change.metric,
                steps=len(steps.get(commit.position, ())),
                is_release=bool(commit.tags),
            )
        )
    return CommitStrip(history=history, commits=tuple(shown), earlier=commits[0].position if commits else 0)


def _confirmed_steps(store: Store, commits: Sequence[PublishedCommit]) -> dict[int, list[PublishedChange]]:
    """Return the steps at commits in a row that are certain, by position."""
    steps: dict[int, list[PublishedChange]] = {}
    if commits:
        first, last = commits[0], commits[-1]
        for change in store.published_histories.changes_at(first.history, first.position, last.position, MOST_STEPS):
            if change.confirmed:
                steps.setdefault(change.position, []).append(change)
    return steps


def _badness(change: PublishedChange) -> tuple[bool, float]:
    """Return what steps are ordered by: those for the worse first, of each kind the largest first."""
    return not change.is_worse, -abs(change.change)


def _state(
    commit: PublishedCommit,
    before: PublishedCommit | None,
    change: PublishedChange | None,
    series: PublishedSeries | None,
) -> State:
    # Of a metric of which nobody knows which values are better, a step is neither; nor one that other counts oppose.
    if change is not None and series is not None and series.better is not None and not change.is_opposed:
        return "worse" if change.is_worse else "better"
    if commit.failure is not None:
        return "failed"
    if commit.measured == 0:
        return "not measured"
    is_same_program = before is not None and commit.node is not None and commit.node == before.node
    is_same_code = commit.position > 0 and commit.changed == 0
    return "identical" if is_same_program or is_same_code else "unchanged"
