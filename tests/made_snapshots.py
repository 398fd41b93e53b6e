"""Made-up sweeps of snapshots, for tests of their reports."""

from datetime import datetime

from zerolap.judge import line_fit
from zerolap.lab import points_of, verdicts_of
from zerolap.records import (
    HEAD,
    BinarySource,
    EmulatedPoint,
    EmulatedSettings,
    EmulatedSide,
    EmulatedSnapshotReport,
    FailedSize,
    Kernel,
    KernelPatch,
    LineFit,
    MeasuredServer,
    MedianEstimate,
    Platform,
    Request,
    RequestedServer,
    SeriesSlot,
    Settings,
    SnapshotPoint,
    SnapshotRepetition,
    SnapshotReport,
    SnapshotSettings,
    SnapshotSide,
    SweepRepetition,
    SweepReport,
)
from zerolap.store import Store

MIB, GIB = 1 << 20, 1 << 30
SERIES = [
    SeriesSlot(at_seconds=-0.01, replies=50, p50_us=90, p99_us=110, max_us=120),
    SeriesSlot(at_seconds=0.0, replies=0, p50_us=None, p99_us=None, max_us=None),
    SeriesSlot(at_seconds=0.01, replies=150, p50_us=9_000, p99_us=24_000, max_us=25_000),
]


def report(event: str = "bgsave") -> SnapshotReport:
    """Return a document of two sizes and both loads, with a hostile name."""

    def point(size: int, load: str, pause_us: float, warnings: list[str]) -> SnapshotPoint:
        metrics = {"fork_us": pause_us, "longest_pause_us": pause_us * 1.05, "resident_bytes": size * 1.08}
        metrics |= {f"{part}_{name}_us": 100.0 for part in ("during", "outside") for name in ("p50", "p99", "max")}
        metrics |= {"during_p99_9_us": pause_us if load == "open" else 500.0, "throughput_lost": 0.125}
        repetition = SnapshotRepetition(began="2026-11-25T20:00:00Z", metrics=metrics, warnings=warnings, series=SERIES)
        estimates = {
            name: MedianEstimate(median=value, low=0.9 * value, high=1.1 * value) for name, value in metrics.items()
        }
        return SnapshotPoint.model_validate(
            {
                "size_bytes": size,
                "data_bytes": size,
                "keys": 1000,
                "load": load,
                "metrics": estimates,
                "repetitions": [repetition],
            }
        )

    points = [
        point(size, load, pause, ["thread 0 was busy"] if load == "closed" else [])
        for size, pause in ((GIB, 25_000.0), (4 * GIB, 100_000.0))
        for load in ("open", "closed")
    ]
    fit = line_fit([GIB, 4 * GIB], [25_000, 100_000])
    assert fit is not None
    return SnapshotReport(
        schema="zerolap.snapshot/1",
        created="2026-11-25T20:00:00Z",
        command_line="zerolap snapshot x",
        server=MeasuredServer(
            name="evil\x1b[31m|@name", commit=None, version="7.0.15", build="b-1", build_id="", flags=""
        ),
        platform=Platform(name="host", fingerprint="f", cpu="cpu", cores=2, kernel="6.1"),
        settings=SnapshotSettings.model_validate(
            {
                "event": event,
                "sizes_bytes": [GIB, 4 * GIB],
                "loads": ["open", "closed"],
                "rate_per_second": 5000,
                "connections": 50,
                "value_bytes": 1000,
                "repetitions": 1,
                "slot_seconds": 0.01,
                "seed": 1,
            }
        ),
        machine_seconds=100,
        points=points,
        fits={"fork_us": fit},
        failed=[FailedSize(size_bytes=8 * GIB, reason="the server died")],
    )


