"""Histories as they were judged last, for pages, which have neither the repository nor the time to judge them."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Select, and_, delete, false, func, or_, select

from zerolap.records import (
    ChangedGroup,
    History,
    PlatformEvent,
    PublishedChange,
    PublishedCommit,
    PublishedHistory,
    PublishedSeries,
    VersionPoint,
    read_stored,
)
from zerolap.store.database import Database
from zerolap.store.judged_series import JudgedSeries, claimed_number, insert_commits, insert_series, staying_series
from zerolap.store.series_rows import (
    OF_CHANGE,
    OF_COMMIT,
    OF_SERIES,
    NamedSeries,
    PointColumns,
    SeriesFilter,
    VersionedSeries,
    change_in,
    commit_in,
    points_in,
    series_in,
    texts_in,
)
from zerolap.store.tables import kept_change, kept_commit, kept_history, kept_series

ROWS_AT_ONCE: Final = 500


class PublishedHistories:
    """Keeps the newest judgement of each history; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, history: History, still_open: History, commands: Mapping[str, Sequence[str]]) -> None:
        """Keep a history instead of the one of the same repository, range, variant, settings and platform.

        `still_open` is the same history with its open changes only. `commands` are those that each of the judged cases
        sends: series of other cases stay, at the commits that both histories have.
        """
        judged = [
            JudgedSeries(
                series, frozenset((change.kind, change.id) for change in opened.changes), commands.get(series.case, ())
            )
            for series, opened in zip(history.series, still_open.series, strict=True)
            if series.points
        ]
        with self._database.write_transaction() as connection:
            number = claimed_number(connection, history)
            judged += staying_series(connection, number, history, commands, {of_one.identity for of_one in judged})
            for table in (kept_change, kept_series, kept_commit):
                connection.execute(delete(table).where(table.c.history == number))
            insert_commits(connection, number, history.commits, judged)
            for of_one in judged:
                insert_series(connection, number, history.commits, of_one)

    def histories(self, limit: int) -> list[PublishedHistory]:
        """Return the published histories, those judged last first."""
        columns = [column for column in kept_history.c if column.name not in ("platform_events", "notes")]
        statement = select(*columns).order_by(kept_history.c.created.desc(), kept_history.c.number.desc()).limit(limit)
        with self._database.read_transaction() as connection:
            return [
                PublishedHistory(**{**row._mapping, "config": json.loads(row.config)})
                for row in connection.execute(statement)
            ]

    def platform_events(self, histories: Collection[int]) -> dict[int, list[PlatformEvent]]:
        """Return the events of the platforms of histories, by their numbers."""
        statement = select(kept_history.c.number, kept_history.c.platform_events)
        with self._database.read_transaction() as connection:
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
        with self._database.read_transaction() as connection:
            rows = connection.execute(statement.group_by(kept_commit.c.history))
            return {row.history: row.releases for row in rows}

    def metrics(self, history: int) -> list[str]:
        """Return the metrics that the lab's own series of a history have."""
        is_meant = (kept_series.c.history == history, ~kept_series.c.is_imported)
        statement = select(kept_series.c.metric).where(*is_meant).distinct().order_by(kept_series.c.metric)
        with self._database.read_transaction() as connection:
            return list(connection.execute(statement).scalars())

    # Commits.

    def group_changes(self, history: int, position: int) -> list[ChangedGroup]:
        """Return what a commit did to each group of cases, by group and metric."""
        is_meant = (kept_commit.c.history == history, kept_commit.c.position == position)
        with self._database.read_transaction() as connection:
            groups = connection.execute(select(kept_commit.c.groups).where(*is_meant)).scalar()
            return [
                ChangedGroup(**dict(zip(ChangedGroup.model_fields, group, strict=True)))
                for group in json.loads(groups or "[]")
            ]

    def order(self, history: int) -> list[tuple[str, str]]:
        """Return the id and the time of each commit of a history, in its order."""
        columns = (kept_commit.c.commit, kept_commit.c.time)
        statement = select(*columns).where(kept_commit.c.history == history).order_by(kept_commit.c.position)
        with self._database.read_transaction() as connection:
            return [(commit, time) for commit, time in connection.execute(statement)]

    def newest_commits(self, history: int, count: int) -> list[PublishedCommit]:
        """Return the last commits of a history, in its order."""
        statement = select(*OF_COMMIT).where(kept_commit.c.history == history)
        return self._commits(statement.order_by(kept_commit.c.position.desc()).limit(count))[::-1]

    def tagged_commits(self, history: int) -> list[PublishedCommit]:
        """Return the releases of a history, in its order."""
        statement = select(*OF_COMMIT).where(kept_commit.c.history == history, kept_commit.c.tags != "[]")
        return self._commits(statement.order_by(kept_commit.c.position))

    def commits_at(self, positions: Collection[tuple[int, int]]) -> dict[tuple[int, int], PublishedCommit]:
        """Return the commits at positions, each of which is the number of a history and a position in it."""
        by_history: dict[int, list[int]] = {}
        for history, position in positions:
            by_history.setdefault(history, []).append(position)
        commits: dict[tuple[int, int], PublishedCommit] = {}
        for history, wanted in by_history.items():
            for part in _parts(sorted(wanted)):
                is_meant = (kept_commit.c.history == history, kept_commit.c.position.in_(part))
                of_part = self._commits(select(*OF_COMMIT).where(*is_meant))
                commits |= {(history, commit.position): commit for commit in of_part}
        return commits

    def commits_named(self, begin: str, limit: int) -> list[PublishedCommit]:
        """Return the commits of all histories whose ids begin so, those of the newest histories first."""
        after = begin[:-1] + chr(ord(begin[-1]) + 1)
        statement = select(*OF_COMMIT).where(kept_commit.c.commit >= begin, kept_commit.c.commit < after)
        return self._commits(statement.order_by(kept_commit.c.history.desc()).limit(limit))

    def commits_with_text(self, text: str, limit: int) -> list[PublishedCommit]:
        """Return commits whose id, tag or pre-release begins with a text, or whose subject has it.

        Those of the newest histories come first, in each the newest; one that several histories have comes as often.
        """
        written = json.dumps(text)[:-1]
        is_meant = (
            kept_commit.c.commit.startswith(text.lower(), autoescape=True),
            kept_commit.c.subject.icontains(text, autoescape=True),
            kept_commit.c.tags.icontains(written, autoescape=True),
            kept_commit.c.pre_release.istartswith(text, autoescape=True),
        )
        newest_first = (kept_commit.c.history.desc(), kept_commit.c.position.desc())
        return self._commits(select(*OF_COMMIT).where(or_(*is_meant)).order_by(*newest_first).limit(limit))

    def case_names(self, text: str, limit: int) -> list[str]:
        """Return the names of cases with series that have a text."""
        is_meant = kept_series.c.case.icontains(text, autoescape=True)
        statement = select(kept_series.c.case).distinct().where(is_meant).order_by(kept_series.c.case).limit(limit)
        with self._database.read_transaction() as connection:
            return list(connection.execute(statement).scalars())

    def _commits(self, statement: Select[Any]) -> list[PublishedCommit]:
        with self._database.read_transaction() as connection:
            return [commit_in(row) for row in connection.execute(statement)]

    # Series.

    def series(self, which: SeriesFilter, limit: int) -> list[PublishedSeries]:
        """Return series in short, by case, metric and history."""
        ordered = (kept_series.c.case, kept_series.c.metric, kept_series.c.history, kept_series.c.number)
        statement = _restricted(select(*OF_SERIES), which).order_by(*ordered).limit(limit)
        with self._database.read_transaction() as connection:
            return [series_in(row) for row in connection.execute(statement)]

    def names(self, limit: int) -> list[NamedSeries]:
        """Return what all series are of, by case and metric."""
        columns = [kept_series.c[name] for name in ("history", "case", "group", "commands", "metric")]
        ordered = (kept_series.c.case, kept_series.c.metric, kept_series.c.history)
        statement = select(*columns).order_by(*ordered).limit(limit)
        with self._database.read_transaction() as connection:
            return [
                NamedSeries(history, case, group, texts_in(commands), metric)
                for history, case, group, commands, metric in connection.execute(statement)
            ]

    def count(self, which: SeriesFilter) -> int:
        """Return how many series there are."""
        with self._database.read_transaction() as connection:
            return int(connection.execute(_restricted(select(func.count(kept_series.c.number)), which)).scalar_one())

    def series_numbered(self, numbers: Collection[int]) -> dict[int, PublishedSeries]:
        """Return series in short, by their numbers."""
        with self._database.read_transaction() as connection:
            return {
                row.number: series_in(row)
                for part in _parts(sorted(numbers))
                for row in connection.execute(select(*OF_SERIES).where(kept_series.c.number.in_(part)))
            }

    def points(self, numbers: Collection[int]) -> dict[int, PointColumns]:
        """Return all points of series, by the numbers of the series."""
        statement = select(kept_series.c.number, kept_series.c.points).where(kept_series.c.number.in_(numbers))
        with self._database.read_transaction() as connection:
            return {row.number: points_in(row.points) for row in connection.execute(statement)}

    def versions(self, history: int, metric: str, limit: int) -> list[VersionedSeries]:
        """Return the points of the series of a metric at releases and at both ends, by case."""
        names = ("case", "group", "commands", "engine", "versions")
        statement = (
            select(*(kept_series.c[name] for name in names))
            .where(kept_series.c.history == history, kept_series.c.metric == metric, ~kept_series.c.is_imported)
            .order_by(kept_series.c.case, kept_series.c.number)
            .limit(limit)
        )
        with self._database.read_transaction() as connection:
            return [
                VersionedSeries(
                    row.case,
                    row.group,
                    texts_in(row.commands),
                    row.engine,
                    [VersionPoint(*version) for version in json.loads(row.versions)],
                )
                for row in connection.execute(statement)
            ]

    # Changes.

    def changes_of(
        self, series: Collection[int], limit: int, within: Mapping[int, tuple[int, int]] | None = None
    ) -> list[PublishedChange]:
        """Return the changes of series in the order of their commits; of too many the largest.

        With `within`, those from one position to another of each history, by its number.
        """
        statement = select(*OF_CHANGE).where(kept_change.c.series.in_(series))
        if within is not None:
            ranges = [
                and_(kept_change.c.history == history, kept_change.c.position.between(first, last))
                for history, (first, last) in within.items()
            ]
            statement = statement.where(or_(false(), *ranges))
        largest = self._changes(statement.order_by(func.abs(kept_change.c.change).desc()).limit(limit))
        return sorted(largest, key=lambda change: (change.position, change.series, change.id))

    def open_changes(self, limit: int) -> list[PublishedChange]:
        """Return the open changes of all histories, the largest first."""
        return self._changes(
            select(*OF_CHANGE)
            .where(kept_change.c.is_open)
            .order_by(func.abs(kept_change.c.change).desc(), kept_change.c.number)
            .limit(limit)
        )

    def open_count(self) -> int:
        """Return how many changes are open."""
        statement = select(func.count()).select_from(kept_change).where(kept_change.c.is_open)
        with self._database.read_transaction() as connection:
            return int(connection.execute(statement).scalar_one())

    def open_regressions(self, limit: int) -> dict[tuple[str, str], int]:
        """Return how many regressions are open by the name of the platform and the group of the case, most first.

        A change of a case and metric that several histories of a platform have counts once.
        """
        number = func.count(kept_change.c.id.distinct())
        statement = (
            select(kept_history.c.platform_name, kept_series.c.group, number)
            .join(kept_series, kept_series.c.number == kept_change.c.series)
            .join(kept_history, kept_history.c.number == kept_change.c.history)
            .where(kept_change.c.is_open, kept_change.c.is_worse)
            .group_by(kept_history.c.platform_name, kept_series.c.group)
            .order_by(number.desc(), kept_history.c.platform_name, kept_series.c.group)
            .limit(limit)
        )
        with self._database.read_transaction() as connection:
            return {(platform, group): count for platform, group, count in connection.execute(statement)}

    def changes_at(self, history: int, first: int, last: int, limit: int) -> list[PublishedChange]:
        """Return the steps of a history at its commits from one position to another, the largest first."""
        return self._changes(
            select(*OF_CHANGE)
            .where(
                kept_change.c.history == history,
                kept_change.c.position.between(first, last),
                kept_change.c.kind == "step",
            )
            .order_by(func.abs(kept_change.c.change).desc(), kept_change.c.number)
            .limit(limit)
        )

    def drifts_around(self, history: int, position: int, limit: int) -> list[PublishedChange]:
        """Return the drifts of a history that a commit is in, or that begin after it, the largest first."""
        return self._changes(
            select(*OF_CHANGE)
            .where(
                kept_change.c.history == history,
                kept_change.c.position >= position,
                kept_change.c.after <= position,
                kept_change.c.kind == "drift",
            )
            .order_by(func.abs(kept_change.c.change).desc(), kept_change.c.number)
            .limit(limit)
        )

    def accepted_changes(self, history: int, metric: str, limit: int) -> list[PublishedChange]:
        """Return the accepted changes of a metric of a history, the largest first."""
        return self._changes(
            select(*OF_CHANGE)
            .join(kept_series, kept_series.c.number == kept_change.c.series)
            .where(
                kept_change.c.history == history,
                kept_change.c.accepted.is_not(None),
                kept_series.c.metric == metric,
            )
            .order_by(func.abs(kept_change.c.change).desc(), kept_change.c.number)
            .limit(limit)
        )

    def _changes(self, statement: Select[Any]) -> list[PublishedChange]:
        with self._database.read_transaction() as connection:
            return [change_in(row) for row in connection.execute(statement)]


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


def _parts(values: Sequence[Any]) -> Iterable[Sequence[Any]]:
    for first in range(0, len(values), ROWS_AT_ONCE):
        yield values[first : first + ROWS_AT_ONCE]
