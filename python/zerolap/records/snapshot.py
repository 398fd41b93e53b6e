"""Snapshots: what a save in the background costs the clients of a server, the document of `zerolap snapshot`."""

from typing import Final, Literal, TypeAlias

from pydantic import Field, FiniteFloat

from zerolap.records.base import Record
from zerolap.records.build import MeasuredServer
from zerolap.records.measurement import Check
from zerolap.records.platform import Platform

SNAPSHOT_SCHEMA: Final = "zerolap.snapshot/1"

SnapshotEvent: TypeAlias = Literal["bgsave", "bgrewriteaof", "replica", "none"]
"""What makes the server fork: a command, a replica that is attached, or nothing, for comparison."""
SnapshotLoad: TypeAlias = Literal["open", "closed"]
"""Requests that are due at a fixed rate, or that are sent when a reply has come."""


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


class SnapshotPoint(Record):
    """One size of data under one load.

    `size_bytes` is the size that was asked for; `data_bytes` what the server reports to use once it is filled, null if
    it does not report it. `metrics` are the medians of the repetitions.
    """

    size_bytes: int
    data_bytes: int | None
    keys: int
    load: SnapshotLoad
    metrics: dict[str, MedianEstimate]
    repetitions: list[SnapshotRepetition]


class FailedSize(Record):
    """A size at which the sweep could not be carried out, and why."""

    size_bytes: int
    reason: str


class SnapshotSettings(Record):
    """How a sweep was carried out; `rate_per_second` is that of the open loop."""

    event: SnapshotEvent
    sizes_bytes: list[int]
    loads: list[SnapshotLoad]
    rate_per_second: int
    connections: int
    value_bytes: int
    repetitions: int
    slot_seconds: float
    seed: int


class SnapshotReading(Record):
    """How a sweep is read: its headline, what was measured, what follows from it, and what to bear in mind."""

    headline: str
    subject: str
    sentences: list[str]
    warnings: list[str]


class SnapshotReport(Record):
    """The document of a sweep over sizes of data.

    `fits` are lines over the resident memory by metric: `fork_us` over the repetitions of all loads, and
    `open_longest_pause_us` and `closed_longest_pause_us` over those of one. `reading` is null until it is written down.
    """

    schema_: str = Field(default=SNAPSHOT_SCHEMA, alias="schema", serialization_alias="schema")
    created: str
    command_line: str
    server: MeasuredServer
    platform: Platform
    settings: SnapshotSettings
    machine_seconds: float
    points: list[SnapshotPoint]
    fits: dict[str, LineFit] = {}
    failed: list[FailedSize] = []
    notes: list[str] = []
    reading: SnapshotReading | None = None
