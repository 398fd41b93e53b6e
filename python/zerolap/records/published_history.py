"""What is kept of a judged history: itself in short, its commits, series and changes."""

from zerolap.records.base import Record
from zerolap.records.history import HistoryChange, HistoryCommit, HistoryLedger, SeriesSubject


class PublishedHistory(Record):
    """A published history; `created` is when it was judged (ISO 8601), `platform` a fingerprint."""

    number: int
    repository: str
    range: str
    variant: str
    config: dict[str, str]
    platform: str
    platform_name: str
    created: str


class PublishedCommit(HistoryCommit):
    """A commit of a published history.

    `measured` counts the series with a point there, `changed` those of them that execute something else than at the
    point before.
    """

    history: int
    position: int
    measured: int
    changed: int


class PublishedSeries(SeriesSubject):
    """A series in short; `change` is the relative change from its first point to its last, with bounds by 95 %."""

    number: int
    history: int
    commands: tuple[str, ...]
    is_imported: bool
    labels: dict[str, str]
    point_count: int
    change: float
    low: float
    high: float
    ledger: HistoryLedger | None


class PublishedChange(HistoryChange):
    """A change of a series; `commit` is the one at `position` in its history.

    `is_open`: it is a confirmed change for the worse that is neither accepted nor made good.
    """

    series: int
    history: int
    commit: str
    is_worse: bool
    is_open: bool


class ChangedGroup(Record):
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
