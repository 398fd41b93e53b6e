"""Series over commits, for one chart: changes since a commit with their intervals, and the change points."""

import itertools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from zerolap.queries.published_changes import (
    MOST_HISTORIES,
    ListedChange,
    change_rows,
    listed_changes,
    unknown_history,
)
from zerolap.queries.query import Parameters, QuerySources, TableRow, page_query
from zerolap.records import (
    ListedCommit,
    PublishedCommit,
    PublishedHistory,
    PublishedSeries,
    Record,
    SeriesSubject,
    UsageError,
)
from zerolap.sheets import Table, platform_event, series_legend
from zerolap.store import PointColumns, SeriesFilter, Store

MOST_LINES: Final = 24
"""The most lines in one chart: more cannot be told apart."""
MOST_POINTS: Final = 2_000
"""The most points of a line."""
MOST_POINTS_OF_CHART: Final = 10_000
"""The most points of all lines together: the more lines, the fewer points each has."""
MOST_CHANGES: Final = 500
DIGITS: Final = 6
"""Decimal places of relative changes."""
DEFAULT_METRICS: Final = ("instructions_per_op",)

Names = Annotated[tuple[Annotated[str, Field(max_length=300)], ...], Field(max_length=100)]
CommitId = Annotated[str, Field(pattern=r"^[0-9a-f]{4,64}$")]


class SeriesParameters(Parameters):
    """Which series, and how much of them; each parameter of names may be repeated."""

    case: Annotated[Names, Field(description="Cases.")] = ()
    group: Annotated[Names, Field(description="All cases of these groups.")] = ()
    metric: Annotated[Names, Field(description="Metrics; by default instructions per request.")] = ()
    platform: Annotated[Names, Field(description="Platforms, by name or fingerprint; by default all.")] = ()
    variant: Annotated[Names, Field(description="Variants of the build; by default all.")] = ()
    history: Annotated[
        tuple[int, ...],
        Field(max_length=100, description="Published histories, by number; by default the newest of each platform."),
    ] = ()
    since: Annotated[CommitId | None, Field(description="Changes are since this commit, not the first one.")] = None
    first: Annotated[CommitId | None, Field(description="The first commit that is shown.")] = None
    last: Annotated[CommitId | None, Field(description="The last commit that is shown.")] = None
    pixels: Annotated[
        int, Field(ge=10, le=MOST_POINTS, description="The most points of a line; all lines have at most 10,000.")
    ] = 1_000


class ChartCommit(ListedCommit):
    """A commit with points; `index` is its index among all commits of the chart, in their order.

    `is_release` where a tag of a release names it.
    """

    index: int
    is_release: bool


class ChartLine(SeriesSubject):
    """A series by columns, each as long as `commits`, which are indices of the chart's commits.

    `least`, `most` and `counts` are empty where each point is of one commit.

    `changes` are relative to the commit that the chart begins at, with 95 % bounds `lows` and `highs`. Each point is
    the mean of `counts` points in a row up to its commit, of which `least` and `most` are the extremes. `values` are
    those of the metric itself at that commit, null for time. `base_index` is the index of the commit that changes are
    since, which need not be shown.
    """

    history: int
    labels: dict[str, str]
    point_count: int
    base_index: int
    commits: tuple[int, ...]
    changes: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    least: tuple[float, ...]
    most: tuple[float, ...]
    counts: tuple[int, ...]
    values: tuple[float | None, ...]


class PlatformStep(Record):
    """A step in the times of one build in nearly all cases, also in words: the platform changed."""

    history: int
    before: str
    since: str
    change: float
    facts_changed: bool
    text: str


class SeriesChart(Record):
    """Series for one chart.

    `left_out` is how many more series are asked for than are shown. `commits` are those of the points, changes and
    releases, in order; `total` is how many there are with those that are not shown. `legend` has a row for each line.
    `platform_steps` are those of the histories of which times are shown.
    """

    histories: tuple[PublishedHistory, ...]
    commits: tuple[ChartCommit, ...]
    total: int
    lines: tuple[ChartLine, ...]
    legend: Table
    change_points: tuple[ListedChange, ...]
    platform_steps: tuple[PlatformStep, ...]
    left_out: int


