"""What wild starts leave of a verdict: an estimate that bounds them does not show that a side is slow in some starts.

A server that takes twice as long in a tenth of its starts has the same typical start as before, and a mean that is 10 %
higher. So what is the same by its bounded estimate has to be so by its mean too, as far as the wild starts that were
seen can show that; and wild starts that are too many on one side for chance leave time unsure, whatever their size.
"""

import math
from collections.abc import Collection
from typing import Final

from zerolap.judge.wild_starts import BoundedStarts
from zerolap.records import LopsidedReason, MetricRule, VerdictWord, WildStarts

ERRORS: Final = 1.0
"""Standard errors of what wild starts add to the mean, by which it has to lie within the margin."""
SIGN_LEVEL: Final = 0.05
"""The two-sided error of a sign test of wild starts that are as likely on either side."""


def are_lopsided(cases: Collection[BoundedStarts]) -> bool:
    """Whether most cases of a comparison have more wild starts on the same side: too many for chance."""
    sides = [math.fsum(math.copysign(1.0, distance) for distance in starts.wild) for starts in cases]
    return _is_beyond_chance(sum(side > 0 for side in sides), sum(side < 0 for side in sides))


def looked_at_wild_starts(
    metric: MetricRule, starts: BoundedStarts, word: VerdictWord, margin: float, *, are_others_lopsided: bool
) -> tuple[VerdictWord, WildStarts | None]:
    """Return the word on a metric by its wild starts too, and what is to be known of these.

    `are_others_lopsided` is about all cases of the comparison.
    """
    reason = _reason(starts, word, margin, are_others_lopsided=are_others_lopsided)
    if not starts.wild and reason is None:
        return word, None
    higher = sum(distance > 0 for distance in starts.wild)
    lower = len(starts.wild) - higher
    base, head = (lower, higher) if metric.less_is_better else (higher, lower)
    return word if reason is None else "unsure", WildStarts(
        base=base,
        head=head,
        largest=math.exp(max(map(abs, starts.wild), default=0.0)),
        mean_change=math.expm1(starts.mean),
        reason=reason,
    )


def _reason(
    starts: BoundedStarts, word: VerdictWord, margin: float, *, are_others_lopsided: bool
) -> LopsidedReason | None:
    if word in ("regression", "improvement"):
        return "mean" if starts.estimate * starts.mean < 0 else None
    if starts.wild and abs(starts.mean) + ERRORS * starts.error_of_wild > math.log1p(margin):
        return "mean"
    higher = sum(distance > 0 for distance in starts.wild)
    if _is_beyond_chance(higher, len(starts.wild) - higher):
        return "sides"
    return "other cases" if are_others_lopsided and word == "same" else None


def _is_beyond_chance(first: int, second: int) -> bool:
    """Whether so many on each side are not what equal chances give: the exact sign test, of both directions."""
    total, most = first + second, max(first, second)
    tail = sum(math.comb(total, number) for number in range(most, total + 1))
    # A quotient of integers: the powers of two of a thousand cases are beyond floats.
    return 2 * tail / (1 << total) <= SIGN_LEVEL
