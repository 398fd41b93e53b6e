"""Computes the levels of looks that hold for all looks together: `python -m benches.look_levels` prints the table.

The tables are in `zerolap.judge.look_level_tables`. The sum of n starts is a Brownian motion at the time n, so that all
looks have a known joint distribution: what has not crossed a bound yet is integrated from look to look (Armitage,
McPherson and Rowe, "Repeated significance tests on accumulating data", J. R. Statist. Soc. A 132, 1969), and each bound
is where the error that is to be spent at its look is left beyond (Lan and DeMets, "Discrete sequential boundaries for
clinical trials", Biometrika 70, 1983).
"""

import math
from collections.abc import Callable, Sequence
from typing import Final

from zerolap.judge.look_level_tables import ERRORS
from zerolap.judge.look_levels import EQUIVALENCE_ERROR
from zerolap.judge.looks import ALL_LOOKS, EQUIVALENCE_EXPONENT, SPENDING_EXPONENT, USUAL_EFFECT, spent_on_time

NODES: Final = 48
"""Points of an integral over what has not crossed a bound: twice as many change no digit of the table."""
BISECTIONS: Final = 60
DIGITS: Final = 4


def nominal_levels(
    looks: Sequence[int], error: float, spent_share: Callable[[int], float], nodes: int = NODES
) -> list[float]:
    """Return the two-sided level of each look with which a test has that error at all of them together.

    `spent_share` is the part of it that looks at up to so many samples have.
    """
    levels: list[float] = []
    points: list[tuple[float, float]] = []  # Where nothing has crossed yet: places above 0, and their chances.
    before, spent = 0.0, 0.0
    for look in looks:
        now, wanted = look / looks[-1], error * spent_share(look)
        beyond = _beyond(points, math.sqrt(now - before))
        bound = _where(beyond, wanted - spent, 40.0)
        levels.append(math.erfc(bound / math.sqrt(2 * now)))
        points = _not_beyond(points, math.sqrt(now - before), bound, nodes)
        before, spent = now, wanted
    return levels


def _beyond(points: Sequence[tuple[float, float]], deviation: float) -> Callable[[float], float]:
    """Return the chance to lie beyond a bound at a look, on either side, without having crossed one before."""
    scale = deviation * math.sqrt(2)
    if not points:
        return lambda bound: math.erfc(bound / scale)
    return lambda bound: math.fsum(
        chance * (math.erfc((bound - place) / scale) + math.erfc((bound + place) / scale)) for place, chance in points
    )


def _where(beyond: Callable[[float], float], wanted: float, highest: float) -> float:
    low = 0.0
    for _ in range(BISECTIONS):
        middle = (low + highest) / 2
        low, highest = (middle, highest) if beyond(middle) > wanted else (low, middle)
    return (low + highest) / 2


def _not_beyond(
    points: Sequence[tuple[float, float]], deviation: float, bound: float, nodes: int
) -> list[tuple[float, float]]:
    """Return places within a bound at a look, and the chances of these; both sides are alike, so that one is enough."""
    constant = 1 / (deviation * math.sqrt(2 * math.pi))

    def density(distance: float) -> float:
        return constant * math.exp(-((distance / deviation) ** 2) / 2)

    def at(place: float) -> float:
        if not points:
            return density(place)
        return math.fsum(chance * (density(place - earlier) + density(place + earlier)) for earlier, chance in points)

    return [
        (place, weight * at(place))
        for place, weight in ((bound * (1 + node) / 2, bound * weight / 2) for node, weight in _legendre(nodes))
    ]


def _legendre(number: int) -> list[tuple[float, float]]:
    """Return nodes and weights of the integral from -1 to 1 (Gauss and Legendre; Newton's method)."""
    found = []
    for index in range(number):
        node = math.cos(math.pi * (index + 0.75) / (number + 0.5))
        slope = 1.0
        for _ in range(100):
            last, value = 1.0, node
            for degree in range(2, number + 1):
                last, value = value, ((2 * degree - 1) * node * value - (degree - 1) * last) / degree
            slope = number * (node * value - last) / (node * node - 1)
            step = value / slope
            node -= step
            if abs(step) < 1e-15:
                break
        found.append((node, 2 / ((1 - node * node) * slope * slope)))
    return found


def main() -> None:
    """Print the tables, a line for each error: levels as parts of the error."""
    effects = {"USUAL": USUAL_EFFECT, "SMALL": USUAL_EFFECT / 2}
    for name, effect in effects.items():
        print(f"CHANGE_OF_{name}_EFFECT: Final = (")
        for error in ERRORS:
            print(f"    {_line(effect, error, SPENDING_EXPONENT)},")
        print(")")
    for name, effect in effects.items():
        print(f"EQUIVALENCE_OF_{name}_EFFECT: Final = {_line(effect, EQUIVALENCE_ERROR, EQUIVALENCE_EXPONENT)}")


def _line(effect: float, error: float, exponent: float) -> str:
    levels = nominal_levels(ALL_LOOKS, error, lambda samples: spent_on_time(effect, samples, exponent))
    return f"({', '.join(f'{level / error:.{DIGITS}f}' for level in levels)})"


if __name__ == "__main__":
    main()
