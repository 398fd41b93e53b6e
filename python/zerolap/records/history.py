"""A history: how the metrics of cases went over the commits of a range, and where they changed."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from pydantic import Field

from zerolap.records.base import Record
from zerolap.records.platform import Platform


@dataclass(frozen=True, slots=True)
class ImportedPoint:
    """A value of a series.

    `time` is ISO 8601 in UTC with milliseconds, so that times are in order as texts. `version` is the commit, tag or
    version that was measured, empty where only the time is known.
    """

    time: str
    version: str
    value: float


@dataclass(frozen=True)
class ImportedSeries:
    """A metric of a case over time: `source` names where it comes from, `labels` tell it from others of its case."""

    source: str
    case: str
    metric: str
    labels: Mapping[str, str] = field(default_factory=dict)
    points: tuple[ImportedPoint, ...] = ()


HISTORY_SCHEMA: Final = "zerolap.history/1"
SHORT_COMMIT: Final = 12
"""Digits of a commit in the ids of changes."""
FLAT: Final = 0.0002
"""A smaller change of work is that of counting itself."""


class ListedCommit(Record):
    """A commit in short; `name` is its first tag, or the beginning of its id. `author` is empty where it is unknown."""

    commit: str
    name: str
    time: str
    subject: str
    author: str = ""


class RangeCommit(Record):
    """A commit of a range.

    `tags` are those of releases, `pre_release` is the tag of a release candidate or milestone, such as `7.2-rc1`.
    `failure` is why it could not be built or measured.
    """

    commit: str
    time: str
    subject: str
    author: str = ""
    tags: tuple[str, ...] = ()
    pre_release: str = ""
    failure: str | None = None

    @property
    def name(self) -> str:
        """The first tag, that of a pre-release where there is no other, or the beginning of the commit's id."""
        return self.tags[0] if self.tags else self.pre_release or self.commit[:SHORT_COMMIT]

    @property
    def listed(self) -> ListedCommit:
        """The commit in short."""
        return ListedCommit(
            commit=self.commit, name=self.name, time=self.time, subject=self.subject, author=self.author
        )

    def is_named(self, name: str) -> bool:
        """Whether it is meant by a tag or by the beginning of its id."""
        return name in (*self.tags, self.name) or self.commit.startswith(name)


class HistoryCommit(RangeCommit):
    """A commit of a history; `node` is equal for those whose programs are the same, null where it is not built."""

    node: int | None = None


class HistoryPoint(Record):
    """A metric of a commit.

    `position` is that of the commit in the range, from 0. `level` is the logarithm of the metric over that of the
    first point, `low` and `high` bound it by 95 %. `value` is the metric itself, null for time, of which only
    contrasts are known. `same_code`: the case executes the same as at the point before. Of work, `step` is the relative
    change from the point before, and `share` its part of the change of the whole series, null where that is none.
    `by_string_places`: other places of strings in memory account for the step, which is no change of the work: it is
    not reported, and has no share.
    """

    position: int
    level: float
    low: float
    high: float
    value: float | None = None
    same_code: bool = False
    step: float | None = None
    share: float | None = None
    by_string_places: bool = False

    def is_joined_to(self, before: "HistoryPoint") -> bool:
        """Whether the step from the point before is known: where it is not, a history goes on at the level before."""
        values_differ = None not in (before.value, self.value) and before.value != self.value
        return self.same_code or self.level != before.level or not values_differ


class VersionPoint(NamedTuple):
    """A point of a series at a release or one of its ends, with half the width of its interval.

    Changes between points of one `segment` are known; `code` is equal for points between which the case executes the
    same.
    """

    position: int
    level: float
    half_width: float
    segment: int
    code: int


class BoundedChange(Record):
    """A relative change of a metric, with bounds by 95 %."""

    change: float
    low: float
    high: float

    @property
    def is_flat(self) -> bool:
        """Whether the change is not larger than those of counting itself."""
        return abs(self.change) <= FLAT

    @property
    def is_certain(self) -> bool:
        """Whether something changed, beyond the bounds and what counting itself makes."""
        return not self.low <= 0.0 <= self.high and not self.is_flat


