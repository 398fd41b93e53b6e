"""Verdicts on cases together: a cost that all pay a little, of which each alone shows nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from zerolap import _core
from zerolap.judge.block_verdicts import RESOLUTION
from zerolap.judge.verdict_rule import Q
from zerolap.records import METRICS, PooledChange, PooledScope, VerdictWord

FEWEST_CASES: Final = 4
"""The fewest cases whose scatter shows how far their mean can be trusted."""
MIN_EFFECT_SHARE: Final = 1 / 8
"""The part of a case's minimum effect from which a mean over cases matters."""
MARGIN_SHARE: Final = 1 / 4
"""The part of a case's minimum effect within which a mean over cases counts as the same."""
LEVEL: Final = 0.99


@dataclass(frozen=True)
class CasesTogether:
    """The changes of a metric in cases that share something; `min_effect` is that of a single case."""

    scope: PooledScope
    name: str
    metric: str
    changes: Sequence[float]
    min_effect: float


def pooled_changes(asked: Sequence[CasesTogether], q: float = Q) -> list[PooledChange]:
    """Return the mean changes of those that have enough cases.

    Student's t over the logarithms of the cases' changes: whatever they scatter by, of chance or because a change costs
    one case more than another, is in the interval. Several means are adjusted together (Benjamini and Hochberg 1995).
    """
    enough = [together for together in asked if len(together.changes) >= FEWEST_CASES]
    pooled = [
        _core.paired_change([1.0] * len(of.changes), [1.0 + change for change in of.changes], RESOLUTION, LEVEL)
        for of in enough
    ]
    adjusted = _core.adjust_p([change.p for change in pooled])
    return [
        _pooled(together, change, value, q) for together, change, value in zip(enough, pooled, adjusted, strict=True)
    ]


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
