"""The sweep of `zerolap snapshot --kernel`: forks in emulated machines with a kernel that the lab builds, counted."""

import contextvars
import itertools
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, get_args

from zerolap.build import (
    KERNELS,
    Builder,
    BuiltKernel,
    BuiltServer,
    KernelBuilder,
    KernelSource,
    parse_variant,
)
from zerolap.byte_counts import MIB, shown_bytes
from zerolap.engines import (
    EMULATED_MACHINE,
    EMULATED_PROCESSOR,
    TRIAL_PREFIX,
    VALUE_BYTES,
    EmulatedTrial,
    GuestPrograms,
    emulated_fork,
    require_emulator,
    require_visible_in_guest,
)
from zerolap.host import available_bytes, fingerprint
from zerolap.judge import line_fit
from zerolap.lab.lab import Lab
from zerolap.lab.platforms import sandbox_notes
from zerolap.lab.requests import new_id
from zerolap.lab.snapshot_sides import Factor, SweepSide, sides_of
from zerolap.records import (
    BinarySource,
    EmulatedPoint,
    EmulatedSettings,
    EmulatedSide,
    EmulatedSnapshotReport,
    EndpointSource,
    EnvironmentMissing,
    FailedSize,
    ForkKind,
    Interrupted,
    LineFit,
    MeasuredServer,
    Note,
    Progress,
    RequestedServer,
    TrialFailed,
    UsageError,
    now,
)
from zerolap.sandbox import remove_abandoned

FORK_FACTOR: Final = "fork"
USUAL_SIZES: Final = (64 * MIB, 128 * MIB, 256 * MIB, 512 * MIB, 1024 * MIB)
EMULATOR_BYTES: Final = 512 * MIB
"""Of memory beside that of the guest."""
SPARED_SHARE: Final = 0.9
FITTED: Final = ("kernel_fork_ticks", "kernel_fork_entries", "wait_server_longest", "wait_ticks_longest")
"""The counts that documents have lines of over the resident memory."""


@dataclass(frozen=True)
class EmulatedRequest:
    """What is counted; without `sizes_bytes` as many of the usual sizes as fit into memory."""

    server: RequestedServer
    kernel: KernelSource
    sizes_bytes: Sequence[int] | None
    repetitions: int
    seed: int
    command_line: str
    factors: Sequence[Factor] = ()


@dataclass(frozen=True)
class _Side:
    name: str
    fork: ForkKind
    of_server: SweepSide


@dataclass
class _Place:
    """A side at a size, and the counts of its runs so far."""

    side: _Side
    size_bytes: int
    runs: list[dict[str, int]] = field(default_factory=list)
    failure: str | None = None


def emulated_snapshot(request: EmulatedRequest, lab: Lab) -> EmulatedSnapshotReport:
    """Build kernel and servers, count the forks of each side at each size, and return the document, which is recorded.

    What fails at a size is reported, and the others go on. Raises `UsageError` for what cannot be started in an
    emulated machine, `EnvironmentMissing` where a tool or memory is missing, `BuildFailed`, `TrialFailed` if nothing
    could be counted, and `Interrupted` once the user stops it.
    """
    sides = _sides(request.server, request.factors)
    require_visible_in_guest(lab.store.builds_directory)
    emulator = require_emulator()
    sizes, left_out = _fitting(request.sizes_bytes, sides)
    remove_abandoned(TRIAL_PREFIX)
    notes = [*sandbox_notes(), *left_out]
    for note in notes:
        lab.listen(Note(text=note))
    began = time.monotonic()
    try:
        with lab.cancellation.current():
            kernel, built = _built(request, sides, lab)
            guests = GuestPrograms(lab.store.builds_directory / KERNELS)
            guests.fork_client()
            places = [_Place(side, size) for size in sizes for side in sides]
            _Counting(request, kernel, built, guests, lab).count(places)
    except (KeyboardInterrupt, Interrupted):
        lab.cancellation.cancel()
        raise Interrupted("interrupted; the kernel is kept once it is built") from None
    notes += [f"the configuration of the kernel has no effect: {setting}" for setting in kernel.record.without_effect]
    failed = [place for place in places if place.failure is not None]
    if len(failed) == len(places):
        raise TrialFailed(failed[0].failure or "nothing was counted")
    base, *_ = sides
    points = [_point(place) for place in places if place.failure is None]
    report = EmulatedSnapshotReport(
        id=new_id("snapshot"),
        created=now(),
        command_line=request.command_line,
        server=MeasuredServer.of(built[base.name].record, base.of_server.server.source, base.of_server.server.config),
        kernel=kernel.record,
        platform=fingerprint(),
        settings=_settings(request, sizes, emulator),
        machine_seconds=time.monotonic() - began,
        sides=[_described(side, points) for side in sides],
        points=points,
        failed=[
            FailedSize(size_bytes=place.size_bytes, reason=": ".join(filter(None, [place.side.name, place.failure])))
            for place in failed
        ],
        notes=notes,
    )
    lab.store.sweeps.record(report)
    return report


