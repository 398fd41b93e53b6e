"""Histories as they were judged last, for pages, which have neither the repository nor the time to judge them."""

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, delete, func, insert, select

from zerolap.records import (
    History,
    HistoryChange,
    HistoryCommit,
    HistoryLedger,
    HistoryPoint,
    HistorySeries,
    PlatformEvent,
    read_stored,
)
from zerolap.store.database import Database, insert_new
from zerolap.store.tables import kept_change, kept_commit, kept_history, kept_series

DIGITS: Final = 9
"""Of levels, after the point: a counted change is stated to 0.01 %."""
LONGEST_TEXT: Final = 1000
"""Characters of a subject, a failure or a reason, which others have written."""
ROWS_AT_ONCE: Final = 500
METRICS_OF_GROUPS: Final = ("instructions_per_op", "cpu_ns_per_op")
"""What a commit did to groups of cases is kept of these."""
IDENTITY: Final = ("repository", "range", "variant", "config", "platform")
"""The columns that tell a kept history from others."""


@dataclass(frozen=True)
class KeptHistory:
    """A history in short; `platform` is a fingerprint, `created` is when it was judged (ISO 8601)."""

    number: int
    repository: str
    range: str
    variant: str
    config: Mapping[str, str]
    platform: str
    platform_name: str
    created: str


@dataclass(frozen=True)
class KeptCommit:
    """A commit of a kept history.

    `node` is equal for commits of the same program, null where it is not built. `measured` counts the series with a
    point there, `changed` those of them that execute something else than at the point before.
    """

    history: int
    position: int
    commit: str
    time: str
    subject: str
    tags: tuple[str, ...]
    node: int | None
    failure: str | None
    measured: int
    changed: int

    @property
    def name(self) -> str:
        """The first tag, or the beginning of the commit's id."""
        return HistoryCommit(commit=self.commit, time=self.time, subject="", tags=self.tags).name


@dataclass(frozen=True)
class KeptSeries:
    """A series in short; `change` is the relative change from its first point to its last, with bounds by 95 %."""

    number: int
    history: int
    case: str
    group: str
    commands: tuple[str, ...]
    metric: str
    engine: str
    topology: str
    better: str | None
    is_imported: bool
    source: str
    labels: Mapping[str, str]
    point_count: int
    change: float
    low: float
    high: float
    ledger: HistoryLedger | None


@dataclass(frozen=True)
class GroupChange:
    """What a commit did to a metric of a group of cases, beside the point before it of each case.

    Of `cases` that are measured there, `identical` execute the same. The others are logarithms: the mean over the
    cases, and the extremes with the cases that have them.
    """

    group: str
    metric: str
    cases: int
    identical: int
    mean: float
    least: float
    least_case: str
    most: float
    most_case: str


@dataclass(frozen=True)
class NamedSeries:
    """What a series is of."""

    history: int
    case: str
    group: str
    commands: tuple[str, ...]
    metric: str


@dataclass(frozen=True)
class KeptPoints:
    """The points of a series by columns, as `HistoryPoint` has them; all columns are equally long."""

    positions: Sequence[int]
    levels: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    values: Sequence[float | None]
    same_code: Sequence[bool]


KeptVersion = tuple[int, float, float, int, int]
"""A point of a series at a release or one of its ends: position, level, half the width of its interval, segment, code.

Changes between points of one segment are known; code is equal for points between which the case executes the same.
"""


@dataclass(frozen=True)
class VersionedSeries:
    """A series at releases and at both of its ends."""

    case: str
    group: str
    commands: tuple[str, ...]
    engine: str
    versions: Sequence[KeptVersion]


@dataclass(frozen=True)
class KeptChange:
    """A change of a series; `after` and `position` are those of commits in its history, `commit` is the later one.

    `is_open`: it is a confirmed change for the worse that is neither accepted nor made good.
    """

    series: int
    history: int
    id: str
    kind: str
    after: int
    position: int
    commit: str
    change: float
    low: float
    high: float
    p: float | None
    confirmed: bool
    is_worse: bool
    is_open: bool
    comparison: str | None
    accepted: str | None
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class SeriesFilter:
    """Which series are meant: each that has one of the values of every field that is not empty."""

    histories: Collection[int] = ()
    cases: Collection[str] = ()
    metrics: Collection[str] = ()
    groups: Collection[str] = ()


