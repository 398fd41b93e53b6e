"""Simulated series whose truth is known: six kinds of noise, steps, ramps. Each has a seed of its own."""

import math
import random
from collections.abc import Callable, Mapping
from typing import Final

from zerolap.judge import SeriesLevels

Draw = Callable[[random.Random, int], list[float]]


def gaussian(seeded: random.Random, points: int) -> list[float]:
    """Return independent normal points."""
    return [seeded.gauss(0, 1) for _ in range(points)]


def heavy_tailed(seeded: random.Random, points: int) -> list[float]:
    """Return points of Student's t with 3 degrees of freedom."""
    return [seeded.gauss(0, 1) / math.sqrt(seeded.gammavariate(1.5, 2) / 3) for _ in range(points)]


def spiky(seeded: random.Random, points: int) -> list[float]:
    """Return normal points of which 3 % are 8 standard deviations higher."""
    return [seeded.gauss(0, 1) + (8 if seeded.random() < 0.03 else 0) for _ in range(points)]


def correlated(seeded: random.Random, points: int) -> list[float]:
    """Return an autoregression of order one with the coefficient 0.5 and the standard deviation 1."""
    values = [seeded.gauss(0, 1)]
    while len(values) < points:
        values.append(0.5 * values[-1] + math.sqrt(0.75) * seeded.gauss(0, 1))
    return values


def bimodal(seeded: random.Random, points: int) -> list[float]:
    """Return normal points of which 30 % are in a second mode, 6 standard deviations higher."""
    return [seeded.gauss(0, 1) + (6 if seeded.random() < 0.3 else 0) for _ in range(points)]


def quantised(seeded: random.Random, points: int) -> list[float]:
    """Return normal points in steps of two standard deviations."""
    return [float(2 * round(seeded.gauss(0, 1) / 2)) for _ in range(points)]


NOISES: Final[Mapping[str, Draw]] = {
    "gaussian": gaussian,
    "t3": heavy_tailed,
    "spikes 3 %": spiky,
    "AR(1) 0.5": correlated,
    "bimodal": bimodal,
    "quantised": quantised,
}


def seeded(*what: object) -> random.Random:
    """Return the random numbers of what is simulated."""
    return random.Random(" ".join(map(str, what)))


def levels_of(values: list[float], name: str = "series", variances: list[float] | None = None) -> SeriesLevels:
    """Return values as a series of consecutive commits."""
    return SeriesLevels(name, tuple(range(len(values))), tuple(values), None if variances is None else tuple(variances))


def stepped(values: list[float], at: int, size: float) -> list[float]:
    """Return values of which those from `at` on are higher by `size`."""
    return [value + (size if index >= at else 0) for index, value in enumerate(values)]
