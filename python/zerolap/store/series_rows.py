"""What is kept of a judged history: its commits, series and changes, as rows have them."""

import functools
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from zerolap.records import HistoryLedger, PublishedChange, PublishedCommit, PublishedSeries, VersionPoint, read_stored
from zerolap.store.tables import kept_change, kept_commit, kept_series


@dataclass(frozen=True)
class NamedSeries:
    """What a series is of."""

    history: int
    case: str
    group: str
    commands: tuple[str, ...]
    metric: str


@dataclass(frozen=True)
class PointColumns:
    """The points of a series by columns, as `HistoryPoint` has them; all columns are equally long.

    `by_string_places` are the positions of the points whose step other places of strings account for.
    """

    positions: Sequence[int]
    levels: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    values: Sequence[float | None]
    same_code: Sequence[bool]
    by_string_places: Collection[int] = ()


@dataclass(frozen=True)
class VersionedSeries:
    """A series at releases and at both of its ends."""

    case: str
    group: str
    commands: tuple[str, ...]
    engine: str
    versions: Sequence[VersionPoint]


@dataclass(frozen=True)
class SeriesFilter:
    """Which series are meant: each that has one of the values of every field that is not empty."""

    histories: Collection[int] = ()
    cases: Collection[str] = ()
    metrics: Collection[str] = ()
    groups: Collection[str] = ()


OF_COMMIT: Final = tuple(kept_commit.c[name] for name in PublishedCommit.model_fields)
"""The columns that `commit_in` reads."""
OF_SERIES: Final = tuple(kept_series.c[name] for name in PublishedSeries.model_fields)
"""The columns that `series_in` reads."""
OF_CHANGE: Final = tuple(kept_change.c[name] for name in PublishedChange.model_fields)
"""The columns that `change_in` reads."""


def commit_in(row: Sequence[Any]) -> PublishedCommit:
    """Return the commit in a row of `OF_COMMIT`."""
    columns = dict(zip(PublishedCommit.model_fields, row, strict=True))
    return PublishedCommit(**{**columns, "tags": texts_in(columns["tags"])})


def series_in(row: Sequence[Any]) -> PublishedSeries:
    """Return the series in a row of `OF_SERIES`, in short."""
    columns = dict(zip(PublishedSeries.model_fields, row, strict=True))
    ledger = columns["ledger"]
    parts = {
        "commands": texts_in(columns["commands"]),
        "labels": json.loads(columns["labels"]),
        "ledger": None if ledger is None else read_stored(HistoryLedger, ledger, "a ledger"),
    }
    return PublishedSeries(**{**columns, **parts})


def points_in(text: str) -> PointColumns:
    """Return the points in a column."""
    return PointColumns(**json.loads(text))


def change_in(row: Sequence[Any]) -> PublishedChange:
    """Return the change in a row of `OF_CHANGE`."""
    columns = dict(zip(PublishedChange.model_fields, row, strict=True))
    return PublishedChange(**{**columns, "reasons": texts_in(columns["reasons"])})


@functools.lru_cache(10_000)
def texts_in(text: str) -> tuple[str, ...]:
    """Return the texts in a column that has a JSON list: many rows have the same."""
    return tuple(json.loads(text))
