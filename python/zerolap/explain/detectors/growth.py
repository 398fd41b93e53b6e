"""How costs grow with the size of the data: whether faster than in proportion, and by how much."""

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

Point: TypeAlias = tuple[float, float]
"""The size of the data, and a cost or a number of calls."""
SAME_SIZE: Final = 1.2
"""Sizes closer together than by this factor are the same."""
MARGIN: Final = 1.25
"""A cost that is so many times as large grew faster than that of a sort: a full buffer, say, makes smaller steps."""
MOST_JUDGED: Final = 2
"""How many of the largest sizes all have to be costly: growth may show only with many elements."""
LEAST_STEEP: Final = 1.1
"""The exponent from which on costs grow faster than in proportion."""
FEWEST_OF_CURVE: Final = 3
"""The fewest sizes that show whether a cost grows."""


@dataclass(frozen=True)
class Line:
    """`slope` for each unit of the size, and `intercept` for none."""

    slope: float
    intercept: float

    def at(self, size: float) -> float:
        """Return its value at a size."""
        return self.intercept + self.slope * size


def points_by_size(points: Sequence[Point]) -> list[Point]:
    """Return one point for each size, the smallest first: of several that which costs least."""
    by_size: list[Point] = []
    for size, cost in sorted(points):
        if by_size and size < SAME_SIZE * by_size[-1][0]:
            by_size[-1] = by_size[-1][0], min(cost, by_size[-1][1])
        else:
            by_size.append((size, cost))
    return by_size


def exponent(points: Sequence[Point]) -> float:
    """Return b of the power law cost = a * size ** b that fits points of at least two sizes.

    It is the median of the slopes between all pairs of points on logarithmic scales (Theil 1950, Sen 1968), which a
    single point cannot move far. Power laws for measured complexity: Goldsmith, Aiken and Wilkerson, ESEC/FSE 2007.
    """
    return statistics.median(
        math.log(later[1] / first[1]) / math.log(later[0] / first[0])
        for first, later in itertools.combinations(points, 2)
    )


def median_line(points: Sequence[Point]) -> Line:
    """Return the line that fits points of at least two sizes: median slope, median of what is left (Sen 1968)."""
    slope = statistics.median(
        (later[1] - first[1]) / (later[0] - first[0]) for first, later in itertools.combinations(points, 2)
    )
    return Line(slope, statistics.median(value - slope * size for size, value in points))


def grows_faster_than_a_sort(points: Sequence[Point]) -> bool:
    """Return whether costs grow faster than size * log(size); with one size none does.

    With three sizes or more, the two smallest state what of the cost does not grow, and how the rest would grow if it
    were the cost of a sort. The largest has to cost more; with four or more the second largest too, as a step is no
    growth. With two sizes, all of the cost at the smaller is taken to grow. Comparing slopes in place of an exponent
    keeps constant costs from hiding growth (Coppa, Demetrescu and Finocchi, PLDI 2012).
    """
    if len(points) < 2 or any(cost <= 0 for _, cost in points):
        return False
    sort = [(_of_a_sort(size), cost) for size, cost in points]
    if len(points) < FEWEST_OF_CURVE:
        line, judged = Line(sort[0][1] / sort[0][0], 0.0), sort[1:]
    else:
        line, judged = _through(sort[0], sort[1]), sort[2:]
    is_steep = exponent(points[-2:]) >= LEAST_STEEP and line.slope > 0
    return is_steep and all(cost > MARGIN * line.at(steps) for steps, cost in judged[-MOST_JUDGED:])


def above_proportion(points: Sequence[Point], size: float, cost: float) -> float:
    """Return what a cost is above what it would be if it grew in proportion; at least 0.

    Of the lines through the smallest point and the origin, and through the two smallest, the lower line is taken: where
    costs grow as a polynomial without negative terms, both are above its linear part.
    """
    lines = [Line(points[0][1] / points[0][0], 0.0)]
    if len(points) >= FEWEST_OF_CURVE:
        lines.append(_through(points[0], points[1]))
    return max(cost - min(line.at(size) for line in lines), 0.0)


def above_a_sort(points: Sequence[Point], size: float, cost: float) -> float:
    """Return what a cost is above that of a sort that costs as much at the smallest size; at least 0."""
    return max(cost - points[0][1] * _of_a_sort(size) / _of_a_sort(points[0][0]), 0.0)


def _of_a_sort(size: float) -> float:
    return size * math.log2(1.0 + size)


def _through(first: Point, later: Point) -> Line:
    slope = (later[1] - first[1]) / (later[0] - first[0])
    return Line(slope, first[1] - slope * first[0])
