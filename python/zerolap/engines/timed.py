"""The timed engine: both servers up, the same slices of work on each in randomised pairs.

One start of every side is one trial of each. Within it each pair joins a slice of each side, in random order, so that
what drifts meets both.
"""

import contextlib
import math
import random
import statistics
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from zerolap.cases import Case
from zerolap.engines import timed_checks
from zerolap.engines.dataset import prepare
from zerolap.engines.disturbance import watch
from zerolap.engines.load import load_program, timed_arguments
from zerolap.engines.slices import Slice, TimedSide
from zerolap.host import Pinning
from zerolap.records import Check, Measurement, Side, SliceRecord, Timeline, TrialFailed, Validity
from zerolap.server import find_server, start

SLICE_SECONDS = 0.02
DROPPED_SHARE = 0.05
"""Of a slice's requests are sent first after a switch and not measured: caches and branch predictors turn over."""
LONGEST_START_SECONDS = 6.0
FEWEST_PAIRS = 5
"""Of a case whose requests are slow: fewer pairs then, of longer slices."""
FIRST_LOOK_SECONDS = 0.01
IDLE_LIMIT = 0.02
"""A server that uses more than this part of a processor while idle is stopped when it is not its turn."""


@dataclass(frozen=True)
class TimedServer:
    """A program with the settings that it is started with."""

    program: Path
    settings: Mapping[str, str]


@dataclass(frozen=True)
class TimedStart:
    """What one start of every side needs; `requests` of a slice are chosen from a first look where it is none."""

    case: Case
    servers: Mapping[Side, TimedServer]
    seed: int
    directory: Path
    pinning: Pinning
    pairs: int
    requests: int | None = None


@dataclass(frozen=True)
class Timed:
    """A start's measurement and timeline by side, and the requests of its slices."""

    measurements: dict[Side, Measurement]
    timelines: dict[Side, Timeline]
    requests: int


def time_start(plan: TimedStart) -> Timed:
    """Carry out one start of every side.

    Raises `TrialFailed` with the server's log if a server or the load generator fails.
    """
    if plan.case.topology != "standalone":
        raise TrialFailed(f"the topology `{plan.case.topology}` cannot be measured by this version")
    began = time.monotonic()
    order = random.Random(plan.seed)
    with contextlib.ExitStack() as stack:
        sides: dict[Side, TimedSide] = {}
        found: dict[Side, list[Check]] = {}
        for side in plan.servers:
            try:
                sides[side], found[side] = _set_up(stack, plan, side)
            except TrialFailed as fault:
                raise _named(fault, side, plan.servers) from fault
        with _naming_the_dead(sides), watch(lambda: sum(side.used_ns() for side in sides.values())) as disturbance:
            requests = plan.requests or _choose(list(sides.values()), plan.case)
            slices = _pairs(sides, plan, requests, order)
    seconds = (time.monotonic() - began) / len(sides)
    noise = disturbance.checks()
    return Timed(
        measurements={
            side: _measurement(plan.case, slices[side], [*found[side], *noise], requests, seconds) for side in sides
        },
        timelines={side: _timeline(slices[side]) for side in sides},
        requests=requests,
    )


def _set_up(stack: contextlib.ExitStack, plan: TimedStart, side: Side) -> tuple[TimedSide, list[Check]]:
    """Start and fill a server, connect a load generator to it, and warm both up."""
    wanted = plan.servers[side]
    directory = plan.directory / side
    directory.mkdir()
    log, load_log = plan.directory / f"{side}.log", plan.directory / f"{side}-load.log"
    processors = ",".join(str(processor) for processor in plan.pinning.server)
    server = stack.enter_context(
        start(
            wanted.program,
            {**plan.case.config, **wanted.settings},
            directory,
            log=log,
            prefix=["taskset", "--cpu-list", processors],
        )
    )
    try:
        checks = prepare(server, plan.case, plan.seed, load_log)
        arguments = timed_arguments(plan.case, plan.seed, plan.pinning.client)
        load = stack.enter_context(load_program(server.socket, load_log, arguments))
    except TrialFailed as fault:
        raise fault if server.alive else server.failure(fault.message) from fault
    return TimedSide(server, find_server(server.launched, str(directory / "server")), load, plan.case), checks