OF_COMMIT: Final = tuple(column for column in kept_commit.c if column.name != "groups")
"""What is read of a commit."""


_GroupSteps = dict[tuple[str, str], list[tuple[float, str, bool]]]
"""By group and metric: the step of each case as a logarithm, the case, and whether it executes the same."""


@dataclass(frozen=True)
class _Judged:
    """A series with the changes of it that are open, by kind and id, and the commands that its case sends."""

    series: HistorySeries
    open_changes: frozenset[tuple[str, str]]
    commands: Sequence[str]

    @property
    def identity(self) -> tuple[str, ...]:
        """What tells it from the others of its history."""
        series = self.series
        return (series.case, series.metric, series.engine, series.topology, series.source, _json(series.labels))


class KeptHistories:
    """Keeps the newest judgement of each history; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, history: History, still_open: History, commands: Mapping[str, Sequence[str]]) -> None:
        """Keep a history instead of the one of the same repository, range, variant, settings and platform.

        `still_open` is the same history with its open changes only. `commands` are those that each of the judged cases
        sends: series of other cases stay, at the commits that both histories have.
        """
        judged = [
            _Judged(
                series, frozenset((change.kind, change.id) for change in opened.changes), commands.get(series.case, ())
            )
            for series, opened in zip(history.series, still_open.series, strict=True)
            if series.points
        ]
        with self._database.writing() as connection:
            number = _claimed(connection, history)
            judged += _staying(connection, number, history, commands, {of_one.identity for of_one in judged})
            for table in (kept_change, kept_series, kept_commit):
                connection.execute(delete(table).where(table.c.history == number))
            _insert_commits(connection, number, history.commits, judged)
            for of_one in judged:
                _insert_series(connection, number, history.commits, of_one)

    def remove(self, number: int) -> None:
        """Remove a kept history with all that belongs to it."""
        with self._database.writing() as connection:
            connection.execute(delete(kept_history).where(kept_history.c.number == number))

    def histories(self, limit: int) -> list[KeptHistory]:
        """Return the kept histories, those judged last first."""
        columns = [column for column in kept_history.c if column.name not in ("platform_events", "notes")]
        statement = select(*columns).order_by(kept_history.c.created.desc(), kept_history.c.number.desc()).limit(limit)
        with self._database.reading() as connection:
            return [
                KeptHistory(**{**row._mapping, "config": json.loads(row.config)})
                for row in connection.execute(statement)
            ]

    def platform_events(self, histories: Collection[int]) -> dict[int, list[PlatformEvent]]:
        """Return the events of the platforms of histories, by their numbers."""
        statement = select(kept_history.c.number, kept_history.c.platform_events)
        with self._database.reading() as connection:
            return {
                row.number: [
                    read_stored(PlatformEvent, event, "an event of a platform")
                    for event in json.loads(row.platform_events)
                ]
                for row in connection.execute(statement.where(kept_history.c.number.in_(histories)))
            }

    def release_counts(self) -> dict[int, int]:
        """Return how many commits of each history are releases, by its number."""
        statement = select(kept_commit.c.history, func.count().label("releases")).where(kept_commit.c.tags != "[]")
        with self._database.reading() as connection:
            rows = connection.execute(statement.group_by(kept_commit.c.history))
            return {row.history: row.releases for row in rows}

    def metrics(self, history: int) -> list[str]:
        """Return the metrics that the lab's own series of a history have."""
        is_meant = (kept_series.c.history == history, ~kept_series.c.is_imported)
        statement = select(kept_series.c.metric).where(*is_meant).distinct().order_by(kept_series.c.metric)
        with self._database.reading() as connection:
            return list(connection.execute(statement).scalars())

    # Commits.

    def group_changes(self, history: int, position: int) -> list[GroupChange]:
        """Return what a commit did to each group of cases, by group and metric."""
        is_meant = (kept_commit.c.history == history, kept_commit.c.position == position)
        with self._database.reading() as connection:
            groups = connection.execute(select(kept_commit.c.groups).where(*is_meant)).scalar()
            return [GroupChange(*group) for group in json.loads(groups or "[]")]

    def order(self, history: int) -> list[tuple[str, str]]:
        """Return the id and the time of each commit of a history, in its order."""
        columns = (kept_commit.c.commit, kept_commit.c.time)
        statement = select(*columns).where(kept_commit.c.history == history).order_by(kept_commit.c.position)
        with self._database.reading() as connection:
            return [(row.commit, row.time) for row in connection.execute(statement)]

    def newest_commits(self, history: int, count: int) -> list[KeptCommit]:
        """Return the last commits of a history, in its order."""
        statement = select(*OF_COMMIT).where(kept_commit.c.history == history)
        return self._commits(statement.order_by(kept_commit.c.position.desc()).limit(count))[::-1]

    def tagged_commits(self, history: int) -> list[KeptCommit]:
        """Return the releases of a history, in its order."""
        statement = select(*OF_COMMIT).where(kept_commit.c.history == history, kept_commit.c.tags != "[]")
        return self._commits(statement.order_by(kept_commit.c.position))

    def commits_at(self, positions: Collection[tuple[int, int]]) -> dict[tuple[int, int], KeptCommit]:
        """Return the commits at positions, each of which is the number of a history and a position in it."""
        by_history: dict[int, list[int]] = {}
        for history, position in positions:
            by_history.setdefault(history, []).append(position)
        commits: dict[tuple[int, int], KeptCommit] = {}
        for history, wanted in by_history.items():
            for part in _parts(sorted(wanted)):
                is_meant = (kept_commit.c.history == history, kept_commit.c.position.in_(part))
                of_part = self._commits(select(*OF_COMMIT).where(*is_meant))
                commits |= {(history, commit.position): commit for commit in of_part}
        return commits

    def commits_named(self, begin: str, limit: int) -> list[KeptCommit]:
        """Return the commits of all histories whose ids begin so, those of the newest histories first."""
        after = begin[:-1] + chr(ord(begin[-1]) + 1)
        statement = select(*OF_COMMIT).where(kept_commit.c.commit >= begin, kept_commit.c.commit < after)
        return self._commits(statement.order_by(kept_commit.c.history.desc()).limit(limit))

    def _commits(self, statement: Select[Any]) -> list[KeptCommit]:
        with self._database.reading() as connection:
            return [
                KeptCommit(**{**row._mapping, "tags": tuple(json.loads(row.tags))})
                for row in connection.execute(statement)
            ]

    # Series.

    def series(self, which: SeriesFilter, limit: int) -> list[KeptSeries]:
        """Return series in short, by case, metric and history."""
        columns = [column for column in kept_series.c if column.name not in ("points", "versions")]
        ordered = (kept_series.c.case, kept_series.c.metric, kept_series.c.history, kept_series.c.number)
        statement = _restricted(select(*columns), which).order_by(*ordered).limit(limit)
        with self._database.reading() as connection:
            return [_kept_series(row) for row in connection.execute(statement)]

    def names(self, limit: int) -> list[NamedSeries]:
        """Return what all series are of, by case and metric."""
        columns = [kept_series.c[name] for name in ("history", "case", "group", "commands", "metric")]
        ordered = (kept_series.c.case, kept_series.c.metric, kept_series.c.history)
        statement = select(*columns).order_by(*ordered).limit(limit)
        with self._database.reading() as connection:
            return [
                NamedSeries(row.history, row.case, row.group, tuple(json.loads(row.commands)), row.metric)
                for row in connection.execute(statement)
            ]

    def count(self, which: SeriesFilter) -> int:
        """Return how many series there are."""
        with self._database.reading() as connection:
            return int(connection.execute(_restricted(select(func.count(kept_series.c.number)), which)).scalar_one())

    def series_numbered(self, numbers: Collection[int]) -> dict[int, KeptSeries]:
        """Return series in short, by their numbers."""
        columns = [column for column in kept_series.c if column.name not in ("points", "versions")]
        with self._database.reading() as connection:
            return {
                row.number: _kept_series(row)
                for part in _parts(sorted(numbers))
                for row in connection.execute(select(*columns).where(kept_series.c.number.in_(part)))
            }

    def points(self, numbers: Collection[int]) -> dict[int, KeptPoints]:
        """Return all points of series, by the numbers of the series."""
        statement = select(kept_series.c.number, kept_series.c.points).where(kept_series.c.number.in_(numbers))
        with self._database.reading() as connection:
            return {row.number: _points(row.points) for row in connection.execute(statement)}

    def versions(self, history: int, metric: str, limit: int) -> list[VersionedSeries]:
        """Return the points of the series of a metric at releases and at both ends, by case."""
        names = ("case", "group", "commands", "engine", "versions")
        statement = (
            select(*(kept_series.c[name] for name in names))
            .where(kept_series.c.history == history, kept_series.c.metric == metric, ~kept_series.c.is_imported)
            .order_by(kept_series.c.case, kept_series.c.number)
            .limit(limit)
        )
        with self._database.reading() as connection:
            return [
                VersionedSeries(
                    row.case,
                    row.group,
                    tuple(json.loads(row.commands)),
                    row.engine,
                    json.loads(row.versions),
                )
                for row in connection.execute(statement)
            ]

    # Changes.

    def changes_of(self, series: Collection[int], limit: int) -> list[KeptChange]:
        """Return the changes of series in the order of their commits."""
        statement = select(kept_change).where(kept_change.c.series.in_(series))
        return self._changes(statement.order_by(kept_change.c.position, kept_change.c.number).limit(limit))

    def open_changes(self, limit: int) -> list[KeptChange]:
        """Return the open changes of all histories, the largest first."""
        return self._changes(
            select(kept_change)
            .where(kept_change.c.is_open)
            .order_by(func.abs(kept_change.c.change).desc(), kept_change.c.number)
            .limit(limit)
        )

    def open_count(self) -> int:
        """Return how many changes are open."""
        statement = select(func.count()).select_from(kept_change).where(kept_change.c.is_open)
        with self._database.reading() as connection:
            return int(connection.execute(statement).scalar_one())

    def changes_at(self, history: int, first: int, last: int, limit: int) -> list[KeptChange]:
        """Return the steps of a history at its commits from one position to another, the largest first."""
        return self._changes(
            select(kept_change)
            .where(
                kept_change.c.history == history,
                kept_change.c.position.between(first, last),
                kept_change.c.kind == "step",
            )
            .order_by(func.abs(kept_change.c.change).desc(), kept_change.c.number)
            .limit(limit)
        )

    def _changes(self, statement: Select[Any]) -> list[KeptChange]:
        with self._database.reading() as connection:
            return [_kept_change(row) for row in connection.execute(statement)]


