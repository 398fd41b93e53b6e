"""Bounds what single starts can do to a mean: now and then one lies ten standard deviations from the others.

Pages of a program may lie so unfavourably that all requests of a start take a tenth longer. A case's change is the
M-estimate of Huber (Annals of Mathematical Statistics 35, 1964) instead of the mean: what lies beyond `BOUND` scales of
the estimate counts as if it lay there. The scale is the median of distances from the medians of all cases, as that of
six starts alone is hardly known, drawn towards the case's own by as much as that is.
"""

import math
import statistics
from collections.abc import Mapping, Sequence

BOUND = 2.0
"""Scales: of normally distributed starts, 99 % of the mean's efficiency is left."""
OF_NORMAL = 1.4826
"""The standard deviation of a normal distribution as a multiple of the median distance from its median."""
POOLED_STARTS = 12
"""The scale of all cases counts as much as so many starts of the case itself."""
SMALLEST_SCALE = 1e-6
FEWEST_STARTS = 4
ITERATIONS = 20
EXACT_ENOUGH = 1e-9


def bounded(samples: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """Return values by case, whose mean is Huber's estimate and whose variance is that of it times their number.

    They are the estimate plus the bounded distances, divided by the share of the starts within the bound
    (pseudo-values; Huber and Ronchetti, Robust Statistics, 2009, section 6.7). Cases of fewer than four starts stay as
    they are.
    """
    own = {name: _scale([list(values)]) for name, values in samples.items() if len(values) >= FEWEST_STARTS}
    pooled = _scale([list(samples[name]) for name in own])
    return {
        name: _pseudo_values(values, _drawn_towards(own[name], len(values), pooled)) if name in own else [*values]
        for name, values in samples.items()
    }


def _scale(samples: Sequence[Sequence[float]]) -> float:
    """Return the scale of distances from the medians of samples; a median lies nearer than the mean of all would."""
    distances = [
        abs(value - centre) * math.sqrt(len(values) / (len(values) - 1))
        for values in samples
        for centre in [statistics.median(values)]
        for value in values
    ]
    return max(SMALLEST_SCALE, OF_NORMAL * statistics.median(distances)) if distances else SMALLEST_SCALE


def _drawn_towards(own: float, starts: int, pooled: float) -> float:
    """Return the mean of both scales by logarithms, weighted by what they are known from."""
    weight = starts / (starts + POOLED_STARTS)
    return math.exp(weight * math.log(own) + (1 - weight) * math.log(pooled))


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
