"""What commands or cases have gained and lost from release to release, or since one of them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from zerolap.judge import EVENT
from zerolap.queries.kept_changes import MOST_HISTORIES, ListedHistory, listed_history
from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow
from zerolap.records import METRICS, Record, UsageError
from zerolap.store import KeptCommit, KeptHistory, KeptSeries, KeptVersion, SeriesFilter, Store

MOST_SERIES: Final = 5_000
MOST_VERSIONS: Final = 60
"""The newest ones are shown."""


class VersionParameters(Parameters):
    """Which history and metric, and how versions are compared."""

    history: Annotated[int | None, Field(description="A kept history, by number; by default the newest.")] = None
    metric: Annotated[str, Field(max_length=100, description="The metric.")] = "instructions_per_op"
    since: Annotated[
        str | None, Field(max_length=100, description="The release that changes are since; by default the first.")
    ] = None
    against: Annotated[
        Literal["since", "before"], Field(description="Compare with the release `since`, or with the one before.")
    ] = "since"
    rows: Annotated[Literal["command", "case"], Field(description="A row for each command or case.")] = "command"


class MapVersion(Record):
    """A column: a release, or the first or last commit of the range."""

    name: str
    commit: str
    time: str


class MapCell(Record):
    """The relative change up to a version with its 95 % bounds, of a case or the geometric mean of `cases`."""

    change: float
    low: float
    high: float
    cases: int


class MapRow(Record):
    """A command or case; `cells` has an entry for each version, null where it is not measured."""

    name: str
    groups: tuple[str, ...]
    cases: tuple[str, ...]
    cells: tuple[MapCell | None, ...]


class VersionMap(Record):
    """The table; `since` is the index of the version that changes are since. `total` is the mean over all cases.

    `histories` are those with two releases or more, `metrics` those of the shown one. `versions_left_out` is how many
    older versions there are, `series_left_out` how many more cases.
    """

    histories: tuple[ListedHistory, ...]
    history: ListedHistory | None = None
    metrics: tuple[str, ...] = ()
    metric: str
    better: str | None = None
    versions: tuple[MapVersion, ...] = ()
    since: int = 0
    rows: tuple[MapRow, ...] = ()
    total: MapRow | None = None
    versions_left_out: int = 0
    series_left_out: int = 0


class _Change(NamedTuple):
    """A change as a logarithm with half the width of its interval."""

    value: float
    half_width: float


def _read(sources: QuerySources, parameters: VersionParameters) -> VersionMap:
    store = sources.store
    with_releases = store.kept_histories.release_counts()
    histories = [
        history
        for history in store.kept_histories.histories(MOST_HISTORIES)
        if with_releases.get(history.number, 0) >= 2 or history.number == parameters.history
    ]
    listed = tuple(listed_history(history) for history in histories)
    history = _history(histories, parameters.history)
    if history is None:
        return VersionMap(histories=listed, metric=parameters.metric)
    which = SeriesFilter(histories=(history.number,), metrics=(parameters.metric,))
    series = [one for one in store.kept_histories.series(which, MOST_SERIES) if not one.is_imported]
    levels = store.kept_histories.versions(history.number, parameters.metric)
    commits, left_out = _versions(store, history, levels)
    since = _since(commits, parameters.since)
    changes = {one.number: _changes(one, levels.get(one.number, ()), commits, since, parameters) for one in series}
    named = METRICS.get(parameters.metric)
    return VersionMap(
        histories=listed,
        history=listed_history(history),
        metrics=tuple(store.kept_histories.metrics(history.number)),
        metric=parameters.metric,
        better=None if named is None else "less" if named.less_is_better else "more",
        versions=tuple(MapVersion(name=one.name, commit=one.commit, time=one.time) for one in commits),
        since=since,
        rows=tuple(_rows_of(series, changes, parameters.rows)),
        total=_row("all", series, changes) if series else None,
        versions_left_out=left_out,
        series_left_out=max(0, store.kept_histories.count(which) - MOST_SERIES),
    )


def _history(histories: Sequence[KeptHistory], number: int | None) -> KeptHistory | None:
    if number is None:
        return histories[0] if histories else None
    for history in histories:
        if history.number == number:
            return history
    raise UsageError(f"no history has the number {number}", hint="it was judged anew or removed: choose another one")


def _versions(
    store: Store, history: KeptHistory, levels: Mapping[int, Sequence[KeptVersion]]
) -> tuple[list[KeptCommit], int]:
    """Return the newest measured versions in order, and how many older ones there are."""
    measured = {version.position for versions in levels.values() for version in versions}
    ends = {min(measured), max(measured)} if measured else set()
    wanted = {commit.position for commit in store.kept_histories.tagged_commits(history.number)} & measured | ends
    shown = sorted(wanted)[-MOST_VERSIONS:]
    commits = store.kept_histories.commits_at({(history.number, position) for position in shown})
    return [commits[history.number, position] for position in shown], len(wanted) - len(shown)


def _since(commits: Sequence[KeptCommit], asked: str | None) -> int:
    for index, commit in enumerate(commits):
        if asked is not None and (asked in commit.tags or asked == commit.name):
            return index
    return 0


def _changes(
    series: KeptSeries,
    levels: Sequence[KeptVersion],
    commits: Sequence[KeptCommit],
    since: int,
    parameters: VersionParameters,
) -> list[_Change | None]:
    """Return the change of a case up to each version."""
    by_position = {version.position: version for version in levels}
    points = [by_position.get(commit.position) for commit in commits]
    changes: list[_Change | None] = []
    before: KeptVersion | None = None
    for point in points:
        base = points[since] if parameters.against == "since" else before
        changes.append(None if point is None or base is None else _change(base, point, series.engine == "counted"))
        before = point or before
    return changes


def _change(base: KeptVersion, point: KeptVersion, is_counted: bool) -> _Change | None:
    """Return the change from one point of a series to another; none where nothing joins them.

    The bounds of two levels of time are added as if they were independent, which is at most too wide.
    """
    if base.segment != point.segment:
        return None
    value = point.level - base.level
    if base.code == point.code:
        return _Change(value, 0.0)
    return _Change(value, EVENT if is_counted else math.hypot(base.half_width, point.half_width))


def _rows_of(
    series: Sequence[KeptSeries], changes: Mapping[int, Sequence[_Change | None]], rows: Literal["command", "case"]
) -> Iterable[MapRow]:
    by_name: dict[str, list[KeptSeries]] = {}
    for of_one in series:
        name = of_one.case if rows == "case" else " ".join(of_one.commands) or of_one.case
        by_name.setdefault(name, []).append(of_one)
    for name in sorted(by_name):
        yield _row(name, by_name[name], changes)


def _row(name: str, series: Sequence[KeptSeries], changes: Mapping[int, Sequence[_Change | None]]) -> MapRow:
    columns = zip(*(changes[of_one.number] for of_one in series), strict=True)
    is_counted = all(of_one.engine == "counted" for of_one in series)
    return MapRow(
        name=name,
        groups=tuple(sorted({of_one.group for of_one in series})),
        cases=tuple(sorted(of_one.case for of_one in series)),
        cells=tuple(_mean([change for change in column if change is not None], is_counted) for column in columns),
    )


def _mean(changes: Sequence[_Change], is_counted: bool) -> MapCell | None:
    """Return the geometric mean of changes; none without any.

    Cases are timed by starts of their own, with independent errors; the bound of counting is no random error.
    """
    if not changes:
        return None
    widths = [change.half_width for change in changes]
    mean = math.fsum(change.value for change in changes) / len(changes)
    width = (math.fsum(widths) if is_counted else math.hypot(*widths)) / len(changes)
    low, high = math.expm1(mean - width), math.expm1(mean + width)
    return MapCell(change=math.expm1(mean), low=low, high=high, cases=len(changes))


def _table(answer: VersionMap) -> Iterable[TableRow]:
    yield ("row", "groups", "version", "commit", "change", "low", "high", "cases")
    for row in (*answer.rows, *(() if answer.total is None else (answer.total,))):
        for version, cell in zip(answer.versions, row.cells, strict=True):
            if cell is not None:
                of_version = (version.name, version.commit)
                yield (row.name, " ".join(row.groups), *of_version, cell.change, cell.low, cell.high, cell.cases)


VERSIONS: Final = PageQuery(
    name="versions",
    summary="What commands or cases have gained and lost from release to release",
    parameters=VersionParameters,
    answer=VersionMap,
    read=_read,
    table=_table,
)
