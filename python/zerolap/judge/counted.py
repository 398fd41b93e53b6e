"""Verdicts from counted trials: blocks of seeds, a pair of trials in each."""

from collections.abc import Mapping, Sequence

from zerolap import _core
from zerolap.judge.judged import Judged, Q, verdict_word
from zerolap.records import METRICS, Measurement, Verdict

MIN_BLOCKS = 3
MAX_BLOCKS = 8

# The instrument's own resolution: one and the same build repeats to this relative standard deviation or better
# (docs/counted.md; `make bench-counted` measures it). It keeps identical counts from claiming perfect certainty.
RESOLUTION = 0.0002

# Counts below this many a request are noise of rare events; a change from none is measured against it.
SMALLEST: Mapping[str, float] = {"instructions_per_op": 1.0, "allocations_per_op": 0.001, "syscalls_per_op": 0.001}

# A relative change of a small count must also be this much a request to matter.
SMALLEST_CHANGE: Mapping[str, float] = {"instructions_per_op": 0.0, "allocations_per_op": 0.01, "syscalls_per_op": 0.01}


def judge_counted(
    metric: str, base: Sequence[Measurement], head: Sequence[Measurement], min_effect: float, q: float = Q
) -> Judged | None:
    """Return the verdict on one metric; none where a side did not measure it.

    Pairs are the blocks in order. The interval is Student's over the logarithms of the pairs' ratios, at 1 - q.
    """
    pairs = [
        (one.metrics[metric], other.metrics[metric])
        for one, other in zip(base, head, strict=True)
        if metric in one.metrics and metric in other.metrics
    ]
    if len(pairs) < len(base) or len(pairs) < 2:
        return None
    smallest = SMALLEST[metric]
    base_values = [max(one, smallest) for one, _ in pairs]
    head_values = [max(other, smallest) for _, other in pairs]
    paired = _core.paired_change(base_values, head_values, RESOLUTION, 1.0 - q)
    base_mean = sum(one for one, _ in pairs) / len(pairs)
    head_mean = sum(other for _, other in pairs) / len(pairs)
    word = verdict_word(METRICS[metric], paired.change, paired.low, paired.high, min_effect)
    if abs(head_mean - base_mean) < SMALLEST_CHANGE[metric]:
        word = "same"
    verdict = Verdict(
        metric=metric,
        engine="counted",
        verdict=word,
        base=base_mean,
        head=head_mean,
        change=paired.change,
        low=paired.low,
        high=paired.high,
        q=None,
        samples=len(pairs),
        pairs=len(pairs),
        min_effect=min_effect,
        detectable=paired.detectable,
    )
    return Judged(verdict=verdict, p=paired.p)


def wants_more(judged: Sequence[Judged], blocks: int, comparisons: int, q: float = Q) -> bool:
    """Whether another block of seeds could decide what is still unsure.

    So is a change whose p would not survive adjustment for that many comparisons, taken at their worst (Bonferroni).
    """
    return blocks < MAX_BLOCKS and any(_undecided(one, comparisons, q) for one in judged)


def _undecided(judged: Judged, comparisons: int, q: float) -> bool:
    word = judged.verdict.verdict
    return word == "unsure" or (word != "same" and judged.p * comparisons > q)
