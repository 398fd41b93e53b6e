"""The level of each look at timed starts, such that the error holds for all looks together.

Estimates at different looks share starts, so that what one shows by chance the next one mostly shows too. Where each
look has a part of the error for itself (Bonferroni), all of them together err less often than they may. Here a look
gets what of the error is left beyond its bound, given that no look before has crossed its own; for tests of Student's t
as for those of a normal distribution at the same level (Jennison and Turnbull, "Group Sequential Methods with
Applications to Clinical Trials", 2000, section 4.4). `python -m benches.look_levels` computes the tables.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

from zerolap.judge.look_level_tables import (
    CHANGE_OF_SMALL_EFFECT,
    CHANGE_OF_USUAL_EFFECT,
    EQUIVALENCE_OF_SMALL_EFFECT,
    EQUIVALENCE_OF_USUAL_EFFECT,
    ERRORS,
)
from zerolap.judge.looks import ALL_LOOKS, USUAL_EFFECT

EQUIVALENCE_ERROR: Final = 0.10
"""Of an interval whose two sides are the tests of equivalence, each at 5 %."""


class LookError(Protocol):
    """What a look may err, given what all looks together may."""

    def at_look(self, error: float) -> float:
        """Return the two-sided level of this look at which all looks together have that error."""

    def of_equivalence(self, error: float) -> float:
        """Return the same for a test of equivalence, by an interval with that error."""

    def of_all(self, p: float) -> float:
        """Return the smallest error of all looks together at which this look shows what has such a p by itself."""


@dataclass(frozen=True)
class PartOfError:
    """A look that has a part of the error for itself (Bonferroni)."""

    share: float

    def at_look(self, error: float) -> float:
        """Return the part of the error."""
        return error * self.share

    of_equivalence = at_look

    def of_all(self, p: float) -> float:
        """Return p divided by the part."""
        return min(1.0, p / self.share)


@dataclass(frozen=True)
class JointLook:
    """A look whose bounds take the looks before into account; `parts` are its levels by error, as in the tables."""

    parts: tuple[float, ...]
    equivalence_part: float

    def at_look(self, error: float) -> float:
        """Return the level; below the smallest error of the tables it is the part of that one."""
        return error * _between(_LOG_ERRORS, self.parts, math.log(max(error, ERRORS[-1])))

    def of_equivalence(self, error: float) -> float:
        """Return the level of an interval for the test of equivalence; its error is always the same."""
        return error * self.equivalence_part

    def of_all(self, p: float) -> float:
        """Return the error whose level at this look is p."""
        if p <= 0:
            return 0.0
        log_levels = [error + math.log(part) for error, part in zip(_LOG_ERRORS, self.parts, strict=True)]
        if math.log(p) >= log_levels[-1]:
            return 1.0
        if math.log(p) <= log_levels[0]:
            return p / self.parts[0]
        return math.exp(_between(log_levels, _LOG_ERRORS, math.log(p)))


# Bisection needs what grows.
_LOG_ERRORS: Final = tuple(math.log(error) for error in reversed(ERRORS))


# By simulation: as in the tables, a case whose variance is known from its own starts alone is called the same in 7 %
# where it changed by the minimum effect, one of four in 6 %, and one of twelve in 5 %.
FEW_CUT: Final = 0.4
"""By how much the level of equivalence is less where a variance is known from the case's own starts alone."""
FEW_DEGREES: Final = 20.0
"""The degrees of freedom of a prior variance at which a third of that is left."""


@lru_cache
def look_at_time(min_effect: float, starts: int, prior_degrees: float = math.inf) -> JointLook:
    """Return the look at so many starts, whose variance is known with these degrees beside its own.

    Whoever stops between two looks has the level of the one that was to come.
    """
    is_usual = min_effect >= USUAL_EFFECT
    change = CHANGE_OF_USUAL_EFFECT if is_usual else CHANGE_OF_SMALL_EFFECT
    equivalence = EQUIVALENCE_OF_USUAL_EFFECT if is_usual else EQUIVALENCE_OF_SMALL_EFFECT
    index = min(bisect_left(ALL_LOOKS, starts), len(ALL_LOOKS) - 1)
    of_few = 1.0 - FEW_CUT * math.exp(-prior_degrees / FEW_DEGREES)
    return JointLook(tuple(parts[index] for parts in reversed(change)), equivalence[index] * of_few)


def _between(places: Sequence[float], values: Sequence[float], place: float) -> float:
    """Return the value at a place by the straight line between its neighbours."""
    after = min(max(1, bisect_left(places, place)), len(places) - 1)
    start, end = places[after - 1], places[after]
    return values[after - 1] + (values[after] - values[after - 1]) * (place - start) / (end - start)
