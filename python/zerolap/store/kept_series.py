"""What is kept of a judged history: its commits, series and changes, as rows have them."""

import functools
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from sqlalchemy import ColumnElement

from zerolap.records import HistoryCommit, HistoryLedger, VersionPoint, read_stored
from zerolap.store.tables import kept_change, kept_commit, kept_series


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


class KeptCommit(HistoryCommit):
    """A commit of a kept history.

    `measured` counts the series with a point there, `changed` those of them that execute something else than at the
    point before.
    """

    history: int
    position: int
    measured: int
    changed: int


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
class KeptChange:
    """A change of a series; `after` and `position` are those of commits in its history, `commit` is the later one.

    `is_open`: it is a confirmed change for the worse that is neither accepted nor made good. `is_opposed`: it is less
    work, and no gain, as other counts of the case lose by it.
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
    is_opposed: bool
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


OF_COMMIT: Final = tuple(kept_commit.c[name] for name in KeptCommit.model_fields)
"""The columns that `commit_in` reads."""
OF_SERIES: Final = tuple(kept_series.c[field.name] for field in fields(KeptSeries))
"""The columns that `series_in` reads."""
OF_CHANGE: Final = tuple(kept_change.c[field.name] for field in fields(KeptChange))
"""The columns that `change_in` reads."""


def _places(columns: Sequence[ColumnElement[Any]], *names: str) -> list[int]:
    return [[column.key for column in columns].index(name) for name in names]


[COMMANDS, LABELS, LEDGER] = _places(OF_SERIES, "commands", "labels", "ledger")
[REASONS] = _places(OF_CHANGE, "reasons")


def commit_in(row: Sequence[Any]) -> KeptCommit:
    """Return the commit in a row of `OF_COMMIT`."""
    columns = dict(zip(KeptCommit.model_fields, row, strict=True))
    return KeptCommit(**{**columns, "tags": texts_in(columns["tags"])})


def series_in(row: Sequence[Any]) -> KeptSeries:
    """Return the series in a row of `OF_SERIES`, in short."""
    columns = list(row)
    columns[COMMANDS], columns[LABELS] = texts_in(columns[COMMANDS]), json.loads(columns[LABELS])
    columns[LEDGER] = None if columns[LEDGER] is None else read_stored(HistoryLedger, columns[LEDGER], "a ledger")
    return KeptSeries(*columns)


def points_in(text: str) -> KeptPoints:
    """Return the points in a column."""
    return KeptPoints(**json.loads(text))


def change_in(row: Sequence[Any]) -> KeptChange:
    """Return the change in a row of `OF_CHANGE`."""
    columns = list(row)
    columns[REASONS] = texts_in(columns[REASONS])
    return KeptChange(*columns)


@functools.lru_cache(10_000)
def texts_in(text: str) -> tuple[str, ...]:
    """Return the texts in a column that has a JSON list: many rows have the same."""
    return tuple(json.loads(text))
