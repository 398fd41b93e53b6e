"""The timed engine: both servers up, the same slices of work on each in randomised pairs.

One start of every side is one trial of each, and has a placement of its own: the functions and variables of both
programs in one random order, their files fresh copies, whose pages lie elsewhere, their stacks and heaps displaced by
an environment of random size. Within a start each pair joins a slice of each side,
in random order, so that what drifts meets both.
"""

import contextlib
import random
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from zerolap.build import Program
from zerolap.engines import timed_checks
from zerolap.engines.counters import SideCounters
from zerolap.engines.engine import Deadline, Place, named_failure
from zerolap.engines.open_loop import OpenLoop, base_of, run_open_loop, with_tails
from zerolap.engines.pairing import Chosen, choose_requests, run_pairs, set_up_order
from zerolap.engines.server_trial import PinnedTrial
from zerolap.engines.shared_start import SharedStart, key_of
from zerolap.engines.side import require_standalone, set_up, set_up_shared
from zerolap.engines.slices import Slice, SliceWork, TimedSide
from zerolap.host import Pinning, available_bytes, hardware_counters, measure_noise, stolen_seconds, watch
from zerolap.load import LoadHost, MachineWatch, reference_ns
from zerolap.records import (
    CHECKS_OF_MACHINE,
    CHECKS_OF_TIMING,
    CONTROL,
    LOAD_HOST,
    Amounts,
    Block,
    Case,
    Check,
    Event,
    JobFinished,
    Measurement,
    OpenLoadRecord,
    Placement,
    ServerSpec,
    Side,
    SliceRecord,
    Timeline,
    TrialDone,
    TrialFailed,
    TrialsJob,
    Validity,
    latencies_us,
    now,
    sum_of_histograms,
)
from zerolap.server import first_dead, read_resident_bytes

METHOD = 6
"""The version of the method, raised when the same server would get other times."""
PAIRS_PER_START = 40
REPEATS = 1
"""How often a start that the machine disturbed is repeated before its case gets no timed verdict."""
FEWEST_UNDISTURBED = 0.25
"""The share of each side's slices that have to be undisturbed for elapsed time to leave the others out."""
QUIET_LOAD = 0.3
LONGEST_WAIT_SECONDS = 10.0
LOOK_SECONDS = 0.5
PADDING, MOST_PADDING_BYTES = "ZEROLAP_PADDING", 4095
"""The variable that displaces what a server has on its stack, and what it copies of its environment to its heap."""
SHARED_FILE = "its start command runs a program that cannot be copied for each start"
MEMORY_RESERVE_BYTES = 256 << 20
"""What has to stay free beside a second server as large as the first."""


class Timed:
    """Times all sides of a case together, start after start.

    A start that the machine disturbed is repeated; what stays disturbed is yielded with the checks that failed.
    """

    def missing(self) -> str | None:
        """Return none: times can be measured everywhere, if not always to be judged."""
        return None

    def carry_out(self, job: TrialsJob, place: Place) -> Iterator[Event]:
        """Carry out the starts of a job; each is one trial of every side, whose slices make pairs.

        The first start chooses how many requests a slice has; a start that stays disturbed is the last.
        """
        load_is_here = place.load_host is None
        if not load_is_here:
            require_standalone(job, [place.program(server) for server in job.servers.values()])
        pinning, deadline = place.pinning(job, load_is_here=load_is_here), Deadline(job, place)
        amounts = job.amounts
        if not pinning.is_clean:
            yield _oversubscribed(job, pinning, load_is_here)
            yield JobFinished(job=job.id)
            return
        for block in job.blocks:
            recorded = {side: place.measured(block, side) for side in job.servers}
            measurements = {side: one for side, one in recorded.items() if one is not None}
            if len(measurements) < len(job.servers):
                if deadline.is_over:
                    yield JobFinished(job=job.id, cut_short=True)
                    return
                with named_failure(job.servers, None, block):
                    started = _undisturbed(job, block, place, pinning, amounts)
                measurements = {side: _kept(started, side, place) for side in job.servers}
                yield TrialDone(job=job.id, block=block.number, measurements=measurements)
            amounts = next(iter(measurements.values())).amounts
            if not all(measurement.validity.valid for measurement in measurements.values()):
                break
        yield JobFinished(job=job.id)