@contextlib.contextmanager
def _naming_the_dead(sides: Mapping[Side, TimedSide]) -> Iterator[None]:
    """Tell a failure as the server's own where one has died."""
    try:
        yield
    except TrialFailed as fault:
        for name, side in sides.items():
            if side.is_gone:
                raise _named(side.server.failure(fault.message), name, sides) from fault
        raise


def _named(fault: TrialFailed, side: Side, sides: Collection[Side]) -> TrialFailed:
    """Return the fault with its side, where there are two."""
    return fault.of(side) if len(sides) > 1 else fault


def _choose(sides: Sequence[TimedSide], case: Case) -> int:
    """Return how many requests make a slice of about the wanted length on the slower side.

    Whole cycles of commands on whole pipelines of all connections; every side does the same first look.
    """
    unit = math.lcm(case.pipeline * case.connections, sum(case.ratios))
    requests = unit
    while True:
        seconds = max(side.run(requests, 0).seconds for side in sides)
        if seconds >= FIRST_LOOK_SECONDS:
            break
        requests *= 2 if seconds > FIRST_LOOK_SECONDS / 4 else 4
    wanted = requests * SLICE_SECONDS / seconds
    return max(1, round(wanted / unit)) * unit


def _pairs(
    sides: Mapping[Side, TimedSide], plan: TimedStart, requests: int, order: random.Random
) -> dict[Side, list[Slice]]:
    unit = plan.case.pipeline * plan.case.connections
    dropped = max(1, round(requests * DROPPED_SHARE / unit)) * unit
    # The first pair only warms up: code, allocator and branch predictors.
    warm_up = _pair(sides, requests, dropped, order)
    lasts_seconds = sum(taken.seconds for taken in warm_up.values())
    pairs = min(plan.pairs, max(FEWEST_PAIRS, round(LONGEST_START_SECONDS / lasts_seconds)))
    slices: dict[Side, list[Slice]] = {side: [] for side in sides}
    for _ in range(pairs):
        for side, taken in _pair(sides, requests, dropped, order).items():
            slices[side].append(taken)
    return slices


def _pair(sides: Mapping[Side, TimedSide], requests: int, dropped: int, order: random.Random) -> dict[Side, Slice]:
    """Carry out a slice of each side, in random order."""
    turns = list(sides)
    order.shuffle(turns)
    taken: dict[Side, Slice] = {}
    for side in turns:
        idle = {other: one.server_ns() for other, one in sides.items() if other != side}
        taken[side] = sides[side].run(requests, dropped)
        _freeze_the_restless(sides, idle, taken[side])
    return taken


def _freeze_the_restless(sides: Mapping[Side, TimedSide], idle_before: Mapping[Side, int], taken: Slice) -> None:
    for other, before_ns in idle_before.items():
        if not sides[other].freezes and sides[other].server_ns() - before_ns > IDLE_LIMIT * taken.result.elapsed_ns:
            sides[other].freeze()


def _measurement(
    case: Case, slices: Sequence[Slice], found: Sequence[Check], requests: int, seconds: float
) -> Measurement:
    checks = [*found, *timed_checks.slice_checks(case, slices, requests)]
    every = [one.metrics() for one in slices]
    names = [name for name in every[0] if all(name in one for one in every)]
    return Measurement(
        metrics={name: statistics.median(one[name] for one in every) for name in names},
        validity=Validity.of(checks),
        seconds=seconds,
    )


def _timeline(slices: Sequence[Slice]) -> Timeline:
    return Timeline(
        slices=[
            SliceRecord(
                requests=one.result.requests,
                seconds=one.seconds,
                client_busy=one.client_busy,
                server_busy=one.server_busy,
                requests_per_read=one.requests_per_read,
                requests_per_cycle=one.requests_per_cycle,
                metrics=one.metrics(),
                histogram_ns=one.result.histogram_ns,
            )
            for one in slices
        ]
    )
