"""Plans the jobs of open requests, and brings requests to their end."""

import asyncio
import itertools
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

import structlog

from zerolap.events import attempt_events, end_events, request_event
from zerolap.fleet.fleet_execution import FleetExecution, is_built
from zerolap.fleet.open_work import ATTEMPTS_PER_JOB, MANY_PUBLICATIONS, OpenWork
from zerolap.fleet.turns import Turns
from zerolap.lab import Lab
from zerolap.records import BuildJob, EnvironmentMissing, JobFailed, RequestState, TrialsJob, ZerolapError
from zerolap.store import Attempt, NotConductor, Outcome

LEAST_PLANNING_SECONDS: Final = 0.05
AGAIN_SECONDS: Final = 2.0
"""How long a plan that has jobs left is used after something was recorded."""

log = structlog.get_logger("zerolap.conductor")


class RequestPlanning:
    """Plans whenever something was recorded, while jobs of earlier plans are given out.

    `wait_out` is called with the reason where the store cannot be used for a while. A job that agents give up is tried
    again for `patience_seconds`.
    """

    def __init__(
        self,
        work: OpenWork,
        lab: Lab,
        turns: Turns,
        patience_seconds: float,
        wait_out: Callable[[str], Awaitable[None]],
    ) -> None:
        self._work = work
        self._lab = lab
        self._turns = turns
        self._patience_seconds = patience_seconds
        self._wait_out = wait_out
        self._to_plan: set[str] = set()
        self._to_plan_grew = asyncio.Event()
        self._unplanned: set[str] = set()

    def note_taken_up(self, identity: str) -> None:
        """Have a request planned as soon as agents may have room for its jobs."""
        self._unplanned.add(identity)

    async def record_all_waiting(self) -> None:
        """Record of each request whether it waits, where that has changed since it was recorded."""
        by_request = defaultdict(list)
        for attempt in self._work.intake.attempts.values():
            by_request[attempt.request].append(attempt)
        for execution in list(self._work.executions.values()):
            if execution.recorded is not None:
                await self.record_waiting(execution, by_request[execution.id])

    async def run(self) -> None:
        """Plan whenever something was recorded, while jobs of earlier plans are given out."""
        while True:
            await self._to_plan_grew.wait()
            self._to_plan_grew.clear()
            try:
                await self._plan()
            except EnvironmentMissing as fault:
                await self._wait_out(f"the store cannot be used: {fault.message}")
                self._to_plan_grew.set()

    async def _plan(self) -> None:
        """Plan anew for requests of which something was recorded; later where jobs are left to be given out."""
        for identity in sorted(self._to_plan):
            execution = self._work.executions.get(identity)
            if execution is None:
                self._to_plan.discard(identity)
                continue
            since = time.monotonic() - execution.planned_at
            if since < (AGAIN_SECONDS if execution.planned else execution.pause_seconds):
                asyncio.get_running_loop().call_later(LEAST_PLANNING_SECONDS, self._to_plan_grew.set)
                continue
            self._to_plan.discard(identity)
            self._unplanned.discard(identity)
            begun = time.monotonic()
            async with execution.lock:
                await self._plan_for(execution)
            execution.planned_at = time.monotonic()
            execution.pause_seconds = max(LEAST_PLANNING_SECONDS, 2 * (time.monotonic() - begun))
            self._work.wake.set()

    def plan_where_needed(self) -> None:
        """Plan what was taken up, but for requests of whose jobs agents have enough: a plan takes time and memory."""
        self._unplanned &= self._work.executions.keys()
        attempts = self._work.intake.attempts.values()
        with_attempts = {attempt.request for attempt in attempts}
        room = self._turns.room(attempts)
        needed = {
            identity
            for identity in self._unplanned
            if identity not in with_attempts or room.get(self._work.executions[identity].platform, 0) > 0
        }
        self.plan_soon(needed)

    def plan_soon(self, identities: Iterable[str]) -> None:
        """Have requests planned anew, those that have just been planned after a moment."""
        self._to_plan |= set(identities)
        self._to_plan_grew.set()

    async def _plan_for(self, execution: FleetExecution) -> None:
        identity = execution.id
        if identity not in self._work.executions:
            return
        try:
            await self._fail_given_up(execution)
            plan = await execution.plan()
            if plan.is_measured:
                document = await asyncio.to_thread(execution.finish)
                execution.is_ending = True
                if not await asyncio.to_thread(self._work.store.fleet.set_state, identity, "done"):
                    # It was ended otherwise, and is let go.
                    execution.is_ending = False
                    return
                self._work.executions.pop(identity, None)
                self._work.intake.close(identity)
                log.info("done", request=identity)
                self._work.report(
                    end_events(await asyncio.to_thread(self._work.store.outcome, execution.request), document)
                )
                return
            execution.adopt(plan, {attempt.job_id for attempt in self._work.intake.attempts.values()})
            of_request = [attempt for attempt in self._work.intake.attempts.values() if attempt.request == identity]
            await self.record_waiting(execution, of_request)
        except EnvironmentMissing:
            execution.is_ending = False
            self._to_plan.add(identity)
            raise
        except NotConductor:
            raise
        except ZerolapError as fault:
            self._work.fail(identity, str(fault))
        except Exception as fault:
            # What agents reported ends the work on one request, not on all.
            log.error("results cannot be worked with", request=identity, exc_info=fault)
            self._work.fail(identity, f"its results cannot be worked with: {type(fault).__name__}: {fault}")

    async def record_waiting(self, execution: FleetExecution, attempts: Sequence[Attempt]) -> None:
        """Record whether a request waits, and for what, unless that is recorded already, or the request has ended."""
        # Planning and the review call this at the same time: the second of them sees what the first has recorded.
        async with execution.recording:
            state: RequestState = "waiting" if execution.waits_for else "running"
            waits_for = execution.waits_for or self._missing_for(execution, attempts)
            reason = f"waits for {waits_for}" if waits_for else ""
            if execution.recorded == (state, reason):
                return
            if await asyncio.to_thread(self._work.store.fleet.set_state, execution.id, state, reason):
                execution.recorded = (state, reason)
                execution.times_recorded[state, reason] += 1
                times = execution.times_recorded[state, reason]
                self._work.on_event(request_event(execution.request, state, reason, times))

    def _missing_for(self, execution: FleetExecution, attempts: Sequence[Attempt]) -> str:
        """Return what keeps all jobs of a request from being carried out, `attempts` at them included."""
        if any(attempt.state == "claimed" for attempt in attempts):
            return ""
        # All planned jobs are builds, or none is.
        of_next = (self._turns.platform_of(execution, job) for job in itertools.islice(execution.planned.values(), 1))
        platforms = sorted({*(attempt.platform for attempt in attempts), *of_next})
        if platforms and not any(map(self._work.roster.usable, platforms)):
            return self._work.roster.snapshot().missing_agent(platforms[0])
        publications = max((attempt.publications for attempt in attempts), default=0)
        if publications >= MANY_PUBLICATIONS:
            return f"an agent that keeps its jobs, which were published {publications} times"
        return ""

    async def _fail_given_up(self, execution: FleetExecution) -> None:
        """Record the failure of jobs that several agents gave up, unless they are being tried once more."""
        for job, times in list(execution.given_up.items()):
            since = time.time() - execution.tried_since.get(job, 0.0)
            if times < ATTEMPTS_PER_JOB or since < self._patience_seconds:
                continue
            attempts = await asyncio.to_thread(self._work.store.fleet.attempts, execution.id)
            of_job = [attempt for attempt in attempts if attempt.job_id == job]
            if of_job[-1].is_open or self._is_being_built(of_job[-1]):
                continue
            how_often = f" {times} times" if len(of_job) > 1 else ""
            reason = f"given up{how_often}: {of_job[-1].reason or 'no agent has stated why'}"
            given = of_job[-1].job
            if isinstance(given, BuildJob) and await asyncio.to_thread(
                is_built, given.spec, of_job[-1].platform, self._lab
            ):
                # By agents that built it for another request.
                execution.forget_given_up(job)
                continue
            if isinstance(given, TrialsJob):
                failed = JobFailed(job=job, reason=reason)
                await asyncio.to_thread(self._work.store.fleet.take_in, [], [Outcome(of_job[-1], failed)])
                self._work.report(attempt_events(of_job[-1], failed))
                execution.take_in(given, failed)
            else:
                self._work.fail(execution.id, reason)
            # Not before it is recorded, which the store may be away for.
            execution.forget_given_up(job)

    def _is_being_built(self, attempt: Attempt) -> bool:
        return isinstance(attempt.job, BuildJob) and any(
            isinstance(other.job, BuildJob)
            and (other.platform, other.job.spec.digest) == (attempt.platform, attempt.job.spec.digest)
            for other in self._work.intake.attempts.values()
        )
