"""When a case is looked at, and the part of the error that each look has."""

import math
from collections.abc import Iterable, Mapping, Sequence

MIN_BLOCKS = 5
MAX_BLOCKS = 8
REGIME_BLOCKS = 3
"""Blocks that a case in a regime is judged by, where its first one shows more than half of the minimum effect.

What that leaves undecided is judged again as a case is, after `MIN_BLOCKS`.
"""
COUNTED_LOOKS = tuple(range(MIN_BLOCKS, MAX_BLOCKS + 1))
"""Blocks after which a case is judged by its counts."""

LOOKS = (6, 12, 18, 24, 36)
"""Starts of each side after which a case is judged by its time."""
FURTHER_LOOKS = (54, 81, 120)
"""Looks where less than the usual effect matters: half the effect takes four times as many starts."""
ALL_LOOKS = LOOKS + FURTHER_LOOKS
USUAL_EFFECT = 0.02

# Of those that Kim and DeMets compare, 1, 1.5 and 2: more gives more verdicts where starts differ much, and less ends
# quiet cases sooner (docs/timed.md has the figures).
SPENDING_EXPONENT = 1.5


def timed_looks(min_effect: float) -> tuple[int, ...]:
    """Return the starts after which a case is judged by its time, for the smallest change that matters."""
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


def look_shares(min_effect_of_time: float, plugins: Iterable[str]) -> dict[str, dict[int, float]]:
    """Return the part of the error of each look, by engine and number of samples; those of plugins measure blocks."""
    by_engine: Mapping[str, Sequence[int]] = {
        "counted": COUNTED_LOOKS,
        "timed": timed_looks(min_effect_of_time),
        **dict.fromkeys(plugins, COUNTED_LOOKS),
    }
    return {
        engine: {samples: round(share_of_look(looks, samples), 4) for samples in looks}
        for engine, looks in by_engine.items()
    }
