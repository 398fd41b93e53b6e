"""Requests for sweeps of snapshots, as `zerolap snapshot` makes them."""

from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.engines import (
    EMULATED,
    SNAPSHOT,
    USUAL_SIZES,
    Room,
    fitting_machines,
    fitting_sizes,
    require_emulator,
    require_huge_pages_possible,
    require_snapshot_tracing,
    snapshot_case,
)
from zerolap.host import huge_pages
from zerolap.judge import SNAPSHOT_MIN_EFFECT, Q
from zerolap.lab.requests import drawn_seed, new_id, refuse_conflicts
from zerolap.lab.snapshot_sides import Factor, SweepSide, sides_of
from zerolap.records import (
    BinarySource,
    EmulatedSweep,
    EndpointSource,
    KernelFiles,
    Request,
    RequestedServer,
    Settings,
    SnapshotEvent,
    SnapshotLoad,
    SnapshotSweep,
    Sweep,
    UsageError,
    now,
)


@dataclass(frozen=True)
class SnapshotOptions:
    """What a sweep is to measure; without `sizes_bytes` as many of the usual sizes as fit.

    `base` is a second server, or `factors` are varied; verdicts are on changes of at least `min_effect`. Without a
    `seed` one is drawn. With `is_traced` an event of each side is traced at the greatest size, apart from those that
    are measured.
    """

    event: SnapshotEvent = "bgsave"
    sizes_bytes: Sequence[int] | None = None
    loads: Sequence[SnapshotLoad] = ("open", "closed")
    rate_per_second: int = 5000
    connections: int = 50
    repetitions: int = 5
    seed: int | None = None
    base: RequestedServer | None = None
    factors: Sequence[Factor] = ()
    min_effect: float = SNAPSHOT_MIN_EFFECT
    is_traced: bool = False


@dataclass(frozen=True)
class EmulatedOptions:
    """What is counted in emulated machines; without `sizes_bytes` as many of the usual sizes as fit into memory."""

    kernel: KernelFiles
    sizes_bytes: Sequence[int] | None
    repetitions: int
    seed: int
    factors: Sequence[Factor] = ()


def snapshot_request(
    server: RequestedServer, options: SnapshotOptions, command_line: str, *, is_here: bool = True
) -> Request:
    """Return the request for a sweep, which this machine carries out unless `is_here` is false.

    Raises `UsageError` for a server that cannot be started, `EnvironmentMissing` where memory, disk space or what
    traces is missing here. On another machine, sizes that do not fit fail.
    """
    sides = sides_of(server, options.base, options.factors)
    for side in sides:
        _require_startable(side.server, "a sweep starts, fills and stops its own")
        if side.fork is not None:
            raise UsageError("`--vary fork` needs a kernel", hint="give --kernel /usr/src/linux-source-6.1.tar.xz")
        if is_here and side.huge_pages is not None:
            require_huge_pages_possible(side.huge_pages, huge_pages())
    if options.is_traced:
        if options.event == "none":
            raise UsageError("`--trace` with `--event none`: nothing forks", hint="write --event bgsave")
        if is_here:
            require_snapshot_tracing()
    if is_here:
        sizes, left_out = fitting_sizes(options.sizes_bytes, options.event, Room.here(options.event))
    else:
        sizes, left_out = sorted(set(options.sizes_bytes or USUAL_SIZES)), []
    sweep = SnapshotSweep(
        event=options.event,
        sizes_bytes=tuple(sizes),
        loads=tuple(options.loads),
        rate_per_second=options.rate_per_second,
        connections=options.connections,
        repetitions=options.repetitions,
        huge_pages={side.name: side.huge_pages for side in sides if side.huge_pages is not None},
        is_traced=options.is_traced,
    )
    settings = Settings(
        engines=[SNAPSHOT],
        min_effect={SNAPSHOT: options.min_effect},
        q=Q,
        budget_seconds=None,
        seed=drawn_seed() if options.seed is None else options.seed,
    )
    made = _request(sides, sweep, settings, command_line, left_out)
    return made.model_copy(update={"is_seed_drawn": options.seed is None})


def emulated_request(server: RequestedServer, options: EmulatedOptions, command_line: str) -> Request:
    """Return the request for a sweep in emulated machines.

    Raises `UsageError` for what cannot be started in one, `EnvironmentMissing` where a tool or memory is missing.
    """
    if isinstance(server.source, BinarySource) and server.source.arguments:
        raise UsageError(
            f"`{server.source.name}` cannot be started in an emulated machine: it has arguments",
            hint="give a binary, a source tree or a revision",
        )
    _require_startable(server, "it cannot be started in an emulated machine")
    sides = sides_of(server, None, options.factors)
    require_emulator()
    sizes, left_out = fitting_machines(options.sizes_bytes)
    sweep = EmulatedSweep(
        kernel=options.kernel,
        sizes_bytes=tuple(sizes),
        repetitions=options.repetitions,
        huge_pages={side.name: side.huge_pages for side in sides if side.huge_pages is not None},
        forks={side.name: side.fork for side in sides if side.fork is not None},
    )
    settings = Settings(engines=[EMULATED], min_effect={}, q=Q, budget_seconds=None, seed=options.seed)
    return _request(sides, sweep, settings, command_line, left_out)


def _require_startable(server: RequestedServer, why_not: str) -> None:
    """Raise `UsageError` for a running server."""
    if isinstance(server.source, EndpointSource):
        raise UsageError(
            f"`{server.source.name}` is a running server: {why_not}",
            hint="give a binary, a source tree or a revision",
        )


def _request(
    sides: Sequence[SweepSide], sweep: Sweep, settings: Settings, command_line: str, notes: Sequence[str]
) -> Request:
    event: SnapshotEvent = sweep.event if isinstance(sweep, SnapshotSweep) else "bgsave"
    connections = sweep.connections if isinstance(sweep, SnapshotSweep) else 1
    cases = tuple(snapshot_case(size, connections, event) for size in sweep.sizes_bytes)
    servers = {side.name: side.server for side in sides}
    refuse_conflicts([*servers.values()], cases)
    return Request(
        id=new_id("snapshot"),
        kind="snapshot",
        created=now(),
        command_line=command_line,
        servers=servers,
        cases=cases,
        settings=settings,
        notes=tuple(notes),
        sweep=sweep,
    )
