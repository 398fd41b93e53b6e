"""The sweep of `zerolap snapshot --kernel`: forks in emulated machines with a kernel that the lab builds, counted."""

from collections.abc import Sequence
from typing import Final

from zerolap.engines import EMULATED, EMULATED_MACHINE, EMULATED_PROCESSOR, VALUE_BYTES, EmulatedTrial
from zerolap.judge import line_fit
from zerolap.lab.measured_sweep import MeasuredSweep
from zerolap.records import (
    Case,
    EmulatedPart,
    EmulatedPoint,
    EmulatedSettings,
    EmulatedSide,
    EmulatedSnapshotReport,
    EmulatedSweep,
    FailedSize,
    Kernel,
    LineFit,
    MeasuredServer,
    Resolved,
    Side,
    TrialFailed,
    TrialsJob,
    now,
)
from zerolap.store import Store

FITTED: Final = ("kernel_fork_ticks", "kernel_fork_entries", "wait_server_longest", "wait_ticks_longest")
"""The counts that documents have lines of over the resident memory."""


class CountedForks(MeasuredSweep):
    """The machines of a sweep, each of which counts one fork of a side at a size; equal ones count the same."""

    engine = EMULATED

    def __init__(self, resolved: Resolved, store: Store, sweep: EmulatedSweep, kernel: Kernel) -> None:
        self._sweep = sweep
        self._kernel = kernel
        super().__init__(resolved, store)

    def planned(self) -> Sequence[TrialsJob]:
        """Return the machines of all sides and sizes, the largest first, as often as they are repeated."""
        cases = [*zip(self._sweep.sizes_bytes, self.resolved.cases, strict=True)]
        return [
            self._machine(case, side, size, number)
            for number in range(self._sweep.repetitions)
            for size, case in reversed(cases)
            for side in self.resolved.servers
        ]

    def _machine(self, case: Case, side: Side, size: int, number: int) -> TrialsJob:
        part = EmulatedPart(
            kernel=self._kernel.digest,
            size_bytes=size,
            fork=self._sweep.forks.get(side, "copy"),
            huge_pages=self._sweep.huge_pages.get(side),
        )
        made = self.job(case, side, part, [number])
        # All have one seed: that they count the same is what repetitions show.
        blocks = tuple(block.model_copy(update={"seed": self.resolved.settings.seed}) for block in made.blocks)
        return made.model_copy(update={"blocks": blocks})

    def place(self, job: TrialsJob) -> tuple[int, Side]:
        """Return size and side: each is counted by itself."""
        assert job.part is not None
        [side] = job.servers
        return job.part.size_bytes, side

    def next_jobs(self) -> Sequence[TrialsJob]:
        """Return all that are left: they do not mind each other."""
        return self.left()

    def report(self) -> EmulatedSnapshotReport:
        """Return the document of what was counted; raises `TrialFailed` if nothing was."""
        sides = [*self.resolved.servers]
        failures = {self.place(job): self.failures[job.id] for job in self.jobs if job.id in self.failures}
        places = [(size, side) for size in self._sweep.sizes_bytes for side in sides]
        points = [point for place in places if place not in failures and (point := self._point(*place)) is not None]
        if not points:
            raise next(iter(failures.values()), TrialFailed("nothing was counted yet"))
        base = self.resolved.servers[sides[0]]
        without_effect = self._kernel.without_effect
        return EmulatedSnapshotReport(
            id=self.resolved.id,
            created=now(),
            command_line=self.resolved.request.command_line,
            server=MeasuredServer.of(self.builds[base.spec.digest], base.source, dict(base.config)),
            kernel=self._kernel,
            platform=self.resolved.platform,
            settings=self._settings(),
            machine_seconds=self.machine_seconds,
            sides=[self._described(side, points) for side in sides],
            points=points,
            failed=[
                FailedSize(size_bytes=size, reason=(failure.of(side) if side else failure).message)
                for (size, side), failure in failures.items()
            ],
            notes=[
                *self.resolved.notes,
                *(f"the configuration of the kernel has no effect: {setting}" for setting in without_effect),
            ],
        )

    def _settings(self) -> EmulatedSettings:
        instruments = (one.instrument for blocks in self.measured.values() for one in blocks.values())
        return EmulatedSettings(
            sizes_bytes=list(self._sweep.sizes_bytes),
            value_bytes=VALUE_BYTES,
            repetitions=self._sweep.repetitions,
            seed=self.resolved.settings.seed,
            emulator=next(instruments),
            machine=EMULATED_MACHINE,
            processor=EMULATED_PROCESSOR,
        )

    def _point(self, size: int, side: Side) -> EmulatedPoint | None:
        runs = [
            {name: int(value) for name, value in measurement.metrics.items()}
            for job in self.jobs
            if self.place(job) == (size, side)
            for measurement in self.measured.get(job.id, {}).values()
        ]
        if not runs:
            return None
        first, *others = runs
        return EmulatedPoint(
            side=side,
            size_bytes=size,
            keys=EmulatedTrial.keys_for(size),
            runs=runs,
            is_repeated=all(run == first for run in others) if others else None,
        )

    def _described(self, side: Side, points: Sequence[EmulatedPoint]) -> EmulatedSide:
        return EmulatedSide(
            name=side,
            fork=self._sweep.forks.get(side, "copy"),
            huge_pages=self._sweep.huge_pages.get(side),
            config=self.resolved.servers[side].config,
            fits=counted_fits([point for point in points if point.side == side]),
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
