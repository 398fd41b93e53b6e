"""How many requests each read and each cycle of the event loop brought: it sets what a request costs.

A server that is faster finds fewer requests waiting at its next read, or more, and shares the cost of the read among
them: CPU time per request then differs by the load and not by the code.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from zerolap.judge.timed import TimedPair
from zerolap.records import SliceRecord, Timeline

BATCHING_LIMIT = 0.05
"""Sides that differ by more are judged at an equal rate."""
RATE_SHARE = 0.5
"""Of the slower side's throughput is the equal rate: both keep up with it, and neither is idle for most of the time."""


@dataclass(frozen=True)
class Batching:
    """Requests of each read, or of each cycle where those differ more, and the equal rate for both sides."""

    of: str
    base: float
    head: float
    per_second: int


def unequal_batching(starts: Sequence[TimedPair]) -> Batching | None:
    """Return how the sides' batches differ and the rate at which they would not; none where they are alike."""
    slowest = min(
        _median(lambda one: one.metrics["ops_per_sec"], [getattr(start, side) for start in starts]) or 0.0
        for side in ("base", "head")
    )
    found = []
    for name, value in (("read", _per_read), ("event-loop cycle", _per_cycle)):
        base = _median(value, [start.base for start in starts])
        head = _median(value, [start.head for start in starts])
        if base and head and abs(head / base - 1) > BATCHING_LIMIT:
            found.append(Batching(of=name, base=base, head=head, per_second=max(1, int(slowest * RATE_SHARE))))
    return max(found, key=lambda one: abs(one.head / one.base - 1), default=None)


def _per_read(one: SliceRecord) -> float | None:
    return one.requests_per_read


def _per_cycle(one: SliceRecord) -> float | None:
    return one.requests_per_cycle


def _median(value: Callable[[SliceRecord], float | None], timelines: Sequence[Timeline]) -> float | None:
    values = [value(one) for timeline in timelines for one in timeline.slices]
    known = [one for one in values if one is not None]
    return statistics.median(known) if known else None
