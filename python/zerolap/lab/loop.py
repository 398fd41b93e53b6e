"""The planner and the worker in one loop on this machine: what is planned is carried out, what happens is recorded."""

import contextlib
import queue
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from zerolap.engines import Place
from zerolap.lab.planner import Planner
from zerolap.lab.results import Results
from zerolap.lab.worker import Worker
from zerolap.records import BuildDone, BuildJob, Event, Interrupted, JobFinished, TrialDone, TrialsJob
from zerolap.store import Store

POLL_SECONDS = 1.0
"""So often a cancellation from another process is looked for."""
SIDE_BY_SIDE = frozenset({"counted"})
"""Engines whose trials do not mind others beside them: counts do not depend on them."""


@dataclass(frozen=True)
class _JobEnded:
    """A job's thread has ended; `fault` ends the whole request."""

    fault: BaseException | None = None


class Loop:
    """Carries out one request at one place; `listen` is called with each event, in the thread that runs the loop."""

    def __init__(
        self, planner: Planner, worker: Worker, place: Place, store: Store, listen: Callable[[Event], None]
    ) -> None:
        self._planner = planner
        self._worker = worker
        self._place = place
        self._store = store
        self._listen = listen
        self._happened: queue.Queue[tuple[BuildJob | TrialsJob, Event | _JobEnded]] = queue.Queue()
        self._running: dict[str, BuildJob | TrialsJob] = {}

    def run(self, results: Results) -> None:
        """Carry out jobs until the planner has no more; `results` holds at any time what there is.

        Raises `Interrupted` once the request is cancelled, from this process or another, and what ends it otherwise,
        such as `EnvironmentMissing`. However it ends, no process is left behind.
        """
        slots = max(1, len(self._place.processors.processors))
        try:
            self._run(results, slots)
        except BaseException:
            self._keep_what_came_late(results)
            raise

    def _run(self, results: Results, slots: int) -> None:
        with ThreadPoolExecutor(max_workers=slots) as pool, self._cancelling():
            while True:
                for job in self._startable(results, slots):
                    self._running[job.id] = job
                    self._store.record_job(job)
                    pool.submit(self._carry_out, job, replace(self._place, recorded=self._recorded(job, results)))
                if not self._running:
                    return
                self._wait_for_event(results)

    def _startable(self, results: Results, slots: int) -> list[BuildJob | TrialsJob]:
        """Return the planned jobs for which there is room: one alone, or several whose engine does not mind."""
        if len(self._running) >= slots or any(not _beside_others(job) for job in self._running.values()):
            return []
        startable: list[BuildJob | TrialsJob] = []
        for job in self._planner.next_jobs(results):
            if job.id in self._running:
                continue
            if not _beside_others(job):
                return [job] if not self._running and not startable else startable
            startable.append(job)
            if len(self._running) + len(startable) == slots:
                break
        return startable

    def _carry_out(self, job: BuildJob | TrialsJob, place: Place) -> None:
        """Carry out a job; whatever ends it reaches the thread of the loop."""
        try:
            for event in self._worker.carry_out(job, place):
                self._happened.put((job, event))
            self._happened.put((job, _JobEnded()))
        except BaseException as fault:  # noqa: BLE001 - raised again in the thread of the loop
            self._happened.put((job, _JobEnded(fault)))

    def _wait_for_event(self, results: Results) -> None:
        while True:
            if self._store.is_cancelled(self._planner.request.id):
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
        self._take_in(job, event, results)
        self._listen(event)
        if isinstance(event, TrialDone) and isinstance(job, TrialsJob):
            self._listen(self._planner.progress(results, job))

    def _take_in(self, job: BuildJob | TrialsJob, event: Event, results: Results) -> None:
        if isinstance(event, BuildDone) and isinstance(job, BuildJob):
            self._store.record_build(event.build, job.source)
        self._store.record(job, event)
        results.add(job, event)

    def _keep_what_came_late(self, results: Results) -> None:
        """Record the trials that ended while the loop was ending."""
        with contextlib.suppress(queue.Empty):
            while True:
                job, event = self._happened.get_nowait()
                if isinstance(event, TrialDone | JobFinished):
                    self._take_in(job, event, results)

    def _recorded(self, job: BuildJob | TrialsJob, results: Results) -> tuple[TrialDone, ...]:
        return tuple(results.recorded.get(job.id, ()))

    @contextlib.contextmanager
    def _cancelling(self) -> Iterator[None]:
        """Leave no process behind, and no thread, if the loop ends before its time."""
        try:
            yield
        except BaseException:
            self._place.cancellation.cancel()
            raise


def _beside_others(job: BuildJob | TrialsJob) -> bool:
    return isinstance(job, TrialsJob) and job.engine in SIDE_BY_SIDE