def _oversubscribed(job: TrialsJob, pinning: Pinning, load_is_here: bool) -> TrialDone:
    """Return that nothing was timed, as busy threads have no core of their own."""
    threads = max(server.busy_threads for server in job.servers.values()) + load_is_here
    check = Check(
        check="oversubscribed",
        ok=False,
        value=f"{threads} busy threads, sharing: {pinning.sharing.value}",
        limit="a core for every busy thread",
    )
    nothing = Measurement(metrics={}, validity=Validity.of([check]), amounts=job.amounts, method=METHOD, began=now())
    return TrialDone(job=job.id, block=job.blocks[0].number, measurements=dict.fromkeys(job.servers, nothing))


def _kept(started: "StartOutcome", side: Side, place: Place) -> Measurement:
    timeline = place.blobs.put(started.timelines[side].model_dump_json(by_alias=True).encode())
    return started.measurements[side].model_copy(update={"timeline": timeline})


def _undisturbed(job: TrialsJob, block: Block, place: Place, pinning: Pinning, amounts: Amounts) -> "StartOutcome":
    """Return a start that the machine left alone, or the last of several; its time includes those before it."""
    lost_seconds = 0.0
    programs, placement = place.placed_programs(job, block)
    for attempt in range(1 + REPEATS):
        with place.trial_directory() as directory:
            started = time_start(
                TimedStart(
                    case=job.case,
                    servers=job.servers,
                    programs=programs,
                    seed=block.seed,
                    directory=directory,
                    pinning=pinning,
                    amounts=amounts,
                    load_host=place.load_host,
                    shared=place.shared if place.load_host is None else None,
                )
            )
        failed = [check for one in started.measurements.values() for check in one.validity.failed]
        disturbed = {check.check for check in failed if check.check in CHECKS_OF_TIMING}
        if not disturbed or any(check.check not in CHECKS_OF_TIMING for check in failed) or attempt == REPEATS:
            break
        if place.shared is not None:
            place.shared.drop()
        lost_seconds += sum(one.seconds for one in started.measurements.values()) / len(job.servers)
        if "slice_seconds" in disturbed and amounts.per_second is None:
            amounts = amounts.model_copy(update={"slice_requests": None})
        if disturbed & CHECKS_OF_MACHINE:
            _wait_for_quiet(place)
    return started.completed(placement, lost_seconds, place.load_host)


def _wait_for_quiet(place: Place) -> None:
    """Wait until other processes leave the machines of a trial alone, for a while at most."""
    end = place.clock() + LONGEST_WAIT_SECONDS
    while place.clock() < end and (measure_noise(LOOK_SECONDS).others > QUIET_LOAD or _is_disturbed(place.load_host)):
        place.cancellation.require_going_on()


def _is_disturbed(load_host: LoadHost | None) -> bool:
    """Whether other processes disturb the load host, as seen in a look."""
    if load_host is None:
        return False
    with load_host.watch() as watch:
        time.sleep(LOOK_SECONDS)
    return not all(check.ok for check in watch.checks())


@dataclass(frozen=True)
class TimedStart:
    """What one start of every side needs; the requests of a slice are chosen from a first look where there are none.

    At a rate of `per_second` the sides are sent the same, however fast they are. `looks` are slices to run before all
    others, where another side has run them to choose the requests. `load_host` sends them, or this machine. The servers
    are those of `shared`, where other cases have the same ones.
    """

    case: Case
    servers: Mapping[Side, ServerSpec]
    programs: Mapping[Side, Program]
    seed: int
    directory: Path
    pinning: Pinning
    amounts: Amounts
    looks: tuple[int, ...] = ()
    load_host: LoadHost | None = None
    shared: SharedStart | None = None


