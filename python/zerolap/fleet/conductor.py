"""The conductor: the planner in a loop over the store, with a bus between it and the agents.

The store is the truth. An attempt at a job is a row before it is published, results are rows before they are answered,
and what the bus loses is published again: the conductor can be killed at any moment, and the bus be emptied.
"""

import asyncio
import contextlib
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import structlog

from zerolap.events import (
    LabEvent,
    attempt_events,
    end_events,
    submitted_event,
)
from zerolap.fleet.delivery import LEASE_SECONDS, AgentName, BusLost, Dispatcher
from zerolap.fleet.fleet_execution import FleetExecution
from zerolap.fleet.intake import Intake
from zerolap.fleet.lock_watch import LockWatch
from zerolap.fleet.open_work import OpenWork
from zerolap.fleet.publisher import Publisher
from zerolap.fleet.request_planning import RequestPlanning
from zerolap.fleet.roster import Roster, ServedPlatform
from zerolap.fleet.setup.attempt_tokens import Grant, Tokens
from zerolap.fleet.turns import Turns
from zerolap.lab import Lab
from zerolap.records import (
    BuildDone,
    BuildJob,
    DocumentState,
    EnvironmentMissing,
    Event,
    JobFailed,
    JobFinished,
    JobStarted,
    LoadJob,
    RequestState,
    UnreadableRecord,
)
from zerolap.sandbox import SandboxPolicy
from zerolap.store import Attempt, NotConductor, Store

PATIENCE_SECONDS: Final = 300.0
POLL_SECONDS: Final = 0.5
REVIEW_SECONDS: Final = 5.0
PULL_SECONDS: Final = 2 * 3600.0
_END_WORDS: Final[Mapping[type[object], str]] = {BuildDone: "done", JobFinished: "done", JobFailed: "failed"}
"""What the last event of a job means."""
STORED_STATES: Final[dict[RequestState, DocumentState]] = {"failed": "failed"}
"""The state of the document of a request that ended early, by the state of the request; `interrupted` for the others.
"""

log = structlog.get_logger("zerolap.conductor")


@dataclass(frozen=True)
class Pace:
    """How often the conductor looks at what nothing reports to it, how long leases are, and how long jobs are tried.

    A job that agents give up is tried again for `patience_seconds`: their disks may be full for a moment. A request of
    the priority `pull` may take `pull_seconds` of agents' time, so that it cannot hold them for hours.
    """

    lease_seconds: float = LEASE_SECONDS
    poll_seconds: float = POLL_SECONDS
    review_seconds: float = REVIEW_SECONDS
    patience_seconds: float = PATIENCE_SECONDS
    pull_seconds: float = PULL_SECONDS


