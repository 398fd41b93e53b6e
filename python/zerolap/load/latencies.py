"""Latencies from histograms: buckets by their lower edge, as the load generator counts them."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

Histogram: TypeAlias = Iterable[tuple[int, int]]
"""Lower edges in nanoseconds with counts."""


def sum_of_histograms(histograms: Iterable[Histogram]) -> list[tuple[int, int]]:
    """Return one histogram of all, in the order of edges."""
    total: dict[int, int] = {}
    for histogram in histograms:
        for edge_ns, count in histogram:
            total[edge_ns] = total.get(edge_ns, 0) + count
    return sorted(total.items())


def latencies_us(histogram: Sequence[tuple[int, int]], shares: Iterable[float]) -> list[float]:
    """Return the latencies in microseconds that these shares of the replies do not exceed, shares in rising order.

    Of an empty histogram there are none: raises `ValueError`.
    """
    if not histogram:
        raise ValueError("a histogram of nothing has no percentiles")
    total = sum(count for _, count in histogram)
    found, place, seen = [], 0, histogram[0][1]
    for share in shares:
        while place < len(histogram) - 1 and seen < share * total:
            place += 1
            seen += histogram[place][1]
        found.append(histogram[place][0] / 1000)
    return found
