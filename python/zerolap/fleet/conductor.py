"""The conductor: the planner in a loop over the store, with a bus between it and the agents.

The store is the truth. An attempt at a job is a row before it is published, results are rows before they are answered,
and what the bus loses is published again: the conductor can be killed at any moment, and the bus be emptied.
"""

import asyncio
import contextlib
import itertools
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import structlog
from pydantic import ValidationError

from zerolap.events import (
    LabEvent,
    attempt_events,
    end_events,
    request_event,
    submitted_event,
)
from zerolap.fleet.delivery import LEASE_SECONDS, MAX_DELIVERIES, AgentName, BusLost, Dispatcher, JobMessage
from zerolap.fleet.fleet_execution import FleetExecution, is_built
from zerolap.fleet.intake import Intake
from zerolap.fleet.lock_watch import LockWatch
from zerolap.fleet.losses import Losses
from zerolap.fleet.messages import OfferedJob, message_json, subject_of
from zerolap.fleet.roster import Roster, ServedPlatform
from zerolap.fleet.setup.attempt_tokens import Grant, Tokens
from zerolap.fleet.turns import Turns, aged_priority, new_attempt
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
    Priority,
    RequestState,
    TrialsJob,
    UnreadableRecord,
    ZerolapError,
)
from zerolap.sandbox import SandboxPolicy
from zerolap.store import Attempt, NotConductor, Outcome, Store

ATTEMPTS_PER_JOB: Final = 3
"""A job that was given up so often has failed, but not before `Pace.patience_seconds` are over."""
PATIENCE_SECONDS: Final = 300.0
MANY_PUBLICATIONS: Final = 50
"""A job that was lost so often is published seldom from then on: agents may take it from the queue unread."""
SELDOM_SECONDS: Final = 60.0
MOST_STARTS: Final = 10
"""A job that was begun so often without an end has ended the process, or the machine, each time: its request fails."""
POLL_SECONDS: Final = 0.5
SWEEP_SECONDS: Final = 5.0
PULL_SECONDS: Final = 2 * 3600.0
LEAST_PLANNING_SECONDS: Final = 0.05
AGAIN_SECONDS: Final = 2.0
"""For so long a plan with jobs left is used after something was recorded."""
_END_WORDS: Final[Mapping[type[object], str]] = {BuildDone: "done", JobFinished: "done", JobFailed: "failed"}
"""What the last event of a job means."""
STORED_STATES: Final[dict[RequestState, DocumentState]] = {"failed": "failed"}
"""The state of a request whose request ended early; `interrupted` for all others."""

log = structlog.get_logger("zerolap.conductor")


@dataclass(frozen=True)
class Pace:
    """How often the conductor looks at what nothing reports to it, how long leases are, and how long jobs are tried.

    A job that agents give up is tried again for `patience_seconds`: their disks may be full for a moment. A request of
    the priority `pull` may take `pull_seconds` of agents' time, so that it cannot hold them for hours.
    """

    lease_seconds: float = LEASE_SECONDS
    poll_seconds: float = POLL_SECONDS
    sweep_seconds: float = SWEEP_SECONDS
    patience_seconds: float = PATIENCE_SECONDS
    pull_seconds: float = PULL_SECONDS


