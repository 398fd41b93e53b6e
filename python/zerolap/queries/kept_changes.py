"""Changes of kept histories, as pages list them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from zerolap.queries.query import TableRow
from zerolap.records import Record, UsageError
from zerolap.store import KeptChange, KeptCommit, KeptHistory, KeptSeries, Store

MOST_HISTORIES: Final = 500
"""So many kept histories are read; each is of a repository, range, variant, settings and platform."""


class ListedHistory(Record):
    """A kept history; `created` is when it was judged, `platform` a fingerprint."""

    number: int
    repository: str
    range: str
    variant: str
    config: dict[str, str]
    platform: str
    platform_name: str
    created: str


class ListedCommit(Record):
    """A commit in short; `name` is its first tag, or the beginning of its id."""

    commit: str
    name: str
    time: str
    subject: str


class ListedChange(Record):
    """A change of a series with what it is of.

    It lies after the commit `after` and up to `commit`, in `commit_count` commits. `better` is which values of the
    metric are better, null where that is not known. `confirmed` is false for a step of time that no fresh comparison
    has shown yet. `is_opposed`: it is less work, and no gain, as other counts of the case lose by it.
    """

    history: int
    case: str
    group: str
    metric: str
    engine: str
    topology: str
    source: str
    platform_name: str
    variant: str
    id: str
    kind: str
    after: ListedCommit | None
    commit: ListedCommit | None
    commit_count: int
    change: float
    low: float
    high: float
    better: str | None
    is_worse: bool
    is_opposed: bool
    is_open: bool
    confirmed: bool
    accepted: str | None
    comparison: str | None
    reasons: tuple[str, ...]


def unknown_history(number: int) -> UsageError:
    """Return what is raised for a number that no kept history has."""
    return UsageError(f"no history has the number {number}", hint="it was removed: choose another one")


def listed_history(history: KeptHistory) -> ListedHistory:
    """Return a kept history as it is listed."""
    return ListedHistory(**{name: getattr(history, name) for name in ListedHistory.model_fields})


def listed_commit(commit: KeptCommit | None) -> ListedCommit | None:
    """Return a commit as it is listed."""
    if commit is None:
        return None
    return ListedCommit(commit=commit.commit, name=commit.name, time=commit.time, subject=commit.subject)


def listed_changes(
    store: Store, changes: Sequence[KeptChange], histories: Mapping[int, KeptHistory]
) -> tuple[ListedChange, ...]:
    """Return changes as they are listed, in the same order; those whose history was replaced meanwhile are left out."""
    series = store.kept_histories.series_numbered({change.series for change in changes})
    ends = {(change.history, end) for change in changes for end in (change.after, change.position)}
    commits = store.kept_histories.commits_at(ends)
    return tuple(
        _listed(change, series[change.series], histories[change.history], commits)
        for change in changes
        if change.series in series and change.history in histories
    )


def change_rows(changes: Iterable[ListedChange]) -> Iterable[TableRow]:
    """Return changes as a table."""
    yield (
        *("commit", "time", "subject", "case", "group", "metric", "platform", "variant", "kind"),
        *("change", "low", "high", "open", "confirmed", "accepted", "reason"),
    )
    for change in changes:
        commit = change.commit
        yield (
            *((commit.commit, commit.time, commit.subject) if commit else ("", "", "")),
            *(change.case, change.group, change.metric, change.platform_name, change.variant, change.kind),
            *(change.change, change.low, change.high, change.is_open, change.confirmed, change.accepted),
            change.reasons[0] if change.reasons else "",
        )


def _listed(
    change: KeptChange, series: KeptSeries, history: KeptHistory, commits: Mapping[tuple[int, int], KeptCommit]
) -> ListedChange:
    of_series = ("case", "group", "metric", "engine", "topology", "source", "better")
    of_change = (
        *("id", "kind", "change", "low", "high", "is_worse", "is_opposed", "is_open"),
        *("confirmed", "accepted", "comparison"),
    )
    return ListedChange(
        **{name: getattr(series, name) for name in of_series},
        **{name: getattr(change, name) for name in of_change},
        history=history.number,
        platform_name=history.platform_name,
        variant=history.variant,
        after=listed_commit(commits.get((change.history, change.after))),
        commit=listed_commit(commits.get((change.history, change.position))),
        commit_count=change.position - change.after,
        reasons=change.reasons,
    )