@dataclass(frozen=True)
class StartOutcome:
    """A start's measurement and timeline by side, and the looks that chose the requests of its slices.

    `is_copied` is false where a server did not execute the copy of its program.
    """

    measurements: dict[Side, Measurement]
    timelines: dict[Side, Timeline]
    looks: tuple[int, ...] = ()
    is_copied: bool = True

    @property
    def amounts(self) -> Amounts:
        """What was chosen, the same for all sides."""
        return next(iter(self.measurements.values())).amounts

    def completed(
        self, placement: Placement, lost_seconds: float = 0.0, load_host: LoadHost | None = None
    ) -> "StartOutcome":
        """Return the start with the placement of its programs, and why their pages did not vary, if they did not.

        `lost_seconds` is what attempts before it took of each side, `load_host` what put load on it.
        """
        if placement.seed is None and not self.is_copied:
            placement = Placement(failure=f"{placement.failure}; {SHARED_FILE}")
        known = {"placement": placement, "load_host": "" if load_host is None else load_host.name}
        measurements = {
            side: one.model_copy(update=known | {"seconds": one.seconds + lost_seconds})
            for side, one in self.measurements.items()
        }
        return replace(self, measurements=measurements)


PERCENTILES = {"latency_p50_us": 0.5, "latency_p99_us": 0.99, "latency_p99_9_us": 0.999}


class _DoesNotFitTwice(Exception):
    """The data of one side leaves no memory for the other's."""


def time_start(start: TimedStart) -> StartOutcome:
    """Carry out one start of every side: together, or one after the other where memory does not hold both.

    Raises `TrialFailed` with the server's log if a server or the load generator fails.
    """
    if not start.amounts.alone:
        try:
            return _time_shared(start)
        except _DoesNotFitTwice:
            pass
    if start.shared is not None:
        start.shared.drop()
    return _time_one_after_the_other(replace(start, shared=None))


def _time_shared(start: TimedStart) -> StartOutcome:
    """Carry out a start on servers that other cases may have had before; it is recorded how many."""
    if start.shared is None:
        return _time_together(start)
    with start.shared.case(key_of(start.programs, (start.seed, start.servers, start.pinning))) as position:
        started = _time_together(start)
    measurements = {
        side: one.model_copy(update={"start_position": position}) for side, one in started.measurements.items()
    }
    return replace(started, measurements=measurements)


def _time_one_after_the_other(start: TimedStart) -> StartOutcome:
    measurements: dict[Side, Measurement] = {}
    timelines: dict[Side, Timeline] = {}
    is_copied = True
    amounts, looks = start.amounts.model_copy(update={"alone": True}), start.looks
    for side in set_up_order(list(start.servers), start.seed, start.case.name):
        directory = start.directory / f"alone-{side}"
        directory.mkdir()
        with named_failure(start.servers, side):
            own = {side: start.servers[side]}
            timed = _time_together(replace(start, servers=own, directory=directory, amounts=amounts, looks=looks))
        measurements |= timed.measurements
        timelines |= timed.timelines
        amounts, looks, is_copied = timed.amounts, timed.looks, is_copied and timed.is_copied
    pairs = min(len(timeline.slices) for timeline in timelines.values())
    return StartOutcome(
        measurements={side: measurements[side] for side in start.servers},
        timelines={
            side: timelines[side].model_copy(update={"slices": timelines[side].slices[:pairs]})
            for side in start.servers
        },
        is_copied=is_copied,
    )


