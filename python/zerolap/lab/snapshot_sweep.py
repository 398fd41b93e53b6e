"""The sweep of `zerolap snapshot`: servers filled with more and more data, and what their forks cost under load."""

import contextlib
import random
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from zerolap import __version__
from zerolap.build import Builder, BuiltServer, parse_variant
from zerolap.byte_counts import shown_bytes
from zerolap.engines import (
    HUGE_PAGE_VARIABLES,
    TRIAL_PREFIX,
    VALUE_BYTES,
    PinnedTrial,
    SnapshotLoadSettings,
    SnapshotServer,
    TracedServer,
    filled_snapshot_server,
    huge_page_settings,
    require_huge_pages_possible,
    require_snapshot_tracing,
    snapshot_case,
    snapshot_topology,
    trace_snapshot,
    visible_setting,
)
from zerolap.explain import fork_findings
from zerolap.host import Pinning, Processors, choose_pinning, fingerprint, huge_pages, read_processors
from zerolap.judge import SNAPSHOT_MIN_EFFECT, Q
from zerolap.lab.lab import Lab
from zerolap.lab.platforms import sandbox_notes
from zerolap.lab.requests import ID_DIGITS, PREFIXES
from zerolap.lab.snapshot_points import FORK, fits_of, points_of, starts_of, verdicts_of
from zerolap.lab.snapshot_sides import Factor, SweepSide, sides_of
from zerolap.lab.snapshot_sizes import Room, fitting_sizes
from zerolap.load import SLOT_SECONDS
from zerolap.records import (
    EndpointSource,
    EnvironmentMissing,
    FailedSize,
    Interrupted,
    KeptRepetition,
    MeasuredServer,
    Note,
    Platform,
    Progress,
    RequestedServer,
    ServerSpec,
    SnapshotEvent,
    SnapshotLoad,
    SnapshotReport,
    SnapshotSettings,
    SnapshotSide,
    SnapshotStart,
    SnapshotTrace,
    TrialFailed,
    UsageError,
    digest_of,
    now,
)
from zerolap.sandbox import remove_abandoned
from zerolap.store import KeptSweep


@dataclass(frozen=True)
class SnapshotRequest:
    """What a sweep is to measure; without `sizes_bytes` as many of the usual sizes as fit.

    `base` is a second server, or `factors` are varied; verdicts are on changes of at least `min_effect`. With
    `is_seed_drawn` nobody chose the seed, so that an unfinished sweep of the same goes on with its own. With
    `is_traced` an event of each side is traced at the greatest size, apart from those that are measured.
    """

    server: RequestedServer
    event: SnapshotEvent
    sizes_bytes: Sequence[int] | None
    loads: Sequence[SnapshotLoad]
    rate_per_second: int
    connections: int
    repetitions: int
    seed: int
    command_line: str
    base: RequestedServer | None = None
    factors: Sequence[Factor] = ()
    min_effect: float = SNAPSHOT_MIN_EFFECT
    is_seed_drawn: bool = False
    is_traced: bool = False

    def digest(self, builds: Sequence[str], sides: Sequence[SweepSide], platform: Platform) -> str:
        """Return what is equal for sweeps that measure the same on the same machine, whatever their seed."""
        of_sides = [
            f"{side.name} {build} {side.server.config} {side.huge_pages}"
            for build, side in zip(builds, sides, strict=True)
        ]
        sizes = "usual" if self.sizes_bytes is None else str(sorted(set(self.sizes_bytes)))
        numbers = f"{self.rate_per_second} {self.connections} {self.repetitions}"
        where = (__version__, platform.fingerprint, platform.kernel)
        return digest_of(*where, self.event, sizes, ",".join(self.loads), numbers, *of_sides)


def snapshot(request: SnapshotRequest, lab: Lab) -> SnapshotReport:
    """Carry out a sweep, or go on with an unfinished one of the same, and return its document, which is recorded.

    A size at which a server fails is reported as such, and the others go on. Raises `UsageError` for a server that
    cannot be started, `EnvironmentMissing` where memory or disk space does not suffice, `BuildFailed`, `RequestBusy`
    while another process carries out the same, `TrialFailed` if no size could be measured, and `Interrupted` once the
    user stops it; the repetitions that have ended are kept then, as after a kill.
    """
    sides = sides_of(request.server, request.base, request.factors)
    for side in sides:
        _require_startable(side)
    if request.is_traced:
        _require_traceable(request.event)
    remove_abandoned(TRIAL_PREFIX)
    sizes, left_out = fitting_sizes(request.sizes_bytes, request.event, Room.here(request.event))
    notes = [*sandbox_notes(), *left_out]
    for note in notes:
        lab.listen(Note(text=note))
    platform = fingerprint()
    try:
        with lab.cancellation.current():
            builder = Builder(
                lab.store.builds_directory,
                lambda name: lab.listen(Progress(activity="building", subject=name)),
                lab.sandbox,
            )
            built = {side.name: builder.build(side.server.source, parse_variant(side.server.variant)) for side in sides}
            builds = [server.record.build for server in built.values()]
            digest = request.digest(builds, sides, platform)
            with lab.store.sweep(digest) as kept:
                sweep = _Sweep(request, sides, built, sizes, kept, lab)
                failed = sweep.carry_out()
                traces = sweep.traced(failed) if request.is_traced else []
                document = _document(request, sweep, failed, platform, [*notes, *sweep.notes])
                document = document.model_copy(update={"id": sweep.identity(digest), "traces": traces})
                lab.store.sweeps.record(document)
                kept.end()
    except (KeyboardInterrupt, Interrupted):
        lab.cancellation.cancel()
        raise Interrupted(
            "interrupted; the repetitions that have ended are kept", hint="the same command goes on"
        ) from None
    return document


