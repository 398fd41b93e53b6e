"""Timelines: the slices of a timed trial."""

from pydantic import Field

from zerolap.records.base import Record

TIMELINE_SCHEMA = "zerolap.timeline/1"


class SliceRecord(Record):
    """One slice: its requests, its length, how busy client and server were, its metrics.

    `client_busy` and `server_busy` are fractions of the slice's time; `requests_per_read` and `requests_per_cycle`
    describe how requests reached the server, null if it does not report them. `is_disturbed`: others had the processors
    for a part of it, so that its length is not that of server and load.
    """

    requests: int
    seconds: float
    client_busy: float
    server_busy: float
    requests_per_read: float | None
    requests_per_cycle: float | None
    metrics: dict[str, float]
    is_disturbed: bool = False


class Timeline(Record):
    """A trial's slices in order; the slices of the same index on both sides are a pair.

    `histogram_ns` is the histogram of all latencies, as lower edges of buckets and counts.
    """

    schema_: str = Field(default=TIMELINE_SCHEMA, alias="schema", serialization_alias="schema")
    slices: list[SliceRecord]
    histogram_ns: list[tuple[int, int]]
