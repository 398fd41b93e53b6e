"""Changes of published histories, as pages list them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from zerolap.queries.query import TableRow
from zerolap.records import (
    ListedCommit,
    PublishedChange,
    PublishedCommit,
    PublishedHistory,
    PublishedSeries,
    ReportedChange,
    SeriesSubject,
    UsageError,
)
from zerolap.store import Store

MOST_HISTORIES: Final = 500
"""The most published histories that are read; each is of a repository, range, variant, settings and platform."""


class ListedChange(ReportedChange, SeriesSubject):
    """A change of a series with what it is of.

    It lies after the commit `after` and up to `commit`, in `commit_count` commits. `confirmed` is false for a step of
    time that no fresh comparison has shown yet.
    """

    history: int
    platform_name: str
    variant: str
    after: ListedCommit | None
    commit: ListedCommit | None
    commit_count: int
    is_worse: bool
    is_open: bool


def unknown_history(number: int) -> UsageError:
    """Return what is raised for a number that no published history has."""
    return UsageError(f"no history has the number {number}", hint="it was removed: choose another one")


def listed_changes(
    store: Store, changes: Sequence[PublishedChange], histories: Mapping[int, PublishedHistory]
) -> tuple[ListedChange, ...]:
    """Return changes as they are listed, in the same order; those whose history was replaced meanwhile are left out."""
    series = store.published_histories.series_numbered({change.series for change in changes})
    ends = {(change.history, end) for change in changes for end in (change.after, change.position)}
    commits = store.published_histories.commits_at(ends)
    return tuple(
        _listed(change, series[change.series], histories[change.history], commits)
        for change in changes
        if change.series in series and change.history in histories
    )


def change_rows(changes: Iterable[ListedChange]) -> Iterable[TableRow]:
    """Return changes as a table."""
    yield (
        *("commit", "time", "subject", "author", "case", "group", "metric", "platform", "variant", "kind"),
        *("change", "low", "high", "open", "confirmed", "accepted", "reason"),
    )
    for change in changes:
        commit = change.commit
        yield (
            *((commit.commit, commit.time, commit.subject, commit.author) if commit else ("",) * 4),
            *(change.case, change.group, change.metric, change.platform_name, change.variant, change.kind),
            *(change.change, change.low, change.high, change.is_open, change.confirmed, change.accepted),
            change.reasons[0] if change.reasons else "",
        )


def _listed(
    change: PublishedChange,
    series: PublishedSeries,
    history: PublishedHistory,
    commits: Mapping[tuple[int, int], PublishedCommit],
) -> ListedChange:
    after, commit = (commits.get((change.history, position)) for position in (change.after, change.position))
    return ListedChange(
        **{name: getattr(series, name) for name in SeriesSubject.model_fields},
        **{name: getattr(change, name) for name in ReportedChange.model_fields},
        history=history.number,
        platform_name=history.platform_name,
        variant=history.variant,
        after=None if after is None else after.listed,
        commit=None if commit is None else commit.listed,
        commit_count=change.position - change.after,
        is_worse=change.is_worse,
        is_open=change.is_open,
    )