def _require_startable(side: SweepSide) -> None:
    """Raise `UsageError` for a running server, `EnvironmentMissing` if it cannot have the pages that are wanted."""
    source = side.server.source
    if isinstance(source, EndpointSource):
        raise UsageError(
            f"`{source.name}` is a running server: a sweep starts, fills and stops its own",
            hint="give a binary, a source tree or a revision",
        )
    if side.huge_pages is not None:
        require_huge_pages_possible(side.huge_pages, huge_pages())


def _require_traceable(event: SnapshotEvent) -> None:
    """Raise `UsageError` for an event at which nothing forks, `EnvironmentMissing` where no fork can be traced."""
    if event == "none":
        raise UsageError("`--trace` with `--event none`: nothing forks", hint="write --event bgsave")
    require_snapshot_tracing()


def _document(
    request: SnapshotRequest, sweep: "_Sweep", failed: Sequence[FailedSize], platform: Platform, notes: Sequence[str]
) -> SnapshotReport:
    names = [side.name for side in sweep.sides]
    failed_sizes = {failure.size_bytes for failure in failed}
    measured = [size for size in sweep.sizes if size not in failed_sizes]
    points = points_of(sweep.repetitions, measured, names, request.loads)
    fits = {name: fits_of([point for point in points if point.side == name]) for name in names}
    servers = {
        side.name: MeasuredServer.of(sweep.built[side.name].record, side.server.source, dict(side.server.config))
        for side in sweep.sides
    }
    of_sides = [
        SnapshotSide(name=side.name, server=servers[side.name], huge_pages=side.huge_pages, fits=fits[side.name])
        for side in sweep.sides
        if side.name
    ]
    is_judged = len(names) > 1
    crowded = {side.name: reason for side in sweep.sides if (reason := side.oversubscribed(read_processors()))}
    judged = [name for name in names if name not in crowded]
    notes = [*notes, *(_crowded_note(name, reason) for name, reason in crowded.items())]
    return SnapshotReport(
        schema="zerolap.snapshot/1",
        created=now(),
        command_line=request.command_line,
        server=servers[names[-1]],
        platform=platform,
        settings=SnapshotSettings(
            event=request.event,
            sizes_bytes=list(sweep.sizes),
            loads=list(request.loads),
            rate_per_second=request.rate_per_second,
            connections=request.connections,
            value_bytes=VALUE_BYTES,
            repetitions=request.repetitions,
            slot_seconds=SLOT_SECONDS,
            seed=sweep.seed,
            min_effect=request.min_effect if is_judged else None,
            q=Q if is_judged else None,
        ),
        machine_seconds=sweep.seconds,
        points=points,
        fits={} if of_sides else fits[""],
        sides=of_sides,
        starts=starts_of(sweep.repetitions, measured),
        verdicts=verdicts_of(points, judged, request.min_effect) if names[0] in judged else [],
        failed=list(failed),
        notes=list(notes),
    )


def _crowded_note(side: str, reason: str) -> str:
    """Write that waiting for processors is part of what was measured, and of a side that it has no verdicts."""
    return f"{side} is {reason}, so it has no verdicts" if side else reason


@dataclass(frozen=True)
class _Start:
    """One start of a side at a size, and its repetitions: their numbers, each with a load."""

    size_bytes: int
    side: SweepSide
    repetitions: Sequence[tuple[int, SnapshotLoadSettings]]


