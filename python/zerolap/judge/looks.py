"""When a case is looked at, and the part of the error that each look has."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

MIN_BLOCKS = 5
MAX_BLOCKS = 8
REGIME_BLOCKS = 3
"""Blocks that a case in a regime is judged by, where its first one shows more than half of the minimum effect.

What that leaves undecided is judged again as a case is, after `MIN_BLOCKS`.
"""
COUNTED_LOOKS = tuple(range(MIN_BLOCKS, MAX_BLOCKS + 1))
"""Blocks after which a case is judged by its counts."""

LOOKS: Final[tuple[int, ...]] = (*range(6, 24, 2), *range(24, 37, 4))
"""Starts of each side after which a case is judged by its time."""
FURTHER_LOOKS: Final[tuple[int, ...]] = (*range(42, 60, 6), *range(60, 121, 12))
"""Looks where less than the usual effect matters: half the effect takes four times as many starts.

Also at changes that are certain, and about as large as the smallest one that matters.
"""
ALL_LOOKS = LOOKS + FURTHER_LOOKS
USUAL_EFFECT = 0.02

# Of those that Kim and DeMets compare, 1, 1.5 and 2: more gives more verdicts where starts differ much, and less ends
# quiet cases sooner (docs/timed.md has the figures).
SPENDING_EXPONENT = 1.5
EQUIVALENCE_EXPONENT: Final = 1.25
"""That of the test of equivalence of time, which is to end quiet cases soon."""
SPENT_AT_USUAL_LOOKS: Final = 0.95
"""The part of the error that the looks up to the last usual one have, where that effect matters."""


def timed_looks(min_effect: float) -> tuple[int, ...]:
    """Return the starts after which a case is judged until it is decided, for the smallest change that matters."""
    return LOOKS if min_effect >= USUAL_EFFECT else ALL_LOOKS


def share_of_look(looks: Sequence[int], samples: int) -> float:
    """Return the part of the error that a look at so many samples has; the parts of all looks sum to one.

    By a fraction t of the most samples, t^1.5 of the error is spent (Kim and DeMets, "Design and analysis of group
    sequential tests based on the type I error spending rate function", Biometrika 74, 1987). Whoever stops between two
    looks uses the part of the one that was to come.
    """
    reached = next((look for look in looks if look >= samples), looks[-1])
    before = max((look for look in looks if look < reached), default=0)
    return _spent(looks, reached) - _spent(looks, before)


def _spent(looks: Sequence[int], samples: int) -> float:
    return math.pow(samples / looks[-1], SPENDING_EXPONENT)


def spent_on_time(min_effect: float, samples: int, exponent: float = SPENDING_EXPONENT) -> float:
    """Return the part of the error that looks at up to so many starts have, of all looks at time.

    Where the usual effect matters, few cases are looked at after the last usual look: little is left for them.
    """
    if min_effect < USUAL_EFFECT:
        return math.pow(samples / ALL_LOOKS[-1], exponent)
    last = LOOKS[-1]
    if samples <= last:
        return SPENT_AT_USUAL_LOOKS * math.pow(samples / last, exponent)
    return SPENT_AT_USUAL_LOOKS + (1 - SPENT_AT_USUAL_LOOKS) * (samples - last) / (ALL_LOOKS[-1] - last)


def look_shares(min_effect_of_time: float, plugins: Iterable[str]) -> dict[str, dict[int, float]]:
    """Return the part of the error of each look, by engine and number of samples; those of plugins measure blocks."""
    shares: dict[str, dict[int, float]] = {
        engine: {samples: round(share_of_look(COUNTED_LOOKS, samples), 4) for samples in COUNTED_LOOKS}
        for engine in ("counted", *plugins)
    }
    spent = [0.0, *(spent_on_time(min_effect_of_time, samples) for samples in ALL_LOOKS)]
    of_time = zip(ALL_LOOKS, spent, spent[1:], strict=False)
    return shares | {"timed": {samples: round(now - before, 4) for samples, before, now in of_time}}
