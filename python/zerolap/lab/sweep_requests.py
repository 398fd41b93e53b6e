"""Requests for sweeps of snapshots, as `zerolap snapshot` makes them."""

from collections.abc import Sequence
from typing import Final

from zerolap.engines import (
    EMULATED,
    SNAPSHOT,
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
from zerolap.lab.requests import new_id, random_seed, refuse_conflicts
from zerolap.lab.snapshot_sides import SweepSide
from zerolap.records import (
    BinarySource,
    EmulatedSweep,
    EndpointSource,
    Request,
    RequestedServer,
    Settings,
    SnapshotEvent,
    SnapshotSweep,
    Sweep,
    UsageError,
    now,
)

EMULATED_SEED: Final = 1
"""Each command counts the same requests, unless another seed is given."""


def snapshot_request(
    sides: Sequence[SweepSide],
    sweep: SnapshotSweep,
    command_line: str,
    *,
    min_effect: float = SNAPSHOT_MIN_EFFECT,
    seed: int | None = None,
    is_here: bool = True,
) -> Request:
    """Return the request for a sweep, which this machine carries out unless `is_here` is false.

    Without sizes it has as many of the usual ones as fit; verdicts are on changes of at least `min_effect`. Without a
    `seed` one is drawn. Raises `UsageError` for a server that cannot be started, `EnvironmentMissing` where memory,
    disk space or what traces is missing here. On another machine, sizes that do not fit fail.
    """
    for side in sides:
        _require_startable(side.server, "a sweep starts, fills and stops its own")
        if side.fork is not None:
            raise UsageError("`--vary fork` needs a kernel", hint="give --kernel /usr/src/linux-source-6.1.tar.xz")
        if is_here and side.huge_pages is not None:
            require_huge_pages_possible(side.huge_pages, huge_pages())
    if sweep.is_traced:
        if sweep.event == "none":
            raise UsageError("`--trace` with `--event none`: nothing forks", hint="write --event bgsave")
        if is_here:
            require_snapshot_tracing()
    asked = sweep.sizes_bytes or None
    room = Room.here(sweep.event) if is_here else None
    sizes, left_out = fitting_sizes(asked, sweep.event, room)
    settings = Settings(
        engines=[SNAPSHOT],
        min_effect={SNAPSHOT: min_effect},
        q=Q,
        budget_seconds=None,
        seed=random_seed() if seed is None else seed,
    )
    made = _request(sides, sweep.model_copy(update={"sizes_bytes": tuple(sizes)}), settings, command_line, left_out)
    return made.model_copy(update={"is_seed_drawn": seed is None})


def emulated_request(
    sides: Sequence[SweepSide], sweep: EmulatedSweep, command_line: str, *, seed: int = EMULATED_SEED
) -> Request:
    """Return the request for a sweep in emulated machines; without sizes it has as many of the usual ones as fit.

    Each request counts the same, unless another `seed` is given. Raises `UsageError` for what cannot be started in one,
    `EnvironmentMissing` where a tool or memory is missing.
    """
    for side in sides:
        source = side.server.source
        if isinstance(source, BinarySource) and source.arguments:
            raise UsageError(
                f"`{source.name}` cannot be started in an emulated machine: it has arguments",
                hint="give a binary, a source tree or a revision",
            )
        _require_startable(side.server, "it cannot be started in an emulated machine")
    require_emulator()
    sizes, left_out = fitting_machines(sweep.sizes_bytes or None)
    forks = {side.name: side.fork for side in sides if side.fork is not None}
    settings = Settings(engines=[EMULATED], min_effect={}, q=Q, budget_seconds=None, seed=seed)
    sweep = sweep.model_copy(update={"sizes_bytes": tuple(sizes), "forks": forks})
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
    huge_pages = {side.name: side.huge_pages for side in sides if side.huge_pages is not None}
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
        sweep=sweep.model_copy(update={"huge_pages": huge_pages}),
    )