def _time_together(start: TimedStart) -> StartOutcome:
    """Carry out a start with all servers up; raises `_DoesNotFitTwice`."""
    began, began_at, processors = time.monotonic(), now(), {*start.pinning.server, *start.pinning.client}
    with contextlib.ExitStack() as stack:
        sides: dict[Side, TimedSide] = {}
        filled: dict[Side, list[Check]] = {}
        # Whoever is set up first finds the machine's memory in another state: that must not be one side always.
        for side in set_up_order(list(start.servers), start.seed, start.case.name):
            _require_memory(sides.values())
            with named_failure(start.servers, side):
                trial = _trial_of(start, side)
                sides[side], filled[side] = (
                    set_up(stack, trial, start.load_host)
                    if start.shared is None
                    else set_up_shared(stack, trial, side, start.shared)
                )
            sides[side].counters = SideCounters.attach(sides[side].processes, hardware_counters())
            if stolen_seconds(processors) > 0:
                # Reading it takes long on large machines; one that has never lost any time is not virtual.
                sides[side].stolen_seconds = partial(stolen_seconds, processors)
        # Here neither servers nor load have anything to do, and it disturbs no slice.
        control_ns = _control_ns(start)
        chance = random.Random(f"{start.seed} {start.case.name}")
        is_copied = all(server.runs_from_copy for side in sides.values() for server in side.servers)
        with _naming_the_dead(sides), _watched(start, sides) as watches:
            chosen = _chosen(start, list(sides.values()))
            work = SliceWork.of(start.case, chosen.requests, start.amounts.per_second)
            slices = run_pairs(sides, work, start.amounts.pairs or PAIRS_PER_START, chance)
            of_start = {name: _figures_of_start(side, control_ns) for name, side in sides.items()}
            open_loop = _open_loop(start, sides, slices, chance)
    seconds = (time.monotonic() - began) / len(sides)
    # For both sides alike: the elapsed time of one's quiet slices and of all of the other's are not comparable.
    counted = counted_for_elapsed(slices)
    noise = [check for watch in watches for check in watch.checks()]
    if len(sides) > 1:
        noise = [_of_both_sides(check) for check in noise]
    amounts = start.amounts.model_copy(update={"slice_requests": chosen.requests})
    if open_loop is not None:
        amounts = amounts.model_copy(update={"open_loop": open_loop.loads})
    return StartOutcome(
        measurements={
            side: with_tails(
                _measurement(start.case, slices[side], counted[side], [*filled[side], *noise], work, of_start[side]),
                open_loop,
                side,
            ).model_copy(update={"seconds": seconds, "amounts": amounts, "began": began_at})
            for side in sides
        },
        timelines={
            side: _timeline(slices[side], [] if open_loop is None else open_loop.records[side]) for side in sides
        },
        looks=chosen.looks,
        is_copied=is_copied,
    )


def _control_ns(start: TimedStart) -> float:
    """Return how long the server's processor takes for the reference work; cases of one start have it once."""
    known = None if start.shared is None else start.shared.control_ns
    found = known or reference_ns(start.pinning.server[0], start.directory / "reference")
    if start.shared is not None:
        start.shared.control_ns = found
    return found


def _of_both_sides(check: Check) -> Check:
    """Return a check of the machine as it is where slices of both sides alternate.

    What else the processors do then meets both sides alike: it makes intervals wider, and no side faster
    (docs/timed.md has the measurements).
    """
    if check.ok or check.check.removeprefix(LOAD_HOST) not in ("steal", "other_load"):
        return check
    return check.model_copy(update={"ok": True, "limit": f"{check.limit}, or slices of both sides in turns"})


def _chosen(start: TimedStart, sides: Sequence[TimedSide]) -> Chosen:
    """Return the requests of a slice: as planned, or as a look at these sides determines."""
    if start.amounts.slice_requests is None:
        return choose_requests(sides, start.case)
    for look in start.looks:
        for side in sides:
            side.run(SliceWork.of(start.case, look, None))
    return Chosen(start.amounts.slice_requests, start.looks)


def _require_memory(running: Iterable[TimedSide]) -> None:
    """Raise `_DoesNotFitTwice` if there is no room for another server as large as those that run."""
    resident = max((sum(map(read_resident_bytes, side.processes)) for side in running), default=0)
    if resident and available_bytes() < resident + MEMORY_RESERVE_BYTES:
        raise _DoesNotFitTwice


def _trial_of(start: TimedStart, side: Side) -> PinnedTrial:
    directory = start.directory / side
    directory.mkdir()
    return PinnedTrial(
        start.programs[side],
        start.servers[side],
        start.case,
        start.seed,
        directory,
        start.pinning,
        environment={
            PADDING: "x" * random.Random(f"{start.seed} {start.case.name} padding").randint(0, MOST_PADDING_BYTES)
        },
    )


@contextlib.contextmanager
def _watched(start: TimedStart, sides: Mapping[Side, TimedSide]) -> Iterator[list[MachineWatch]]:
    """Watch the machines of a start for the length of the context; each by its own clock."""
    processors = {*start.pinning.server, *start.pinning.client}
    with contextlib.ExitStack() as stack:
        is_remote = start.load_host is not None
        own = watch(lambda: sum(side.used_ns() for side in sides.values()), processors, interrupts_are_load=is_remote)
        watches: list[MachineWatch] = [stack.enter_context(own)]
        if start.load_host is not None:
            watches.append(stack.enter_context(start.load_host.watch()))
        yield watches


