"""The jobs of sweeps and checks, which are known when these begin. Pure, as the planner of other cases is."""

import random
import statistics
from collections.abc import Iterator, Sequence

from zerolap.byte_counts import shown_bytes
from zerolap.documents import Results
from zerolap.engines import CHECKED, EMULATED, SNAPSHOT, SNAPSHOT_TRACE, machines_at_once
from zerolap.lab.planner import seed_of, servers_of
from zerolap.lab.snapshot_points import FORK
from zerolap.records import (
    HEAD,
    Block,
    Case,
    EmulatedPart,
    EmulatedSweep,
    Kernel,
    Progress,
    Resolved,
    Side,
    SnapshotPart,
    SnapshotSweep,
    SweepPart,
    TrialFailed,
    TrialsJob,
)


class KnownJobsPlanner:
    """Plans jobs in their order, each of one side at one size: where one fails, the others of its case are left out."""

    def __init__(self, resolved: Resolved, jobs: Sequence[TrialsJob], at_once: int = 1) -> None:
        self.resolved = resolved
        self.jobs = jobs
        self._at_once = at_once

    def next_jobs(self, results: Results) -> list[TrialsJob]:
        """Return the jobs that can be begun, in order; none when all are done."""
        return self.left(results)[: self._at_once]

    def left(self, results: Results) -> list[TrialsJob]:
        """Return the jobs that have not ended, and of whose case none has failed."""
        return [
            job
            for job in self.jobs
            if job.id not in results.ended_jobs and failure_of(results, job.engine, job.case) is None
        ]

    def progress(self, results: Results, job: TrialsJob) -> Progress:
        """Return how far the request has come; what is given up is done."""
        left = sum(len(other.blocks) - len(results.recorded.get(other.id, ())) for other in self.left(results))
        expected = sum(len(other.blocks) for other in self.jobs)
        subject = job.case.name if job.part is None else shown_bytes(job.part.size_bytes)
        return Progress(
            activity="measuring",
            subject=subject,
            cases=len(self.resolved.cases),
            done=expected - left,
            expected=expected,
        )


class CheckPlanner(KnownJobsPlanner):
    """Plans the start in which a case is examined, for each case."""

    def __init__(self, resolved: Resolved) -> None:
        # The seed itself, which has no part in what is judged over several trials.
        blocks = (Block(number=0, seed=resolved.settings.seed),)
        jobs = [_job(resolved, CHECKED, case, HEAD, None, [0]) for case in resolved.cases]
        super().__init__(resolved, [job.model_copy(update={"blocks": blocks}) for job in jobs], len(jobs))


