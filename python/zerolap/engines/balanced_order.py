"""Whose turn it is: orders that are balanced, so that what comes of being first meets all sides alike."""

import random
import zlib
from collections.abc import Iterator, Sequence

from zerolap.records import Side


def turns_of_pairs(sides: Sequence[Side], chance: random.Random) -> Iterator[list[Side]]:
    """Yield the order of each pair without end: a random one, then its reverse, and so on."""
    while True:
        order = chance.sample(sides, len(sides))
        yield order
        yield order[::-1]


def set_up_order(sides: Sequence[Side], seed: int, case: str) -> list[Side]:
    """Return in which order the sides of a start are set up.

    Starts of a case have seeds that follow each other: each side is the first one equally often. Which one begins
    depends on the case, so that the first start of all cases is not the same side's.
    """
    first = (seed + zlib.crc32(case.encode())) % len(sides)
    return [*sides[first:], *sides[:first]]