@contextlib.contextmanager
def _naming_the_dead(sides: Mapping[Side, TimedSide]) -> Iterator[None]:
    """Raise a failure as the server's own, with its side, where one has died."""
    try:
        yield
    except TrialFailed as fault:
        side_of = {server: name for name, side in sides.items() for server in side.servers}
        dead = first_dead(list(side_of))
        if dead is None:
            raise
        raise dead.failure(fault.message).at(side_of[dead] if len(sides) > 1 else None) from fault


def _measurement(
    case: Case,
    slices: Sequence[Slice],
    counted_for_elapsed: Sequence[Slice],
    filled: Sequence[Check],
    work: SliceWork,
    of_start: Mapping[str, float],
) -> Measurement:
    checks = [*filled, *timed_checks.slice_checks(case, slices, work)]
    every = [one.metrics() for one in slices]
    names = [name for name in every[0] if all(name in one for one in every)]
    metrics = {name: statistics.median(one[name] for one in every) for name in names}
    # Of all slices, and no median: what happens now and then is in few of them.
    whole_ns = sum(one.whole_ns for one in slices)
    if whole_ns > 0:
        metrics["whole_cpu_ns_per_op"] = whole_ns / sum(one.result.requests for one in slices)
    requests = sum(one.result.requests for one in counted_for_elapsed)
    metrics["elapsed_ns_per_op"] = sum(one.result.elapsed_ns for one in counted_for_elapsed) / requests
    return Measurement(
        metrics={**metrics, **of_start, **_latencies(slices)}, validity=Validity.of(checks), method=METHOD
    )


def _figures_of_start(side: TimedSide, control_ns: float) -> dict[str, float]:
    """Return what is measured of a start once: the machine's speed before it, the server's memory after it."""
    figures = {CONTROL: control_ns}
    resident = sum(map(read_resident_bytes, side.processes))
    return figures | {"rss_bytes": float(resident)} if resident > 0 else figures


def counted_for_elapsed(slices: Mapping[Side, Sequence[Slice]]) -> dict[Side, Sequence[Slice]]:
    """Return the slices by which elapsed time per request is computed: all but those that others disturbed.

    Where one side has hardly any undisturbed ones, it is computed by all slices of every side.
    """
    undisturbed = {side: [one for one in of_side if not one.is_disturbed] for side, of_side in slices.items()}
    if all(len(undisturbed[side]) >= FEWEST_UNDISTURBED * len(of_side) for side, of_side in slices.items()):
        return dict(undisturbed)
    return dict(slices)


def _latencies(slices: Sequence[Slice]) -> dict[str, float]:
    """Return the percentiles of all replies: what happens rarely is in few slices, and in no median of theirs."""
    histogram = sum_of_histograms([one.result.histogram_ns for one in slices])
    if not histogram:
        return {}
    found = dict(zip(PERCENTILES, latencies_us(histogram, PERCENTILES.values()), strict=True))
    longest = max(one.result.latency_us.max for one in slices if one.result.latency_us is not None)
    return {**found, "latency_max_us": longest}


def _open_loop(
    start: TimedStart, sides: Mapping[Side, TimedSide], slices: Mapping[Side, Sequence[Slice]], chance: random.Random
) -> OpenLoop | None:
    """Carry out the open loop of a start that is to have one; sides that are not up together have none to compare."""
    amounts = start.amounts
    if amounts.open_loop is None or amounts.per_second is not None or len(sides) < 2:
        return None
    return run_open_loop(sides, start.case, amounts.open_loop, base_of(slices), chance)


def _timeline(slices: Sequence[Slice], open_loop: Sequence[OpenLoadRecord]) -> Timeline:
    return Timeline(
        open_loop=[*open_loop],
        slices=[
            SliceRecord(
                requests=one.result.requests,
                seconds=one.seconds,
                client_busy=one.client_busy,
                server_busy=one.server_busy,
                requests_per_read=one.requests_per_read,
                requests_per_cycle=one.requests_per_cycle,
                metrics=one.metrics(),
                is_disturbed=one.is_disturbed,
            )
            for one in slices
        ],
        histogram_ns=sum_of_histograms([one.result.histogram_ns for one in slices]),
    )
