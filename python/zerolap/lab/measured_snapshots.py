"""The document of a sweep of `zerolap snapshot`, from what its starts have measured."""

from collections.abc import Sequence
from typing import TypeVar

from zerolap.byte_counts import shown_bytes
from zerolap.documents import Results
from zerolap.engines import SNAPSHOT, SNAPSHOT_TRACE, VALUE_BYTES
from zerolap.explain import fork_findings
from zerolap.judge import Q
from zerolap.lab.snapshot_points import fits_of, points_of, starts_of, verdicts_of
from zerolap.lab.sweep_planner import failure_of
from zerolap.load import SLOT_SECONDS
from zerolap.records import (
    FailedSize,
    MeasuredServer,
    Record,
    Side,
    SnapshotPoint,
    SnapshotReport,
    SnapshotSettings,
    SnapshotSide,
    SnapshotSweep,
    SnapshotTrace,
    SweepRepetition,
    read_stored,
)

T = TypeVar("T", bound=Record)


def snapshot_report(results: Results, sweep: SnapshotSweep) -> SnapshotReport:
    """Return the document of the sizes that did not fail; raises `TrialFailed` if all did."""
    resolved, sides = results.resolved, [*results.resolved.servers]
    cases = zip(sweep.sizes_bytes, resolved.cases, strict=True)
    failures = {size: fault for size, case in cases if (fault := failure_of(results, SNAPSHOT, case)) is not None}
    if failures.keys() == {*sweep.sizes_bytes}:
        raise [*failures.values()][-1]
    repetitions = _read(results, SNAPSHOT, SweepRepetition)
    sizes = [size for size in sweep.sizes_bytes if size not in failures]
    points = points_of(repetitions, sizes, sides, sweep.loads)
    described = [_described(results, sweep, side, points) for side in sides]
    crowded = {one.side: one.oversubscribed for one in repetitions if one.oversubscribed}
    judged = [side for side in sides if side not in crowded]
    min_effect, is_judged = resolved.settings.min_effect[SNAPSHOT], len(sides) > 1
    settings = sweep.model_dump(exclude={"kind", "huge_pages", "is_traced"}) | {
        "value_bytes": VALUE_BYTES,
        "slot_seconds": SLOT_SECONDS,
        "seed": resolved.settings.seed,
        "min_effect": min_effect if is_judged else None,
        "q": Q if is_judged else None,
    }
    return SnapshotReport(
        schema="zerolap.snapshot/1",
        id=resolved.id,
        created=resolved.request.created,
        command_line=resolved.request.command_line,
        server=described[-1].server,
        platform=resolved.platform,
        settings=SnapshotSettings.model_validate(settings),
        machine_seconds=results.machine_seconds,
        points=points,
        fits={} if described[0].name else described[0].fits,
        sides=[side for side in described if side.name],
        starts=starts_of(repetitions, sizes),
        verdicts=verdicts_of(points, judged, min_effect) if sides[0] in judged else [],
        traces=[
            trace.model_copy(update={"findings": fork_findings(trace)})
            for trace in _read(results, SNAPSHOT_TRACE, SnapshotTrace)
        ],
        failed=[FailedSize(size_bytes=size, reason=fault.message) for size, fault in failures.items()],
        notes=[*resolved.notes, *_notes(crowded, repetitions), *_untraced(results, sweep)],
    )


def _described(results: Results, sweep: SnapshotSweep, side: Side, points: Sequence[SnapshotPoint]) -> SnapshotSide:
    server = results.resolved.servers[side]
    return SnapshotSide(
        name=side,
        server=MeasuredServer.of(results.builds[server.spec.digest], server.source, dict(server.config)),
        huge_pages=sweep.huge_pages.get(side),
        fits=fits_of([point for point in points if point.side == side]),
    )


def _read(results: Results, engine: str, kind: type[T]) -> list[T]:
    """Return the blobs of all trials of an engine; raises `BlobDamaged`, `UnreadableRecord`."""
    return [
        read_stored(kind, results.blobs.get(one.record).decode(), f"a trial of {results.resolved.id}")
        for trials in results.other.get(engine, {}).values()
        for of_side in trials.measurements.values()
        for one in of_side
        if one.record is not None
    ]


def _notes(crowded: dict[Side, str], repetitions: Sequence[SweepRepetition]) -> list[str]:
    """Return what is to be known of sides that share processors, and of starts that follow an interrupted one."""
    notes = [f"{side} is {reason}, so it has no verdicts" if side else reason for side, reason in crowded.items()]
    resumed = {(one.side, one.size_bytes, one.filled) for one in repetitions if one.is_resumed}
    if resumed:
        notes.append(f"the sweep was interrupted: {len(resumed)} of its starts follow others that had not ended")
    return notes


def _untraced(results: Results, sweep: SnapshotSweep) -> list[str]:
    cases = zip(sweep.sizes_bytes, results.resolved.cases, strict=True)
    faults = ((size, failure_of(results, SNAPSHOT_TRACE, case)) for size, case in cases)
    return [f"{shown_bytes(size)} was not traced: {fault.message}" for size, fault in faults if fault is not None]
