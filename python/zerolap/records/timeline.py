"""Timelines, the slices of a timed trial, and histograms of its latencies."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from pydantic import Field

from zerolap.records.base import Record
from zerolap.records.open_loads import OpenLoadRecord

Histogram: TypeAlias = Iterable[tuple[int, int]]
"""The buckets' lower edges in nanoseconds, with counts."""


def sum_of_histograms(histograms: Iterable[Histogram]) -> list[tuple[int, int]]:
    """Return the sum of the histograms, ordered by edge."""
    total: dict[int, int] = {}
    for histogram in histograms:
        for edge_ns, count in histogram:
            total[edge_ns] = total.get(edge_ns, 0) + count
    return sorted(total.items())


def latencies_us(histogram: Sequence[tuple[int, int]], shares: Iterable[float]) -> list[float]:
    """Return the percentiles in microseconds: the latency that each share of the replies does not exceed.

    `shares` are from 0 to 1, in rising order. Raises `ValueError` for an empty histogram.
    """
    if not histogram:
        raise ValueError("an empty histogram has no percentiles")
    total = sum(count for _, count in histogram)
    latencies, bucket, counted = [], 0, histogram[0][1]
    for share in shares:
        while bucket < len(histogram) - 1 and counted < share * total:
            bucket += 1
            counted += histogram[bucket][1]
        latencies.append(histogram[bucket][0] / 1000)
    return latencies


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

    `histogram_ns` is the histogram of all latencies, as lower edges of buckets and counts. `open_loop` are the loads of
    the open loop in rising order, if there was one; they are in no slice and not in the histogram.
    """

    schema_: str = Field(default=TIMELINE_SCHEMA, alias="schema", serialization_alias="schema")
    slices: list[SliceRecord]
    histogram_ns: list[tuple[int, int]]
    open_loop: list[OpenLoadRecord] = []
