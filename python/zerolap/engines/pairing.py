"""Slices in pairs: how long they are, how many there are, and whose turn it is."""

import contextlib
import math
import random
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from zerolap.engines.slices import Slice, SliceWork, TimedSide
from zerolap.records import Case, Side

SLICE_SECONDS = 0.005
"""The length of a slice: a drift within tens of milliseconds meets both sides of a pair."""
LONGEST_START_SECONDS = 1.5
FEWEST_PAIRS = 5
"""The fewest pairs, of longer slices, of a case whose requests are slow."""
WARM_UP_PAIRS = 1
"""The pairs that warm up code, allocator and branch predictors; they are not samples."""
FIRST_LOOK_SECONDS = 0.004
FURTHER_LOOKS = 2
IDLE_LIMIT = 0.02
"""A server that uses more than this part of a processor while idle is stopped when it is not its turn."""
IDLE_ENOUGH_SECONDS = 0.1
"""The idle time that shows whether a server rests: its timers fire ten times a second."""


@dataclass(frozen=True)
class Chosen:
    """How many requests make a slice, and the looks that were taken to find out."""

    requests: int
    looks: tuple[int, ...]


def choose_requests(sides: Sequence[TimedSide], case: Case) -> Chosen:
    """Return how many requests make a slice of about the wanted length on the slower side.

    Whole cycles of commands on whole pipelines of all connections; every side does the same looks. A draining
    keyspace is not asked for more than it holds.
    """
    unit = math.lcm(case.client.pipeline * case.client.connections, case.client.cycle)
    requests, looks = unit, [unit]
    while True:
        taken = [side.run(SliceWork.of(case, requests, None)) for side in sides]
        seconds = max(one.seconds for one in taken)
        if case.state == "drains" and any(one.ran_dry for one in taken):
            return Chosen(max(1, requests // unit // 2) * unit, tuple(looks))
        if seconds >= FIRST_LOOK_SECONDS:
            break
        requests *= 2 if seconds > FIRST_LOOK_SECONDS / 4 or case.state == "drains" else 4
        looks.append(requests)
    if case.state != "drains":
        # One look may have been delayed by others: the slices would be too short in all starts.
        for _ in range(FURTHER_LOOKS):
            looks.append(requests)
            again = [side.run(SliceWork.of(case, requests, None)) for side in sides]
            seconds = min(seconds, max(one.seconds for one in again))
    wanted = requests if case.state == "drains" else max(1, round(requests * SLICE_SECONDS / seconds / unit)) * unit
    return Chosen(wanted, tuple(looks))


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


def run_pairs(
    sides: Mapping[Side, TimedSide], work: SliceWork, most: int, chance: random.Random
) -> dict[Side, list[Slice]]:
    """Carry out at most so many pairs, fewer where they take long; return the slices by side in the pairs' order."""
    began = time.monotonic()
    idleness, turns = _Idleness(sides), turns_of_pairs(list(sides), chance)
    for _ in range(WARM_UP_PAIRS):
        _run_pair(sides, work, next(turns), idleness)
    pairs = min(most, max(FEWEST_PAIRS, round(LONGEST_START_SECONDS / (time.monotonic() - began))))
    slices: dict[Side, list[Slice]] = {side: [] for side in sides}
    for _ in range(pairs):
        for side, taken in _run_pair(sides, work, next(turns), idleness).items():
            slices[side].append(taken)
    return slices


def _run_pair(
    sides: Mapping[Side, TimedSide], work: SliceWork, turns: Sequence[Side], idleness: "_Idleness"
) -> dict[Side, Slice]:
    taken: dict[Side, Slice] = {}
    for side in turns:
        with idleness.watched(but=side):
            taken[side] = sides[side].run(work)
        idleness.freeze_the_restless()
    return taken


class _Idleness:
    """Watches what servers use while it is not their turn; if one does not rest, all are stopped then, alike."""

    def __init__(self, sides: Mapping[Side, TimedSide]) -> None:
        self._sides = sides
        self._used_ns = dict.fromkeys(sides, 0)
        self._idle_seconds = dict.fromkeys(sides, 0.0)

    @contextlib.contextmanager
    def watched(self, but: Side) -> Iterator[None]:
        others = [side for side in self._sides if side != but and self._idle_seconds[side] < IDLE_ENOUGH_SECONDS]
        before_ns = {side: self._sides[side].server_ns() for side in others}
        began = time.monotonic()
        yield
        for side in others:
            self._idle_seconds[side] += time.monotonic() - began
            self._used_ns[side] += self._sides[side].server_ns() - before_ns[side]

    def freeze_the_restless(self) -> None:
        restless = any(
            seconds >= IDLE_ENOUGH_SECONDS and self._used_ns[side] > IDLE_LIMIT * seconds * 1e9
            for side, seconds in self._idle_seconds.items()
        )
        for side in self._sides.values():
            if restless and not side.freezes:
                side.freeze()
