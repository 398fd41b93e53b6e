"""The document of a sweep of `zerolap snapshot --kernel`: forks in emulated machines, counted."""

from collections.abc import Sequence
from typing import Final

from zerolap.documents import Results
from zerolap.engines import EMULATED, EMULATED_MACHINE, EMULATED_PROCESSOR, VALUE_BYTES, EmulatedTrial
from zerolap.judge import line_fit
from zerolap.lab.sweep_planner import case_of_side, failure_of
from zerolap.records import (
    Case,
    EmulatedPoint,
    EmulatedSettings,
    EmulatedSide,
    EmulatedSnapshotReport,
    EmulatedSweep,
    FailedSize,
    Kernel,
    LineFit,
    MeasuredServer,
    Side,
    TrialFailed,
)

FITTED: Final = ("kernel_fork_ticks", "kernel_fork_entries", "wait_server_longest", "wait_ticks_longest")
"""The counts that documents have lines of over the resident memory."""


def emulated_report(results: Results, sweep: EmulatedSweep, kernel: Kernel) -> EmulatedSnapshotReport:
    """Return the document of what was counted; raises `TrialFailed` if nothing was."""
    resolved, sides = results.resolved, [*results.resolved.servers]
    places = [
        (size, side, case_of_side(case, side))
        for size, case in zip(sweep.sizes_bytes, resolved.cases, strict=True)
        for side in sides
    ]
    failures = [(size, fault) for size, _, case in places if (fault := failure_of(results, EMULATED, case)) is not None]
    points = [point for size, side, case in places if (point := _point(results, size, side, case)) is not None]
    if not points:
        raise failures[0][1] if failures else TrialFailed("nothing was counted yet")
    base = resolved.servers[sides[0]]
    instruments = (
        one.instrument
        for trials in results.other[EMULATED].values()
        for of_side in trials.measurements.values()
        for one in of_side
    )
    return EmulatedSnapshotReport(
        id=resolved.id,
        created=resolved.request.created,
        command_line=resolved.request.command_line,
        server=MeasuredServer.of(results.builds[base.spec.digest], base.source, dict(base.config)),
        kernel=kernel,
        platform=resolved.platform,
        settings=EmulatedSettings(
            sizes_bytes=list(sweep.sizes_bytes),
            value_bytes=VALUE_BYTES,
            repetitions=sweep.repetitions,
            seed=resolved.settings.seed,
            emulator=next(instruments),
            machine=EMULATED_MACHINE,
            processor=EMULATED_PROCESSOR,
        ),
        machine_seconds=results.machine_seconds,
        sides=[
            EmulatedSide(
                name=side,
                fork=sweep.forks.get(side, "copy"),
                huge_pages=sweep.huge_pages.get(side),
                config=resolved.servers[side].config,
                fits=counted_fits([point for point in points if point.side == side]),
            )
            for side in sides
        ],
        points=points,
        failed=[FailedSize(size_bytes=size, reason=fault.message) for size, fault in failures],
        notes=[
            *resolved.notes,
            *(f"the configuration of the kernel has no effect: {setting}" for setting in kernel.without_effect),
        ],
    )


def _point(results: Results, size: int, side: Side, case: Case) -> EmulatedPoint | None:
    """Return what a side counted at a size; none where it failed, or has not counted yet."""
    trials = results.other.get(EMULATED, {}).get(case.name)
    if trials is None or not trials.measurements[side] or failure_of(results, EMULATED, case) is not None:
        return None
    runs = [{name: int(value) for name, value in one.metrics.items()} for one in trials.measurements[side]]
    first, *others = runs
    return EmulatedPoint(
        side=side,
        size_bytes=size,
        keys=EmulatedTrial.keys_for(size),
        runs=runs,
        is_repeated=all(run == first for run in others) if others else None,
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
