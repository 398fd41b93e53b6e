"""In which order the commits of a range are measured: both ends, then the middles of what is widest or differs."""

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Final

DIFFERENCE_WEIGHT: Final = 8.0
"""An interval whose ends differ is as urgent as one so many times as wide whose ends are the same."""


def bisecting_order(
    positions: Sequence[int], differs: Callable[[int, int], bool], is_measured: Callable[[int], bool]
) -> Iterator[int]:
    """Yield the positions that are not measured, each once; what is measured meanwhile decides what follows.

    `differs` is asked for the measured ends of an interval.
    """
    if not positions:
        return
    for end in dict.fromkeys((positions[0], positions[-1])):
        if not is_measured(end):
            yield end
    intervals: list[tuple[float, int, int]] = []

    def add(first: int, last: int) -> None:
        if last - first > 1:
            width = float(last - first)
            weight = DIFFERENCE_WEIGHT if differs(positions[first], positions[last]) else 1.0
            heapq.heappush(intervals, (-width * weight, first, last))

    # An end that cannot be measured bounds an interval nevertheless.
    measured = {index for index, position in enumerate(positions) if is_measured(position)}
    for first, last in itertools.pairwise(sorted(measured | {0, len(positions) - 1})):
        add(first, last)
    while intervals:
        _, first, last = heapq.heappop(intervals)
        middle = (first + last) // 2
        if not is_measured(positions[middle]):
            yield positions[middle]
        add(first, middle)
        add(middle, last)
