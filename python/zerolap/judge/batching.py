"""Requests in each read and each cycle of the event loop: their number affects the cost of a request.

A server that is faster finds fewer requests waiting at its next read, or more, and shares the cost of the read among
them: CPU time per request then differs by the load and not by the code.
"""

import statistics
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from zerolap.judge.timed_verdicts import TimedPair
from zerolap.records import BASE, HEAD

BATCHING_LIMIT = 0.05
"""Sides that differ by more are judged at an equal rate."""
RATE_SHARE = 0.5
"""The equal rate as a share of the slower side's throughput: both sides keep up, and neither is idle most of the
time.
"""


@dataclass(frozen=True)
class Batching:
    """Requests of each read, or of each cycle where those differ more, and the equal rate for both sides."""

    of: str
    base: float
    head: float
    per_second: int


def unequal_batching(starts: Sequence[TimedPair], anchored: Sequence[TimedPair] = ()) -> Batching | None:
    """Return how the sides' batches differ and the rate at which they would not; none where they are alike.

    `anchored` are the same starts of an anchor and the head, where there is an anchor beside both sides.
    """
    pairs_of = [pairs for pairs in (starts, anchored) if pairs]
    slowest = min(_median([start.rates[side] for start in pairs]) or 0.0 for pairs in pairs_of for side in (BASE, HEAD))
    unequal = []
    for pairs in pairs_of:
        for name, batches in (
            ("read", [start.reads for start in pairs]),
            ("event-loop cycle", [start.cycles for start in pairs]),
        ):
            base = _median([by_side[BASE] for by_side in batches])
            head = _median([by_side[HEAD] for by_side in batches])
            if base and head and abs(head / base - 1) > BATCHING_LIMIT:
                unequal.append(Batching(of=name, base=base, head=head, per_second=max(1, int(slowest * RATE_SHARE))))
    return max(unequal, key=lambda batching: abs(batching.head / batching.base - 1), default=None)


def _median(figures: Sequence["array[float]"]) -> float | None:
    together = list(chain.from_iterable(figures))
    return statistics.median(together) if together else None
