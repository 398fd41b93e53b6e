"""What all engines' verdicts have in common: the rule, and the adjustment for their number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zerolap import _core
from zerolap.records import Metric, Verdict, VerdictWord

DEFAULT_MIN_EFFECT: Mapping[str, float] = {"counted": 0.005, "timed": 0.02}
"""The smallest change that matters, by engine, as a fraction."""

Q = 0.01
"""The share of false ones among the changes of a comparison that is accepted."""


@dataclass(frozen=True)
class Judged:
    """A metric's verdict before adjustment for the number of comparisons, with its p."""

    verdict: Verdict
    p: float


def verdict_word(metric: Metric, change: float, low: float, high: float, min_effect: float) -> VerdictWord:
    """Apply the rule of docs/comparing.md to a change and its interval."""
    if low > 0 and change > min_effect:
        return "regression" if metric.less_is_better else "improvement"
    if high < 0 and change < -min_effect:
        return "improvement" if metric.less_is_better else "regression"
    if -min_effect < low and high < min_effect:
        return "same"
    return "unsure"


def adjusted(judged: Sequence[Judged], q: float = Q) -> list[Verdict]:
    """Return the verdicts with q over all of them; a change whose q is above the given one becomes unsure.

    q is the p adjusted by Benjamini and Hochberg (1995).
    """
    values = _core.adjust_p([one.p for one in judged])
    verdicts = []
    for one, own_q in zip(judged, values, strict=True):
        verdict = one.verdict
        if verdict.verdict == "same":
            verdicts.append(verdict)
            continue
        kept: VerdictWord = verdict.verdict if own_q <= q else "unsure"
        verdicts.append(verdict.model_copy(update={"q": own_q, "verdict": kept}))
    return verdicts
