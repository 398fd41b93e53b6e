"""Drives an execution on this machine from builds to document: jobs in threads, what happens to them is recorded."""

import contextlib
import queue
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from zerolap.engines import EMULATED, TRIAL_PREFIX, cases_per_start, share_start, shared_servers
from zerolap.lab.execution import Document, Execution, Plan
from zerolap.lab.lab import Lab
from zerolap.lab.platforms import keep_programs
from zerolap.records import (
    BuildDone,
    BuildFailed,
    BuildJob,
    Event,
    Interrupted,
    JobFailed,
    JobFinished,
    Resolved,
    TrialDone,
    TrialsJob,
    UsageError,
    ZerolapError,
)
from zerolap.sandbox import remove_abandoned

POLL_SECONDS = 1.0
"""How often the loop looks for a cancellation by another process."""
SIDE_BY_SIDE = frozenset({"counted", EMULATED})
"""Engines whose trials do not mind others beside them: counts do not depend on them."""


@dataclass(frozen=True)
class _JobEnded:
    """A job's thread has ended; `fault` ends the whole request."""

    fault: BaseException | None = None


class Loop:
    """Carries out the jobs of one execution in the place of a lab, which listens in the thread that runs the loop."""

    def __init__(self, execution: Execution, lab: Lab) -> None:
        self._execution = execution
        self._lab = lab
        self._place = lab.place
        self._slots = max(1, len(self._place.processors.processors))
        self._happened: queue.Queue[tuple[BuildJob | TrialsJob, Event | _JobEnded]] = queue.Queue()
        self._running: dict[str, BuildJob | TrialsJob] = {}

    def build(self) -> Resolved:
        """Build the servers, and return what the request means with them.

        Raises `Interrupted` once the request is cancelled, from this process or another, `BuildFailed`, and what else
        ends it, such as `EnvironmentMissing`. However it ends, its end is recorded and no process is left behind.
        """
        request = self._execution.request
        self._lab.store.end(request.id, "running")
        with self.recorded_end():
            keep_programs(request, self._lab)
            self._run(self._execution.next_builds)
            return self._execution.resolve()

    def measure(self) -> Document:
        """Carry out the trials, and return the document; raises as `build` does."""
        remove_abandoned(TRIAL_PREFIX)
        with self.recorded_end():
            self._run(self._execution.next_jobs)
            document = self._execution.finish()
        self._lab.store.end(self._execution.request.id, "done")
        return document

    @contextlib.contextmanager
    def recorded_end(self) -> Iterator[None]:
        """Record what there is where the work ends early."""
        execution, lab = self._execution, self._lab
        identity = execution.request.id
        try:
            yield
        except (KeyboardInterrupt, Interrupted):
            lab.cancellation.cancel()
            execution.record("interrupted", reasons=True)
            lab.store.end(identity, "interrupted")
            reached = execution.reached()
            if reached is None:
                raise Interrupted(
                    "interrupted while building; nothing was measured yet", hint=f"zerolap resume {identity} goes on"
                ) from None
            raise Interrupted(
                f"interrupted after {reached}; what was measured is kept",
                hint=f"zerolap resume {identity} goes on; zerolap explain {identity} shows what there is",
            ) from None
        except (ZerolapError, OSError):
            execution.record("failed", reasons=True)
            lab.store.end(identity, "failed")
            raise

    def _run(self, plan: Callable[[], Plan]) -> None:
        """Carry out jobs until `plan` has no more; the execution holds at any time what there is."""
        try:
            with ThreadPoolExecutor(max_workers=self._slots) as pool, self._cancelling():
                while True:
                    for turns in self._startable(plan().jobs):
                        for job in turns:
                            self._running[job.id] = job
                            self._lab.store.record_job(job)
                        pool.submit(self._carry_out, [(job, self._recorded(job)) for job in turns])
                    if not self._running:
                        return
                    self._wait_for_event()
        except BaseException:
            self._keep_what_came_late()
            raise

    @property
    def _cases_per_start(self) -> int:
        resolved = self._execution.resolved
        return 1 if resolved is None else cases_per_start(len(resolved.cases))

    def _recorded(self, job: BuildJob | TrialsJob) -> tuple[TrialDone, ...]:
        return tuple(self._execution.recorded_trials(job))

    def _startable(self, planned: Sequence[BuildJob | TrialsJob]) -> list[list[BuildJob | TrialsJob]]:
        """Return the planned jobs for which there is room: one alone, or several whose engine does not mind.

        Those of one list are carried out in turn, as they share a start of their servers.
        """
        if len(self._running) >= self._slots or any(not _beside_others(job) for job in self._running.values()):
            return []
        startable: list[list[BuildJob | TrialsJob]] = []
        for job in planned:
            if job.id in self._running:
                continue
            if not _beside_others(job):
                return (
                    [sharing_a_start(job, planned, self._cases_per_start)]
                    if not self._running and not startable
                    else startable
                )
            startable.append([job])
            if len(self._running) + len(startable) == self._slots:
                break
        return startable

    def _carry_out(self, turns: Sequence[tuple[BuildJob | TrialsJob, tuple[TrialDone, ...]]]) -> None:
        """Carry out jobs in turn; whatever ends one of them reaches the thread of the loop."""
        job, place, began = turns[0][0], self._place, time.monotonic()
        try:
            with contextlib.ExitStack() as stack:
                if len(turns) > 1:
                    place = replace(
                        place, shared=stack.enter_context(shared_servers(place.cancellation, place.directory))
                    )
                for job, recorded in turns:
                    asked = with_time_left(job, time.monotonic() - began)
                    for event in self._lab.worker.carry_out(asked, replace(place, recorded=recorded)):
                        self._happened.put((job, event))
                    if job is not turns[-1][0]:
                        self._happened.put((job, _JobEnded()))
            self._happened.put((job, _JobEnded()))
        except BaseException as fault:  # noqa: BLE001 - raised again in the thread of the loop
            self._happened.put((job, _JobEnded(fault)))

    def _wait_for_event(self) -> None:
        while True:
            if self._lab.store.is_cancelled(self._execution.request.id):
                raise Interrupted("cancelled")
            self._place.cancellation.require_going_on()
            try:
                job, event = self._happened.get(timeout=POLL_SECONDS)
                break
            except queue.Empty:
                continue
        if isinstance(event, _JobEnded):
            del self._running[job.id]
            if event.fault is not None:
                raise event.fault
            return
        self._take_in(job, event)
        self._lab.listen(event)
        if isinstance(event, JobFailed) and isinstance(job, BuildJob):
            failure = UsageError if event.refused else BuildFailed
            raise failure(event.reason, hint=event.hint, details=event.details)
        if isinstance(event, TrialDone) and isinstance(job, TrialsJob):
            progress = self._execution.progress(job)
            if progress is not None:
                self._lab.listen(progress)

    def _take_in(self, job: BuildJob | TrialsJob, event: Event) -> None:
        if isinstance(event, BuildDone) and isinstance(job, BuildJob):
            self._lab.store.record_build(event.build, job.source)
        self._lab.store.record(job, event)
        self._execution.take_in(job, event)

    def _keep_what_came_late(self) -> None:
        """Record the trials that ended while the loop was ending."""
        with contextlib.suppress(queue.Empty):
            while True:
                job, event = self._happened.get_nowait()
                if isinstance(event, TrialDone | JobFinished):
                    self._take_in(job, event)

    @contextlib.contextmanager
    def _cancelling(self) -> Iterator[None]:
        """Leave no process behind, and no thread, if the loop ends before its time."""
        try:
            yield
        except BaseException:
            self._place.cancellation.cancel()
            raise


def sharing_a_start(
    first: BuildJob | TrialsJob, planned: Sequence[BuildJob | TrialsJob], most: int
) -> list[BuildJob | TrialsJob]:
    """Return a planned job and those after it that its start may be shared with, so many at most."""
    if not isinstance(first, TrialsJob):
        return [first]
    others = [job for job in planned if isinstance(job, TrialsJob) and job.id != first.id and share_start(first, job)]
    return [first, *others[: most - 1]]


def with_time_left(job: BuildJob | TrialsJob, seconds: float) -> BuildJob | TrialsJob:
    """Return a job that begins so many seconds after it was planned."""
    if not isinstance(job, TrialsJob) or job.seconds_left is None:
        return job
    return job.model_copy(update={"seconds_left": job.seconds_left - seconds})


def _beside_others(job: BuildJob | TrialsJob) -> bool:
    return isinstance(job, TrialsJob) and job.engine in SIDE_BY_SIDE
