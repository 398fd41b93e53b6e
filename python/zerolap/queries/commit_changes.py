"""What a commit did: to each group of cases, and which cases have a step there."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final

from pydantic import Field

from zerolap.queries.kept_changes import (
    MOST_HISTORIES,
    ListedChange,
    ListedCommit,
    ListedHistory,
    change_rows,
    listed_changes,
    listed_commit,
    listed_history,
)
from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow
from zerolap.records import Record, UsageError
from zerolap.store import KeptCommit, KeptHistory, KeptPoints, KeptSeries, SeriesFilter, Store

MOST_OF_COMMIT: Final = 20
"""Histories that one commit is shown in."""
MOST_POINTS_READ: Final = 100_000
MOST_SERIES: Final = 1_000
MOST_STEPS: Final = 300
METRICS_OF_GROUPS: Final = ("instructions_per_op", "cpu_ns_per_op")


class CommitParameters(Parameters):
    """Which commit."""

    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{4,64}$", description="The beginning of its id.")]


class GroupChange(Record):
    """What a commit did to a metric of a group of cases, beside the commit before it that is measured.

    Of `cases` that are measured there, `identical` execute the same. `change` is the geometric mean of their changes,
    `least` and `most` are the extremes, with the cases that have them.
    """

    group: str
    metric: str
    cases: int
    identical: int
    change: float
    least: float
    least_case: str
    most: float
    most_case: str


class CommitInHistory(Record):
    """A commit in a history.

    `is_same_program`: its program is that of the commit before. `after` is the one before it, null for the first.
    `series_left_out` are series of which the groups hold nothing, as there are too many points.
    """

    history: ListedHistory
    after: ListedCommit | None
    failure: str | None
    is_built: bool
    is_same_program: bool
    measured: int
    changed: int
    groups: tuple[GroupChange, ...]
    steps: tuple[ListedChange, ...]
    series_left_out: int


class CommitChanges(Record):
    """A commit in the histories that have it, those judged last first."""

    commit: ListedCommit
    tags: tuple[str, ...]
    histories: tuple[CommitInHistory, ...]


def _read(sources: QuerySources, parameters: CommitParameters) -> CommitChanges:
    store = sources.store
    known = {history.number: history for history in store.kept_histories.histories(MOST_HISTORIES)}
    commits = store.kept_histories.commits_named(parameters.commit, MOST_OF_COMMIT)
    commits = [commit for commit in commits if commit.history in known and commit.commit == commits[0].commit]
    if not commits:
        raise UsageError(f"no history has the commit {parameters.commit}", hint="`zerolap history` keeps histories")
    listed = listed_commit(commits[0])
    assert listed is not None
    return CommitChanges(
        commit=listed,
        tags=commits[0].tags,
        histories=tuple(_in_history(store, commit, known) for commit in commits),
    )


def _in_history(store: Store, commit: KeptCommit, histories: Mapping[int, KeptHistory]) -> CommitInHistory:
    number, position = commit.history, commit.position
    before = store.kept_histories.commits_at({(number, position - 1)}).get((number, position - 1))
    which = SeriesFilter(histories=(number,), metrics=METRICS_OF_GROUPS)
    series = [one for one in store.kept_histories.series(which, MOST_SERIES) if not one.is_imported]
    read = [
        of_one
        for of_one, total in zip(series, itertools.accumulate(one.point_count for one in series), strict=True)
        if total <= MOST_POINTS_READ
    ]
    points = store.kept_histories.points([of_one.number for of_one in read])
    steps = store.kept_histories.changes_at(number, position, position, MOST_STEPS)
    return CommitInHistory(
        history=listed_history(histories[number]),
        after=listed_commit(before),
        failure=commit.failure,
        is_built=commit.node is not None,
        is_same_program=before is not None and commit.node is not None and commit.node == before.node,
        measured=commit.measured,
        changed=commit.changed,
        groups=tuple(_groups(read, points, position)),
        steps=listed_changes(store, steps, histories),
        series_left_out=max(0, store.kept_histories.count(which) - len(read)),
    )


def _groups(series: Sequence[KeptSeries], points: Mapping[int, KeptPoints], position: int) -> Iterable[GroupChange]:
    by_group: dict[tuple[str, str], list[tuple[float, str, bool]]] = {}
    for of_one in series:
        step = _step(points[of_one.number], position) if of_one.number in points else None
        if step is not None:
            by_group.setdefault((of_one.group, of_one.metric), []).append((step[0], of_one.case, step[1]))
    for (group, metric), steps in sorted(by_group.items()):
        (least, least_case, _), (most, most_case, _) = min(steps), max(steps)
        yield GroupChange(
            group=group,
            metric=metric,
            cases=len(steps),
            identical=sum(is_same for _, _, is_same in steps),
            change=math.expm1(math.fsum(change for change, _, _ in steps) / len(steps)),
            least=math.expm1(least),
            least_case=least_case,
            most=math.expm1(most),
            most_case=most_case,
        )


def _step(points: KeptPoints, position: int) -> tuple[float, bool] | None:
    """Return the step of a series to a position as a logarithm, and whether the case executes the same there."""
    try:
        at = points.positions.index(position)
    except ValueError:
        return None
    return None if at == 0 else (points.levels[at] - points.levels[at - 1], points.same_code[at])


def _rows(answer: CommitChanges) -> Iterable[TableRow]:
    return change_rows(step for history in answer.histories for step in history.steps)


COMMIT: Final = PageQuery(
    name="commit",
    summary="What a commit did to each group of cases, and which cases have a step there",
    parameters=CommitParameters,
    answer=CommitChanges,
    read=_read,
    table=_rows,
)
