"""Verdicts on cases together: a cost that all pay a little, of which each alone shows nothing."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from zerolap import _core
from zerolap.judge.block_verdicts import RESOLUTION
from zerolap.judge.verdict_rule import Change, Q
from zerolap.judge.wild_starts import bounded
from zerolap.records import METRICS, PooledChange, PooledScope, VerdictWord

FEWEST_CASES: Final = 4
"""The fewest cases whose scatter shows how far their mean can be trusted."""
MIN_EFFECT_SHARE: Final = 1 / 8
"""The part of a case's minimum effect from which a mean over cases matters."""
MARGIN_SHARE: Final = 1 / 4
"""The part of a case's minimum effect within which a mean over cases counts as the same."""
LEVEL: Final = 0.99
BLOCKS: Final = 10
"""So many samples of blocks have about as many cases each."""


@dataclass(frozen=True)
class CasesTogether:
    """The changes of a metric in cases that share something; `min_effect` is that of a single case.

    `by_block` has the log ratios of each case's starts by block, where it has starts.
    """

    scope: PooledScope
    name: str
    metric: str
    changes: Sequence[float]
    min_effect: float
    by_block: Sequence[Mapping[int, float]] = ()


def pooled_changes(asked: Sequence[CasesTogether], q: float = Q) -> list[PooledChange]:
    """Return the mean changes of those that have enough cases.

    Student's t over the logarithms of the cases' changes: whatever they scatter by, of chance or because a change costs
    one case more than another, is in the interval. What cases of a block have in common, such as their placement or
    the start that they share, is not in their scatter: the mean has to hold over blocks too. Several means are adjusted together (Benjamini and Hochberg 1995).
    """
    enough = [together for together in asked if len(together.changes) >= FEWEST_CASES]
    pooled = [
        _core.paired_change([1.0] * len(of.changes), [1.0 + change for change in of.changes], RESOLUTION, LEVEL)
        for of in enough
    ]
    pooled = [_over_blocks(together, change) for together, change in zip(enough, pooled, strict=True)]
    adjusted = _core.adjust_p([change.p for change in pooled])
    return [
        _pooled(together, change, value, q) for together, change, value in zip(enough, pooled, adjusted, strict=True)
    ]


def _over_blocks(together: CasesTogether, pooled: _core.PairedChange) -> Change:
    """Return the change with the wider interval and the larger p of those over cases and over blocks.

    A block's sample is the mean, and what the starts of its cases lie off their own means, as parts of it: the mean of
    all samples is the mean, and their scatter the one that blocks give it. Later blocks have fewer cases, so that they
    are added to earlier ones.
    """
    found, cases = Change.of(pooled), [starts for starts in together.by_block if len(starts) > 1]
    if not cases:
        return found
    values = bounded({str(place): [*starts.values()] for place, starts in enumerate(cases)})
    parts: dict[int, float] = {}
    for starts, of_case in zip(cases, values.values(), strict=True):
        mean = math.fsum(of_case) / len(of_case)
        for block, value in zip(starts, of_case, strict=True):
            place = block % BLOCKS
            parts[place] = parts.get(place, 0.0) + (value - mean) / (len(of_case) * len(cases))
    if len(parts) < FEWEST_CASES:
        return found
    samples = [part * len(parts) for part in parts.values()]
    error_of_blocks = statistics.stdev(samples) / math.sqrt(len(samples))
    changes = [math.log1p(change) for change in together.changes]
    error = statistics.stdev(changes) / math.sqrt(len(changes))
    if error_of_blocks <= error:
        return pooled
    wider = [
        mean + (change - mean) * error_of_blocks / error
        for mean in [math.fsum(changes) / len(changes)]
        for change in changes
    ]
    return _core.paired_change([1.0] * len(wider), [math.exp(change) for change in wider], RESOLUTION, LEVEL)


def _pooled(together: CasesTogether, pooled: Change, adjusted_p: float, q: float) -> PooledChange:
    min_effect, margin = together.min_effect * MIN_EFFECT_SHARE, together.min_effect * MARGIN_SHARE
    rule = METRICS[together.metric]
    is_changed = adjusted_p <= q and abs(pooled.change) >= min_effect and pooled.low * pooled.high > 0
    word: VerdictWord = "unsure"
    if is_changed:
        word = "regression" if (pooled.change > 0) == rule.less_is_better else "improvement"
    elif -margin < pooled.low and pooled.high < margin:
        word = "same"
    return PooledChange(
        answer=rule.answer,
        metric=together.metric,
        scope=together.scope,
        name=together.name,
        cases=len(together.changes),
        verdict=word,
        change=pooled.change,
        low=pooled.low,
        high=pooled.high,
        q=adjusted_p if is_changed else None,
        min_effect=min_effect,
    )