def _settings(request: EmulatedRequest, sizes: list[int], emulator: str) -> EmulatedSettings:
    return EmulatedSettings(
        sizes_bytes=sizes,
        value_bytes=VALUE_BYTES,
        repetitions=request.repetitions,
        seed=request.seed,
        emulator=f"QEMU {emulator}",
        machine=EMULATED_MACHINE,
        processor=EMULATED_PROCESSOR,
    )


def _built(request: EmulatedRequest, sides: Sequence[_Side], lab: Lab) -> tuple[BuiltKernel, dict[str, BuiltServer]]:
    """Return the kernel and the server of each side, built if they are not yet there."""

    def on_build(name: str) -> None:
        lab.listen(Progress(activity="building", subject=name))

    here = lab.store.builds_directory
    kernel = KernelBuilder(here / KERNELS, on_build, lab.sandbox).build(request.kernel)
    builder = Builder(here, on_build, lab.sandbox)
    built = {}
    for side in sides:
        server = side.of_server.server
        built[side.name] = builder.build(server.source, parse_variant(server.variant))
        if built[side.name].record.architecture != "x86_64":
            raise UsageError(f"`{server.source.name}` is no program for x86-64, which the emulated machine is")
    return kernel, built


def _sides(server: RequestedServer, factors: Sequence[Factor]) -> list[_Side]:
    """Return what is counted beside each other; raises `UsageError` for what cannot be."""
    source = server.source
    if isinstance(source, EndpointSource) or (isinstance(source, BinarySource) and source.arguments):
        raise UsageError(
            f"`{source.name}` cannot be started in an emulated machine",
            hint="give a binary, a source tree or a revision",
        )
    forks = [factor for factor in factors if factor.key == FORK_FACTOR]
    if len(forks) > 1:
        raise UsageError("`fork` is varied twice", hint="write --vary fork=copy,async")
    of_servers = sides_of(server, None, [factor for factor in factors if factor.key != FORK_FACTOR])
    if not forks:
        return [_Side(side.name, "copy", side) for side in of_servers]
    kinds = dict.fromkeys(_fork(value) for value in forks[0].values)
    return [
        _Side(", ".join(filter(None, [f"{FORK_FACTOR}={kind}", side.name])), kind, side)
        for side, kind in itertools.product(of_servers, kinds)
    ]


def _fork(value: str) -> ForkKind:
    for known in get_args(ForkKind):
        if value == known:
            kind: ForkKind = known
            return kind
    raise UsageError(f"`--vary {FORK_FACTOR}={value}` is not valid", hint="write --vary fork=copy,async")


def _fitting(asked: Sequence[int] | None, sides: Sequence[_Side]) -> tuple[list[int], list[str]]:
    """Return the sizes in rising order, and notes on those that are left out for want of memory.

    Raises `EnvironmentMissing` if one that was asked for does not fit, or none does.
    """
    room = int(available_bytes() * SPARED_SHARE)
    sizes = sorted(set(asked or USUAL_SIZES))
    needed = {size: _needed_bytes(size) for size in sizes}
    lacking = [
        f"{shown_bytes(size)} of data needs {shown_bytes(bytes_)} for its machine, and {shown_bytes(room)} can be used"
        for size, bytes_ in needed.items()
        if bytes_ > room
    ]
    if lacking and (asked is not None or len(lacking) == len(sizes)):
        raise EnvironmentMissing(lacking[0], hint="give smaller sizes with --sizes")
    return [size for size in sizes if needed[size] <= room], [f"left out: {reason}" for reason in lacking]


