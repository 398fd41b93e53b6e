"""Percentiles of latency histograms, whose buckets are named by their lower edge."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

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