# Writing.


def _claimed(connection: Connection, history: History) -> int:
    """Return the number of a history's row with what it holds now; others wait for it until the transaction ends."""
    content = {
        "platform_name": history.platform.name,
        "created": history.created,
        "platform_events": json.dumps([event.model_dump() for event in history.platform_events]),
        "notes": json.dumps(history.notes),
    }
    key = dict(
        zip(
            IDENTITY,
            (history.repository, history.range, history.variant, _json(history.config), history.platform.fingerprint),
            strict=True,
        )
    )
    connection.execute(insert_new(connection, kept_history).values(**key, **content))
    is_meant = [kept_history.c[name] == value for name, value in key.items()]
    connection.execute(kept_history.update().where(*is_meant).values(**content))
    return int(connection.execute(select(kept_history.c.number).where(*is_meant)).scalar_one())


def _staying(
    connection: Connection,
    number: int,
    history: History,
    judged_cases: Collection[str],
    judged: Collection[tuple[str, ...]],
) -> list[_Judged]:
    """Return the kept series of other cases, at the positions that their commits have in the history now."""
    new = {commit.commit: position for position, commit in enumerate(history.commits)}
    commits = select(kept_commit.c.position, kept_commit.c.commit).where(kept_commit.c.history == number)
    moved = {row.position: new[row.commit] for row in connection.execute(commits) if row.commit in new}
    staying = []
    for row in connection.execute(select(kept_series).where(kept_series.c.history == number)).all():
        if row.case in judged_cases and not row.is_imported:
            continue
        of_one = _moved(connection, row, moved)
        if of_one.series.points and of_one.identity not in judged:
            staying.append(of_one)
    return staying