def _needed_bytes(size_bytes: int) -> int:
    return EmulatedTrial.memory_for(size_bytes) + EMULATOR_BYTES


class _Counting:
    """The runs of a sweep, several at once where there are processors and memory: counts do not depend on load."""

    def __init__(
        self,
        request: EmulatedRequest,
        kernel: BuiltKernel,
        built: dict[str, BuiltServer],
        guests: GuestPrograms,
        lab: Lab,
    ) -> None:
        self._request = request
        self._kernel = kernel
        self._built = built
        self._guests = guests
        self._lab = lab
        self._done = 0

    def count(self, places: Sequence[_Place]) -> None:
        """Carry out all runs, the largest sizes first, and add the counts to their places."""
        room = int(available_bytes() * SPARED_SHARE)
        largest = max(_needed_bytes(place.size_bytes) for place in places)
        workers = max(1, min(len(os.sched_getaffinity(0)), room // largest))
        expected = len(places) * self._request.repetitions
        largest_first = sorted(places, key=lambda place: -place.size_bytes)
        with ThreadPoolExecutor(workers) as pool:
            runs = [
                pool.submit(contextvars.copy_context().run, self._run, place)
                for _ in range(self._request.repetitions)
                for place in largest_first
            ]
            try:
                for number, run in enumerate(runs, start=1):
                    run.result()
                    self._advance(number, expected, places)
            except BaseException:
                self._lab.cancellation.cancel()
                pool.shutdown(cancel_futures=True)
                raise

    def _run(self, place: _Place) -> None:
        if place.failure is not None:
            return
        side = place.side.of_server
        trial = EmulatedTrial(
            program=self._built[place.side.name].program,
            config=side.server.config,
            fork=place.side.fork,
            huge_pages=side.huge_pages,
            size_bytes=place.size_bytes,
            seed=self._request.seed,
        )
        try:
            with self._lab.place.trial_directory(has_limit=False) as directory:
                place.runs.append(emulated_fork(trial, self._kernel.image, self._guests, directory))
        except TrialFailed as failure:
            self._lab.cancellation.require_going_on()
            place.failure = failure.message
            shown = " ".join(filter(None, [shown_bytes(place.size_bytes), place.side.name]))
            self._lab.listen(Note(text="\n".join(filter(None, [f"{shown}: {failure.message}", failure.details]))))

    def _advance(self, done: int, expected: int, places: Sequence[_Place]) -> None:
        self._lab.listen(Progress(activity="measuring", cases=len(places), done=done, expected=expected))


def _point(place: _Place) -> EmulatedPoint:
    first, *others = place.runs
    return EmulatedPoint(
        side=place.side.name,
        size_bytes=place.size_bytes,
        keys=EmulatedTrial.keys_for(place.size_bytes),
        runs=place.runs,
        is_repeated=all(run == first for run in others) if others else None,
    )


def _described(side: _Side, points: Sequence[EmulatedPoint]) -> EmulatedSide:
    own = [point for point in points if point.side == side.name]
    return EmulatedSide(
        name=side.name,
        fork=side.fork,
        huge_pages=side.of_server.huge_pages,
        config=side.of_server.server.config,
        fits=counted_fits(own),
    )


def counted_fits(points: Sequence[EmulatedPoint]) -> dict[str, LineFit]:
    """Return the lines of the counts of a side over the resident memory; a count without different sizes has none."""
    fits = {}
    for name in FITTED:
        measured = [(run["resident_bytes"], run[name]) for point in points for run in point.runs if name in run]
        fit = line_fit([size for size, _ in measured], [value for _, value in measured])
        if fit is not None:
            fits[name] = fit
    return fits