class _Sweep:
    """The sizes of a sweep, one after the other, from where an earlier process has left it.

    All that is random comes from the seed and from what it is for, so that it is the same if the sweep is interrupted,
    and for all sides.
    """

    def __init__(
        self,
        request: SnapshotRequest,
        sides: Sequence[SweepSide],
        built: Mapping[str, BuiltServer],
        sizes: Sequence[int],
        kept: KeptSweep,
        lab: Lab,
    ) -> None:
        if kept.repetitions and not request.is_seed_drawn and kept.repetitions[0].seed != request.seed:
            kept.begin_anew()
        self.sides, self.built, self.sizes = sides, built, sizes
        self.seed = kept.repetitions[0].seed if kept.repetitions else request.seed
        self.notes: list[str] = []
        self._request = request
        self._kept = kept
        self._lab = lab
        self._given_up = 0
        self._began = time.monotonic() - (kept.repetitions[-1].seconds if kept.repetitions else 0.0)

    @property
    def repetitions(self) -> Sequence[KeptRepetition]:
        """All that have ended, also those of an earlier process."""
        return self._kept.repetitions

    @property
    def seconds(self) -> float:
        """The machine time until now; of an earlier process that until its last repetition had ended."""
        return time.monotonic() - self._began

    def identity(self, digest: str) -> str:
        """Return the id of the sweep of that digest, which is the same in a process that goes on with it."""
        began = self.repetitions[0].repetition.began
        return f"{PREFIXES['snapshot']}-{digest_of(digest, str(self.seed), began)[:ID_DIGITS]}"

    @property
    def _is_unsettled(self) -> bool:
        """Whether the first fork of a start is what is measured: the event by which it settles splits huge pages."""
        return any(side.huge_pages == "always" for side in self.sides)

    @property
    def _per_size(self) -> int:
        return len(self.sides) * len(self._request.loads) * self._request.repetitions

    def carry_out(self) -> list[FailedSize]:
        """Measure all sizes, and return those that failed; raises `TrialFailed` if all did."""
        if self.repetitions:
            before = f"{len(self.repetitions)} of {len(self.sizes) * self._per_size} repetitions"
            self._lab.listen(Note(text=f"continuing a sweep that was not finished; {before} are recorded"))
            self.notes.append(f"{before} had ended when the sweep was interrupted; the others are of other starts")
        failed: list[FailedSize] = []
        fault: TrialFailed | None = None
        self._advance("")
        for size in self.sizes:
            try:
                for start in self._starts(size):
                    self._carry_out(start)
            except TrialFailed as failure:
                self._lab.cancellation.require_going_on()
                fault = failure
                failed.append(FailedSize(size_bytes=size, reason=failure.message))
                self._lab.listen(Note(text=f"{shown_bytes(size)}: {failure.message}"))
                self._given_up += self._per_size - sum(kept.size_bytes == size for kept in self.repetitions)
        if fault is not None and len(failed) == len(self.sizes):
            raise fault
        return failed

    def _starts(self, size: int) -> Iterator[_Start]:
        """Yield the starts that are left: one for all repetitions, or, of several sides, one of each for each of them.

        Servers that do not settle have another start for each load. The sides are in a random order each time, so that
        a drift of the machine hits all of them alike.
        """
        loads = [SnapshotLoadSettings(load, self._request.rate_per_second) for load in self._request.loads]
        by_number = [[(number, load) for load in loads] for number in range(self._request.repetitions)]
        of_starts = by_number
        if self._is_unsettled:
            of_starts = [[repetition] for repetitions in by_number for repetition in repetitions]
        elif len(self.sides) == 1:
            of_starts = [[repetition for repetitions in by_number for repetition in repetitions]]
        done = {kept.place for kept in self.repetitions}
        for repetitions in of_starts:
            for side in self._random("order", size, repetitions[0][0]).sample(self.sides, len(self.sides)):
                left = [
                    (number, load) for number, load in repetitions if (size, side.name, load.load, number) not in done
                ]
                if left:
                    yield _Start(size, side, left)

    def _carry_out(self, start: _Start) -> None:
        """Start and fill a server, and carry out its repetitions; raises `TrialFailed` with the name of its side."""
        data = self._random("data", start.size_bytes, 0 if len(self.sides) == 1 else start.repetitions[0][0])
        with self._trial(start.side, start.size_bytes, data.getrandbits(32)) as trial:
            self._repeat(start, trial)

    @contextlib.contextmanager
    def _trial(self, side: SweepSide, size: int, seed: int) -> Iterator[PinnedTrial]:
        """Give a trial of a side in a directory of its own; raises `TrialFailed` with the name of the side."""
        try:
            with self._lab.place.trial_directory(has_limit=False) as directory:
                yield PinnedTrial(
                    self.built[side.name].program,
                    self._server_spec(side),
                    snapshot_case(size, self._request.connections),
                    seed,
                    directory,
                    snapshot_pinning(read_processors()),
                    environment={} if side.huge_pages is None else HUGE_PAGE_VARIABLES[side.huge_pages],
                    read_only=visible_setting(),
                )
        except TrialFailed as failure:
            if not side.name:
                raise
            raise failure.of(side.name) from failure

    def traced(self, failed: Sequence[FailedSize]) -> list[SnapshotTrace]:
        """Trace an event of each side at the greatest size that was measured; one that cannot be traced is a note."""
        size = max(set(self.sizes) - {failure.size_bytes for failure in failed})
        traces = []
        for number, side in enumerate(self.sides):
            self._lab.cancellation.require_going_on()
            progress = Progress(
                activity="tracing", subject=shown_bytes(size), cases=1, done=number, expected=len(self.sides)
            )
            self._lab.listen(progress)
            try:
                traces.append(self._trace(side, size))
            except (TrialFailed, EnvironmentMissing) as failure:
                self._lab.cancellation.require_going_on()
                self.notes.append(f"{shown_bytes(size)} was not traced: {failure.message}")
                self._lab.listen(Note(text=self.notes[-1]))
        return traces

    def _trace(self, side: SweepSide, size: int) -> SnapshotTrace:
        request, seeds = self._request, self._random("trace", size, 0)
        load = SnapshotLoadSettings(request.loads[0], request.rate_per_second)
        built = self.built[side.name].record
        forks_us = [
            kept.repetition.metrics[FORK]
            for kept in self.repetitions
            if (kept.side, kept.size_bytes) == (side.name, size) and FORK in kept.repetition.metrics
        ]
        with (
            self._trial(side, size, seeds.getrandbits(32)) as trial,
            filled_snapshot_server(trial, request.event) as server,
        ):
            if not self._is_unsettled:
                server.settle(seeds.getrandbits(32))
            traced = TracedServer(server, trial, built.source_root, size, side.name)
            trace = trace_snapshot(
                traced, load, seeds.getrandbits(32), statistics.median(forks_us) if forks_us else None
            )
        return trace.model_copy(update={"findings": fork_findings(trace)})

    def _repeat(self, start: _Start, trial: PinnedTrial) -> None:
        side, size = start.side, start.size_bytes
        began = now()
        with filled_snapshot_server(trial, self._request.event) as server:
            if side.huge_pages is not None:
                server.require_huge_pages(side.huge_pages)
            keys, data_bytes = server.keys, server.data_bytes
            settled = self._settled(server, start, began)
            for number, load in start.repetitions:
                self._lab.cancellation.require_going_on()
                repetition = server.repetition(load, self._random(load.load, size, number))
                self._kept.keep(
                    KeptRepetition(
                        seed=self.seed,
                        side=side.name,
                        size_bytes=size,
                        load=load.load,
                        number=number,
                        keys=keys,
                        data_bytes=data_bytes,
                        seconds=self.seconds,
                        repetition=repetition,
                        start=settled,
                    )
                )
                self._advance(shown_bytes(size))

    def _settled(self, server: SnapshotServer, start: _Start, began: str) -> SnapshotStart | None:
        """Have the server fork once before its repetitions, and return how long it did; none where it is not to fork.

        This holds also where a start has a single repetition: sides are compared as servers that have saved before.
        """
        if self._request.event == "none" or self._is_unsettled:
            return None
        seeds = self._random("settle", start.size_bytes, start.repetitions[0][0])
        first_fork_us = server.settle(seeds.getrandbits(32))
        return SnapshotStart(
            side=start.side.name, size_bytes=start.size_bytes, began=began, first_fork_us=first_fork_us
        )

    def _server_spec(self, side: SweepSide) -> ServerSpec:
        config = {**huge_page_settings(side.huge_pages, huge_pages()), **side.server.config}
        topology = snapshot_topology(self._request.event)
        return ServerSpec(build=self.built[side.name].record.build, topology=topology, config=config)

    def _random(self, purpose: str, size: int, number: int) -> random.Random:
        """Return the source of randomness for something at a size and a repetition."""
        return random.Random(f"{self.seed} {purpose} {size} {number}")

    def _advance(self, subject: str) -> None:
        progress = Progress(
            activity="measuring",
            subject=subject,
            cases=len(self.sizes) * len(self.sides) * len(self._request.loads),
            done=len(self.repetitions) + self._given_up,
            expected=len(self.sizes) * self._per_size,
        )
        self._lab.listen(progress)


def snapshot_pinning(machine: Processors) -> Pinning:
    """Return the processors of a sweep: one of the client, and all others of the server and its child.

    Where only one other is left, all are the server's: on one processor, the child's work would be in the way of the
    server's, which it is not where users run it.
    """
    pinning = choose_pinning(machine)
    numbers = tuple(processor.number for processor in machine.processors)
    others = tuple(number for number in numbers if number not in pinning.client)
    return Pinning(others if len(others) > 1 else numbers, pinning.client, pinning.sharing, pinning.oversubscribed)
