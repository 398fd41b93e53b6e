"""What repetitions at several sizes of data say: medians with intervals, and lines over the size."""

import math
import statistics
from collections.abc import Sequence
from typing import Final

from zerolap.records import LineFit, MedianEstimate

MOST_OUTSIDE: Final = 0.07
"""The probability with which an interval may miss the median: that of five repetitions misses it with 6.25 %."""
GIB: Final = 1 << 30
LEAST_RATIO: Final = 1.1
"""The least ratio of the greatest size to the smallest for a line over the sizes: the memory of one size varies too."""


def median_estimate(values: Sequence[float]) -> MedianEstimate:
    """Return the median with the narrowest interval of order statistics that misses it with at most `MOST_OUTSIDE`.

    It assumes nothing of how values are distributed (Conover, Practical Nonparametric Statistics, 3rd edition, 3.2).
    Where there are fewer than five values it is from the least to the greatest. Raises `ValueError` without values.
    """
    if not values:
        raise ValueError("no values have no median")
    ordered = sorted(values)
    number = len(ordered)
    left_out, outside = 0, 2 * 0.5**number
    while left_out + 1 < number / 2:
        outside += 2 * math.comb(number, left_out + 1) * 0.5**number
        if outside > MOST_OUTSIDE:
            break
        left_out += 1
    return MedianEstimate(median=statistics.median(ordered), low=ordered[left_out], high=ordered[number - 1 - left_out])


def line_fit(sizes_bytes: Sequence[float], values: Sequence[float]) -> LineFit | None:
    """Return the least squares line of values over sizes, which are of the same repetitions.

    None where there are fewer than two sizes that differ by a tenth or more, or the values do not differ at all.
    """
    sizes_gib = [size / GIB for size in sizes_bytes]
    if not sizes_gib or max(sizes_gib) < LEAST_RATIO * min(sizes_gib) or max(values) == min(values):
        return None
    slope, intercept = statistics.linear_regression(sizes_gib, values)
    mean = statistics.fmean(values)
    left = sum((value - intercept - slope * size) ** 2 for size, value in zip(sizes_gib, values, strict=True))
    whole = sum((value - mean) ** 2 for value in values)
    return LineFit(slope_per_gib=slope, intercept=intercept, r2=1 - left / whole, repetitions=len(sizes_gib))