class Conductor:
    """Works on all requests of a store; there is one conductor a store at a time.

    `trouble` is why nothing can be given out or recorded at the moment. `on_event` is called in the event loop with
    what happens, once it is recorded.
    """

    def __init__(
        self,
        store: Store,
        dispatcher: Dispatcher,
        platforms: Sequence[ServedPlatform],
        *,
        tokens: Tokens | None = None,
        pace: Pace | None = None,
        sandbox: SandboxPolicy = SandboxPolicy.REQUIRED,
        on_event: Callable[[LabEvent], None] = lambda _event: None,
    ) -> None:
        self._store = store
        self._dispatcher = dispatcher
        self._pace = pace or Pace()
        self._tokens = tokens or Tokens(secrets.token_bytes(32))
        self._lab = Lab(store, sandbox=sandbox)
        self._lock = LockWatch(store, self._pace.poll_seconds)
        self.trouble: str | None = None
        self.roster = Roster(platforms, self._pace.lease_seconds)
        self.intake = Intake(store, self.roster, self._happened, self._give_load)
        self._work = OpenWork(store, self.roster, self.intake, on_event)
        self.executions = self._work.executions
        turns = Turns(self.roster)
        self._planning = RequestPlanning(self._work, self._lab, turns, self._pace.patience_seconds, self._wait_out)
        self._publisher = Publisher(self._work, dispatcher, self._tokens, turns, self._pace.review_seconds)
        self.ended_jobs: Counter[tuple[str, ...]] = Counter()
        """Jobs that agents have ended since the start: by platform, kind and end."""
        self._known_changes = -1
        self._reviewed = 0.0
        self._polled = 0.0

    async def run(self) -> None:
        """Work until cancelled; raises a group with `NotConductor` once another process may work on the store."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._lock.run())
            await self._begin()
            group.create_task(self.intake.write())
            group.create_task(self._planning.run())
            await self._dispatcher.reply(self._reply)
            log.info("working", requests=len(self.executions), attempts=len(self.intake.attempts))
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._pace.poll_seconds):
                        await self._work.wake.wait()
                self._work.wake.clear()
                try:
                    await self._step()
                    self.trouble = None
                except BusLost as lost:
                    await self._wait_out(f"the bus cannot be reached: {lost}")
                except EnvironmentMissing as fault:
                    await self._wait_out(f"the store cannot be used: {fault.message}")

    async def _reply(self, name: AgentName, content: bytes) -> bytes | None:
        """Answer a message of an agent, unless it came when this was not the conductor any more."""
        try:
            answer = await self.intake.reply(name, content)
            await self._lock.confirm()
        except NotConductor:
            return None
        return answer

    async def _wait_out(self, trouble: str) -> None:
        if trouble != self.trouble:
            log.error("waiting", trouble=trouble)
        self.trouble = trouble
        # What the bus has lost is looked for as soon as it is there again.
        self._reviewed = 0.0
        await asyncio.sleep(self._pace.poll_seconds)

    def grant(self, token: str) -> Grant | None:
        """Return what the holder of a token may read and write, none if its attempt has ended."""
        attempt = self.intake.attempts.get(self._tokens.attempt_of(token) or "")
        return None if attempt is None else Grant(attempt)

    # What there is.

    async def _begin(self) -> None:
        """Take in what an earlier conductor has left, once the store can be used."""
        while True:
            try:
                await asyncio.to_thread(self._load)
                return
            except EnvironmentMissing as fault:
                await self._wait_out(f"the store cannot be used: {fault.message}")

    def _load(self) -> None:
        fleet = self._store.fleet
        fleet.set_platforms([platform.row for platform in self.roster.platforms.values()])
        for known in fleet.agents():
            self.roster.recall(known)
        unreadable: dict[str, str] = {}

        def note(request: str, fault: UnreadableRecord) -> None:
            unreadable[request] = fault.message

        attempts = fleet.open_attempts(note)
        for request, reason in unreadable.items():
            log.error("failed", request=request, reason=reason)
            fleet.set_state(request, "failed", reason)
        attempts = [attempt for attempt in attempts if attempt.request not in unreadable]
        if not self._dispatcher.outlives_conductor:
            attempts = [replace(attempt, state="ready", agent=None, publications=0) for attempt in attempts]
        self.intake.recall(attempts)
        self._publisher.recall(attempts)

    async def _step(self) -> None:
        # What is done on the bus needs it too.
        await self._lock.confirm()
        now = time.monotonic()
        if now - self._polled >= self._pace.poll_seconds:
            self._polled = now
            await self._poll()
        since_review = now - self._reviewed
        if since_review >= self._pace.review_seconds:
            self._reviewed = now
            await self._review()
            # After a start, or where the process was stopped, agents have not worked all the time.
            self._fail_beyond_limit(min(since_review, 2 * self._pace.review_seconds))
        await self._end_failing()
        await self._publisher.feed()

    async def _poll(self) -> None:
        """Take in requests that are new, and let go of those that were cancelled or superseded."""
        orders = await asyncio.to_thread(self._store.fleet.orders)
        for identity in orders.open_requests:
            if identity not in self.executions:
                try:
                    await self._take_up(identity)
                except UnreadableRecord as fault:
                    log.error("failed", request=identity, reason=fault.message)
                    await asyncio.to_thread(self._store.fleet.set_state, identity, "failed", fault.message)
        is_open = set(orders.open_requests)
        for identity in [identity for identity in self.executions if identity not in is_open]:
            await self._let_go(identity)
        self.roster.set_draining(orders.draining)
        self._planning.plan_where_needed()
        if self.roster.changes != self._known_changes:
            # What waits for an agent may have one by now.
            self._known_changes = self.roster.changes
            self._planning.plan_soon(identity for identity, execution in self.executions.items() if execution.waits_for)

    async def _take_up(self, identity: str) -> None:
        """Begin to work on a request, unless it has ended since it was found; raises `UnreadableRecord`."""
        work = await asyncio.to_thread(self._store.request, identity)
        if work.ended is not None:
            return
        request = work.request
        attempts = await asyncio.to_thread(self._store.fleet.ended_attempts, request.id)
        self.executions[request.id] = FleetExecution(request, self.roster, self._lab, work.submitted)
        log.info("taken up", request=identity, platform=request.platform)
        self._work.on_event(submitted_event(request))
        self._planning.note_taken_up(request.id)
        for attempt in attempts:
            if attempt.state == "given up" and attempt.kind != "load":
                self.executions[request.id].note_given_up(attempt.job, attempt.created)
            elif attempt.state in ("done", "failed"):
                self.executions[request.id].forget_given_up(attempt.job)

    async def _let_go(self, identity: str) -> None:
        """Stop working on a request that has ended in the store, and have its jobs stopped."""
        execution = self.executions.get(identity)
        if execution is None or execution.is_ending:
            # Planning has brought it to its end, and reports that.
            return
        self.executions.pop(identity)
        closed = self.intake.close(identity)
        try:
            await asyncio.to_thread(self._store.fleet.cancel_attempts, identity)
            work = await asyncio.to_thread(self._store.outcome, execution.request)
            async with execution.lock:
                # It may have come to its end while the open requests were read: its document is finished then.
                if work.state != "done":
                    await self._stop(execution, STORED_STATES.get(work.state, "interrupted"))
        except EnvironmentMissing:
            # The next poll tries again.
            self.executions[identity] = execution
            raise
        log.info("let go", request=identity, state=work.state, reason=work.reason)
        self._work.report(end_events(work))
        await self._dispatcher.purge(identity)
        for platform in {attempt.platform for attempt in closed}:
            await self._dispatcher.cancel(platform, identity)
        # A build that others wait for is begun again for them.
        self._planning.plan_soon(self.executions)

    async def _stop(self, execution: FleetExecution, state: DocumentState) -> None:
        """Record what there is of a request that ends early; without its results, if these cannot be read."""
        try:
            await asyncio.to_thread(execution.stop, state)
        except (EnvironmentMissing, NotConductor):
            raise
        except Exception as fault:
            # What agents reported ends the work on one request, not on all.
            log.error("results cannot be read", request=execution.id, exc_info=fault)
            await asyncio.to_thread(execution.stop_without_results, state)

    # What happened.

    def _note_built(self, build: str, builder: str) -> None:
        """Note a build in all requests that may have waited for it: those of platforms with this builder."""
        for waiting in self.executions.values():
            if self.roster.builder_of(waiting.platform) == builder:
                waiting.note_built(build)

    def _happened(self, attempt: Attempt, event: Event | None) -> None:
        """Note what was recorded of an attempt; `event` is none if it was given up."""
        if not self._work.is_readable(attempt):
            return
        self._work.report(attempt_events(attempt, event))
        if isinstance(event, JobStarted):
            return
        end = "given up" if event is None else _END_WORDS.get(type(event))
        if end is not None:
            self.ended_jobs[attempt.platform, attempt.job.kind, end] += 1
        execution = self.executions.get(attempt.request)
        if execution is not None and isinstance(event, BuildDone | JobFinished | JobFailed):
            execution.forget_given_up(attempt.job.id)
        if isinstance(attempt.job, BuildJob):
            self._happened_to_build(attempt, attempt.job, event)
        elif isinstance(attempt.job, LoadJob):
            loaded = self.intake.attempts.get(attempt.job.attempt)
            if loaded is not None and event is None:
                # The agent that measures goes on waiting for a while.
                self._publisher.give_load(loaded, attempt.job.address, attempt.job.certificate)
        elif execution is not None:
            if event is None:
                self._gave_up(attempt)
            else:
                execution.take_in(attempt.job, event)
            self._planning.plan_soon([attempt.request])
        self._work.wake.set()

    def _happened_to_build(self, attempt: Attempt, job: BuildJob, event: Event | None) -> None:
        """Note what was recorded of a build, for which several requests may wait."""
        if isinstance(event, BuildDone):
            self._note_built(job.spec.digest, attempt.platform)
        self._planning.plan_soon(self.executions)
        if isinstance(event, JobFailed):
            self._work.fail(attempt.request, event.reason, event.hint)
        elif event is None:
            self._gave_up(attempt)

    def _gave_up(self, attempt: Attempt) -> None:
        """Have a job tried again by another agent, unless several gave it up."""
        execution = self.executions.get(attempt.request)
        if execution is None or isinstance(attempt.job, LoadJob):
            return
        times = execution.note_given_up(attempt.job.id, attempt.created)
        log.warning("given up", request=attempt.request, attempt=attempt.id, reason=attempt.reason, times=times)

    async def _end_failing(self) -> None:
        for execution in list(self.executions.values()):
            if execution.failure is not None:
                log.error("failed", request=execution.id, reason=execution.failure)
                await asyncio.to_thread(self._store.fleet.set_state, execution.id, "failed", execution.failure)
                if execution.id in self.executions:
                    await self._let_go(execution.id)

    async def _review(self) -> None:
        """Publish again what the bus has lost, and record what requests wait for and which agents are there."""
        await self._publisher.publish_again()
        await self._planning.record_all_waiting()
        await asyncio.to_thread(self._store.fleet.saw_agents, self.roster.rows())

    def _give_load(self, attempt: Attempt, address: str, certificate: str) -> str:
        return self._publisher.give_load(attempt, address, certificate)

    def _fail_beyond_limit(self, seconds: float) -> None:
        """Count so many seconds for each agent that holds a job, and end requests that have taken too many."""
        for attempt in self.intake.attempts.values():
            execution = self.executions.get(attempt.request)
            if execution is None or execution.request.priority != "pull" or not self.intake.is_held(attempt):
                continue
            execution.agent_seconds += seconds
            if execution.agent_seconds > self._pace.pull_seconds:
                minutes = self._pace.pull_seconds / 60
                hint = "measure fewer cases, or raise agent_minutes_per_pull under [limits]"
                self._work.fail(attempt.request, f"it took agents more than {minutes:g} minutes", hint)