class SnapshotPlanner(KnownJobsPlanner):
    """Plans the starts of `zerolap snapshot`, and at the end those that are traced.

    All that is random comes from the seed and from what it is for, so that it is the same if the sweep is resumed.
    """

    def __init__(self, resolved: Resolved, sweep: SnapshotSweep) -> None:
        self._sweep = sweep
        self._sides = [*resolved.servers]
        # The event by which a server settles splits huge pages: there, the first fork of a start is measured.
        self._is_settled = sweep.event != "none" and "always" not in sweep.huge_pages.values()
        self._cases = dict(zip(sweep.sizes_bytes, resolved.cases, strict=True))
        super().__init__(resolved, [job for size in self._cases for job in self._starts(resolved, size)])

    def _starts(self, resolved: Resolved, size: int) -> Iterator[TrialsJob]:
        """Yield the starts at a size: one for all repetitions, or, of several sides, one of each for each of them.

        Servers with huge pages have another start for each load. The sides are in a random order each time, so that a
        drift of the machine hits all of them alike.
        """
        loads = len(self._sweep.loads)
        blocks = range(self._sweep.repetitions * loads)
        together = len(blocks) if len(self._sides) == 1 else loads
        if "always" in self._sweep.huge_pages.values():
            together = 1
        for first in blocks[::together]:
            order = random.Random(f"{resolved.settings.seed} order {size} {first}")
            for side in order.sample(self._sides, len(self._sides)):
                part = self._part(size, side)
                yield _job(resolved, SNAPSHOT, self._cases[size], side, part, blocks[first : first + together])

    def _part(self, size: int, side: Side) -> SnapshotPart:
        return SnapshotPart(
            event=self._sweep.event,
            size_bytes=size,
            loads=self._sweep.loads,
            rate_per_second=self._sweep.rate_per_second,
            huge_pages=self._sweep.huge_pages.get(side),
            is_settled=self._is_settled,
        )

    def next_jobs(self, results: Results) -> list[TrialsJob]:
        """Return the next start, or the next side that is to be traced."""
        traced = [job for job in self._traced_jobs(results) if job.id not in results.ended_jobs]
        return super().next_jobs(results) or traced[:1]

    def progress(self, results: Results, job: TrialsJob) -> Progress:
        """Return how far the sweep, or the tracing after it, has come."""
        progress = super().progress(results, job)
        if job.engine != SNAPSHOT_TRACE:
            return progress
        done = sum(traced.id in results.ended_jobs for traced in self._traced_jobs(results))
        tracing = {"activity": "tracing", "cases": 1, "done": done, "expected": len(self._sides)}
        return progress.model_copy(update=tracing)

    def _traced_jobs(self, results: Results) -> list[TrialsJob]:
        """Return a job for each side at the greatest size that was measured, once all are."""
        sizes = [size for size, case in self._cases.items() if failure_of(results, SNAPSHOT, case) is None]
        if not self._sweep.is_traced or not sizes or self.left(results):
            return []
        size = max(sizes)
        measured = results.other[SNAPSHOT][self._cases[size].name].measurements
        jobs = []
        for side in self._sides:
            forks_us = [one.metrics[FORK] for one in measured.get(side, []) if FORK in one.metrics]
            fork_us = statistics.median(forks_us) if forks_us else None
            part = self._part(size, side).model_copy(update={"fork_us": fork_us})
            jobs.append(_job(self.resolved, SNAPSHOT_TRACE, self._cases[size], side, part, [0]))
        return jobs


class EmulatedPlanner(KnownJobsPlanner):
    """Plans the machines of `zerolap snapshot --kernel`, the largest first, several at once: they do not mind it."""

    def __init__(self, resolved: Resolved, sweep: EmulatedSweep, kernel: Kernel) -> None:
        jobs = []
        cases = [*zip(sweep.sizes_bytes, resolved.cases, strict=True)]
        for number in range(sweep.repetitions):
            for size, case in reversed(cases):
                for side in resolved.servers:
                    part = EmulatedPart(
                        kernel=kernel.digest,
                        size_bytes=size,
                        fork=sweep.forks.get(side, "copy"),
                        huge_pages=sweep.huge_pages.get(side),
                    )
                    job = _job(resolved, EMULATED, case_of_side(case, side), side, part, [number])
                    # All have one seed: that they count the same is what repetitions show.
                    blocks = (Block(number=number, seed=resolved.settings.seed),)
                    jobs.append(job.model_copy(update={"blocks": blocks}))
        super().__init__(resolved, jobs, machines_at_once(max(sweep.sizes_bytes)))


def case_of_side(case: Case, side: Side) -> Case:
    """Return the case of a side that is counted by itself: another side may fail."""
    return case.model_copy(update={"name": f"{case.name} {side}"}) if side else case


def failure_of(results: Results, engine: str, case: Case) -> TrialFailed | None:
    """Return why a case of a sweep has failed, with the name of the side."""
    trials = results.other.get(engine, {}).get(case.name)
    if trials is None or (trials.failure is None and trials.refusal is None):
        return None
    failure = trials.failure or TrialFailed(trials.refusal or "")
    return failure.of(failure.side) if failure.side else failure


def _job(
    resolved: Resolved, engine: str, case: Case, side: Side, part: SweepPart | None, blocks: Sequence[int]
) -> TrialsJob:
    """Return a job of a side; blocks of all sides have the same seeds."""
    return TrialsJob(
        request=resolved.id,
        case=case,
        servers={side: servers_of(resolved, case)[side]},
        engine=engine,
        blocks=tuple(Block(number=block, seed=seed_of(resolved.settings.seed, block)) for block in blocks),
        part=part,
    )
