"""Verdicts on cases together: a cost that all pay a little, of which each alone shows nothing."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from zerolap import _core
from zerolap.judge.block_verdicts import RESOLUTION
from zerolap.judge.verdict_rule import Q
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
    the start that they share, is not in their scatter: where blocks scatter the mean by more, the interval is wider by
    as much. Several means are adjusted together (Benjamini and Hochberg 1995).
    """
    enough = [together for together in asked if len(together.changes) >= FEWEST_CASES]
    pooled = [_core.paired_change([1.0] * len(of.changes), _widened_by_blocks(of), RESOLUTION, LEVEL) for of in enough]
    adjusted = _core.adjust_p([change.p for change in pooled])
    return [
        _pooled(together, change, value, q) for together, change, value in zip(enough, pooled, adjusted, strict=True)
    ]


def _widened_by_blocks(together: CasesTogether) -> list[float]:
    """Return the heads' costs of all cases, their bases' being one, with the scatter that blocks give their mean.

    That of the cases stays where it is larger.
    """
    logarithms = [math.log1p(change) for change in together.changes]
    mean = math.fsum(logarithms) / len(logarithms)
    own, of_blocks = _standard_error(logarithms), _standard_error(_samples_of_blocks(together.by_block))
    factor = max(1.0, of_blocks / own) if own > 0 else 1.0
    return [math.exp(mean + (change - mean) * factor) for change in logarithms]


def _samples_of_blocks(by_block: Sequence[Mapping[int, float]]) -> list[float]:
    """Return by how much blocks move the mean of all cases: the standard error of these is that of the mean.

    Later blocks have fewer cases, so that they are added to earlier ones.
    """
    cases = [starts for starts in by_block if len(starts) > 1]
    values = bounded({str(place): [*starts.values()] for place, starts in enumerate(cases)})
    parts: dict[int, float] = {}
    for starts, of_case in zip(cases, values.values(), strict=True):
        mean = math.fsum(of_case) / len(of_case)
        for block, value in zip(starts, of_case, strict=True):
            place = block % BLOCKS
            parts[place] = parts.get(place, 0.0) + (value - mean) / (len(of_case) * len(cases))
    return [part * len(parts) for part in parts.values()]


def _standard_error(samples: Sequence[float]) -> float:
    """Return that of their mean; 0 of too few to tell."""
    return statistics.stdev(samples) / math.sqrt(len(samples)) if len(samples) >= FEWEST_CASES else 0.0


def _pooled(together: CasesTogether, pooled: _core.PairedChange, adjusted_p: float, q: float) -> PooledChange:
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
