"""Writes the judgement of a history over the one that is kept; series of other cases stay."""

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, insert, select

from zerolap.records import (
    ChangedGroup,
    History,
    HistoryChange,
    HistoryCommit,
    HistoryPoint,
    HistorySeries,
    PublishedChange,
    PublishedSeries,
    VersionPoint,
)
from zerolap.store.database import insert_new
from zerolap.store.series_rows import (
    OF_CHANGE,
    OF_SERIES,
    PointColumns,
    change_in,
    points_in,
    series_in,
)
from zerolap.store.tables import kept_change, kept_commit, kept_history, kept_series

DIGITS: Final = 9
"""Decimal places of levels: a counted change is stated to 0.01 %."""
LONGEST_TEXT: Final = 1000
"""Characters of a subject, an author, a failure or a reason, which others have written."""
METRICS_OF_GROUPS: Final = ("instructions_per_op", "cpu_ns_per_op")
"""What a commit did to groups of cases is kept of these."""
IDENTITY: Final = ("repository", "range", "variant", "config", "platform")
"""The columns that tell a published history from others."""


_GroupSteps = dict[tuple[str, str], list[tuple[float, str, bool]]]
"""By group and metric: the step of each case as a logarithm, the case, and whether its code is the same."""


@dataclass(frozen=True)
class JudgedSeries:
    """A series with the changes of it that are open, by kind and id, and the commands that its case sends."""

    series: HistorySeries
    open_changes: frozenset[tuple[str, str]]
    commands: Sequence[str]

    @property
    def identity(self) -> tuple[str, ...]:
        """What tells it from the others of its history."""
        series = self.series
        return (series.case, series.metric, series.engine, series.topology, series.source, _json(series.labels))


def claimed_number(connection: Connection, history: History) -> int:
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


def staying_series(
    connection: Connection,
    number: int,
    history: History,
    judged_cases: Collection[str],
    judged: Collection[tuple[str, ...]],
) -> list[JudgedSeries]:
    """Return the published series of other cases, at the positions that their commits have in the history now."""
    new = {commit.commit: position for position, commit in enumerate(history.commits)}
    commits = select(kept_commit.c.position, kept_commit.c.commit).where(kept_commit.c.history == number)
    moved = {row.position: new[row.commit] for row in connection.execute(commits) if row.commit in new}
    staying = []
    statement = select(*OF_SERIES, kept_series.c.points).where(kept_series.c.history == number)
    for *short, points in connection.execute(statement).all():
        series = series_in(short)
        if series.case in judged_cases and not series.is_imported:
            continue
        of_one = _moved(connection, series, points_in(points), moved)
        if of_one.series.points and of_one.identity not in judged:
            staying.append(of_one)
    return staying


def _moved(
    connection: Connection, short: PublishedSeries, points: PointColumns, moved: Mapping[int, int]
) -> JudgedSeries:
    """Return a published series at other positions, without what is at none of them."""
    columns = zip(
        *(points.positions, points.levels, points.lows, points.highs, points.values, points.same_code), strict=True
    )
    statement = select(*OF_CHANGE).where(kept_change.c.series == short.number).order_by(kept_change.c.number)
    changes = [change_in(of_change) for of_change in connection.execute(statement)]
    changes = [change for change in changes if change.after in moved and change.position in moved]
    ledger = short.ledger
    is_moved = ledger is not None and ledger.since in moved
    series = HistorySeries.model_validate(
        {
            **{name: getattr(short, name) for name in ("case", "group", "metric", "engine", "topology", "better")},
            **{"is_imported": short.is_imported, "source": short.source, "labels": short.labels},
            "points": sorted(
                (
                    HistoryPoint(
                        position=moved[position],
                        level=level,
                        low=low,
                        high=high,
                        value=value,
                        same_code=same_code,
                        by_string_places=position in points.by_string_places,
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
    return JudgedSeries(
        series, frozenset((change.kind, change.id) for change in changes if change.is_open), short.commands
    )


def _history_change(change: PublishedChange, moved: Mapping[int, int]) -> HistoryChange:
    fields = {name: getattr(change, name) for name in HistoryChange.model_fields}
    return HistoryChange(**{**fields, "after": moved[change.after], "position": moved[change.position]})


def insert_commits(
    connection: Connection, number: int, commits: Sequence[HistoryCommit], judged: Iterable[JudgedSeries]
) -> None:
    """Write the commits of a history, with what its series are at each of them."""
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
                    # What the places of strings account for is no change that a commit made to a group.
                    change = 0.0 if point.by_string_places else point.level - before.level
                    step = (change, of_one.series.case, point.same_code)
                    steps[point.position].setdefault(key, []).append(step)
            before = point
    rows = [
        {
            "history": number,
            "position": position,
            "commit": commit.commit,
            "time": commit.time,
            "subject": commit.subject[:LONGEST_TEXT],
            "author": commit.author[:LONGEST_TEXT],
            "tags": json.dumps(commit.tags),
            "pre_release": commit.pre_release,
            "node": commit.node,
            "failure": commit.failure and commit.failure[:LONGEST_TEXT],
            "measured": measured[position],
            "changed": changed[position],
            "groups": json.dumps(
                [list(dict(_group_change(*of_group)).values()) for of_group in sorted(steps[position].items())]
            ),
        }
        for position, commit in enumerate(commits)
    ]
    if rows:
        connection.execute(insert(kept_commit), rows)


def _group_change(key: tuple[str, str], steps: Sequence[tuple[float, str, bool]]) -> ChangedGroup:
    (least, least_case, _), (most, most_case, _) = min(steps), max(steps)
    mean = math.fsum(step for step, _, _ in steps) / len(steps)
    change, least, most = (round(math.expm1(step), DIGITS) for step in (mean, least, most))
    return ChangedGroup(
        group=key[0],
        metric=key[1],
        cases=len(steps),
        identical=sum(is_same for _, _, is_same in steps),
        change=change,
        least=least,
        least_case=least_case,
        most=most,
        most_case=most_case,
    )


def insert_series(connection: Connection, number: int, commits: Sequence[HistoryCommit], judged: JudgedSeries) -> None:
    """Write a series of a history with its changes."""
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


def _versions(series: HistorySeries, commits: Sequence[HistoryCommit]) -> list[VersionPoint]:
    """Return the points of a series at releases and at both ends."""
    releases = {position for position, commit in enumerate(commits) if commit.tags}
    return [
        point._replace(level=round(point.level, DIGITS), half_width=round(point.half_width, DIGITS))
        for point in series.version_points(releases)
    ]


def _points_json(points: Sequence[HistoryPoint]) -> str:
    columns = {
        "positions": [point.position for point in points],
        "levels": [round(point.level, DIGITS) for point in points],
        "lows": [round(point.low, DIGITS) for point in points],
        "highs": [round(point.high, DIGITS) for point in points],
        "values": [point.value for point in points],
        "same_code": [point.same_code for point in points],
        "by_string_places": [point.position for point in points if point.by_string_places],
    }
    return json.dumps(columns, separators=(",", ":"))


def _json(fields: Mapping[str, str]) -> str:
    return json.dumps(dict(fields), sort_keys=True, ensure_ascii=False)
