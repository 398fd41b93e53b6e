"""What wild starts leave of a verdict: an estimate that bounds them does not show that a side is slow in some starts.

A server that takes twice as long in a tenth of its starts has the same typical start as before, and a mean that is 10 %
higher. So what is the same by its bounded estimate has to be so by its mean too, as far as the wild starts that were
seen can show that; and wild starts that are too many on one side for chance leave time unsure, whatever their size.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Self

from zerolap.judge.wild_starts import BoundedStarts
from zerolap.records import LopsidedReason, MetricRule, VerdictWord, WildStarts

ERRORS: Final = 1.0
"""Standard errors of what wild starts add to the mean, by which it has to lie within the margin."""
MOST_TOGETHER: Final = 3
"""Cases of a start that they share: where it is wild, all of them are."""
SIGN_LEVEL: Final = 0.05
"""The two-sided error of a sign test of wild starts that are as likely on either side."""


@dataclass(frozen=True)
class OfAllCases:
    """What the wild starts of all cases of a comparison show of each: `reach` as of `reach_of_wild`."""

    are_lopsided: bool
    reach: float = 0.0

    @classmethod
    def of(cls, cases: Collection[BoundedStarts]) -> Self:
        """Return what these cases' starts show."""
        return cls(are_lopsided(cases), reach_of_wild(cases) if cases else 0.0)


def are_lopsided(cases: Collection[BoundedStarts]) -> bool:
    """Whether most cases of a comparison have more wild starts on the same side: too many for chance."""
    sides = [math.fsum(math.copysign(1.0, distance) for distance in starts.wild) for starts in cases]
    return _is_beyond_chance(sum(side > 0 for side in sides), sum(side < 0 for side in sides))


def reach_of_wild(cases: Collection[BoundedStarts]) -> float:
    """Return how far from the typical start the mean of all cases' starts may lie, by the wild ones that were seen.

    A server that is slow in some of its starts is so in whichever case it serves then: the starts of all cases show how
    often. Those of a start that cases share are slow together. The case with most of it is left out: what a single case
    shows can have its cause in that case.
    """
    _, *others = sorted(cases, key=lambda starts: abs(math.fsum(starts.wild)), reverse=True)
    number = sum(len(starts.values) for starts in others)
    distances = [distance for starts in others for distance in starts.wild]
    error = math.sqrt(MOST_TOGETHER * math.fsum(distance**2 for distance in distances))
    return (abs(math.fsum(distances)) + ERRORS * error) / max(1, number)


def looked_at_wild_starts(
    metric: MetricRule, starts: BoundedStarts, word: VerdictWord, margin: float, of_all: "OfAllCases"
) -> tuple[VerdictWord, WildStarts | None]:
    """Return the word on a metric by its wild starts too, and what is to be known of these."""
    reason = _reason(starts, word, margin, of_all)
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


def _reason(starts: BoundedStarts, word: VerdictWord, margin: float, of_all: "OfAllCases") -> LopsidedReason | None:
    if word in ("regression", "improvement"):
        return "mean" if starts.estimate * starts.mean < 0 else None
    if starts.wild and abs(starts.mean) + ERRORS * starts.error_of_wild > math.log1p(margin):
        return "mean"
    higher = sum(distance > 0 for distance in starts.wild)
    if _is_beyond_chance(higher, len(starts.wild) - higher):
        return "sides"
    is_of_others = of_all.are_lopsided or of_all.reach + abs(starts.estimate) > math.log1p(margin)
    return "other cases" if is_of_others and word == "same" else None


def _is_beyond_chance(first: int, second: int) -> bool:
    """Whether so many on each side are not what equal chances give: the exact sign test, of both directions."""
    total, most = first + second, max(first, second)
    tail = sum(math.comb(total, number) for number in range(most, total + 1))
    # A quotient of integers: the powers of two of a thousand cases are beyond floats.
    return 2 * tail / (1 << total) <= SIGN_LEVEL
