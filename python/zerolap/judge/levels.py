"""Levels of time over the builds of a history, from contrasts that were measured in one job each.

Absolute times of different days are never compared: what the host, its kernel or its neighbours did in between would be
taken for a change of the code. A comparison of two builds is a contrast, the logarithm of their ratio, and all
contrasts of a metric are the edges of a graph of builds. The levels are the generalised least squares estimate on
that graph (`crates/stats/src/levels.rs`). A chain of neighbours alone would walk, as errors add up; contrasts with the
anchor hold it.
"""

import functools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from zerolap import _core
from zerolap.judge.wild_starts import bounded

ONE_SIDED: Final = 0.025
"""The error of either bound of an interval of 95 %."""
MOST_ERRORS: Final = 1e3
EXACT_ENOUGH: Final = 1e-6
FEWEST_STARTS: Final = 2
SMALLEST_VARIANCE: Final = 1e-8
"""The smallest variance of a start's log ratio: no timer resolves less."""
OF_THREE: Final = 1.5
"""By how much the variance of each of three contrasts grows that share their servers.

Each server's starts are in two of them. Three independent contrasts of this variance give every difference of two
servers the variance that it has, where the starts of all three vary alike: the effective resistance of a triangle is
two thirds of that of its edges.
"""

MOST_DEGREES: Final = 1e6


@dataclass(frozen=True)
class Contrast:
    """What the starts of a comparison say of a metric: logarithms of the head node over the base node.

    `is_of_three`: it is one of the three contrasts of three servers that were measured together.
    """

    base: int
    head: int
    log_ratios: tuple[float, ...]
    is_of_three: bool = False

    @property
    def degrees(self) -> float:
        """The degrees of freedom of its variance: two of three contrasts are independent."""
        return (len(self.log_ratios) - 1) / (OF_THREE if self.is_of_three else 1.0)


@dataclass(frozen=True)
class Level:
    """The logarithm of a metric over that of another node, with its variance and the degrees of freedom of that."""

    value: float
    variance: float
    degrees: float

    @property
    def error(self) -> float:
        """The standard error."""
        return math.sqrt(self.variance)

    @property
    def half_width(self) -> float:
        """Half of the interval of 95 %."""
        return bounds_95(self.degrees) * self.error if self.variance else 0.0


@dataclass(frozen=True)
class Levels:
    """The levels of nodes over that of the reference; none for those that no contrast joins with it.

    `steps` are those between pairs of nodes that were asked for.
    """

    nodes: tuple[Level | None, ...]
    steps: tuple[Level | None, ...]


def levels_of(
    nodes: int, contrasts: Sequence[Contrast], reference: int, steps: Sequence[tuple[int, int]] = ()
) -> Levels:
    """Return the levels of `nodes` nodes, and the steps between pairs of them.

    The variance of each contrast is drawn towards that of all, by as much as they agree (Smyth, Statistical
    Applications in Genetics and Molecular Biology 3, 2004). Contrasts of fewer than two starts are left out.
    """
    usable = [contrast for contrast in contrasts if len(contrast.log_ratios) >= FEWEST_STARTS]
    starts = bounded({str(number): contrast.log_ratios for number, contrast in enumerate(usable)})
    samples = [starts[str(number)] for number in range(len(usable))]
    variances, degrees = _moderated(samples, [contrast.degrees for contrast in usable])
    edges = [
        (
            contrast.base,
            contrast.head,
            statistics.fmean(sample),
            variance / len(sample) * (OF_THREE if contrast.is_of_three else 1.0),
        )
        for contrast, sample, variance in zip(usable, samples, variances, strict=True)
    ]
    of_nodes, of_steps = _core.graph_levels(nodes, edges, reference, list(steps))
    return Levels(
        *(tuple(pair and Level(*pair, degrees) for pair in pairs) for pairs in (of_nodes, of_steps)),
    )


@functools.lru_cache(maxsize=1024)
def bounds_95(degrees: float) -> float:
    """Return the standard errors on both sides of an estimate that hold it with 95 %: Student's t for its variance."""
    low, high = 0.0, MOST_ERRORS
    while high - low > EXACT_ENOUGH:
        middle = (low + high) / 2
        # The test against a margin of an estimate of 0 has the probability beyond the margin.
        beyond, _ = _core.equivalence(0.0, 1.0, degrees, middle)
        low, high = (middle, high) if beyond > ONE_SIDED else (low, middle)
    return high


def _moderated(samples: Sequence[Sequence[float]], degrees_of: Sequence[float]) -> tuple[list[float], float]:
    """Return the variance of a start of each contrast, and the fewest degrees of freedom that one is known with."""
    seen = [(statistics.variance(sample), degrees) for sample, degrees in zip(samples, degrees_of, strict=True)]
    prior_variance, prior_degrees = _core.fit_prior(seen) or (0.0, 0.0)
    # Without bounds where variances differ by no more than chance.
    prior_degrees = min(prior_degrees, MOST_DEGREES)
    moderated = [
        max(SMALLEST_VARIANCE, (prior_degrees * prior_variance + degrees * variance) / (prior_degrees + degrees))
        for variance, degrees in seen
    ]
    return moderated, prior_degrees + min(degrees_of, default=1.0)
