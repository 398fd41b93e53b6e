"""Verdicts on the bytes that a counted trial reads: the same build gives the same ones, whatever the machine does."""

import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from zerolap import _core
from zerolap.judge.look_levels import PartOfError
from zerolap.judge.looks import COUNTED_LOOKS, share_of_look
from zerolap.judge.verdict_rule import DEFAULT_MIN_EFFECT, Change, Look, Q, UnadjustedVerdict
from zerolap.records import METRICS, Measurement, Verdict

MEMORY: Final = "memory"
"""What the minimum effect of bytes is named by."""
MEMORY_MIN_EFFECT: Final = DEFAULT_MIN_EFFECT[MEMORY]

RESOLUTION: Final = 1e-5
"""Two trials of one build on the same requests give the same bytes (docs/counted.md); this keeps them from claiming
perfect certainty.
"""

# The minimum effect is no less than so many bytes: a new statistic that a server keeps once is none of its data.
SMALLEST_CHANGE: Final[Mapping[str, float]] = {
    "memory_bytes_per_key": 0.0,
    "used_memory_bytes": 16 * 1024,
    "peak_memory_bytes": 64 * 1024,
    "client_memory_bytes": 1024,
    "allocator_overhead_bytes": 64 * 1024,
}
BYTES: Final = frozenset(SMALLEST_CHANGE)
"""The metrics of memory that are counted."""
SMALLEST: Final = 1.0
"""A change from nothing is measured against a byte."""


def judge_memory(
    base: Sequence[Measurement], head: Sequence[Measurement], min_effect: float, q: float = Q
) -> list[UnadjustedVerdict]:
    """Return the verdicts on the bytes of a case, from its blocks in order; none on what a side did not report.

    Equal bytes in each block are identical, by one block too. Else the interval is Student's over the blocks.
    """
    judged = []
    for name in SMALLEST_CHANGE:
        pairs = [
            (of_base.metrics[name], of_head.metrics[name])
            for of_base, of_head in zip(base, head, strict=True)
            if name in of_base.metrics and name in of_head.metrics
        ]
        if pairs and len(pairs) == len(base):
            judged.append(_judged(name, pairs, min_effect, q))
    return judged


def bytes_differ(base: Measurement, head: Measurement, min_effect: float) -> bool:
    """Whether the sides of a block differ in their bytes, by so much that more blocks could show a change."""
    for name, smallest in SMALLEST_CHANGE.items():
        if METRICS[name].decides == "never" or (name not in base.metrics and name not in head.metrics):
            continue
        if name not in base.metrics or name not in head.metrics:
            return True
        of_base, of_head = base.metrics[name], head.metrics[name]
        if abs(of_head - of_base) > max(min_effect * max(of_base, SMALLEST), smallest) / 2:
            return True
    return False


def _judged(name: str, pairs: Sequence[tuple[float, float]], min_effect: float, q: float) -> UnadjustedVerdict:
    base, head = ([pair[side] for pair in pairs] for side in (0, 1))
    sides = (statistics.fmean(base), statistics.fmean(head))
    unit = max(sides[0], SMALLEST)
    margin = max(min_effect, SMALLEST_CHANGE[name] / unit)
    if base == head or len(pairs) == 1:
        return _exact(name, sides, len(pairs), margin, (sides[1] - sides[0]) / unit)
    share = PartOfError(share_of_look(COUNTED_LOOKS, len(pairs)))
    look = Look(METRICS[name], partial(_change, base, head), share, margin, q)
    return look.verdict(look.judged(), sides, len(pairs), len(pairs))


def _change(base: Sequence[float], head: Sequence[float], confidence: float) -> Change:
    base, head = ([max(value, SMALLEST) for value in values] for values in (base, head))
    return Change.of(_core.paired_change(base, head, RESOLUTION, confidence))


def _exact(name: str, sides: tuple[float, float], blocks: int, margin: float, change: float) -> UnadjustedVerdict:
    """Return the verdict on bytes that are equal, or that one block alone shows: another one has to confirm that."""
    low, high = change - RESOLUTION, change + RESOLUTION
    is_within = -margin < low and high < margin
    verdict = Verdict(
        metric=name,
        engine="counted",
        verdict="identical" if change == 0.0 else "same" if is_within else "unsure",
        base=sides[0],
        head=sides[1],
        change=change,
        low=low,
        high=high,
        q=None,
        samples=blocks,
        pairs=blocks,
        min_effect=margin,
        detectable=max(margin, RESOLUTION),
    )
    return UnadjustedVerdict(verdict, 1.0, lambda _: max(margin, RESOLUTION), lambda _: (low, high))
