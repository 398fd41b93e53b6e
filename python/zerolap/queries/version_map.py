"""What commands or cases have gained and lost from release to release, or since one of them."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from zerolap.judge import COUNTED, LogChange, change_between, mean_change, version_positions
from zerolap.queries.published_changes import (
    MOST_HISTORIES,
    ListedChange,
    listed_changes,
    unknown_history,
)
from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow
from zerolap.records import METRICS, ListedCommit, PublishedCommit, PublishedHistory, Record, UsageError
from zerolap.store import SeriesFilter, Store, VersionedSeries

MOST_SERIES: Final = 5_000
DIGITS: Final = 6
"""Decimal places of relative changes."""
MOST_ACCEPTED: Final = 100
MOST_VERSIONS: Final = 60
"""The most versions that are shown, the newest."""


class VersionParameters(Parameters):
    """Which history and metric, and how versions are compared."""

    history: Annotated[int | None, Field(description="A published history, by number; by default the newest.")] = None
    metric: Annotated[str, Field(max_length=100, description="The metric.")] = "instructions_per_op"
    since: Annotated[
        str | None, Field(max_length=100, description="The release that changes are since; by default the first.")
    ] = None
    against: Annotated[
        Literal["since", "before"], Field(description="Compare with the release `since`, or with the one before.")
    ] = "since"
    rows: Annotated[Literal["command", "case"], Field(description="A row for each command or case.")] = "command"


class MapRow(Record):
    """A command or case by columns, with an entry for each version.

    `changes` are the relative changes up to the version with their 95 % bounds `lows` and `highs`, null where it is not
    measured; each is the geometric mean over `measured` of the `cases`. What counting itself makes is 0.
    """

    name: str
    groups: tuple[str, ...]
    cases: tuple[str, ...]
    changes: tuple[float | None, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]
    measured: tuple[int, ...]


class VersionMap(Record):
    """The table; `since` is the index of the version that changes are since. `total` is the mean over all cases.

    `histories` are those with two releases or more, `metrics` those of the shown one. `versions_left_out` is how many
    older versions there are, `series_left_out` how many more cases. `accepted` are the largest accepted changes of the
    history and metric: the cells contain them.
    """

    histories: tuple[PublishedHistory, ...]
    history: PublishedHistory | None = None
    metrics: tuple[str, ...] = ()
    metric: str
    better: str | None = None
    versions: tuple[ListedCommit, ...] = ()
    since: int = 0
    rows: tuple[MapRow, ...] = ()
    total: MapRow | None = None
    versions_left_out: int = 0
    series_left_out: int = 0
    accepted: tuple[ListedChange, ...] = ()


class _ChangedSeries(NamedTuple):
    """A series with its change up to each version."""

    series: VersionedSeries
    changes: Sequence[LogChange | None]


def _read(sources: QuerySources, parameters: VersionParameters) -> VersionMap:
    store = sources.store
    with_releases = store.published_histories.release_counts()
    histories = [
        history
        for history in store.published_histories.histories(MOST_HISTORIES)
        if with_releases.get(history.number, 0) >= 2 or history.number == parameters.history
    ]
    listed = tuple(histories)
    history = _history(histories, parameters.history)
    if history is None:
        return VersionMap(histories=listed, metric=parameters.metric)
    series = store.published_histories.versions(history.number, parameters.metric, MOST_SERIES)
    commits, left_out = _versions(store, history, series)
    since = _since(commits, parameters.since)
    positions = [commit.position for commit in commits]
    changed = [_ChangedSeries(of, _changes(of, positions, since, parameters.against)) for of in series]
    which = SeriesFilter(histories=(history.number,), metrics=(parameters.metric,))
    named = METRICS.get(parameters.metric)
    return VersionMap(
        histories=listed,
        history=history,
        metrics=tuple(store.published_histories.metrics(history.number)),
        metric=parameters.metric,
        better=None if named is None else "less" if named.less_is_better else "more",
        versions=tuple(one.listed for one in commits),
        since=since,
        rows=tuple(_rows_of(changed, parameters.rows)),
        total=_row("all", changed) if changed else None,
        accepted=listed_changes(
            store,
            store.published_histories.accepted_changes(history.number, parameters.metric, MOST_ACCEPTED),
            {history.number: history},
        ),
        versions_left_out=left_out,
        series_left_out=max(0, store.published_histories.count(which) - MOST_SERIES),
    )


def _history(histories: Sequence[PublishedHistory], number: int | None) -> PublishedHistory | None:
    if number is None:
        return histories[0] if histories else None
    for history in histories:
        if history.number == number:
            return history
    raise unknown_history(number)


def _versions(
    store: Store, history: PublishedHistory, series: Sequence[VersionedSeries]
) -> tuple[list[PublishedCommit], int]:
    """Return the newest measured versions in order, and how many older ones there are."""
    measured = (point.position for of_one in series for point in of_one.versions)
    releases = {commit.position for commit in store.published_histories.tagged_commits(history.number)}
    wanted = version_positions(measured, releases)
    shown = wanted[-MOST_VERSIONS:]
    commits = store.published_histories.commits_at({(history.number, position) for position in shown})
    return [commits[history.number, position] for position in shown], len(wanted) - len(shown)


def _since(commits: Sequence[PublishedCommit], asked: str | None) -> int:
    """Return the index of a version, of the first one where none is asked for; raises `UsageError`."""
    if asked is None:
        return 0
    for index, commit in enumerate(commits):
        if commit.is_named(asked):
            return index
    raise UsageError(
        f"{asked} is none of the measured versions of this history", hint="leave it out, or choose another one"
    )


def _changes(
    series: VersionedSeries, positions: Sequence[int], since: int, against: Literal["since", "before"]
) -> list[LogChange | None]:
    """Return the change of a case up to each version."""
    by_position = {point.position: point for point in series.versions}
    points = [by_position.get(position) for position in positions]
    if against == "before":
        return [None, *(change_between(before, point, series.engine) for before, point in pairwise(points))]
    return [change_between(points[since], point, series.engine) for point in points]


def _rows_of(changed: Sequence[_ChangedSeries], rows: Literal["command", "case"]) -> Iterable[MapRow]:
    by_name: dict[str, list[_ChangedSeries]] = {}
    for of_one in changed:
        case, commands = of_one.series.case, of_one.series.commands
        by_name.setdefault(case if rows == "case" else " ".join(commands) or case, []).append(of_one)
    for name in sorted(by_name):
        yield _row(name, by_name[name])


def _row(name: str, changed: Sequence[_ChangedSeries]) -> MapRow:
    is_counted = all(of_one.series.engine == COUNTED for of_one in changed)
    columns = zip(*(of_one.changes for of_one in changed), strict=True)
    known = [[(1.0, change) for change in column if change is not None] for column in columns]
    means = [mean_change(changes, is_counted=is_counted) for changes in known]
    bounds = [None if mean is None else mean.bounded for mean in means]
    return MapRow(
        name=name,
        groups=tuple(sorted({of_one.series.group for of_one in changed})),
        cases=tuple(sorted(of_one.series.case for of_one in changed)),
        changes=tuple(None if of is None else 0.0 if of.is_flat else round(of.change, DIGITS) for of in bounds),
        lows=tuple(None if of is None else round(of.low, DIGITS) for of in bounds),
        highs=tuple(None if of is None else round(of.high, DIGITS) for of in bounds),
        measured=tuple(len(changes) for changes in known),
    )


def _table(answer: VersionMap) -> Iterable[TableRow]:
    yield ("row", "groups", "version", "commit", "change", "low", "high", "cases")
    for row in (*answer.rows, *(() if answer.total is None else (answer.total,))):
        columns = (answer.versions, row.changes, row.lows, row.highs, row.measured)
        for version, *cell in zip(*columns, strict=True):
            if cell[0] is not None:
                yield (row.name, " ".join(row.groups), version.name, version.commit, *cell)


VERSIONS: Final = PageQuery(
    name="versions",
    summary="What commands or cases have gained and lost from release to release",
    parameters=VersionParameters,
    result=VersionMap,
    read=_read,
    table=_table,
)
