"""What the jobs of a sweep have measured so far, and which are next: they are known when it begins, unlike cases'."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from zerolap.byte_counts import shown_bytes
from zerolap.lab.planner import seed_of, servers_of
from zerolap.records import (
    Block,
    Build,
    BuildDone,
    BuildJob,
    Case,
    DocumentState,
    Event,
    JobFailed,
    JobFinished,
    Measurement,
    Progress,
    Resolved,
    Side,
    SweepPart,
    SweepReport,
    TrialDone,
    TrialFailed,
    TrialsJob,
)
from zerolap.store import Store


class MeasuredSweep(ABC):
    """The jobs of a sweep in their order, each of one side at one size, and what is recorded of them.

    Where a job fails, those that have the same place are left out, and the others go on.
    """

    engine: str

    def __init__(self, resolved: Resolved, store: Store) -> None:
        self.resolved = resolved
        self.builds: dict[str, Build] = {}
        self.store = store
        self.measured: dict[str, dict[int, Measurement]] = {}
        self.failures: dict[str, TrialFailed] = {}
        self._ended: set[str] = set()
        self.jobs: Sequence[TrialsJob] = self.planned()

    @abstractmethod
    def planned(self) -> Sequence[TrialsJob]:
        """Return all jobs that measure, in their order: equal for equal requests."""

    @abstractmethod
    def place(self, job: TrialsJob) -> object:
        """Return what fails with a job."""

    @abstractmethod
    def report(self) -> SweepReport:
        """Return the document of what is measured; raises `TrialFailed` where that is nothing, and something failed."""

    def add(self, job: TrialsJob | BuildJob, event: Event) -> None:
        """Take in an event; one that was taken in before changes nothing."""
        if isinstance(event, BuildDone):
            self.builds[event.build.build] = event.build
        if isinstance(job, BuildJob):
            return
        match event:
            case TrialDone():
                [measurement] = event.measurements.values()
                self.measured.setdefault(job.id, {}).setdefault(event.block, measurement)
            case JobFailed():
                self._ended.add(job.id)
                self.failures.setdefault(job.id, TrialFailed(event.reason, event.hint, event.details))
            case JobFinished():
                self._ended.add(job.id)

    def recorded(self, job: BuildJob | TrialsJob) -> Sequence[TrialDone]:
        """Return the trials of a job that are recorded, though it has not ended."""
        if isinstance(job, BuildJob) or job.id in self._ended:
            return []
        [side] = job.servers
        measured = self.measured.get(job.id, {})
        return [TrialDone(job=job.id, block=block, measurements={side: one}) for block, one in measured.items()]

    def next_jobs(self) -> Sequence[TrialsJob]:
        """Return the next job: none is measured beside another one."""
        return self.left()[:1]

    def left(self) -> Sequence[TrialsJob]:
        """Return the jobs that measure and have not ended, without those whose place has failed."""
        failed = {self.place(job) for job in self.jobs if job.id in self.failures}
        return [job for job in self.jobs if job.id not in self._ended and self.place(job) not in failed]

    def has_ended(self, job: TrialsJob) -> bool:
        """Whether a job is done or has failed."""
        return job.id in self._ended

    def progress(self, job: TrialsJob) -> Progress:
        """Return how far the sweep has come; repetitions that are given up are done."""
        expected = sum(len(planned.blocks) for planned in self.jobs)
        left = sum(len(planned.blocks) - len(self.measured.get(planned.id, ())) for planned in self.left())
        subject = "" if job.part is None else shown_bytes(job.part.size_bytes)
        return Progress(
            activity="measuring",
            subject=subject,
            cases=len({self.place(planned) for planned in self.jobs}),
            done=expected - left,
            expected=expected,
        )

    def reached(self) -> str:
        """Return how much is measured, for a message."""
        done = sum(len(blocks) for blocks in self.measured.values())
        return f"{done} of {sum(len(job.blocks) for job in self.jobs)} repetitions"

    def record(self, state: DocumentState, *, reasons: bool) -> SweepReport | None:
        """Record and return the document once the sweep is done; raises as `report` does."""
        if state != "done":
            return None
        report = self.report()
        self.store.sweeps.record(report)
        return report

    def job(self, case: Case, side: Side, part: SweepPart, blocks: Sequence[int]) -> TrialsJob:
        """Return a job of a side; blocks of all sides have the same seeds."""
        seed = self.resolved.settings.seed
        return TrialsJob(
            request=self.resolved.id,
            case=case,
            servers={side: servers_of(self.resolved, case)[side]},
            engine=self.engine,
            blocks=tuple(Block(number=block, seed=seed_of(seed, block)) for block in blocks),
            part=part,
        )

    @property
    def machine_seconds(self) -> float:
        """The machine time of all trials."""
        return sum(one.seconds for blocks in self.measured.values() for one in blocks.values())
