"""Verdicts from trials in blocks of seeds, a pair in each: counted ones, and those of plugins' engines."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from zerolap import _core
from zerolap.judge.look_levels import PartOfError
from zerolap.judge.looks import COUNTED_LOOKS, MAX_BLOCKS, share_of_look
from zerolap.judge.verdict_rule import Change, Look, Q, UnadjustedVerdict
from zerolap.records import UNCHANGED, Measurement, MetricRule, Verdict

# The instrument's own resolution: one and the same build repeats to this relative standard deviation or better
# (docs/counted.md; `make bench-counted` measures it). It keeps identical counts from claiming perfect certainty.
RESOLUTION = 0.0002


@dataclass(frozen=True)
class _Tolerance:
    """How far counts of the same executed instructions may differ: a share of them, or so much a request."""

    share: float
    absolute: float = 0.0


# Instructions as crates/profile/src/identity takes them for equal: those of libraries depend on where strings lie.
# Requests that come alone are counted in two short windows, and ticks in one of five.
EQUAL_BY_METRIC: Mapping[str, _Tolerance] = {
    "instructions_per_op": _Tolerance(0.001),
    "allocations_per_op": _Tolerance(0.0002, 0.001),
    "syscalls_per_op": _Tolerance(0.0002, 0.001),
    "clock_readings_per_op": _Tolerance(0.0002, 0.001),
    "instructions_alone_per_op": _Tolerance(0.001, 1.0),
    "instructions_per_tick": _Tolerance(0.001, 1_000.0),
}

# Counts below this many a request are noise of rare events; a change from none is measured against it.
SMALLEST: Mapping[str, float] = {
    "instructions_per_op": 1.0,
    "allocations_per_op": 0.001,
    "syscalls_per_op": 0.001,
    "clock_readings_per_op": 0.001,
    "instructions_alone_per_op": 1.0,
    "instructions_per_tick": 1.0,
}

# Of a plugin's metric nothing is known: a change from none is infinitely large, as far as numbers go.
SMALLEST_OF_PLUGINS = 1e-9

SMALLEST_OF_OTHERS = 1.0
"""Of bytes, and of what else is counted in whole numbers."""

# The minimum effect is no less than this much a request: a rare event can be twice as frequent and not matter.
SMALLEST_CHANGE: Mapping[str, float] = {
    "instructions_per_op": 0.0,
    "allocations_per_op": 0.01,
    "syscalls_per_op": 0.01,
    "clock_readings_per_op": 0.01,
    "instructions_alone_per_op": 0.0,
    # Ten ticks a second: a million instructions, some 0.03 % of a processor.
    "instructions_per_tick": 100_000.0,
}

# Counts are this small a part of what they are added to where their difference is judged and not their ratio.
OFFSET = 1e4


def judge_blocks(
    metric: MetricRule, base: Sequence[Measurement], head: Sequence[Measurement], min_effect: float, q: float = Q
) -> UnadjustedVerdict | None:
    """Return the verdict on one metric; none where a side did not measure it.

    Pairs are the blocks in order. The interval is Student's over the logarithms of the pairs' ratios, by the case's own
    variance: blocks of one case differ twenty times as much as those of another.
    """
    name = metric.name
    pairs = [
        (of_base.metrics[name], of_head.metrics[name])
        for of_base, of_head in zip(base, head, strict=True)
        if name in of_base.metrics and name in of_head.metrics
    ]
    if len(pairs) < len(base) or len(pairs) < 2:
        return None
    base_values, head_values = [one for one, _ in pairs], [other for _, other in pairs]
    base_mean, head_mean = statistics.fmean(base_values), statistics.fmean(head_values)
    smallest, smallest_change = SMALLEST.get(name, SMALLEST_OF_PLUGINS), SMALLEST_CHANGE.get(name, 0.0)
    unit = max(base_mean, smallest)
    change_at = partial(_change_of_ratios, base_values, head_values, smallest)
    if min_effect * unit < smallest_change:
        min_effect = smallest_change / unit
        change_at = partial(_change_of_means, base_values, head_values, unit)
    look = Look(metric, change_at, PartOfError(share_of_look(COUNTED_LOOKS, len(pairs))), min_effect, q)
    return look.verdict(look.judged(), (base_mean, head_mean), len(pairs), len(pairs))


def is_rare_change(metric: str, base: float, head: float) -> bool:
    """Whether counts differ by so little a request that it does not matter, whatever their ratio."""
    return abs(head - base) < SMALLEST_CHANGE.get(metric, 0.0)


def log_change(metric: str, base: float, head: float) -> float:
    """Return the logarithm of the ratio of two counts; a change from none is measured against rare events."""
    smallest = SMALLEST.get(metric, SMALLEST_OF_OTHERS)
    return math.log(max(head, smallest) / max(base, smallest))


def after_change(metric: str, base: float, change: float) -> float:
    """Return the count that a change of `log_change` leads to from another one."""
    return base if change == 0.0 else max(base, SMALLEST.get(metric, SMALLEST_OF_OTHERS)) * math.exp(change)


def unequal_count(base: Measurement, head: Measurement) -> str | None:
    """Return a counted metric that differs between the sides of a block by more than equal instructions explain.

    None where all are equal. Both sides ran with one seed: what repeats to the instruction differs for a reason.
    """
    for name, tolerance in EQUAL_BY_METRIC.items():
        if (name in base.metrics) != (name in head.metrics):
            return name
        if name not in base.metrics:
            continue
        of_base, of_head = base.metrics[name], head.metrics[name]
        allowed = max(tolerance.share * max(of_base, of_head), tolerance.absolute)
        if abs(of_head - of_base) > allowed:
            return name
    return None


def judge_identical(metric: str, base: Measurement, head: Measurement, min_effect: float) -> UnadjustedVerdict | None:
    """Return the verdict on one metric of a block in which both sides executed the same; none where one is missing.

    The interval is how far counts may differ that are taken for equal.
    """
    if metric not in base.metrics or metric not in head.metrics:
        return None
    of_base, of_head = base.metrics[metric], head.metrics[metric]
    unit = max(of_base, SMALLEST[metric])
    change, tolerance = (of_head - of_base) / unit, EQUAL_BY_METRIC[metric]
    exactness = max(tolerance.share, tolerance.absolute / unit)
    margin = max(min_effect, SMALLEST_CHANGE[metric] / unit)
    low, high = change - exactness, change + exactness
    verdict = Verdict(
        metric=metric,
        engine="counted",
        verdict="same" if -margin < low and high < margin else "unsure",
        base=of_base,
        head=of_head,
        change=change,
        low=low,
        high=high,
        q=None,
        samples=1,
        pairs=1,
        min_effect=margin,
        detectable=exactness,
    )
    return UnadjustedVerdict(verdict, 1.0, lambda _: exactness, lambda _: (low, high))


def _change_of_ratios(base: Sequence[float], head: Sequence[float], smallest: float, confidence: float) -> Change:
    base, head = ([max(value, smallest) for value in values] for values in (base, head))
    return Change.of(_core.paired_change(base, head, RESOLUTION, confidence))


def _change_of_means(base: Sequence[float], head: Sequence[float], unit: float, confidence: float) -> Change:
    """Return the change of a count that is 0 in some trials, where ratios would be those of noise.

    Of counts that are a small part of the sum with an offset, the log ratio of the sums is their difference.
    """
    offset = OFFSET * max(unit, *base, *head)
    floor = RESOLUTION * statistics.fmean([*base, *head]) / offset
    base, head = ([offset + value for value in values] for values in (base, head))
    return Change.of(_core.paired_change(base, head, floor, confidence), offset / unit)


def wants_more(judged: Sequence[UnadjustedVerdict], blocks: int, comparisons: int, q: float = Q) -> bool:
    """Whether another block of seeds could decide what is still unsure.

    So is a change whose p would not survive adjustment for that many comparisons, taken at their worst (Bonferroni).
    """
    words = [(one.verdict.verdict, one.p) for one in judged]
    return blocks < MAX_BLOCKS and any(
        word == "unsure" or (word not in UNCHANGED and p * comparisons > q) for word, p in words
    )
