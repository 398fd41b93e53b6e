"""The sweep of `zerolap snapshot`: a server filled with more and more data, and what its forks cost under load."""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.build import Builder, BuiltServer, measured_server, parse_variant
from zerolap.engines import (
    TRIAL_PREFIX,
    VALUE_BYTES,
    PinnedTrial,
    SnapshotLoadSettings,
    SnapshotServer,
    filled_snapshot_server,
    snapshot_case,
    snapshot_topology,
)
from zerolap.host import Pinning, Processors, choose_pinning, fingerprint, read_processors
from zerolap.judge import line_fit, median_estimate
from zerolap.lab.lab import Lab
from zerolap.lab.platforms import sandbox_notes
from zerolap.lab.snapshot_sizes import Room, fitting_sizes
from zerolap.load import SLOT_SECONDS
from zerolap.records import (
    EndpointSource,
    FailedSize,
    Interrupted,
    LineFit,
    MedianEstimate,
    Note,
    Progress,
    RequestedServer,
    ServerSpec,
    SnapshotEvent,
    SnapshotLoad,
    SnapshotPoint,
    SnapshotRepetition,
    SnapshotReport,
    SnapshotSettings,
    TrialFailed,
    UsageError,
    now,
)
from zerolap.sandbox import remove_abandoned, shown_bytes

FORK: Final = "fork_us"
PAUSE: Final = "longest_pause_us"


@dataclass(frozen=True)
class SnapshotRequest:
    """What a sweep is to measure; without `sizes_bytes` as many of the usual sizes as fit."""

    server: RequestedServer
    event: SnapshotEvent
    sizes_bytes: Sequence[int] | None
    loads: Sequence[SnapshotLoad]
    rate_per_second: int
    connections: int
    repetitions: int
    seed: int
    command_line: str


def snapshot(request: SnapshotRequest, lab: Lab) -> SnapshotReport:
    """Carry out a sweep, and return its document.

    A size at which a server fails is reported as such, and the others go on. Raises `UsageError` for a server that
    cannot be started, `EnvironmentMissing` where memory or disk space does not suffice, `BuildFailed`, `TrialFailed`
    if no size could be measured, and `Interrupted` once the user stops it.
    """
    source = request.server.source
    if isinstance(source, EndpointSource):
        raise UsageError(
            f"`{source.name}` is a running server: a sweep starts, fills and stops its own",
            hint="give a binary, a source tree or a revision",
        )
    began = time.monotonic()
    remove_abandoned(TRIAL_PREFIX)
    sizes, left_out = fitting_sizes(request.sizes_bytes, request.event, Room.here(request.event))
    notes = [*sandbox_notes(), *left_out]
    for note in notes:
        lab.listen(Note(text=note))
    try:
        with lab.cancellation.current():
            builder = Builder(
                lab.store.builds_directory,
                lambda name: lab.listen(Progress(activity="building", subject=name)),
                lab.sandbox,
            )
            built = builder.build(source, parse_variant(request.server.variant))
            points, failed = _Sweep(request, built, sizes, lab).carry_out()
    except (KeyboardInterrupt, Interrupted):
        lab.cancellation.cancel()
        raise Interrupted("interrupted; a sweep keeps nothing") from None
    return SnapshotReport(
        schema="zerolap.snapshot/1",
        created=now(),
        command_line=request.command_line,
        server=measured_server(built.record, source, dict(request.server.config)),
        platform=fingerprint(),
        settings=SnapshotSettings(
            event=request.event,
            sizes_bytes=sizes,
            loads=list(request.loads),
            rate_per_second=request.rate_per_second,
            connections=request.connections,
            value_bytes=VALUE_BYTES,
            repetitions=request.repetitions,
            slot_seconds=SLOT_SECONDS,
            seed=request.seed,
        ),
        machine_seconds=time.monotonic() - began,
        points=points,
        fits=fits_of(points),
        failed=failed,
        notes=notes,
    )


