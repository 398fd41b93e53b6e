"""The sweep of `zerolap snapshot`: servers filled with more and more data, and what their forks cost under load."""

import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from zerolap.byte_counts import shown_bytes
from zerolap.engines import SNAPSHOT, VALUE_BYTES
from zerolap.explain import fork_findings
from zerolap.judge import Q
from zerolap.lab.measured_sweep import MeasuredSweep
from zerolap.lab.snapshot_points import FORK, fits_of, points_of, starts_of, verdicts_of
from zerolap.load import SLOT_SECONDS
from zerolap.records import (
    Case,
    FailedSize,
    MeasuredServer,
    Measurement,
    Progress,
    Resolved,
    Side,
    SnapshotPart,
    SnapshotPoint,
    SnapshotReport,
    SnapshotSettings,
    SnapshotSide,
    SnapshotSweep,
    SnapshotTrace,
    SweepRepetition,
    TrialFailed,
    TrialsJob,
    now,
    read_stored,
)
from zerolap.store import Store

T = TypeVar("T")


class MeasuredSnapshots(MeasuredSweep):
    """The starts of a sweep, one after the other, and at the end those that are traced.

    All that is random comes from the seed and from what it is for, so that it is the same if the sweep is resumed.
    """

    engine = SNAPSHOT

    def __init__(self, resolved: Resolved, store: Store, sweep: SnapshotSweep) -> None:
        self._sweep = sweep
        self._sides = [*resolved.servers]
        super().__init__(resolved, store)

    def planned(self) -> Sequence[TrialsJob]:
        """Return the starts of all sizes, in rising order of these."""
        cases = zip(self._sweep.sizes_bytes, self.resolved.cases, strict=True)
        return [job for size, case in cases for job in self._starts(size, case)]

    def _starts(self, size: int, case: Case) -> Iterator[TrialsJob]:
        """Yield the starts at a size: one for all repetitions, or, of several sides, one of each for each of them.

        Servers that do not settle have another start for each load. The sides are in a random order each time, so that
        a drift of the machine hits all of them alike.
        """
        loads, every = len(self._sweep.loads), range(self._sweep.repetitions * len(self._sweep.loads))
        together = 1 if self._is_unsettled else len(every) if len(self._sides) == 1 else loads
        for first in every[::together]:
            order = random.Random(f"{self.resolved.settings.seed} order {size} {first}")
            for side in order.sample(self._sides, len(self._sides)):
                yield self.job(case, side, self._part(size, side), every[first : first + together])

    @property
    def _is_unsettled(self) -> bool:
        """Whether the first fork of a start is what is measured: the event by which it settles splits huge pages."""
        return "always" in self._sweep.huge_pages.values()

    def _part(self, size: int, side: Side) -> SnapshotPart:
        return SnapshotPart(
            event=self._sweep.event,
            size_bytes=size,
            loads=self._sweep.loads,
            rate_per_second=self._sweep.rate_per_second,
            huge_pages=self._sweep.huge_pages.get(side),
            is_settled=self._sweep.event != "none" and not self._is_unsettled,
        )

    def place(self, job: TrialsJob) -> object:
        """Return the size: a side alone has nothing that it is compared with."""
        assert job.part is not None
        return job.part.size_bytes

    # Traces.

    def next_jobs(self) -> Sequence[TrialsJob]:
        """Return the next start, or the next side that is to be traced."""
        if starts := super().next_jobs():
            return starts
        return [job for job in self._traced_jobs() if not self.has_ended(job)][:1]

    def progress(self, job: TrialsJob) -> Progress:
        """Return how far the sweep, or the tracing after it, has come."""
        if job.part is None or not (isinstance(job.part, SnapshotPart) and job.part.is_traced):
            return super().progress(job)
        done = sum(map(self.has_ended, self._traced_jobs()))
        subject = shown_bytes(job.part.size_bytes)
        return Progress(activity="tracing", subject=subject, cases=1, done=done, expected=len(self._sides))

    def _traced_jobs(self) -> Sequence[TrialsJob]:
        """Return a job for each side at the greatest size that was measured, once all are."""
        sizes = self._measured_sizes()
        if not self._sweep.is_traced or not sizes:
            return []
        size = max(sizes)
        case = self.resolved.cases[self._sweep.sizes_bytes.index(size)]
        return [self._traced_job(size, case, side) for side in self._sides]

    def _traced_job(self, size: int, case: Case, side: Side) -> TrialsJob:
        forks_us = [
            measurement.metrics[FORK]
            for job in self.jobs
            if self.place(job) == size and side in job.servers
            for measurement in self.measured.get(job.id, {}).values()
            if FORK in measurement.metrics
        ]
        fork_us = statistics.median(forks_us) if forks_us else None
        part = self._part(size, side).model_copy(update={"is_traced": True, "fork_us": fork_us})
        return self.job(case, side, part, [0])

    def _traces(self) -> tuple[list[SnapshotTrace], list[str]]:
        """Return the traces, and notes on those that failed."""
        traces, notes = [], []
        for job in self._traced_jobs():
            if job.id in self.failures and job.part is not None:
                notes.append(f"{shown_bytes(job.part.size_bytes)} was not traced: {self.failures[job.id].message}")
            for measurement in self.measured.get(job.id, {}).values():
                trace = self._read(SnapshotTrace, measurement)
                traces.append(trace.model_copy(update={"findings": fork_findings(trace)}))
        return traces, notes

    # The document.

    def report(self) -> SnapshotReport:
        """Return the document of the sizes that did not fail; raises `TrialFailed` if all did."""
        failures = self._failed_sizes()
        sizes = self._measured_sizes()
        if failures and not sizes:
            raise [*failures.values()][-1]
        repetitions = self._repetitions()
        sides, (traces, untraced) = self._sides, self._traces()
        points = points_of(repetitions, sizes, sides, self._sweep.loads)
        described = [self._described(side, [point for point in points if point.side == side]) for side in sides]
        crowded = {one.side: one.oversubscribed for one in repetitions if one.oversubscribed}
        judged = [side for side in sides if side not in crowded]
        min_effect = self.resolved.settings.min_effect[SNAPSHOT]
        is_judged = len(sides) > 1
        return SnapshotReport(
            schema="zerolap.snapshot/1",
            id=self.resolved.id,
            created=now(),
            command_line=self.resolved.request.command_line,
            server=described[-1].server,
            platform=self.resolved.platform,
            settings=SnapshotSettings(
                event=self._sweep.event,
                sizes_bytes=list(self._sweep.sizes_bytes),
                loads=list(self._sweep.loads),
                rate_per_second=self._sweep.rate_per_second,
                connections=self._sweep.connections,
                value_bytes=VALUE_BYTES,
                repetitions=self._sweep.repetitions,
                slot_seconds=SLOT_SECONDS,
                seed=self.resolved.settings.seed,
                min_effect=min_effect if is_judged else None,
                q=Q if is_judged else None,
            ),
            machine_seconds=self.machine_seconds,
            points=points,
            fits={} if described[0].name else described[0].fits,
            sides=[side for side in described if side.name],
            starts=starts_of(repetitions, sizes),
            verdicts=verdicts_of(points, judged, min_effect) if sides[0] in judged else [],
            traces=traces,
            failed=[FailedSize(size_bytes=size, reason=failure.message) for size, failure in failures.items()],
            notes=[
                *self.resolved.notes,
                *(_crowded_note(name, reason) for name, reason in crowded.items()),
                *self._interruptions(repetitions),
                *untraced,
            ],
        )

    def _described(self, side: Side, points: Sequence[SnapshotPoint]) -> SnapshotSide:
        server = self.resolved.servers[side]
        return SnapshotSide(
            name=side,
            server=MeasuredServer.of(self.builds[server.spec.digest], server.source, dict(server.config)),
            huge_pages=self._sweep.huge_pages.get(side),
            fits=fits_of(points),
        )

    def _failed_sizes(self) -> Mapping[int, TrialFailed]:
        """Return what failed at each size, with the name of its side where there are several."""
        failures = {}
        for job in self.jobs:
            if job.id in self.failures and job.part is not None:
                [side] = job.servers
                failure = self.failures[job.id]
                failures[job.part.size_bytes] = failure.of(side) if side else failure
        return failures

    def _measured_sizes(self) -> list[int]:
        """Return the sizes that did not fail, as far as something is measured at them."""
        failed = self._failed_sizes()
        measured = {self.place(job) for job in self.jobs if self.measured.get(job.id)}
        return [size for size in self._sweep.sizes_bytes if size in measured and size not in failed]

    def _repetitions(self) -> list[SweepRepetition]:
        """Return all repetitions in the order of their jobs."""
        return [
            self._read(SweepRepetition, measurement)
            for job in self.jobs
            for measurement in self.measured.get(job.id, {}).values()
        ]

    def _read(self, kind: type[T], measurement: Measurement) -> T:
        """Return the blob of a trial; raises `BlobDamaged`, `UnreadableRecord`."""
        assert measurement.snapshot is not None
        return read_stored(kind, self.store.blobs.get(measurement.snapshot).decode(), f"a trial of {self.resolved.id}")

    def _interruptions(self, repetitions: Sequence[SweepRepetition]) -> list[str]:
        """Return a note where a start was interrupted, so that its other repetitions are of another one."""
        starts = len({(one.side, one.size_bytes, one.filled) for one in repetitions})
        interrupted = starts - sum(1 for job in self.jobs if self.measured.get(job.id))
        if interrupted <= 0:
            return []
        return [f"the sweep was interrupted: {interrupted} of its starts follow others that had not ended"]


def _crowded_note(side: str, reason: str) -> str:
    """Write that waiting for processors is part of what was measured, and of a side that it has no verdicts."""
    return f"{side} is {reason}, so it has no verdicts" if side else reason
