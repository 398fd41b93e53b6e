"""Series that others have measured: kept beside the lab's own results, and never mixed with them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, func, select

from zerolap.records import ImportedPoint, ImportedSeries
from zerolap.store.database import Database, insert_new, insert_of
from zerolap.store.tables import imported_point, imported_series

SERIES_AT_ONCE: Final = 200
"""The number of series in one transaction, during which the program cannot be interrupted."""
ALL: Final = "*"


@dataclass(frozen=True)
class ImportSource:
    """What was read under one name: how many series and points, and the times of the first and the last one."""

    name: str
    series: int
    points: int
    first: str
    last: str


class ImportedRecords:
    """Keeps imported series; a source is replaced point by point when it is imported again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, series: Sequence[ImportedSeries]) -> None:
        """Record series with their points; a point of the same time and version is replaced.

        Series are recorded in parts, each in a transaction: after a kill, the same import completes them.
        """
        for first in range(0, len(series), SERIES_AT_ONCE):
            with self._database.write_transaction() as connection:
                for one_series in series[first : first + SERIES_AT_ONCE]:
                    _keep(connection, one_series)

    def sources(self) -> list[ImportSource]:
        """Return what was imported, by name."""
        columns = imported_series.c
        statement = (
            select(
                columns.source,
                func.count(columns.number.distinct()).label("series"),
                func.count().label("points"),
                func.min(imported_point.c.time).label("first"),
                func.max(imported_point.c.time).label("last"),
            )
            .join(imported_point, imported_point.c.series == columns.number)
            .group_by(columns.source)
            .order_by(columns.source)
        )
        with self._database.read_transaction() as connection:
            return [
                ImportSource(row.source, row.series, row.points, row.first, row.last)
                for row in connection.execute(statement)
            ]

    def series(self, pattern: str = ALL) -> list[ImportedSeries]:
        """Return the series of the sources whose names match a glob, with their points in the order of time."""
        statement = select(imported_series).order_by(
            imported_series.c.source, imported_series.c.case, imported_series.c.metric, imported_series.c.number
        )
        with self._database.read_transaction() as connection:
            rows = [row for row in connection.execute(statement) if fnmatchcase(row.source, pattern)]
            return [replace(_series(row), points=tuple(_points(connection, row.number))) for row in rows]

    def remove(self, source: str) -> int:
        """Remove all series of a source; return how many there were."""
        with self._database.write_transaction() as connection:
            return connection.execute(delete(imported_series).where(imported_series.c.source == source)).rowcount


def _keep(connection: Connection, series: ImportedSeries) -> None:
    key = {
        "source": series.source,
        "case": series.case,
        "metric": series.metric,
        "labels": json.dumps(dict(series.labels), sort_keys=True, ensure_ascii=False),
    }
    connection.execute(insert_new(connection, imported_series).values(**key))
    is_meant = [imported_series.c[name] == value for name, value in key.items()]
    number = connection.execute(select(imported_series.c.number).where(*is_meant)).scalar_one()
    if not series.points:
        return
    statement = insert_of(connection, imported_point)
    identity = ["series", "time", "version"]
    connection.execute(
        statement.on_conflict_do_update(index_elements=identity, set_={"value": statement.excluded.value}),
        [
            {"series": number, "time": point.time, "version": point.version, "value": point.value}
            for point in series.points
        ],
    )


def _series(row: Row[Any]) -> ImportedSeries:
    return ImportedSeries(row.source, row.case, row.metric, json.loads(row.labels))


def _points(connection: Connection, number: int) -> Iterator[ImportedPoint]:
    statement = (
        select(imported_point)
        .where(imported_point.c.series == number)
        .order_by(imported_point.c.time, imported_point.c.version)
    )
    for row in connection.execute(statement):
        yield ImportedPoint(row.time, row.version, row.value)