class _Sweep:
    """The sizes of a sweep, one after the other."""

    def __init__(self, request: SnapshotRequest, built: BuiltServer, sizes: Sequence[int], lab: Lab) -> None:
        self._request = request
        self._built = built
        self._sizes = sizes
        self._lab = lab
        self._random = random.Random(request.seed)
        self._done = 0

    def carry_out(self) -> tuple[list[SnapshotPoint], list[FailedSize]]:
        """Measure all sizes; raises `TrialFailed` if none could be measured."""
        points: list[SnapshotPoint] = []
        failed: list[FailedSize] = []
        fault: TrialFailed | None = None
        self._advance("")
        for number, size in enumerate(self._sizes, 1):
            try:
                points += self._measure(size)
            except TrialFailed as failure:
                self._lab.cancellation.require_going_on()
                fault = failure
                failed.append(FailedSize(size_bytes=size, reason=failure.message))
                self._lab.listen(Note(text=f"{shown_bytes(size)}: {failure.message}"))
            self._done = number * len(self._request.loads) * self._request.repetitions
        if fault is not None and not points:
            raise fault
        return points, failed

    def _measure(self, size: int) -> list[SnapshotPoint]:
        """Fill a server, and carry out the repetitions of all loads in turn."""
        request = self._request
        loads = [SnapshotLoadSettings(load, request.rate_per_second) for load in request.loads]
        done: dict[SnapshotLoad, list[SnapshotRepetition]] = {load: [] for load in request.loads}
        with self._lab.place.trial_directory() as directory:
            trial = PinnedTrial(
                self._built.program,
                self._server_spec(),
                snapshot_case(size, request.connections),
                self._random.getrandbits(32),
                directory,
                snapshot_pinning(read_processors()),
            )
            with filled_snapshot_server(trial, request.event) as server:
                keys, data_bytes = server.keys, server.data_bytes
                for _ in range(request.repetitions):
                    for load in loads:
                        done[load.load].append(self._repetition(server, load, size))
        return [
            SnapshotPoint(
                size_bytes=size,
                data_bytes=data_bytes,
                keys=keys,
                load=load,
                metrics=medians_of(repetitions),
                repetitions=repetitions,
            )
            for load, repetitions in done.items()
        ]

    def _repetition(self, server: SnapshotServer, load: SnapshotLoadSettings, size: int) -> SnapshotRepetition:
        self._lab.cancellation.require_going_on()
        repetition = server.repetition(load, self._random)
        self._done += 1
        self._advance(shown_bytes(size))
        return repetition

    def _server_spec(self) -> ServerSpec:
        topology = snapshot_topology(self._request.event)
        return ServerSpec(build=self._built.record.build, topology=topology, config=self._request.server.config)

    def _advance(self, subject: str) -> None:
        points = len(self._sizes) * len(self._request.loads)
        expected = points * self._request.repetitions
        progress = Progress(activity="measuring", subject=subject, cases=points, done=self._done, expected=expected)
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


def medians_of(repetitions: Sequence[SnapshotRepetition]) -> dict[str, MedianEstimate]:
    """Return the median of each metric that all repetitions have, with its interval."""
    common = [name for name in repetitions[0].metrics if all(name in one.metrics for one in repetitions)]
    return {name: median_estimate([one.metrics[name] for one in repetitions]) for name in common}


def fits_of(points: Sequence[SnapshotPoint]) -> dict[str, LineFit]:
    """Return the lines of fork and pause over the resident memory, as far as several sizes show one."""
    wanted: dict[str, tuple[str, Callable[[SnapshotPoint], bool]]] = {
        FORK: (FORK, lambda _: True),
        f"open_{PAUSE}": (PAUSE, lambda point: point.load == "open"),
        f"closed_{PAUSE}": (PAUSE, lambda point: point.load == "closed"),
    }
    fits = {}
    for name, (metric, is_wanted) in wanted.items():
        measured = [
            (repetition.metrics["resident_bytes"], repetition.metrics[metric])
            for point in points
            if is_wanted(point)
            for repetition in point.repetitions
            if metric in repetition.metrics
        ]
        fit = line_fit([size for size, _ in measured], [value for _, value in measured])
        if fit is not None:
            fits[name] = fit
    return fits
