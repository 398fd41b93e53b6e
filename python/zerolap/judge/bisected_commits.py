"""The commits of a range that is searched: what is known of each, and their levels of time."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from zerolap.judge.ledger import SMALLEST_CHANGE
from zerolap.judge.wild_starts import bounded

WORK_WEIGHT: Final = 20.0
"""How much likelier a commit that changed counted work is the culprit than one of which nothing is known."""
PRIOR_DEGREES: Final = 4.0
"""Degrees of freedom that the expected variance of starts counts as (moderated variance; Smyth 2004)."""
SMALLEST_VARIANCE: Final = 1e-8
EXACT_VARIANCE: Final = 1e-12
"""The variance of the level of the first commit, against which all others are measured."""


@dataclass(frozen=True)
class BisectedCommit:
    """What is known of a commit of the range.

    `log_ratios` has one for each start: this commit over the first one. `code` is equal for commits that execute the
    same, `work` is the logarithm of counted work. `weight` is how likely it is the culprit before anything is measured,
    beside 1 for an ordinary commit. `is_skipped`: it cannot be built or measured.
    """

    log_ratios: tuple[float, ...] = ()
    code: str | None = None
    work: float | None = None
    weight: float = 1.0
    is_built: bool = False
    is_skipped: bool = False


@dataclass(frozen=True)
class BisectionNoise:
    """How trials differ, as variances of log ratios.

    `start` is what is expected of starts, `layout` what remains of a build however many starts it has.
    """

    start: float
    layout: float


@dataclass(frozen=True)
class CommitLevels:
    """The levels of commits, from their starts against the first one."""

    commits: Sequence[BisectedCommit]
    noise: BisectionNoise

    @cached_property
    def start_variance(self) -> float:
        """The variance of starts of a commit, pooled over all of them and drawn towards what is expected."""
        samples = self._bounded.values()
        squares = math.fsum((value - _mean(sample)) ** 2 for sample in samples for value in sample)
        degrees = sum(len(sample) - 1 for sample in samples)
        pooled = (PRIOR_DEGREES * self.noise.start + squares) / (PRIOR_DEGREES + degrees)
        return max(SMALLEST_VARIANCE, pooled)

    @cached_property
    def _bounded(self) -> dict[str, list[float]]:
        """The starts by position, with bounds for wild ones."""
        return bounded(
            {str(position): one.log_ratios for position, one in enumerate(self.commits) if one.log_ratios and position}
        )

    @cached_property
    def _estimates(self) -> tuple[list[float], list[float]]:
        """The level of each position, and the inverse of its variance, which is 0 where none was timed."""
        values, precisions = [0.0] * len(self.commits), [0.0] * len(self.commits)
        precisions[0] = 1.0 / EXACT_VARIANCE
        for name, sample in self._bounded.items():
            position = int(name)
            values[position] = _mean(sample)
            precisions[position] = 1.0 / (self.start_variance / len(sample) + self.noise.layout)
        good = self.commits[0].code
        for position, commit in enumerate(self.commits):
            if good is not None and commit.code == good:
                # The same code takes the same time.
                values[position], precisions[position] = 0.0, precisions[0]
        return values, precisions

    def timed(self) -> list[tuple[int, int, float, float]]:
        """Return position, starts, level and standard error of each commit that was timed."""
        return [
            (position, self.starts(position), self.values[position], self.precisions[position] ** -0.5)
            for position in range(1, len(self.commits))
            if self.starts(position)
        ]

    @property
    def values(self) -> list[float]:
        """The level of each position, as a logarithm over the first one; 0 where none was timed."""
        return self._estimates[0]

    @property
    def precisions(self) -> list[float]:
        """The inverse of each level's variance, 0 where none was timed."""
        return self._estimates[1]

    def is_exact(self, position: int) -> bool:
        """Whether a level is known without any trial."""
        return self.precisions[position] >= self.precisions[0]

    def starts(self, position: int) -> int:
        """Return how many starts a commit had."""
        return len(self.commits[position].log_ratios)

    def difference(self, first: int, last: int) -> tuple[float, float]:
        """Return the change from one position to another, and its variance: infinite where one was not timed."""
        values, precisions = self.values, self.precisions
        if not precisions[first] or not precisions[last]:
            return 0.0, math.inf
        return values[last] - values[first], 1 / precisions[first] + 1 / precisions[last]


def prior_weights(commits: Sequence[BisectedCommit]) -> list[float]:
    """Return how likely each position is the culprit before any is timed, as weights; the first one's is 0.

    Between two commits that execute the same, none is. Where counted work changed, the weight of the commit that did it
    is larger; which one it is of those between is not known.
    """
    weights = [0.0, *(commit.weight for commit in commits[1:])]
    known = [position for position, commit in enumerate(commits) if commit.code is not None]
    for before, after in itertools.pairwise(known):
        between = slice(before + 1, after + 1)
        inside = weights[between]
        if commits[before].code == commits[after].code:
            weights[between] = [0.0] * len(inside)
            continue
        work = commits[before].work, commits[after].work
        if work[0] is not None and work[1] is not None and abs(work[1] - work[0]) > SMALLEST_CHANGE and any(inside):
            total = math.fsum(inside)
            weights[between] = [weight * (1 + (WORK_WEIGHT - 1) / total) for weight in inside]
    return weights


def _mean(sample: Sequence[float]) -> float:
    return math.fsum(sample) / len(sample)
