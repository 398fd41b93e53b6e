"""Slices in pairs: how long they are, how many there are, and whose turn it is."""

import math
import random
import time
from collections.abc import Mapping, Sequence

from zerolap.cases import Case
from zerolap.engines.slices import Slice, SliceWork, TimedSide
from zerolap.records import Side

SLICE_SECONDS = 0.005
"""Short, so that what drifts within tens of milliseconds meets both sides of a pair."""
LONGEST_START_SECONDS = 3.0
FEWEST_PAIRS = 5
"""Of a case whose requests are slow: fewer pairs then, of longer slices."""
FIRST_LOOK_SECONDS = 0.004
IDLE_LIMIT = 0.02
"""A server that uses more than this part of a processor while idle is stopped when it is not its turn."""


def choose_requests(sides: Sequence[TimedSide], case: Case) -> int:
    """Return how many requests make a slice of about the wanted length on the slower side.

    Whole cycles of commands on whole pipelines of all connections; every side does the same first look. A draining
    keyspace is not asked for more than it holds.
    """
    unit = math.lcm(case.pipeline * case.connections, sum(case.ratios))
    requests = unit
    while True:
        looks = [side.run(SliceWork(requests, 0)) for side in sides]
        seconds = max(look.seconds for look in looks)
        if case.state == "drains" and any(look.ran_dry for look in looks):
            return max(1, requests // unit // 2) * unit
        if seconds >= FIRST_LOOK_SECONDS:
            break
        requests *= 2 if seconds > FIRST_LOOK_SECONDS / 4 or case.state == "drains" else 4
    wanted = requests * SLICE_SECONDS / seconds
    return max(1, round(wanted / unit)) * unit if case.state != "drains" else requests


def run_pairs(
    sides: Mapping[Side, TimedSide], work: SliceWork, most: int, order: random.Random
) -> dict[Side, list[Slice]]:
    """Carry out at most so many pairs, fewer where they take long; return the slices by side in the pairs' order."""
    began = time.monotonic()
    # The first pair only warms up: code, allocator and branch predictors.
    _run_pair(sides, work, order)
    pairs = min(most, max(FEWEST_PAIRS, round(LONGEST_START_SECONDS / (time.monotonic() - began))))
    slices: dict[Side, list[Slice]] = {side: [] for side in sides}
    for _ in range(pairs):
        for side, taken in _run_pair(sides, work, order).items():
            slices[side].append(taken)
    return slices


def _run_pair(sides: Mapping[Side, TimedSide], work: SliceWork, order: random.Random) -> dict[Side, Slice]:
    """Carry out a slice of each side, in random order."""
    turns = list(sides)
    order.shuffle(turns)
    taken: dict[Side, Slice] = {}
    for side in turns:
        idle = {other: one.server_ns() for other, one in sides.items() if other != side}
        taken[side] = sides[side].run(work)
        _freeze_the_restless(sides, idle, taken[side])
    return taken


def _freeze_the_restless(sides: Mapping[Side, TimedSide], idle_before: Mapping[Side, int], taken: Slice) -> None:
    for other, before_ns in idle_before.items():
        if not sides[other].freezes and sides[other].server_ns() - before_ns > IDLE_LIMIT * taken.result.elapsed_ns:
            sides[other].freeze()
