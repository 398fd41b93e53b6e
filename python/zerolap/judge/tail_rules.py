"""What is asked of the tails of an open loop: how large a change matters, and for how long it is looked for."""

import math
from collections.abc import Mapping
from typing import Final

from zerolap.judge.timed_verdicts import wants_more_starts
from zerolap.judge.verdict_rule import DEFAULT_MIN_EFFECT, TAILS, UnadjustedVerdict
from zerolap.records import TAIL_METRICS

MOST_STARTS_FOR_TAIL: Final = 18
"""The starts after which a case is looked at no further for a tail that is open, where all else is decided.

A tail that scatters so much that so many do not decide it would take several times as many starts. A change that is
likely is looked at again nevertheless.
"""
FEWEST_TO_GIVE_UP: Final = 10
"""Starts of which the scatter is known well enough to tell that those that are left would not decide a tail."""
NARROWER: Final = 0.6
"""About how much narrower the interval of the test of equivalence is than that of the change."""


def min_effect_of(metric: str, min_effects: Mapping[str, float]) -> float:
    """Return the smallest change of a timed metric that matters, as a fraction; documents of old have none of tails."""
    if metric in TAIL_METRICS:
        return min_effects.get(TAILS, DEFAULT_MIN_EFFECT[TAILS])
    return min_effects["timed"]


def tail_wants_more_starts(judged: UnadjustedVerdict, starts: int, comparisons: int, q: float) -> bool:
    """Whether a further look for the tail alone could decide it, within the looks that it may have."""
    verdict = judged.verdict
    if starts < FEWEST_TO_GIVE_UP and verdict.verdict == "unsure":
        return True
    if starts >= MOST_STARTS_FOR_TAIL or not wants_more_starts(judged, starts, comparisons, q):
        return False
    half_width = (verdict.high - verdict.low) / 2 * math.sqrt(starts / MOST_STARTS_FOR_TAIL)
    return verdict.verdict != "unsure" or half_width * NARROWER <= (verdict.margin or verdict.min_effect)
