"""Statistics of figures."""

import math
import statistics
from collections.abc import Sequence


def highest_rate(events: int, trials: int, confidence: float = 0.95) -> float:
    """Return the upper bound of a rate after so many events, one-sided and exact.

    Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial", Biometrika
    26 (1934).
    """
    if events >= trials:
        return 1.0
    low, high = events / trials, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if at_most(events, trials, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def at_most(events: int, trials: int, rate: float) -> float:
    """Return the probability of at most so many events in independent trials."""
    return math.fsum(math.comb(trials, n) * rate**n * (1 - rate) ** (trials - n) for n in range(events + 1))


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return Pearson's correlation; none of fewer than three pairs, or where one side does not vary."""
    if len(pairs) < 3:
        return None
    try:
        return statistics.correlation(*zip(*pairs, strict=True))
    except statistics.StatisticsError:
        return None


def correlation_bound(value: float, pairs: int, confidence_quantile: float = 1.645) -> float:
    """Return the upper bound of a correlation at 95 %, one-sided, by Fisher's transformation."""
    if pairs < 4 or abs(value) >= 1:
        return 1.0
    return math.tanh(math.atanh(value) + confidence_quantile / math.sqrt(pairs - 3))


def share_error(share: float, trials: int) -> float:
    """Return the standard error of a share."""
    return math.sqrt(share * (1 - share) / trials) if trials else math.nan