def _moved(connection: Connection, row: Row[Any], moved: Mapping[int, int]) -> _Judged:
    """Return a kept series at other positions, without what is at none of them."""
    short, points = _kept_series(row), _points(row.points)
    columns = zip(
        *(points.positions, points.levels, points.lows, points.highs, points.values, points.same_code), strict=True
    )
    statement = select(kept_change).where(kept_change.c.series == short.number).order_by(kept_change.c.number)
    changes = [_kept_change(of_change) for of_change in connection.execute(statement)]
    changes = [change for change in changes if change.after in moved and change.position in moved]
    ledger = short.ledger
    is_moved = ledger is not None and ledger.since in moved
    series = HistorySeries.model_validate(
        {
            **{name: getattr(row, name) for name in ("case", "group", "metric", "engine", "topology", "better")},
            **{"is_imported": row.is_imported, "source": row.source, "labels": short.labels},
            "points": sorted(
                (
                    HistoryPoint(
                        position=moved[position], level=level, low=low, high=high, value=value, same_code=same_code
                    )
                    for position, level, low, high, value, same_code in columns
                    if position in moved
                ),
                key=lambda point: point.position,
            ),
            "changes": [_history_change(change, moved) for change in changes],
            "ledger": ledger.model_copy(update={"since": moved[ledger.since]}) if ledger and is_moved else None,
        }
    )
    return _Judged(series, frozenset((change.kind, change.id) for change in changes if change.is_open), short.commands)


