"""What is asked of the tails of an open loop: how large a change matters, and for how long it is looked for."""

from collections.abc import Mapping
from typing import Final

from zerolap.judge.looks import LOOKS
from zerolap.judge.verdict_rule import DEFAULT_MIN_EFFECT, TAILS
from zerolap.records import TAIL_METRICS

MOST_STARTS_FOR_TAIL: Final = LOOKS[2]
"""The starts after which a case is looked at no further for a tail that is open, where all else is decided.

A tail that scatters so much that three looks do not decide it would take several times as many starts. A change that is
likely is looked at again nevertheless.
"""


def min_effect_of(metric: str, min_effects: Mapping[str, float]) -> float:
    """Return the smallest change of a timed metric that matters, as a fraction; documents of old have none of tails."""
    if metric in TAIL_METRICS:
        return min_effects.get(TAILS, DEFAULT_MIN_EFFECT[TAILS])
    return min_effects["timed"]
