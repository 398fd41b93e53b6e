"""An open loop: requests are due at a rate, whatever the replies do, and what it sends is the same for all sides."""

from typing import Final

from pydantic import Field

from zerolap.records.base import Record

OPEN_LOOP_LOADS: Final = (0.5, 0.8)
"""The rates of the open loop, as parts of what the base can do at full speed."""

TAIL_AT_HALF: Final = "latency_at_50_p99_us"
TAIL: Final = "latency_at_80_p99_us"
"""The p99 at the higher load, which is part of what is the same in time."""
FAR_TAIL: Final = "latency_at_80_p99_9_us"
LONGEST_PAUSE: Final = "latency_at_80_max_us"
TAIL_METRICS: Final = (TAIL_AT_HALF, TAIL, FAR_TAIL, LONGEST_PAUSE)
"""Latencies of the open loop from when requests were due, by what each start saw as a whole."""


class OpenLoad(Record):
    """A load of an open loop: requests a second over all connections, and the requests of a slice."""

    per_second: int = Field(gt=0)
    requests: int = Field(gt=0)


class OpenLoadRecord(Record):
    """What a side did at a load: how many slices were taken, the p99 of each that is used, and the latencies of these.

    Used are those whose servers and load had their processors to themselves, as many on all sides. Where there were
    too few of them, all are used.
    """

    per_second: int
    slices: int
    p99_us: list[float]
    histogram_ns: list[tuple[int, int]]