class ReportedChange(Record):
    """A step of a series, or a drift: many steps of the same direction, each too small to be reported.

    `change` is relative, with bounds by 95 %. `confirmed`: a fresh comparison of both ends has shown it too, or it is a
    change of work. `accepted` is the reason why its team accepts it. `reasons` are sentences, the first one first.
    `is_opposed`: it is less work, and no gain, as other counts of the case lose by it; the first reason states which.
    """

    id: str
    kind: Literal["step", "drift"]
    change: float
    low: float
    high: float
    confirmed: bool = True
    comparison: str | None = None
    reasons: tuple[str, ...] = ()
    accepted: str | None = None
    is_opposed: bool = False


class HistoryChange(ReportedChange):
    """A change by the positions of its commits.

    It lies after the commit `after` and up to `position`, which are next to each other where all commits between are
    measured. `p` is the probability of such a step by chance anywhere in the series, null for work, which is exact.
    """

    after: int
    position: int
    p: float | None = None


class HistoryLedger(Record):
    """The sum of all changes of a metric since a release or an accepted change.

    `since` is the position of the commit that it begins at. `total` is the sum as a relative change, with `low` and
    `high`; `reported` is the part of the changes that are reported, `unreported` that of all others, of which
    `by_string_places` is what other places of strings in memory account for. `slope` is the unreported change a commit
    without that.
    """

    since: int
    total: float
    low: float
    high: float
    reported: float
    unreported: float
    slope: float
    by_string_places: float = 0.0

    @property
    def small_changes(self) -> float:
        """The changes of work that are not reported: without what the places of strings account for."""
        return (1.0 + self.unreported) / (1.0 + self.by_string_places) - 1.0


class SeriesSubject(Record):
    """What a series is of. `better` is which values of the metric are better, null where that is not known.

    `source` is the name that a series of others was imported under.
    """

    case: str
    group: str
    metric: str
    engine: str
    topology: str
    source: str = ""
    better: Literal["less", "more"] | None = "less"


class HistorySeries(SeriesSubject):
    """The history of a metric of a case.

    `is_imported`: others have measured it; `labels` tell it from other series of its case and metric.
    """

    points: tuple[HistoryPoint, ...]
    changes: tuple[HistoryChange, ...] = ()
    ledger: HistoryLedger | None = None
    is_imported: bool = False
    labels: dict[str, str] = {}

    def version_points(self, positions: Container[int]) -> list[VersionPoint]:
        """Return the points at positions, and both ends."""
        versions: list[VersionPoint] = []
        segment, code, before = 0, 0, None
        for point in self.points:
            if before is not None:
                segment += not point.is_joined_to(before)
                code += not point.same_code
            if before is None or point is self.points[-1] or point.position in positions:
                half_width = (point.high - point.low) / 2
                versions.append(VersionPoint(point.position, point.level, half_width, segment, code))
            before = point
        return versions

    @property
    def open_regressions(self) -> list[HistoryChange]:
        """The confirmed changes for the worse that nobody has accepted."""
        worse = [change for change in self.changes if change.confirmed and self.is_worse(change.change)]
        return [change for change in worse if change.accepted is None]

    def is_worse(self, change: float) -> bool:
        """Whether a relative change is for the worse."""
        return change > 0 if self.better == "less" else change < 0 if self.better == "more" else False

    def is_better(self, change: float) -> bool:
        """Whether a relative change is for the better."""
        return self.better is not None and change != 0 and not self.is_worse(change)


class PlatformEvent(Record):
    """A step in the times of one build, in nearly all cases at once: the platform changed, no commit is the reason.

    It happened between the times `before` and `since` (ISO 8601, UTC). `change` is the median of the relative changes,
    `series` the number of cases that have it. `facts_changed`: another state of the machine was recorded then, such as
    another kernel.
    """

    before: str
    since: str
    change: float
    series: int
    facts_changed: bool = False


class History(Record):
    """The document of `zerolap history --json`. `range` is what was asked for; commits are in its order."""

    schema_: Literal["zerolap.history/1"] = Field(default=HISTORY_SCHEMA, alias="schema", serialization_alias="schema")
    created: str
    command_line: str
    repository: str
    range: str
    variant: str
    config: dict[str, str]
    platform: Platform
    commits: tuple[HistoryCommit, ...]
    series: tuple[HistorySeries, ...]
    platform_events: tuple[PlatformEvent, ...] = ()
    machine_seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def measured_commits(self) -> int:
        """How many commits have a point in any series."""
        return len({point.position for series in self.series for point in series.points})