@dataclass(frozen=True)
class _Publication:
    """With what priority an attempt was published last, and when by the monotonic clock."""

    priority: Priority
    time: float


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
        self._on_event = on_event
        self._lock = LockWatch(store, self._pace.poll_seconds)
        self.trouble: str | None = None
        self.roster = Roster(platforms, self._pace.lease_seconds)
        self.executions: dict[str, FleetExecution] = {}
        self.intake = Intake(store, self.roster, self._happened, self._give_load)
        self._to_plan: set[str] = set()
        self._to_plan_grew = asyncio.Event()
        self._unplanned: set[str] = set()
        self._unrecorded: list[Attempt] = []
        self._unpublished: set[str] = set()
        self._turns = Turns(self.roster)
        self.ended_jobs: Counter[tuple[str, ...]] = Counter()
        """Jobs that agents have ended since the start: by platform, kind and end."""
        self._wake = asyncio.Event()
        self._losses = Losses(self._pace.sweep_seconds)
        self._published: dict[str, _Publication] = {}
        self._known_changes = -1
        self._swept = 0.0
        self._polled = 0.0

    async def run(self) -> None:
        """Work until cancelled; raises a group with `NotConductor` once another process may work on the store."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._lock.run())
            await self._begin()
            group.create_task(self.intake.write())
            group.create_task(self._plan_always())
            await self._dispatcher.answer(self._answer)
            log.info("working", requests=len(self.executions), attempts=len(self.intake.attempts))
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._pace.poll_seconds):
                        await self._wake.wait()
                self._wake.clear()
                try:
                    await self._step()
                    self.trouble = None
                except BusLost as lost:
                    await self._wait_out(f"the bus cannot be reached: {lost}")
                except EnvironmentMissing as fault:
                    await self._wait_out(f"the store cannot be used: {fault.message}")

    async def _answer(self, name: AgentName, content: bytes) -> bytes | None:
        """Answer a message of an agent, unless it came when this was not the conductor any more."""
        try:
            answer = await self.intake.answer(name, content)
            await self._lock.confirm()
        except NotConductor:
            return None
        return answer

    async def _wait_out(self, trouble: str) -> None:
        if trouble != self.trouble:
            log.error("waiting", trouble=trouble)
        self.trouble = trouble
        # What the bus has lost is looked for as soon as it is there again.
        self._swept = 0.0
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
        self._unpublished = {attempt.id for attempt in attempts if not attempt.publications}

    async def _step(self) -> None:
        # What is done on the bus needs it too.
        await self._lock.confirm()
        now = time.monotonic()
        if now - self._polled >= self._pace.poll_seconds:
            self._polled = now
            await self._poll()
        since_sweep = now - self._swept
        if since_sweep >= self._pace.sweep_seconds:
            self._swept = now
            await self._sweep()
            # After a start, or where the process was stopped, agents have not worked all the time.
            self._fail_beyond_limit(min(since_sweep, 2 * self._pace.sweep_seconds))
        await self._end_failing()
        await self._feed()

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
        self._plan_where_needed()
        if self.roster.changes != self._known_changes:
            # What waits for an agent may have one by now.
            self._known_changes = self.roster.changes
            self._plan_soon(identity for identity, execution in self.executions.items() if execution.waits_for)

    async def _take_up(self, identity: str) -> None:
        """Begin to work on a request, unless it has ended since it was found; raises `UnreadableRecord`."""
        work = await asyncio.to_thread(self._store.request, identity)
        if work.ended is not None:
            return
        request = work.request
        attempts = await asyncio.to_thread(self._store.fleet.ended_attempts, request.id)
        self.executions[request.id] = FleetExecution(request, self.roster, self._lab, work.submitted)
        log.info("taken up", request=identity, platform=request.platform)
        self._on_event(submitted_event(request))
        self._unplanned.add(request.id)
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
        self._tell(end_events(work))
        await self._dispatcher.purge(identity)
        for platform in {attempt.platform for attempt in closed}:
            await self._dispatcher.cancel(platform, identity)
        # A build that others wait for is begun again for them.
        self._plan_soon(self.executions)

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

    # Planning.

    def _note_built(self, build: str, builder: str) -> None:
        """Note a build in all requests that may have waited for it: those of platforms with this builder."""
        for waiting in self.executions.values():
            if self.roster.builder_of(waiting.platform) == builder:
                waiting.note_built(build)

    def _happened(self, attempt: Attempt, event: Event | None) -> None:
        """Note what was recorded of an attempt; `event` is none if it was given up."""
        if not self._is_readable(attempt):
            return
        self._tell(attempt_events(attempt, event))
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
                self._give_load(loaded, attempt.job.address, attempt.job.certificate)
        elif execution is not None:
            if event is None:
                self._gave_up(attempt)
            else:
                execution.take_in(attempt.job, event)
            self._plan_soon([attempt.request])
        self._wake.set()

    def _happened_to_build(self, attempt: Attempt, job: BuildJob, event: Event | None) -> None:
        """Note what was recorded of a build, for which several requests may wait."""
        if isinstance(event, BuildDone):
            self._note_built(job.spec.digest, attempt.platform)
        self._plan_soon(self.executions)
        if isinstance(event, JobFailed):
            self._fail(attempt.request, event.reason, event.hint)
        elif event is None:
            self._gave_up(attempt)

    def _gave_up(self, attempt: Attempt) -> None:
        """Have a job tried again by another agent, unless several gave it up."""
        execution = self.executions.get(attempt.request)
        if execution is None or isinstance(attempt.job, LoadJob):
            return
        times = execution.note_given_up(attempt.job.id, attempt.created)
        log.warning("given up", request=attempt.request, attempt=attempt.id, reason=attempt.reason, times=times)

    def _fail(self, identity: str, reason: str, hint: str = "") -> None:
        """Have a request ended that cannot go on."""
        execution = self.executions.get(identity)
        if execution is not None:
            execution.failure = f"{reason} (hint: {hint})" if hint else reason

    async def _end_failing(self) -> None:
        for execution in list(self.executions.values()):
            if execution.failure is not None:
                log.error("failed", request=execution.id, reason=execution.failure)
                await asyncio.to_thread(self._store.fleet.set_state, execution.id, "failed", execution.failure)
                if execution.id in self.executions:
                    await self._let_go(execution.id)

    async def _plan_always(self) -> None:
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
            execution = self.executions.get(identity)
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
            self._wake.set()

    def _plan_where_needed(self) -> None:
        """Plan what was taken up, but for requests of whose jobs agents have enough: a plan takes time and memory."""
        self._unplanned &= self.executions.keys()
        attempts = self.intake.attempts.values()
        with_attempts = {attempt.request for attempt in attempts}
        room = self._turns.room(attempts)
        needed = {
            identity
            for identity in self._unplanned
            if identity not in with_attempts or room.get(self.executions[identity].platform, 0) > 0
        }
        self._plan_soon(needed)

    def _plan_soon(self, identities: Iterable[str]) -> None:
        self._to_plan |= set(identities)
        self._to_plan_grew.set()

    async def _plan_for(self, execution: FleetExecution) -> None:
        identity = execution.id
        if identity not in self.executions:
            return
        try:
            await self._fail_given_up(execution)
            plan = await execution.plan()
            if plan.is_measured:
                document = await asyncio.to_thread(execution.finish)
                execution.is_ending = True
                if not await asyncio.to_thread(self._store.fleet.set_state, identity, "done"):
                    # It was ended otherwise, and is let go.
                    execution.is_ending = False
                    return
                self.executions.pop(identity, None)
                self.intake.close(identity)
                log.info("done", request=identity)
                self._tell(end_events(await asyncio.to_thread(self._store.outcome, execution.request), document))
                return
            execution.adopt(plan, {attempt.job_id for attempt in self.intake.attempts.values()})
            of_request = [attempt for attempt in self.intake.attempts.values() if attempt.request == identity]
            await self._record_waiting(execution, of_request)
        except EnvironmentMissing:
            execution.is_ending = False
            self._to_plan.add(identity)
            raise
        except NotConductor:
            raise
        except ZerolapError as fault:
            self._fail(identity, str(fault))
        except Exception as fault:
            # What agents reported ends the work on one request, not on all.
            log.error("results cannot be worked with", request=identity, exc_info=fault)
            self._fail(identity, f"its results cannot be worked with: {type(fault).__name__}: {fault}")

    async def _record_waiting(self, execution: FleetExecution, attempts: Sequence[Attempt]) -> None:
        """Record whether a request waits, and for what, unless that is recorded already, or the request has ended."""
        # Planning and the sweep call this at the same time: the second of them sees what the first has recorded.
        async with execution.recording:
            state: RequestState = "waiting" if execution.waits_for else "running"
            waits_for = execution.waits_for or self._missing_for(execution, attempts)
            reason = f"waits for {waits_for}" if waits_for else ""
            if execution.recorded == (state, reason):
                return
            if await asyncio.to_thread(self._store.fleet.set_state, execution.id, state, reason):
                execution.recorded = (state, reason)
                execution.times_recorded[state, reason] += 1
                times = execution.times_recorded[state, reason]
                self._on_event(request_event(execution.request, state, reason, times))

    def _missing_for(self, execution: FleetExecution, attempts: Sequence[Attempt]) -> str:
        """Return what keeps all jobs of a request from being carried out, `attempts` at them included."""
        if any(attempt.state == "claimed" for attempt in attempts):
            return ""
        # All planned jobs are builds, or none is.
        of_next = (self._turns.platform_of(execution, job) for job in itertools.islice(execution.planned.values(), 1))
        platforms = sorted({*(attempt.platform for attempt in attempts), *of_next})
        if platforms and not any(map(self.roster.usable, platforms)):
            return self.roster.snapshot().missing_agent(platforms[0])
        publications = max((attempt.publications for attempt in attempts), default=0)
        if publications >= MANY_PUBLICATIONS:
            return f"an agent that keeps its jobs, which were published {publications} times"
        return ""

    def _tell(self, events: Iterable[LabEvent]) -> None:
        for event in events:
            self._on_event(event)

    async def _fail_given_up(self, execution: FleetExecution) -> None:
        """Record the failure of jobs that several agents gave up, unless they are being tried once more."""
        for job, times in list(execution.given_up.items()):
            since = time.time() - execution.tried_since.get(job, 0.0)
            if times < ATTEMPTS_PER_JOB or since < self._pace.patience_seconds:
                continue
            attempts = await asyncio.to_thread(self._store.fleet.attempts, execution.id)
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
                await asyncio.to_thread(self._store.fleet.take_in, [], [Outcome(of_job[-1], failed)])
                self._tell(attempt_events(of_job[-1], failed))
                execution.take_in(given, failed)
            else:
                self._fail(execution.id, reason)
            # Not before it is recorded, which the store may be away for.
            execution.forget_given_up(job)

    def _is_being_built(self, attempt: Attempt) -> bool:
        """Whether what a job builds is just being built there for another request."""
        return isinstance(attempt.job, BuildJob) and any(
            isinstance(other.job, BuildJob)
            and (other.platform, other.job.spec.digest) == (attempt.platform, attempt.job.spec.digest)
            for other in self.intake.attempts.values()
        )

    # Giving out jobs.

    async def _feed(self) -> None:
        """Give out jobs, where agents have room for them: by priority, and in turn over requests."""
        chosen = self._turns.choose(self.executions.values(), self.intake.attempts.values())
        # Counted as given out from now on: where the store is away, they are recorded by the next call.
        self.intake.open(chosen)
        self._unrecorded = [one for one in [*self._unrecorded, *chosen] if one.id in self.intake.attempts]
        if recording := list(self._unrecorded):
            await asyncio.to_thread(self._store.fleet.add_attempts, recording)
            self._unpublished |= {attempt.id for attempt in recording}
            self._unrecorded = self._unrecorded[len(recording) :]
        unpublished = [self.intake.attempts[one] for one in self._unpublished if one in self.intake.attempts]
        if unpublished:
            await self._publish(unpublished)
        self._unpublished.clear()

    def _give_load(self, attempt: Attempt, address: str, certificate: str) -> str:
        """Have an agent put load on the servers of an attempt, and return the secret by which it connects to `address`.

        The attempt at it is recorded and published by the next step.
        """
        platform = self.roster.load_of(attempt.platform, attempt.job)
        before = self.intake.load_of(attempt)
        job = LoadJob(request=attempt.job.request, attempt=attempt.id, address=address, certificate=certificate)
        if platform is not None and (before is None or before.job != job):
            if before is not None:
                self.intake.end_load(before)
            load = new_attempt(attempt.request, platform, job)
            self.intake.open([load])
            self._unrecorded.append(load)
            self._wake.set()
        return self._load_secret(job)

    def _load_secret(self, job: LoadJob) -> str:
        # Not the token of an attempt, which would grant its files; another one for each port that waits for load.
        return self._tokens.token_for(f"load-{job.id}")

    async def _publish(self, attempts: Sequence[Attempt]) -> None:
        """Publish attempts, but for those that are too large; what the bus does not take is published by a sweep."""
        largest_bytes = self._dispatcher.largest_bytes()
        messages = []
        attempts = [attempt for attempt in attempts if self._is_readable(attempt)]
        for attempt in attempts:
            if attempt.starts >= MOST_STARTS:
                reason = f"a job was begun {attempt.starts} times, and what executed it ended each time"
                self._fail(attempt.request, f"{subject_of(attempt.job)}: {reason}")
                self._wake.set()
        for attempt in self.intake.published(one for one in attempts if one.starts < MOST_STARTS):
            job = attempt.job
            token = self._tokens.token_for(attempt.id)
            if isinstance(job, LoadJob):
                token = self._load_secret(job)
            load_host = self.roster.load_of(attempt.platform, job) or ""
            offered = OfferedJob(attempt=attempt.id, token=token, job=job, load_host=load_host)
            content = message_json(offered)
            if len(content) > largest_bytes:
                reason = f"the job has {len(content):,} bytes, and the bus takes {largest_bytes:,}"
                await self._give_up_for_good(attempt, reason)
                continue
            priority = self._priority_of(attempt)
            self._published[attempt.id] = _Publication(priority, time.monotonic())
            message = f"{attempt.id}.{attempt.publications}"
            messages.append(JobMessage(attempt.platform, priority, attempt.request, message, content))
        await self._dispatcher.publish(messages)

    def _is_readable(self, attempt: Attempt) -> bool:
        """Whether the job of an attempt can be read; its request fails if not."""
        try:
            return attempt.job is not None
        except UnreadableRecord as fault:
            self._fail(attempt.request, fault.message)
            self._wake.set()
            return False

    # What got lost.

    async def _sweep(self) -> None:
        """Publish again what the bus has lost, and end what it has given up; record which agents are there."""
        queues = await self._dispatcher.set_up({name: max(1, count) for name, count in self.roster.machines().items()})
        for content in await self._dispatcher.exhausted():
            await self._give_up_exhausted(content)
        kept = await self._dispatcher.waiting()
        unpublished = self._unpublished | {unrecorded.id for unrecorded in self._unrecorded}
        published = [attempt for attempt in self.intake.attempts.values() if attempt.id not in unpublished]
        held = {attempt.id for attempt in published if self.intake.is_held(attempt)}
        lost = self._losses.among(published, held, kept, queues)
        await self._publish([attempt for attempt in lost if self._is_due(attempt)])
        self._losses.made_good(queues)
        await self._publish([attempt for attempt in published if self._has_risen(attempt)])
        self._published = {one: how for one, how in self._published.items() if one in self.intake.attempts}
        by_request = defaultdict(list)
        for attempt in self.intake.attempts.values():
            by_request[attempt.request].append(attempt)
        for execution in list(self.executions.values()):
            if execution.recorded is not None:
                await self._record_waiting(execution, by_request[execution.id])
        await asyncio.to_thread(self._store.fleet.saw_agents, self.roster.rows())

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
                self._fail(attempt.request, f"it took agents more than {minutes:g} minutes", hint)

    def _is_due(self, lost: Attempt) -> bool:
        """Whether an attempt that was lost is to be published again now."""
        before = self._published.get(lost.id)
        is_long_ago = before is None or time.monotonic() - before.time >= SELDOM_SECONDS
        return lost.publications < MANY_PUBLICATIONS or is_long_ago

    def _priority_of(self, attempt: Attempt) -> Priority:
        execution = self.executions.get(attempt.request)
        return "pull" if execution is None else aged_priority(execution)

    def _has_risen(self, attempt: Attempt) -> bool:
        """Whether an attempt that waits on the bus is of a higher priority now than when it was published."""
        execution = self.executions.get(attempt.request)
        if execution is None or attempt.state != "ready":
            return False
        before = self._published.get(attempt.id)
        published_as = execution.request.priority if before is None else before.priority
        return aged_priority(execution) != published_as

    async def _give_up_exhausted(self, content: bytes) -> None:
        try:
            offered = OfferedJob.model_validate_json(content)
        except ValidationError:
            return
        attempt = self.intake.attempts.get(offered.attempt)
        if attempt is None:
            return
        if attempt.state != "claimed" or attempt.delivery < MAX_DELIVERIES:
            # Agents gave it back because the conductor did not answer.
            await self._publish([attempt] if self._is_due(attempt) else [])
            return
        # No agent came to its end with it.
        await self._give_up_for_good(attempt, "it was delivered again and again, and no agent ended it")

    async def _give_up_for_good(self, attempt: Attempt, reason: str) -> None:
        """Give up an attempt whose job is not to be tried again."""
        execution = self.executions.get(attempt.request)
        if execution is not None:
            execution.given_up[attempt.job_id] = ATTEMPTS_PER_JOB - 1
            execution.tried_since[attempt.job_id] = 0.0
        await self.intake.give_up(attempt, reason)
