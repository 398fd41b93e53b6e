"""Made-up sweeps of snapshots: what saving costs the clients, what huge pages change, and Async-fork beside fork."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from zerolap.byte_counts import GIB, MIB
from zerolap.demonstration.made_up_server import NOT_MEASURED, REPOSITORY, Machine, MadeUpServer, instant
from zerolap.lab import counted_fits, fits_of, points_of, verdicts_of
from zerolap.records import (
    HEAD,
    EmulatedPoint,
    EmulatedSettings,
    EmulatedSide,
    EmulatedSnapshotReport,
    ForkKind,
    HugePages,
    Kernel,
    KernelPatch,
    Request,
    RequestedServer,
    SeriesSlot,
    Settings,
    SnapshotLoad,
    SnapshotRepetition,
    SnapshotReport,
    SnapshotSettings,
    SnapshotSide,
    SnapshotStart,
    Source,
    SweepRepetition,
    SweepReport,
)
from zerolap.store import Store

LOADS: Final[tuple[SnapshotLoad, ...]] = ("open", "closed")
REPETITIONS: Final = 5
FORK_US_PER_GIB: Final[Mapping[Machine, float]] = {"made-up-x86": 29_500.0, "made-up-arm": 34_800.0}
HUGE_PAGES_SHARE: Final = 0.035
"""Of the fork, which is left with huge pages."""
FIRST_SHARE: Final = 0.72
"""Of the later forks, which the first one after filling takes."""
SLOTS_BEFORE, SLOTS = 10, 100
SLOT_SECONDS: Final = 0.01
QUIET_US: Final = 140.0
MIN_EFFECT, Q = 0.1, 0.01
RUNS: Final = 3
FORKS: Final[tuple[ForkKind, ...]] = ("copy", "async")
ENTRIES_PER_TABLE: Final = 512
TICKS_OF_FORK, TICKS_OF_ENTRY = 350_000, 98
REQUESTS, TICKS_OF_REQUEST, TICKS_OF_SLICE = 20_000, 20_000, 9_600_000


def record_sweep(report: SweepReport, source: Source, ended: datetime, store: Store) -> None:
    """Record a sweep of a server with the request for it, which ended then."""
    settings = Settings(engines=["snapshot"], min_effect={}, q=Q, budget_seconds=None, seed=report.settings.seed)
    request = Request(
        id=report.id,
        kind="snapshot",
        created=report.created,
        command_line=report.command_line,
        servers={HEAD: RequestedServer(source=source)},
        cases=(),
        settings=settings,
    )
    store.submit([request])
    store.sweeps.record(report)
    store.end(report.id, "done")
    store.dated.request(report.id, ended.timestamp(), ended.timestamp())


@dataclass(frozen=True)
class MadeUpSweep:
    """A sweep of the server at a commit on a machine; with `varied`, its memory in huge pages and outside of them."""

    server: MadeUpServer
    position: int
    machine: Machine
    ended: datetime
    sizes: Sequence[int]
    varied: Sequence[HugePages] = ()

    @property
    def report(self) -> SnapshotReport:
        """The document, as the lab makes one of what it measures."""
        names = [self._name(value) for value in self.varied] or [""]
        points = points_of(self._kept, self.sizes, names, LOADS)
        measured = self.server.measured(self.position, self.machine)
        fits = {name: fits_of([point for point in points if point.side == name]) for name in names}
        sides = [
            SnapshotSide(name=self._name(value), server=measured, huge_pages=value, fits=fits[self._name(value)])
            for value in self.varied
        ]
        return SnapshotReport(
            schema="zerolap.snapshot/1",
            id=self.server.identity("w", self.position, self.machine, self.varied),
            created=instant(self.ended),
            command_line=self._command_line,
            server=measured,
            platform=self.server.platform(self.machine, self.ended),
            settings=SnapshotSettings(
                event="bgsave",
                sizes_bytes=list(self.sizes),
                loads=list(LOADS),
                rate_per_second=5000,
                connections=50,
                value_bytes=1000,
                repetitions=REPETITIONS,
                slot_seconds=SLOT_SECONDS,
                seed=self.server.seed,
                min_effect=MIN_EFFECT if self.varied else None,
                q=Q if self.varied else None,
            ),
            machine_seconds=10.0 * len(self._kept),
            points=points,
            fits={} if self.varied else fits[""],
            sides=sides,
            starts=list(dict.fromkeys(kept.start for kept in self._kept if kept.start is not None)),
            verdicts=verdicts_of(points, names, MIN_EFFECT) if self.varied else [],
            notes=[NOT_MEASURED],
        )

    @property
    def _command_line(self) -> str:
        sizes = ",".join(f"{size // GIB}GiB" for size in self.sizes)
        words = f"zerolap snapshot {self.server.commits[self.position].name} --repo {REPOSITORY}"
        varied = f" --vary transparent-huge-pages={','.join(self.varied)}" if self.varied else ""
        return f"{words} --sizes {sizes}{varied}"

    @cached_property
    def _kept(self) -> list[SweepRepetition]:
        values: Sequence[HugePages | None] = self.varied or [None]
        kept: list[SweepRepetition] = []
        for size in self.sizes:
            for number in range(REPETITIONS):
                for value in values:
                    kept += [self._repetition(size, load, number, value, len(kept)) for load in LOADS]
        return kept

    def _name(self, value: HugePages | None) -> str:
        return "" if value is None else f"transparent-huge-pages={value}"

    def _repetition(
        self, size: int, load: SnapshotLoad, number: int, huge_pages: HugePages | None, place: int
    ) -> SweepRepetition:
        draw = self.server.draw("sweep", self.position, self.machine, size, load, number, huge_pages)
        share = HUGE_PAGES_SHARE if huge_pages == "always" else 1.0
        level = FORK_US_PER_GIB[self.machine] * 1.08 * size / GIB * share
        fork_us = level * draw.lognormvariate(0, 0.02)
        pause_us = fork_us * (1 + 0.03 * draw.random()) + 300
        seconds = 3.4 * size / GIB
        tail_us = 0.93 * pause_us if load == "open" else 2_400 + 0.02 * pause_us
        began = self.ended - timedelta(minutes=15) + timedelta(seconds=10 * place)
        metrics = {
            "fork_us": fork_us,
            "cow_bytes": 0.05 * size * draw.lognormvariate(0, 0.05),
            "longest_pause_us": pause_us,
            "event_seconds": round(seconds * draw.lognormvariate(0, 0.02), 1),
            "throughput_lost": 0.002 if load == "open" else 0.21,
            "seconds_until_normal": math.ceil(pause_us / 10_000) * SLOT_SECONDS,
            "resident_bytes": 1.08 * size,
            **_latencies("during", 90.0, 0.35 * tail_us, tail_us, pause_us),
            **_latencies("outside", 70.0, QUIET_US, 2_000.0, 4_300.0),
        }
        filled = instant(self.ended - timedelta(minutes=16))
        start = SnapshotStart(size_bytes=size, began=filled, first_fork_us=round(FIRST_SHARE * level))
        return SweepRepetition(
            side=self._name(huge_pages),
            size_bytes=size,
            load=load,
            number=number,
            keys=size // 1100,
            data_bytes=round(1.06 * size),
            repetition=SnapshotRepetition(began=instant(began), metrics=metrics, series=_series(pause_us)),
            # Of huge pages, as the lab measures them, no server settles.
            start=None if huge_pages else start,
        )


@dataclass(frozen=True)
class MadeUpEmulatedSweep:
    """Fork and Async-fork of the server at a commit, counted in emulated machines; all runs count the same."""

    server: MadeUpServer
    position: int
    machine: Machine
    ended: datetime
    sizes: Sequence[int]

    @property
    def report(self) -> EmulatedSnapshotReport:
        """The document, as the lab makes one of what it counts."""
        points = [self._point(size, fork) for size in self.sizes for fork in FORKS]
        return EmulatedSnapshotReport(
            id=self.server.identity("w", "emulated", self.position, self.machine),
            created=instant(self.ended),
            command_line=self._command_line,
            server=self.server.measured(self.position, self.machine),
            kernel=Kernel(
                digest=self.server.digits("kernel"),
                name="linux-source-6.1.tar.xz",
                version="6.1.100",
                patches=[KernelPatch(name="async-fork.patch", digest=self.server.digits("patch"))],
                compiler="gcc 12.2.0",
            ),
            platform=self.server.platform(self.machine, self.ended),
            settings=EmulatedSettings(
                sizes_bytes=list(self.sizes),
                value_bytes=1000,
                repetitions=RUNS,
                seed=1,
                emulator="QEMU 7.2.0",
                machine="pc-i440fx-6.2",
                processor="qemu64",
            ),
            machine_seconds=900.0,
            sides=[
                EmulatedSide(
                    name=f"fork={fork}",
                    fork=fork,
                    fits=counted_fits([point for point in points if point.side == f"fork={fork}"]),
                )
                for fork in FORKS
            ],
            points=points,
            notes=[NOT_MEASURED],
        )

    @property
    def _command_line(self) -> str:
        sizes = ",".join(f"{size // MIB}MiB" for size in self.sizes)
        words = f"zerolap snapshot {self.server.commits[self.position].name} --repo {REPOSITORY} --sizes {sizes}"
        kernel = "--kernel linux-source-6.1.tar.xz --kernel-patch async-fork.patch"
        return f"{words} {kernel} --vary fork={','.join(FORKS)} --repetitions {RUNS}"

    def _point(self, size: int, fork: ForkKind) -> EmulatedPoint:
        counts = self._counts(size, fork)
        keys = size // 1100
        return EmulatedPoint(side=f"fork={fork}", size_bytes=size, keys=keys, runs=[counts] * RUNS, is_repeated=True)

    def _counts(self, size: int, fork: ForkKind) -> dict[str, int]:
        resident = round(1.08 * size)
        entries = resident // 4096
        deferred = entries * 9 // 10 if fork == "async" else 0
        by_hooks = min(deferred // 4, 60_000)
        copied = entries - deferred if fork == "copy" else 1_100
        fork_ticks = TICKS_OF_FORK + TICKS_OF_ENTRY * copied
        wait = fork_ticks + (600_000 if fork == "async" else 200_000)
        return {
            "resident_bytes": resident,
            "kernel_fork_ticks": fork_ticks,
            "kernel_fork_entries": copied,
            "kernel_fork_tables": (entries - deferred) // ENTRIES_PER_TABLE,
            "kernel_tables_deferred": deferred // ENTRIES_PER_TABLE,
            "kernel_child_entries": deferred - by_hooks,
            "kernel_hook_entries": by_hooks,
            "requests": REQUESTS,
            "wait_server_longest": wait,
            "wait_server_p99": TICKS_OF_REQUEST,
            "wait_ticks_longest": max(wait, TICKS_OF_SLICE),
            "copied_on_write_bytes": size // 8,
        }


def _latencies(part: str, p50: float, p99: float, p99_9: float, most: float) -> dict[str, float]:
    values = {"p50_us": p50, "p99_us": p99, "p99_9_us": p99_9, "p99_99_us": 0.98 * most, "max_us": most}
    return {f"{part}_{name}": value for name, value in values.items()} | {f"{part}_ops_per_sec": 4990.0}


def _series(pause_us: float) -> list[SeriesSlot]:
    """Return no replies during the pause, then all that waited meanwhile, and then those of a child that works."""
    waited = math.ceil(pause_us / 10_000)
    slots = []
    for number in range(SLOTS):
        at_seconds = round((number - SLOTS_BEFORE) * SLOT_SECONDS, 3)
        after = number - SLOTS_BEFORE
        if 0 <= after < waited:
            slots.append(SeriesSlot(at_seconds=at_seconds, replies=0, p50_us=None, p99_us=None, max_us=None))
            continue
        longest = pause_us if after == waited else QUIET_US * (3 + number % 4 if after > waited else 1 + number % 2)
        replies = 50 * (waited + 1) if after == waited else 50
        slots.append(
            SeriesSlot(at_seconds=at_seconds, replies=replies, p50_us=longest / 2, p99_us=longest, max_us=longest)
        )
    return slots
