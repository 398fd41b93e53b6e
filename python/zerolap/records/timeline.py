"""What happened within a timed trial."""

from pydantic import Field

from zerolap.records.base import Record

TIMELINE_SCHEMA = "zerolap.timeline/1"


class SliceRecord(Record):
    """One slice: its work, its length, how busy client and server were, its metrics.

    `client_busy` and `server_busy` are parts of the slice's time; `requests_per_read` and `requests_per_cycle` say how
    requests reached the server, null where it does not tell.
    """

    requests: int
    seconds: float
    client_busy: float
    server_busy: float
    requests_per_read: float | None
    requests_per_cycle: float | None
    metrics: dict[str, float]


class Timeline(Record):
    """A trial's slices in the order of pairs: those of the same place on both sides are a pair.

    `histogram_ns` holds the latencies of all of them, by the buckets' lower edges and counts.
    """

    schema_: str = Field(default=TIMELINE_SCHEMA, alias="schema", serialization_alias="schema")
    slices: list[SliceRecord]
    histogram_ns: list[tuple[int, int]]
