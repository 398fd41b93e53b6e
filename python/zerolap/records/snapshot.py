"""Snapshots: what a save in the background costs the clients of a server, the document of `zerolap snapshot`."""

from typing import Final, Literal, TypeAlias

from pydantic import ConfigDict, Field, FiniteFloat

from zerolap.records.base import Record
from zerolap.records.build import MeasuredServer
from zerolap.records.measurement import Check
from zerolap.records.metric import MetricRule
from zerolap.records.platform import Platform
from zerolap.records.snapshot_trace import SnapshotTrace
from zerolap.records.verdict import Verdict

SNAPSHOT_SCHEMA: Final = "zerolap.snapshot/1"

SnapshotEvent: TypeAlias = Literal["bgsave", "bgrewriteaof", "replica", "none"]
"""What makes the server fork: a command, a replica that is attached, or nothing, for comparison."""
SnapshotLoad: TypeAlias = Literal["open", "closed"]
"""Requests that are due at a fixed rate, or that are sent when a reply has come."""
HugePages: TypeAlias = Literal["always", "never"]
"""Whether the memory of a server lies in transparent huge pages."""

SNAPSHOT_RULES: Final = tuple(
    MetricRule(name=name, engine="snapshot", answer="time", decides="never", less_is_better=True)
    for name in ("fork_us", "longest_pause_us", "during_p99_9_us", "event_seconds", "cow_bytes")
)
"""The metrics of a repetition on which sweeps of several sides have verdicts."""


class MedianEstimate(Record):
    """The median over repetitions, with the interval of order statistics that holds it with at least 93 %.

    With less than five repetitions there is no such interval: `low` and `high` are then the least and greatest value.
    """

    median: FiniteFloat
    low: FiniteFloat
    high: FiniteFloat


class LineFit(Record):
    """The least squares line of a metric over the resident memory of the server, by all repetitions of all sizes.

    `slope_per_gib` and `intercept` are in the metric's unit; `r2` is the share of its variance that the line explains.
    """

    slope_per_gib: FiniteFloat
    intercept: FiniteFloat
    r2: FiniteFloat
    repetitions: int


class SeriesSlot(Record):
    """A few milliseconds: when they begin, in seconds from the event on, the replies that came, and their latencies."""

    at_seconds: FiniteFloat
    replies: int
    p50_us: FiniteFloat | None
    p99_us: FiniteFloat | None
    max_us: FiniteFloat | None


class SnapshotRepetition(Record):
    """One event under load: its metrics, by names with units, and the series of latencies around it.

    `checks` are of the machine; where one fails, and in what `warnings` state, figures are not the server's alone.
    """

    began: str
    metrics: dict[str, FiniteFloat]
    checks: list[Check] = []
    warnings: list[str] = []
    series: list[SeriesSlot]


class SnapshotStart(Record):
    """A start of a server that was filled, and the first time that it forked, before anything is measured.

    `first_fork_us` is the `latest_fork_usec` of that event, null where the server does not report it.
    """

    side: str = ""
    size_bytes: int
    began: str
    first_fork_us: FiniteFloat | None


class SnapshotSide(Record):
    """One of several servers or settings that a sweep measures beside each other; the first is the base of verdicts.

    `name` is base or head for two servers, else what was varied, such as `io-threads=4`. `huge_pages` is null where
    server and kernel decide on them. `fits` are its lines, as those of the report.
    """

    name: str
    server: MeasuredServer
    huge_pages: HugePages | None = None
    fits: dict[str, LineFit] = {}


class SnapshotPoint(Record):
    """One size of data under one load.

    `size_bytes` is the size that was asked for; `data_bytes` what the server reports to use once it is filled, null if
    it does not report it. `metrics` are the medians of the repetitions. `side` is the name of its side, empty where
    there is one alone; repetitions of the same place in the points of two sides are a pair.
    """

    side: str = ""
    size_bytes: int
    data_bytes: int | None
    keys: int
    load: SnapshotLoad
    metrics: dict[str, MedianEstimate]
    repetitions: list[SnapshotRepetition]


class SnapshotVerdicts(Record):
    """What a sweep concludes of a side, beside its base, at a size and under a load, for each of `SNAPSHOT_RULES`.

    A metric that a side did not report has no verdict; fewer than two pairs have none.
    """

    base: str
    head: str
    size_bytes: int
    load: SnapshotLoad
    verdicts: list[Verdict]