def _history_change(change: KeptChange, moved: Mapping[int, int]) -> dict[str, Any]:
    """Return the fields of a change at other positions."""
    names = HistoryChange.model_fields.keys() - {"after", "position"}
    fields = {name: getattr(change, name) for name in names}
    return {**fields, "after": moved[change.after], "position": moved[change.position]}


def _insert_commits(
    connection: Connection, number: int, commits: Sequence[HistoryCommit], judged: Iterable[_Judged]
) -> None:
    measured, changed = [0] * len(commits), [0] * len(commits)
    steps: list[_GroupSteps] = [{} for _ in commits]
    for of_one in judged:
        if of_one.series.is_imported:
            continue
        key = (of_one.series.group, of_one.series.metric)
        before: HistoryPoint | None = None
        for point in of_one.series.points:
            measured[point.position] += 1
            if before is not None:
                changed[point.position] += not point.same_code
                if of_one.series.metric in METRICS_OF_GROUPS:
                    step = (point.level - before.level, of_one.series.case, point.same_code)
                    steps[point.position].setdefault(key, []).append(step)
            before = point
    rows = [
        {
            "history": number,
            "position": position,
            "commit": commit.commit,
            "time": commit.time,
            "subject": commit.subject[:LONGEST_TEXT],
            "tags": json.dumps(commit.tags),
            "node": commit.node,
            "failure": commit.failure and commit.failure[:LONGEST_TEXT],
            "measured": measured[position],
            "changed": changed[position],
            "groups": json.dumps([_group_change(key, of_group) for key, of_group in sorted(steps[position].items())]),
        }
        for position, commit in enumerate(commits)
    ]
    if rows:
        connection.execute(insert(kept_commit), rows)


def _group_change(key: tuple[str, str], steps: Sequence[tuple[float, str, bool]]) -> tuple[str | float, ...]:
    """Return the fields of a `GroupChange`."""
    identical = sum(is_same for _, _, is_same in steps)
    mean = math.fsum(step for step, _, _ in steps) / len(steps)
    (least, least_case, _), (most, most_case, _) = min(steps), max(steps)
    return (
        *key,
        len(steps),
        identical,
        *(round(mean, DIGITS), round(least, DIGITS), least_case),
        round(most, DIGITS),
        most_case,
    )


