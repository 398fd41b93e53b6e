"""The timed engine: both servers up, the same slices of work on each in randomised pairs.

One start of every side is one trial of each. Within it each pair joins a slice of each side, in random order, so that
what drifts meets both.
"""

import contextlib
import random
import statistics
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from zerolap.engines import timed_checks
from zerolap.engines.disturbance import watch
from zerolap.engines.latencies import latencies_us, sum_of_histograms
from zerolap.engines.pairing import Chosen, choose_requests, run_pairs
from zerolap.engines.side import ServerProgram, SideSetup, set_up
from zerolap.engines.slices import Slice, SliceWork, TimedSide
from zerolap.host import Pinning, available_bytes
from zerolap.records import Case, Check, Measurement, Side, SliceRecord, Timeline, TrialFailed, Validity
from zerolap.server import read_resident_bytes

MEMORY_RESERVE_BYTES = 256 << 20
"""What has to stay free beside a second server as large as the first."""


@dataclass(frozen=True)
class TimedStart:
    """What one start of every side needs; `requests` of a slice are chosen from a first look where it is none.

    At a rate of `per_second` the sides are sent the same, however fast they are. `alone`: one side at a time. `looks`
    are slices to run before all others, where another side has run them to choose the requests.
    """

    case: Case
    servers: Mapping[Side, ServerProgram]
    seed: int
    directory: Path
    pinning: Pinning
    pairs: int
    requests: int | None = None
    per_second: int | None = None
    alone: bool = False
    looks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Timed:
    """A start's measurement and timeline by side, the requests of its slices, and whether each side was up alone."""

    measurements: dict[Side, Measurement]
    timelines: dict[Side, Timeline]
    requests: int
    alone: bool = False
    looks: tuple[int, ...] = ()


PERCENTILES = {"latency_p50_us": 0.5, "latency_p99_us": 0.99, "latency_p99_9_us": 0.999}


class _DoesNotFitTwice(Exception):
    """The data of one side leaves no memory for the other's."""


def time_start(plan: TimedStart) -> Timed:
    """Carry out one start of every side: together, or one after the other where memory does not hold both.

    Raises `TrialFailed` with the server's log if a server or the load generator fails.
    """
    if not plan.alone:
        try:
            return _time_together(plan)
        except _DoesNotFitTwice:
            pass
    return _time_one_after_the_other(plan)


def _time_one_after_the_other(plan: TimedStart) -> Timed:
    measurements: dict[Side, Measurement] = {}
    timelines: dict[Side, Timeline] = {}
    requests, looks = plan.requests, plan.looks
    sides = list(plan.servers)
    random.Random(plan.seed).shuffle(sides)
    for side in sides:
        directory = plan.directory / f"alone-{side}"
        directory.mkdir()
        try:
            own = {side: plan.servers[side]}
            timed = _time_together(replace(plan, servers=own, directory=directory, requests=requests, looks=looks))
        except TrialFailed as fault:
            raise _named(fault, side, plan.servers) from fault
        measurements |= timed.measurements
        timelines |= timed.timelines
        requests, looks = timed.requests, timed.looks
    pairs = min(len(timeline.slices) for timeline in timelines.values())
    return Timed(
        measurements={side: measurements[side] for side in plan.servers},
        timelines={side: _first(pairs, timelines[side]) for side in plan.servers},
        requests=requests or 0,
        alone=True,
    )


def _first(slices: int, timeline: Timeline) -> Timeline:
    return timeline.model_copy(update={"slices": timeline.slices[:slices]})


def _time_together(plan: TimedStart) -> Timed:
    """Carry out a start with all servers up; raises `_DoesNotFitTwice`."""
    began = time.monotonic()
    order = random.Random(plan.seed)
    with contextlib.ExitStack() as stack:
        sides: dict[Side, TimedSide] = {}
        found: dict[Side, list[Check]] = {}
        # Whoever is set up first finds the machine's memory in another state: that must not be one side always.
        for side in order.sample(list(plan.servers), len(plan.servers)):
            _require_memory(sides.values())
            try:
                sides[side], found[side] = set_up(stack, _setup(plan, side))
            except TrialFailed as fault:
                raise _named(fault, side, plan.servers) from fault
        processors = {*plan.pinning.server, *plan.pinning.client}
        with _naming_the_dead(sides), watch(lambda: _used_ns(sides), processors) as disturbance:
            chosen = _chosen(plan, list(sides.values()))
            work = SliceWork.of(plan.case, chosen.requests, plan.per_second)
            slices = run_pairs(sides, work, plan.pairs, order)
    seconds = (time.monotonic() - began) / len(sides)
    noise = disturbance.checks()
    return Timed(
        measurements={
            side: _measurement(plan.case, slices[side], [*found[side], *noise], work, seconds) for side in sides
        },
        timelines={side: _timeline(slices[side]) for side in sides},
        requests=chosen.requests,
        looks=chosen.looks,
    )


def _chosen(plan: TimedStart, sides: Sequence[TimedSide]) -> Chosen:
    """Return the requests of a slice: as planned, or as a look at these sides says."""
    if plan.requests is None:
        return choose_requests(sides, plan.case)
    for look in plan.looks:
        for side in sides:
            side.run(SliceWork.of(plan.case, look, None))
    return Chosen(plan.requests, plan.looks)


def _require_memory(running: Iterable[TimedSide]) -> None:
    """Raise `_DoesNotFitTwice` if there is no room for another server as large as those that run."""
    resident = max((sum(map(read_resident_bytes, side.processes)) for side in running), default=0)
    if resident and available_bytes() < resident + MEMORY_RESERVE_BYTES:
        raise _DoesNotFitTwice


def _used_ns(sides: Mapping[Side, TimedSide]) -> int:
    return sum(side.used_ns() for side in sides.values())


def _setup(plan: TimedStart, side: Side) -> SideSetup:
    return SideSetup(plan.servers[side], plan.case, plan.seed, plan.directory, plan.pinning, name=side)


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


def _measurement(
    case: Case, slices: Sequence[Slice], found: Sequence[Check], work: SliceWork, seconds: float
) -> Measurement:
    checks = [*found, *timed_checks.slice_checks(case, slices, work)]
    every = [one.metrics() for one in slices]
    names = [name for name in every[0] if all(name in one for one in every)]
    metrics = {name: statistics.median(one[name] for one in every) for name in names}
    return Measurement(
        metrics=metrics | _latencies(slices),
        validity=Validity.of(checks),
        seconds=seconds,
    )


def _latencies(slices: Sequence[Slice]) -> dict[str, float]:
    """Return the percentiles of all replies: what happens rarely is in few slices, and in no median of theirs."""
    histogram = sum_of_histograms([one.result.histogram_ns for one in slices])
    if not histogram:
        return {}
    found = dict(zip(PERCENTILES, latencies_us(histogram, PERCENTILES.values()), strict=True))
    longest = max(one.result.latency_us.max for one in slices if one.result.latency_us is not None)
    return {**found, "latency_max_us": longest}


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
            )
            for one in slices
        ],
        histogram_ns=sum_of_histograms([one.result.histogram_ns for one in slices]),
    )