class FailedSize(Record):
    """A size at which the sweep could not be carried out, and why."""

    size_bytes: int
    reason: str


class SnapshotSettings(Record):
    """How a sweep was carried out; `rate_per_second` is that of the open loop.

    `min_effect` is the smallest change that matters, as a fraction, and `q` the share of false ones among the changes
    that is accepted; both are null without verdicts.
    """

    event: SnapshotEvent
    sizes_bytes: list[int]
    loads: list[SnapshotLoad]
    rate_per_second: int
    connections: int
    value_bytes: int
    repetitions: int
    slot_seconds: float
    seed: int
    min_effect: float | None = None
    q: float | None = None


class SweepReading(Record):
    """How a sweep is read: its headline, what was measured, what follows from it, and what to bear in mind.

    Earlier versions wrote further fields, which are ignored.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    headline: str
    subject: str
    sentences: list[str]
    warnings: list[str]


class SnapshotReport(Record):
    """The document of a sweep over sizes of data; `id` names it in a store, and is empty where it is in none.

    `fits` are lines over the resident memory by metric: `fork_us` over the repetitions of all loads, and
    `open_longest_pause_us` and `closed_longest_pause_us` over those of one. `sides` is empty where one server was
    measured in one way, else `fits` is, and `server` is the last of them. `traces` are of events that
    were traced apart. `starts` are those of servers that have settled by an event, in the order in which they were
    measured. `reading` is null until it is written down.
    """

    schema_: Literal["zerolap.snapshot/1"] = Field(default=SNAPSHOT_SCHEMA, alias="schema")
    id: str = ""
    created: str
    command_line: str
    server: MeasuredServer
    platform: Platform
    settings: SnapshotSettings
    machine_seconds: float
    points: list[SnapshotPoint]
    fits: dict[str, LineFit] = {}
    sides: list[SnapshotSide] = []
    starts: list[SnapshotStart] = []
    verdicts: list[SnapshotVerdicts] = []
    traces: list[SnapshotTrace] = []
    failed: list[FailedSize] = []
    notes: list[str] = []
    reading: SweepReading | None = None


class SnapshotSweep(Record):
    """What a request for a sweep of snapshots measures, on each of its sides at each size.

    There is a case for each of `sizes_bytes`. `huge_pages` are those of the sides for which they are varied. With
    `is_traced` an event of each side is traced at the greatest size, apart from those that are measured.
    """

    kind: Literal["snapshot"] = "snapshot"
    event: SnapshotEvent = "bgsave"
    sizes_bytes: tuple[int, ...] = ()
    loads: tuple[SnapshotLoad, ...] = ("open", "closed")
    rate_per_second: int = 5000
    connections: int = 50
    repetitions: int = 5
    huge_pages: dict[str, HugePages] = {}
    is_traced: bool = False


class SnapshotPart(Record):
    """What one job of a sweep measures: repetitions of an event in one start of a server that was filled.

    A block is a repetition; the loads follow each other in the order of the blocks' numbers. `is_settled`: the server
    forks once before. Of a job that traces, `fork_us` is about how long a fork takes, where that is known.
    """

    kind: Literal["snapshot"] = "snapshot"
    event: SnapshotEvent
    size_bytes: int
    loads: tuple[SnapshotLoad, ...]
    rate_per_second: int
    huge_pages: HugePages | None = None
    is_settled: bool = True
    fork_us: FiniteFloat | None = None


class SweepRepetition(Record):
    """A repetition with its place in a sweep, the blob of a trial.

    `number` counts the repetitions of a size, side and load from 0. `filled` is when the server began to be filled,
    `start` is null where it has not settled by an event. `is_resumed`: that start follows one that was interrupted.
    `oversubscribed` states why its threads and the load had to share processors, and is empty where they had not.
    """

    side: str
    size_bytes: int
    load: SnapshotLoad
    number: int
    keys: int
    data_bytes: int | None
    repetition: SnapshotRepetition
    start: SnapshotStart | None = None
    filled: str = ""
    is_resumed: bool = False
    oversubscribed: str = ""