@dataclass(frozen=True)
class _Range:
    """The commits of a chart: the indices of the positions of each history, and the indices that are shown."""

    indices: Mapping[int, Sequence[int]]
    total: int
    first: int
    last: int
    since: int | None

    def positions(self) -> dict[int, tuple[int, int]]:
        """Return from which position to which each history is shown; a history that is not is left out."""
        shown = {
            history: [position for position, index in enumerate(indices) if self.first <= index <= self.last]
            for history, indices in self.indices.items()
        }
        return {history: (positions[0], positions[-1]) for history, positions in shown.items() if positions}


def _read(sources: QuerySources, parameters: SeriesParameters) -> SeriesChart:
    store = sources.store
    histories = _histories(store, parameters)
    lines, left_out = _chosen(store, parameters, histories)
    shown_histories = {
        number: history for number, history in histories.items() if number in {of.history for of in lines}
    }
    if not lines:
        nothing = Table(columns=[], rows=[])
        return SeriesChart(
            histories=(), commits=(), total=0, lines=(), legend=nothing, change_points=(), platform_steps=(), left_out=0
        )
    shown = _range(store, list(shown_histories), parameters)
    most_points = min(parameters.pixels, MOST_POINTS_OF_CHART // len(lines))
    points = store.published_histories.points([series.number for series in lines])
    drawn = {
        series.number: _drawn(points[series.number], shown.indices[series.history], shown, most_points)
        for series in lines
        if series.number in points
    }
    changes = store.published_histories.changes_of(list(drawn), MOST_CHANGES, shown.positions())
    wanted: dict[int, set[int]] = {number: set() for number in shown_histories}
    for series in lines:
        if series.number in drawn:
            wanted[series.history].update(drawn[series.number].indices)
    for change in changes:
        wanted[change.history].add(shown.indices[change.history][change.position])
    commits = _commits(store, shown, wanted)
    starts = _ledger_starts(store, lines)
    shown_lines = [series for series in lines if series.number in drawn]
    shown_at = {commit.index: at for at, commit in enumerate(commits)}
    return SeriesChart(
        histories=tuple(shown_histories.values()),
        commits=tuple(commits),
        total=shown.total,
        lines=tuple(_line(series, drawn[series.number], shown_at) for series in shown_lines),
        legend=series_legend(
            shown_lines,
            shown_histories,
            [drawn[series.number].end for series in shown_lines],
            [starts.get((series.history, series.ledger.since)) if series.ledger else None for series in shown_lines],
        ),
        change_points=listed_changes(store, changes, histories),
        # Work is counted: what the platform does to times says nothing of it.
        platform_steps=tuple(_platform_steps(store, {of.history for of in lines if of.engine == "timed"})),
        left_out=left_out,
    )


# Which series.


def _histories(store: Store, parameters: SeriesParameters) -> dict[int, PublishedHistory]:
    """Return the histories that may be meant, those judged last first; raises `UsageError` for a number of none."""
    known = {history.number: history for history in store.published_histories.histories(MOST_HISTORIES)}
    for number in parameters.history:
        if number not in known:
            raise unknown_history(number)
    return {
        number: history
        for number, history in known.items()
        if (not parameters.history or number in parameters.history)
        and (not parameters.variant or history.variant in parameters.variant)
        and (not parameters.platform or {history.platform, history.platform_name} & {*parameters.platform})
    }


def _chosen(
    store: Store, parameters: SeriesParameters, histories: Mapping[int, PublishedHistory]
) -> tuple[list[PublishedSeries], int]:
    """Return the series that are shown, and how many more there are.

    Where no history is named, each series is that of the newest history of its repository, variant, settings and
    platform: others are older judgements of the same commits, or of other ranges.
    """
    if not histories or not (parameters.case or parameters.group):
        return [], 0
    which = SeriesFilter(tuple(histories), parameters.case, parameters.metric or DEFAULT_METRICS, parameters.group)
    series = store.published_histories.series(which, MOST_LINES * (1 if parameters.history else 4))
    count = store.published_histories.count(which)
    if not parameters.history:
        newest = {number: rank for rank, number in enumerate(histories)}
        by_name: dict[tuple[object, ...], PublishedSeries] = {}
        for of_one in sorted(series, key=lambda of_one: newest[of_one.history], reverse=True):
            by_name[_name(of_one, histories[of_one.history])] = of_one
        count -= len(series) - len(by_name)
        series = sorted(by_name.values(), key=lambda of_one: (of_one.case, of_one.metric, of_one.history))
    return series[:MOST_LINES], max(0, count - MOST_LINES)


def _name(series: PublishedSeries, history: PublishedHistory) -> tuple[object, ...]:
    """Return what tells a series from others but for the range of its history."""
    config, labels = (tuple(sorted(fields.items())) for fields in (history.config, series.labels))
    of_history = (history.repository, history.variant, config, history.platform)
    return (*of_history, series.case, series.metric, series.engine, series.topology, series.source, labels)


# Commits.


def _range(store: Store, histories: Sequence[int], parameters: SeriesParameters) -> _Range:
    """Return the commits of histories in one order: that of the history, of several that of their times.

    Raises `UsageError` for a commit that none of them has.
    """
    orders = {number: store.published_histories.order(number) for number in histories}
    if len(orders) == 1:
        ordered = [commit for commit, _ in next(iter(orders.values()))]
    else:
        times = {commit: time for order in orders.values() for commit, time in order}
        # Sorting is stable: commits of the same second stay in the order of their history.
        ordered = sorted(times, key=lambda commit: times[commit])
    indices = {commit: index for index, commit in enumerate(ordered)}

    first, last = (None if end is None else _number_of(end, ordered) for end in (parameters.first, parameters.last))
    begin, end = sorted((0 if first is None else first, len(ordered) - 1 if last is None else last))
    return _Range(
        {number: [indices[commit] for commit, _ in order] for number, order in orders.items()},
        len(ordered),
        begin,
        end,
        None if parameters.since is None else _number_of(parameters.since, ordered),
    )


def _number_of(begin: str, ordered: Sequence[str]) -> int:
    """Return the number of the commit whose id begins so; raises `UsageError` for none and for several."""
    indices = [index for index, commit in enumerate(ordered) if commit.startswith(begin)]
    if not indices:
        raise UsageError(
            f"no history of these series has the commit {begin}", hint="leave it out, or choose another one"
        )
    if len(indices) > 1:
        raise UsageError(f"{len(indices)} commits of these series begin with {begin}", hint="give more of the id")
    return indices[0]


def _commits(store: Store, shown: _Range, wanted: Mapping[int, set[int]]) -> list[ChartCommit]:
    """Return the commits at the wanted indices of each history, and the releases that are shown, in order."""
    commits: dict[int, PublishedCommit] = {}
    for number, indices in shown.indices.items():
        # Histories of one repository have the same commits: each is read of one of them.
        missing = wanted[number] - commits.keys()
        positions = {(number, position) for position, index in enumerate(indices) if index in missing}
        tagged = [
            commit
            for commit in store.published_histories.tagged_commits(number)
            if shown.first <= indices[commit.position] <= shown.last
        ]
        for commit in (*store.published_histories.commits_at(positions).values(), *tagged):
            commits[indices[commit.position]] = commit
    return [
        ChartCommit(**dict(commit.listed), index=index, is_release=bool(commit.tags))
        for index, commit in sorted(commits.items())
    ]


# Points.


@dataclass(frozen=True)
class _Drawn:
    """The points of a series that are drawn, each of one commit or more in a row, at the index of the last of them.

    Changes and their bounds are relative to the commit at `base`; `least`, `most` and `counts` are empty where each
    point is of one commit. `values` are those of the last commits.
    """

    base: int
    indices: Sequence[int] = ()
    changes: Sequence[float] = ()
    lows: Sequence[float] = ()
    highs: Sequence[float] = ()
    least: Sequence[float] = ()
    most: Sequence[float] = ()
    counts: Sequence[int] = ()
    values: Sequence[float | None] = ()

    @property
    def end(self) -> tuple[float, float, float]:
        """The change up to the last point, with its bounds; undefined without any point."""
        columns = (self.changes, self.lows, self.highs)
        change, low, high = (column[-1] if column else math.nan for column in columns)
        return change, low, high


def _drawn(points: PointColumns, indices: Sequence[int], shown: _Range, pixels: int) -> _Drawn:
    """Return what is drawn of a series, whose positions have these indices in the chart."""
    of_chart = [indices[position] for position in points.positions]
    order = sorted(range(len(of_chart)), key=of_chart.__getitem__)
    ordered = [of_chart[index] for index in order]
    base = 0 if shown.since is None else max(0, bisect_right(ordered, shown.since) - 1)
    within = order[bisect_left(ordered, shown.first) : bisect_right(ordered, shown.last)]
    level = points.levels[order[base]]
    changes = [points.levels[index] - level for index in within]
    widths = _half_widths(points, within, order[base], is_first=base == 0)
    values = [points.values[index] for index in within]
    size = max(1, math.ceil(len(within) / pixels))
    if size == 1:
        lows, highs = _bounds(changes, widths)
        return _Drawn(
            ordered[base], [of_chart[index] for index in within], _relative(changes), lows, highs, values=values
        )
    parts = [slice(first, first + size) for first in range(0, len(within), size)]
    counts = [len(changes[part]) for part in parts]
    means = [math.fsum(changes[part]) / count for part, count in zip(parts, counts, strict=True)]
    lows, highs = _bounds(
        means, [math.fsum(widths[part]) / count for part, count in zip(parts, counts, strict=True)] if widths else ()
    )
    return _Drawn(
        base=ordered[base],
        indices=[of_chart[within[part][-1]] for part in parts],
        changes=_relative(means),
        lows=lows,
        highs=highs,
        least=_relative([min(changes[part]) for part in parts]),
        most=_relative([max(changes[part]) for part in parts]),
        counts=counts,
        values=[values[part][-1] for part in parts],
    )


def _half_widths(points: PointColumns, within: Sequence[int], base: int, *, is_first: bool) -> Sequence[float]:
    """Return half the widths of the intervals of changes since a point; none where all are exact.

    Bounds of levels are those of the change since the first point of the series. Of the change between two others they
    are added as independent errors, which is at most too wide.
    """
    if points.lows == points.highs:
        return ()
    code = list(itertools.accumulate(not is_same for is_same in points.same_code))
    own = (points.highs[base] - points.lows[base]) / 2
    widths = [(points.highs[index] - points.lows[index]) / 2 for index in within]
    return [
        0.0 if code[index] == code[base] else width if is_first else math.hypot(width, own)
        for index, width in zip(within, widths, strict=True)
    ]


def _bounds(changes: Sequence[float], widths: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
    """Return the bounds of changes; these themselves where all are exact."""
    if not widths:
        return (_relative(changes),) * 2
    pairs = list(zip(changes, widths, strict=True))
    return _relative([change - width for change, width in pairs]), _relative(
        [change + width for change, width in pairs]
    )


def _relative(log_changes: Sequence[float]) -> Sequence[float]:
    return [round(math.expm1(change), DIGITS) for change in log_changes]


def _line(series: PublishedSeries, drawn: _Drawn, shown_at: Mapping[int, int]) -> ChartLine:
    return ChartLine.taken_from(
        drawn,
        series,
        base_index=drawn.base,
        commits=tuple(shown_at[index] for index in drawn.indices),
        values=tuple(None if value is None else float(f"{value:.7g}") for value in drawn.values),
    )


def _ledger_starts(store: Store, lines: Sequence[PublishedSeries]) -> dict[tuple[int, int], str]:
    """Return the names of the commits that ledgers begin at, by history and position."""
    starts = {(series.history, series.ledger.since) for series in lines if series.ledger is not None}
    return {at: commit.name for at, commit in store.published_histories.commits_at(starts).items()}


def _platform_steps(store: Store, histories: Collection[int]) -> Iterable[PlatformStep]:
    for number, events in store.published_histories.platform_events(histories).items():
        for event in events:
            yield PlatformStep(
                history=number,
                before=event.before,
                since=event.since,
                change=event.change,
                facts_changed=event.facts_changed,
                text=platform_event(event),
            )


def _rows(answer: SeriesChart) -> Iterable[TableRow]:
    yield (
        *("commit", "time", "release", "case", "group", "metric", "platform", "variant"),
        *("change", "low", "high", "least", "most", "points", "value"),
    )
    histories = {history.number: history for history in answer.histories}
    for line in answer.lines:
        history = histories[line.history]
        least, most = line.least or line.changes, line.most or line.changes
        counts = line.counts or (1,) * len(line.commits)
        columns = (line.commits, line.changes, line.lows, line.highs, least, most, counts, line.values)
        for at, *numbers in zip(*columns, strict=True):
            commit = answer.commits[at]
            release = commit.name if commit.is_release else ""
            yield (
                *(commit.commit, commit.time, release, line.case, line.group, line.metric),
                *(history.platform_name, history.variant, *numbers),
            )


SERIES: Final = page_query(
    _read,
    "series",
    "Series over commits: changes since a commit with their bounds, at most 2,000 points a series",
    table=_rows,
)


def _change_rows(answer: SeriesChart) -> Iterable[TableRow]:
    return change_rows(answer.change_points)


CHANGE_POINTS: Final = page_query(
    _read, "series-changes", "The change points of series over commits", table=_change_rows
)
