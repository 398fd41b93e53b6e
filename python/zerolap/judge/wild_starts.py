"""Bounds what single starts can do to a mean: now and then one lies ten standard deviations from the others.

Pages of a program may lie so unfavourably that all requests of a start take a tenth longer. A case's change is the
M-estimate of Huber (Annals of Mathematical Statistics 35, 1964) instead of the mean: what lies beyond `BOUND` scales of
the estimate counts as if it lay there. The scale is the median of distances from the medians of all cases, as that of
six starts alone is hardly known, drawn towards the case's own by as much as that is.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BOUND = 2.0
"""Scales: of normally distributed starts, 99 % of the mean's efficiency is left."""
WILD = 4.0
"""Scales: of normally distributed starts, one of 16,000 is wild."""
OF_NORMAL = 1.4826
"""The standard deviation of a normal distribution as a multiple of the median distance from its median."""
POOLED_STARTS = 12
"""The scale of all cases counts as much as so many starts of the case itself."""
SMALLEST_SCALE = 1e-6
FEWEST_STARTS = 4
ITERATIONS = 20
EXACT_ENOUGH = 1e-9


@dataclass(frozen=True)
class BoundedStarts:
    """The starts of a case: as `values` whose mean is Huber's estimate, and the distances of `wild` ones from it.

    The variance of the values is that of the estimate times their number. They are the estimate plus the bounded
    distances, divided by the share of the starts within the bound (pseudo-values; Huber and Ronchetti, Robust
    Statistics, 2009, section 6.7).
    """

    values: list[float]
    wild: list[float]

    @property
    def estimate(self) -> float:
        """The change of the case as a log ratio."""
        return statistics.fmean(self.values)

    @property
    def mean(self) -> float:
        """The change with all wild starts in full."""
        return self.estimate + math.fsum(self.wild) / len(self.values)

    @property
    def error_of_wild(self) -> float:
        """The standard error of what wild starts add to the mean: each number of them is a Poisson variable."""
        return math.sqrt(math.fsum(distance**2 for distance in self.wild)) / len(self.values)


def bounded_starts(samples: Mapping[str, Sequence[float]]) -> dict[str, BoundedStarts]:
    """Return the starts of each case; those of cases of fewer than four stay as they are."""
    own = {name: _scale([list(values)]) for name, values in samples.items() if len(values) >= FEWEST_STARTS}
    pooled = _scale([list(samples[name]) for name in own])
    starts = {}
    for name, values in samples.items():
        if name not in own:
            starts[name] = BoundedStarts([*values], [])
            continue
        # The mean of both scales by logarithms, weighted by what they are known from.
        weight = len(values) / (len(values) + POOLED_STARTS)
        scale = math.exp(weight * math.log(own[name]) + (1 - weight) * math.log(pooled))
        pseudo_values = _pseudo_values(values, scale)
        estimate = statistics.fmean(pseudo_values)
        distances = (value - estimate for value in values)
        starts[name] = BoundedStarts(pseudo_values, [far for far in distances if abs(far) > WILD * scale])
    return starts


def bounded(samples: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """Return values by case, whose mean is Huber's estimate and whose variance is that of it times their number."""
    return {name: starts.values for name, starts in bounded_starts(samples).items()}


def _scale(samples: Sequence[Sequence[float]]) -> float:
    """Return the scale of distances from the medians of samples; a median lies nearer than the mean of all would."""
    distances = [
        abs(value - centre) * math.sqrt(len(values) / (len(values) - 1))
        for values in samples
        for centre in [statistics.median(values)]
        for value in values
    ]
    return max(SMALLEST_SCALE, OF_NORMAL * statistics.median(distances)) if distances else SMALLEST_SCALE


def _pseudo_values(values: Sequence[float], scale: float) -> list[float]:
    limit, centre = BOUND * scale, statistics.fmean(values)
    if all(abs(value - centre) <= limit for value in values):
        return [*values]
    centre = statistics.median(values)
    for _ in range(ITERATIONS):
        near = sum(abs(value - centre) <= limit for value in values)
        step = sum(_within(value - centre, limit) for value in values) / max(1, near)
        centre += step
        if abs(step) < EXACT_ENOUGH:
            break
    near = max(1, sum(abs(value - centre) <= limit for value in values))
    return [centre + _within(value - centre, limit) * len(values) / near for value in values]


def _within(distance: float, limit: float) -> float:
    return max(-limit, min(limit, distance))