def _insert_series(connection: Connection, number: int, commits: Sequence[HistoryCommit], judged: _Judged) -> None:
    series = judged.series
    first, last = series.points[0], series.points[-1]
    columns = {
        **{name: getattr(series, name) for name in ("case", "group", "metric", "engine", "topology", "better")},
        "history": number,
        "commands": json.dumps(list(judged.commands)),
        "is_imported": series.is_imported,
        "source": series.source,
        "labels": _json(series.labels),
        "point_count": len(series.points),
        "change": math.expm1(last.level - first.level),
        "low": math.expm1(last.low - first.level),
        "high": math.expm1(last.high - first.level),
        "ledger": None if series.ledger is None else series.ledger.model_dump_json(),
        "points": _points_json(series.points),
        "versions": json.dumps(_versions(series, commits)),
    }
    identity = connection.execute(insert(kept_series).values(**columns).returning(kept_series.c.number)).scalar_one()
    names = HistoryChange.model_fields.keys() - {"reasons"}
    rows = [
        {
            **{name: getattr(change, name) for name in names},
            "series": identity,
            "history": number,
            "commit": commits[change.position].commit,
            "is_worse": series.is_worse(change.change),
            "is_open": (change.kind, change.id) in judged.open_changes,
            "reasons": json.dumps([reason[:LONGEST_TEXT] for reason in change.reasons]),
        }
        for change in series.changes
    ]
    if rows:
        connection.execute(insert(kept_change), rows)


def _versions(series: HistorySeries, commits: Sequence[HistoryCommit]) -> list[KeptVersion]:
    """Return the points of a series at releases and at both ends."""
    versions, segment, code, before = [], 0, 0, None
    for point in series.points:
        if before is not None:
            segment += not point.is_joined_to(before)
            code += not point.same_code
        if before is None or point is series.points[-1] or commits[point.position].tags:
            half_width = (point.high - point.low) / 2
            versions.append((point.position, round(point.level, DIGITS), round(half_width, DIGITS), segment, code))
        before = point
    return versions


def _points_json(points: Sequence[HistoryPoint]) -> str:
    columns = {
        "positions": [point.position for point in points],
        "levels": [round(point.level, DIGITS) for point in points],
        "lows": [round(point.low, DIGITS) for point in points],
        "highs": [round(point.high, DIGITS) for point in points],
        "values": [point.value for point in points],
        "same_code": [point.same_code for point in points],
    }
    return json.dumps(columns, separators=(",", ":"))


def _json(fields: Mapping[str, str]) -> str:
    return json.dumps(dict(fields), sort_keys=True, ensure_ascii=False)


# Reading.


def _restricted(statement: Select[Any], which: SeriesFilter) -> Select[Any]:
    """Return a query of series with the conditions of a filter."""
    conditions = [
        column.in_(values)
        for column, values in (
            (kept_series.c.history, which.histories),
            (kept_series.c.case, which.cases),
            (kept_series.c.metric, which.metrics),
            (kept_series.c.group, which.groups),
        )
        if values
    ]
    return statement.where(*conditions)


def _kept_series(row: Row[Any]) -> KeptSeries:
    fields = {name: value for name, value in row._mapping.items() if name not in ("points", "versions")}
    ledger = None if row.ledger is None else read_stored(HistoryLedger, row.ledger, "a ledger")
    commands, labels = tuple(json.loads(row.commands)), json.loads(row.labels)
    return KeptSeries(**{**fields, "commands": commands, "labels": labels, "ledger": ledger})


def _points(text: str) -> KeptPoints:
    return KeptPoints(**json.loads(text))


def _kept_change(row: Row[Any]) -> KeptChange:
    fields = {name: value for name, value in row._mapping.items() if name != "number"}
    return KeptChange(**{**fields, "reasons": tuple(json.loads(row.reasons))})


def _parts(values: Sequence[Any]) -> Iterable[Sequence[Any]]:
    for first in range(0, len(values), ROWS_AT_ONCE):
        yield values[first : first + ROWS_AT_ONCE]