def report_of_sides(names: tuple[str, ...] = ("base", "head"), factor: float = 0.5) -> SnapshotReport:
    """Return a document of several sides at two sizes, with verdicts; each side forks by a factor of the last one."""
    single = report()
    kept = [
        SweepRepetition(
            side=name,
            size_bytes=size,
            load="open",
            number=number,
            keys=1000,
            data_bytes=size,
            repetition=_repetition(size, factor**place, number),
        )
        for size in (GIB, 4 * GIB)
        for place, name in enumerate(names)
        for number in range(5)
    ]
    points = points_of(kept, (GIB, 4 * GIB), names, ("open",))
    settings = single.settings.model_copy(update={"loads": ["open"], "repetitions": 5, "min_effect": 0.1, "q": 0.01})
    changes = {
        "points": points,
        "settings": settings,
        "fits": {},
        "failed": [],
        "sides": [SnapshotSide(name=name, server=single.server) for name in names],
        "verdicts": verdicts_of(points, names, 0.1),
    }
    return single.model_copy(update=changes)


def _repetition(size: int, factor: float, number: int) -> SnapshotRepetition:
    """Return a repetition that differs a little from the others; p99.9 is the same on all sides."""
    pause = size / GIB * 25_000 * factor * (1 + 0.01 * (number % 3))
    metrics = {"fork_us": pause, "during_p99_9_us": 900.0 + number % 2}
    metrics |= dict.fromkeys(("longest_pause_us", "during_max_us"), pause * 1.05)
    metrics |= {"event_seconds": 1.0, "cow_bytes": 0.0, "resident_bytes": size * 1.08}
    return SnapshotRepetition(began="2026-11-25T20:00:00Z", metrics=metrics, series=SERIES)


def _counts(fork: int, server: int) -> dict[str, int]:
    """Return what a run counted."""
    return {
        "kernel_fork_ticks": fork,
        "kernel_fork_tables": 10,
        "kernel_tables_deferred": 30,
        "kernel_fork_entries": 512,
        "wait_server_longest": server,
        "wait_ticks_longest": 2 * server,
        "requests": 100,
    }


def emulated_report(*, is_repeated: bool | None = None, patch: str = "async-fork.patch") -> EmulatedSnapshotReport:
    """Return a document of fork and Async-fork at two sizes in an emulated machine."""
    fit = LineFit(slope_per_gib=25e6, intercept=0, r2=0.999, repetitions=2)
    return EmulatedSnapshotReport(
        created="2026-11-26T00:00:00Z",
        command_line="zerolap snapshot redis-server --kernel linux.tar.xz",
        server=MeasuredServer(name="redis-server", commit=None, build="b-1", build_id="", flags="", version="7.0.15"),
        kernel=Kernel(
            digest="1",
            name="linux.tar.xz",
            version="6.1.192",
            patches=[KernelPatch(name=patch, digest="2")],
            compiler="gcc",
        ),
        platform=Platform(name="host", fingerprint="f", cpu="cpu", cores=2, kernel="6.1"),
        settings=EmulatedSettings(
            sizes_bytes=[64 * MIB, 1024 * MIB],
            value_bytes=1000,
            repetitions=1 if is_repeated is None else 3,
            seed=1,
            emulator="QEMU 7.2",
            machine="pc",
            processor="qemu64",
        ),
        machine_seconds=100,
        sides=[
            EmulatedSide(name="fork=copy", fits={"kernel_fork_ticks": fit}),
            EmulatedSide(name="fork=async", fork="async"),
        ],
        points=[
            EmulatedPoint(side=side, size_bytes=size * MIB, keys=size, runs=[run], is_repeated=is_repeated)
            for side, size, run in (
                ("fork=copy", 64, _counts(2_000_000, 3_000_000)),
                ("fork=async", 64, _counts(100_000, 500_000)),
                ("fork=copy", 1024, _counts(25_000_000, 30_000_000)),
                ("fork=async", 1024, _counts(500_000, 3_000_000)),
            )
        ],
    )


def record_sweep(document: SweepReport, ended: datetime, store: Store) -> None:
    """Record a sweep with the request for it, which ended then."""
    request = Request(
        id=document.id,
        kind="snapshot",
        created=document.created,
        command_line=document.command_line,
        servers={HEAD: RequestedServer(source=BinarySource(name="redis-server", path="/usr/bin/redis-server"))},
        cases=(),
        settings=Settings(
            engines=["snapshot"], min_effect={}, q=0.01, budget_seconds=None, seed=document.settings.seed
        ),
    )
    store.submit([request])
    store.sweeps.record(document)
    store.end(document.id, "done")
    store.dated.request(document.id, ended.timestamp(), ended.timestamp())
