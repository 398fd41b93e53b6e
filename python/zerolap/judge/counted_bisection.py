"""The rule of a bisection by counted work: counts are exact, so that each halving is certain."""

import itertools
from collections.abc import Sequence, Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from zerolap.judge.bisection import LocatedChange
from zerolap.judge.ledger import SMALLEST_CHANGE

SHARE_OF_WHOLE: Final = 0.25
"""Steps that are smaller than the minimum effect are looked for down to this part of the whole difference."""


@dataclass(frozen=True)
class CountedBisection:
    """A search for the steps of counted work; `works` are logarithms by position, none where not counted.

    Both ends are counted. Steps that cancel each other between two counted commits are not found. `min_effect` is the
    smallest change that matters, as a fraction.
    """

    works: Sequence[float | None]
    skipped: AbstractSet[int]
    min_effect: float

    @cached_property
    def smallest(self) -> float:
        """The smallest step that is looked for."""
        first, last = self.works[0], self.works[-1]
        if first is None or last is None:
            raise ValueError("the ends are not counted")
        return max(SMALLEST_CHANGE, min(self.min_effect, SHARE_OF_WHOLE * abs(last - first)))

    def next_position(self) -> int | None:
        """Return the position to be counted next: the middle of the largest step; none at the end."""
        steps = [(abs(change), begin, end) for begin, end, change in self._steps() if self._between(begin, end)]
        if not steps:
            return None
        _, begin, end = max(steps, key=lambda step: step[0])
        middle = (begin + end) / 2
        return min(self._between(begin, end), key=lambda position: abs(position - middle))

    def changes(self) -> list[LocatedChange]:
        """Return the steps; each has the commits that may have made it, more than one where those between fail."""
        return [
            LocatedChange(tuple(range(begin + 1, end + 1)), 1.0, change, 0.0, certain=not self._between(begin, end))
            for begin, end, change in self._steps()
        ]

    def _steps(self) -> list[tuple[int, int, float]]:
        """Return the counted neighbours that differ, with the change from one to the other."""
        counted = [(position, work) for position, work in enumerate(self.works) if work is not None]
        steps = [(begin, end, after - before) for (begin, before), (end, after) in itertools.pairwise(counted)]
        return [step for step in steps if abs(step[2]) >= self.smallest]

    def _between(self, begin: int, end: int) -> list[int]:
        return [position for position in range(begin + 1, end) if position not in self.skipped]
