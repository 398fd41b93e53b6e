"""What a trial is expected to say about which of two commits made a change."""

import math
from collections.abc import Iterable
from typing import Final

LARGEST_LOGIT: Final = 30.0
"""A probability beyond counts as certain."""
NODES: Final = tuple(-4.5 + 0.5 * step for step in range(19))
"""Values of a standard normal variate at which its density is summed up; a sum at equal distances is exact enough for
smooth integrands that vanish at both ends."""
NODE_WEIGHTS: Final = tuple(0.5 * math.exp(-node * node / 2) / math.sqrt(2 * math.pi) for node in NODES)


def binary_information(probability: float, distance: float) -> float:
    """Return the bits that a normal variate says about a yes or no, by whose answer its mean differs.

    `distance` is that difference in standard deviations, `probability` that of yes.
    """
    if not 0 < probability < 1 or distance <= 0:
        return 0.0
    logit = math.log(probability / (1 - probability))
    half = distance * distance / 2
    yes = _expected_entropy(logit + half + distance * node for node in NODES)
    no = _expected_entropy(logit - half + distance * node for node in NODES)
    return max(0.0, _entropy(logit) - probability * yes - (1 - probability) * no)


def most_information(probability: float, distance: float) -> float:
    """Return a bound of `binary_information`: what a normally distributed signal of the same variance could carry."""
    return math.log2(1 + max(0.0, probability * (1 - probability)) * distance * distance) / 2


def _expected_entropy(logits: Iterable[float]) -> float:
    return sum(weight * _entropy(logit) for weight, logit in zip(NODE_WEIGHTS, logits, strict=True))


def _entropy(logit: float) -> float:
    """Return the entropy in bits of a yes whose odds have that logarithm."""
    size = abs(logit)
    if size > LARGEST_LOGIT:
        return 0.0
    rest = math.exp(-size)
    return (math.log1p(rest) + size * rest / (1 + rest)) / math.log(2)
