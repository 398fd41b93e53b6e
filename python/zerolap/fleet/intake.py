"""What agents report: checked against the attempts that they hold, recorded in batches, and answered."""

import asyncio
import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

import structlog
from pydantic import ValidationError

from zerolap.allowance import Allowance
from zerolap.fleet.delivery import AgentName
from zerolap.fleet.fleet_execution import record_build
from zerolap.fleet.messages import (
    LONGEST_NAME,
    PROTOCOL,
    Claim,
    GiveUp,
    Heartbeat,
    Hello,
    Message,
    MessageReply,
    Report,
    Version,
    has_zero_byte,
    message_json,
    read_message,
    version_of,
)
from zerolap.fleet.roster import PresentAgent, Roster, recorded_platform
from zerolap.fleet.uploads import Uploads
from zerolap.records import (
    AttemptState,
    BuildDone,
    BuildJob,
    EnvironmentMissing,
    Event,
    FirstFault,
    GivenJob,
    JobFailed,
    JobFinished,
    JobStarted,
    LoadJob,
    TrialDone,
    TrialsJob,
    UnreadableRecord,
    ZerolapError,
)
from zerolap.store import Attempt, NotConductor, Outcome, Store

REMEMBERED: Final = 10_000
"""Ended attempts whose agents may send their last report again."""
RETRY_SECONDS: Final = 0.5
PUBLICATIONS_FOR_OTHERS: Final = 3
"""How often a job is published again for agents that have not given it up: they may be resting, or gone."""
MOST_AT_ONCE: Final = 500
MOST_GIVEN_UP: Final = 20.0
GIVEN_UP_PER_SECOND: Final = 1 / 60
"""An agent that gives up more jobs is given none for a while: less than one that rests by itself after each."""
MOST_INTRODUCTIONS: Final = 30.0
INTRODUCTIONS_PER_SECOND: Final = 1 / 5
MOST_STATES: Final = 100
"""The most states of an agent's machine that are recorded while the conductor runs. A new kernel makes a new state."""
LONGEST_FACTS: Final = 100_000
"""Characters of a machine's facts: those of 500 processors have 10,000."""
LARGEST_INTEGER: Final = (1 << 31) - 1
"""The largest integer that a column of the database takes."""

log = structlog.get_logger("zerolap.conductor")


@dataclass
class _Change:
    """What is to be recorded: an attempt, or an outcome, and who waits for that."""

    attempt: Attempt | None = None
    outcome: Outcome | None = None
    done: "asyncio.Future[str]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())


@dataclass
class _Allowances:
    """How often an agent may do what costs others something; `states` are those of its machine that are recorded."""

    given_up: Allowance = field(default_factory=lambda: Allowance(MOST_GIVEN_UP, GIVEN_UP_PER_SECOND))
    introductions: Allowance = field(default_factory=lambda: Allowance(MOST_INTRODUCTIONS, INTRODUCTIONS_PER_SECOND))
    states: set[str] = field(default_factory=set)

    @property
    def is_resting(self) -> bool:
        """Whether the agent has given up so many jobs that it is given no other."""
        return self.given_up.left < 0


class Intake:
    """Holds the attempts that have not ended; `on_event` is called with what was recorded of a job, and at its start.

    `on_load` is called with an attempt, the address at which its agent waits for load and the digest of the certificate
    there, and returns their secret.

    The store is written by one thread, many messages at a time; a message is answered once that is done.
    """

    def __init__(
        self,
        store: Store,
        roster: Roster,
        on_event: Callable[[Attempt, Event | None], None],
        on_load: Callable[[Attempt, str, str], str],
    ) -> None:
        self.attempts: dict[str, Attempt] = {}
        self._store = store
        self._roster = roster
        self._on_event = on_event
        self._on_load = on_load
        self._ended: OrderedDict[str, str] = OrderedDict()
        self.uploads = Uploads(store.builds_directory.parent / "uploads", store.blobs)
        self._allowances: defaultdict[str, _Allowances] = defaultdict(_Allowances)
        self._gave_up: dict[str, set[str]] = {}
        self._heard: dict[str, float] = {}
        self._recalled: set[str] = set()
        self._changes: list[_Change] = []
        self._has_changes = asyncio.Event()
        self._has_ended = threading.Event()

    # Attempts.

    def recall(self, attempts: Iterable[Attempt]) -> None:
        """Take in attempts that an earlier conductor has left."""
        self.open(attempts)
        self._recalled = {attempt.id for attempt in self.attempts.values() if attempt.state == "ready"}
        self.uploads.recall(self.attempts.keys())

    def open(self, attempts: Iterable[Attempt]) -> None:
        """Take in attempts that have not ended."""
        for attempt in attempts:
            self.attempts[attempt.id] = attempt
            # Who held it may go on holding it after the conductor was away.
            self._heard[attempt.id] = time.monotonic()

    def close(self, identity: str) -> list[Attempt]:
        """Forget the attempts of a request that has ended, and return them."""
        closed = [attempt for attempt in self.attempts.values() if attempt.request == identity]
        for attempt in closed:
            self._forget(attempt)
            self._gave_up.pop(attempt.job_id, None)
        return closed

    def published(self, attempts: Iterable[Attempt]) -> list[Attempt]:
        """Count a publication of these attempts and return them as they are now."""
        counted = [
            replace(self.attempts[attempt.id], publications=self.attempts[attempt.id].publications + 1)
            for attempt in attempts
            if attempt.id in self.attempts
        ]
        self.attempts.update({attempt.id: attempt for attempt in counted})
        return counted

    def is_held(self, attempt: Attempt) -> bool:
        """Whether the agent of an attempt was heard of it within a lease."""
        silent = time.monotonic() - self._heard.get(attempt.id, 0.0)
        return attempt.state == "claimed" and silent <= self._roster.lease_seconds

    async def give_up(self, attempt: Attempt, reason: str) -> None:
        """End an attempt that the bus, or its agent, has given up; of several calls at a time one counts."""
        await self._record(_Change(attempt=replace(attempt, state="given up", ended=time.time(), reason=reason)))
        if attempt.id not in self.attempts:
            # Its agent has repeated its message while the store was away.
            return
        self._forget(attempt)
        self._on_event(replace(attempt, state="given up", reason=reason), None)

    async def release(self, agent: str, reason: str) -> None:
        """Give up all attempts that an agent holds: others are to try them at once."""
        for attempt in [one for one in self.attempts.values() if one.agent == agent and one.state == "claimed"]:
            await self.give_up(attempt, reason)

    # Messages.

    async def reply(self, name: AgentName, content: bytes) -> bytes:
        """Return the answer to a message of an agent."""
        try:
            message = read_message(content)
        except ValidationError as fault:
            version = version_of(content)
            if version.message == "hello" and version.protocol != PROTOCOL:
                return await self._answered(name, lambda: self._refuse_version(name, version))
            if version.message != "hello" and self._roster.get(name) is None:
                return message_json(
                    MessageReply(accepted=False, unknown=True, reason="the agent has to introduce itself")
                )
            log.warning("a message cannot be read", agent=name.agent, fault=FirstFault.of(fault).what)
            return message_json(MessageReply(accepted=False, again=True, reason="the message cannot be read"))
        return await self._answered(name, lambda: self._reply(name, message))

    async def _answered(self, name: AgentName, answering: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return an answer, or that the agent is to ask again while the store cannot be used."""
        try:
            return await answering()
        except EnvironmentMissing as fault:
            log.error("a message cannot be answered", agent=name.agent, fault=fault.message)
            return message_json(MessageReply(accepted=False, again=True, reason="the store cannot be used"))
        except UnreadableRecord as fault:
            # Its request fails once the job is to be published again.
            log.error("a message cannot be answered", agent=name.agent, fault=fault.message)
            return message_json(MessageReply(accepted=False, reason=fault.message))

    async def _reply(self, name: AgentName, message: Message) -> bytes:
        if isinstance(message, Hello):
            if message.protocol != PROTOCOL:
                return await self._refuse_version(name, Version(protocol=message.protocol, zerolap=message.zerolap))
            return message_json(await self._introduce(name, message))
        present = self._roster.get(name)
        if present is None or present.refusal is not None:
            return message_json(MessageReply(accepted=False, unknown=True, reason="the agent has to introduce itself"))
        self._roster.saw(present)
        match message:
            case Heartbeat():
                answer = self._heartbeat(present, message)
            case Claim():
                answer = await self._claim(present, message)
            case Report():
                answer = await self._report(present, message)
            case GiveUp():
                answer = await self._give_up(present, message)
        is_draining = present.draining or self._allowances[name.agent].is_resting
        return message_json(answer.model_copy(update={"draining": is_draining}))

    async def _introduce(self, name: AgentName, hello: Hello) -> MessageReply:
        if not self._allowances[name.agent].introductions.take():
            return MessageReply(accepted=False, again=True, reason="the agent introduces itself too often")
        present = self._roster.introduce(name, hello)
        log.info("an agent is there", agent=name.agent, platform=name.platform, refusal=present.refusal)
        row = next(row for row in self._roster.rows() if row.name == name.agent)
        await asyncio.to_thread(self._store.fleet.saw_agents, [row])
        if present.refusal is None and hello.kind == "bench":
            await self._record_state(name, hello)
        return MessageReply(accepted=present.refusal is None, reason=present.refusal or "", draining=present.draining)

    async def _record_state(self, name: AgentName, hello: Hello) -> None:
        """Record the state of an agent's machine, to which its trials refer; of each agent a limited number of them."""
        states = self._allowances[name.agent].states
        digest = hello.platform.facts_digest
        if digest not in states and len(states) < MOST_STATES and len(hello.platform.facts_json) <= LONGEST_FACTS:
            states.add(digest)
            machine = recorded_platform(hello.platform, name.platform, self._roster.platforms.get(name.platform))
            await asyncio.to_thread(self._store.record_platform, machine)

    async def _refuse_version(self, name: AgentName, version: Version) -> bytes:
        """Refuse an agent that speaks another protocol, and record the reason."""
        if not self._allowances[name.agent].introductions.take():
            return message_json(
                MessageReply(accepted=False, again=True, reason="the agent introduces itself too often")
            )
        row = self._roster.refuse_version(name, version)
        log.warning("an agent is refused", agent=name.agent, platform=name.platform, reason=row.refusal)
        await asyncio.to_thread(self._store.fleet.saw_agents, [row])
        return message_json(MessageReply(accepted=False, reason=row.refusal or ""))

    def _heartbeat(self, present: PresentAgent, message: Heartbeat) -> MessageReply:
        if message.attempt is None:
            return MessageReply(accepted=True)
        attempt = self.attempts.get(message.attempt)
        if attempt is not None and attempt.id in self._recalled and attempt.platform == present.name.platform:
            return MessageReply(accepted=True)
        if attempt is None or not _holds(present, attempt):
            return MessageReply(accepted=False, reason=_why_not(attempt))
        self._heard[attempt.id] = time.monotonic()
        return MessageReply(accepted=True)

    async def _claim(self, present: PresentAgent, message: Claim) -> MessageReply:
        attempt = self.attempts.get(message.attempt)
        if attempt is None:
            return MessageReply(accepted=False, reason="the attempt has ended")
        if refusal := self._claim_refusal(present, attempt, message):
            return MessageReply(accepted=False, reason=refusal)
        is_loaded = self._roster.load_of(attempt.platform, attempt.job) is not None
        was_tried = attempt.state == "claimed" or attempt.publications > 1 or message.delivery > 1
        is_repeated = _holds(present, attempt) and message.delivery == attempt.delivery
        # Recorded before the job is begun: one that ends the process is not to be begun for ever.
        refusal = await self._record(self._hold(attempt, present, message.delivery, starts=0 if is_repeated else 1))
        held = self.attempts.get(attempt.id)
        if refusal or held is None or not _holds(present, held):
            return MessageReply(accepted=False, reason=refusal or _why_not(held))
        secret = ""
        if is_loaded and message.load_address is not None and message.load_certificate is not None:
            secret = self._on_load(attempt, message.load_address, message.load_certificate)
        recorded: tuple[TrialDone, ...] = ()
        if isinstance(attempt.job, TrialsJob) and (was_tried or len(attempt.job.blocks) > 1):
            recorded = await asyncio.to_thread(self._store.fleet.recorded_trials, attempt.job.id)
        return MessageReply(accepted=True, recorded=recorded, load_secret=secret)

    def _claim_refusal(self, present: PresentAgent, attempt: Attempt, message: Claim) -> str:
        """Return why an agent may not carry out an attempt; empty if it may."""
        if attempt.platform != present.name.platform:
            return f"the job is for {attempt.platform}"
        is_held_by_other = attempt.state == "claimed" and attempt.agent != present.name.agent
        # Heard of this job: an agent that was started again has forgotten it, and would keep others from it for ever.
        if is_held_by_other and message.delivery <= attempt.delivery and self.is_held(attempt):
            return f"{attempt.agent} holds the job"
        if self._allowances[present.name.agent].is_resting:
            return "it has given up too many jobs, and is given none for a while"
        if self._is_for_another(attempt, present):
            return "it has given up this job, and there is another agent to try it"
        has_place = message.load_address is not None and message.load_certificate is not None
        if self._roster.load_of(attempt.platform, attempt.job) is not None and not has_place:
            return "the claim does not state where load comes in"
        return ""

    def _hold(self, attempt: Attempt, present: PresentAgent, delivery: int, starts: int) -> _Change:
        """Have an agent hold an attempt that it begins, or has begun; return what is to be recorded of it."""
        claimed = replace(
            attempt,
            state="claimed",
            agent=present.name.agent,
            delivery=delivery,
            starts=attempt.starts + starts,
            claimed=time.time(),
        )
        self.attempts[attempt.id] = claimed
        self._recalled.discard(attempt.id)
        self._heard[attempt.id] = time.monotonic()
        self._on_event(claimed, JobStarted(job=claimed.job.id))
        return _Change(attempt=claimed)

    async def _report(self, present: PresentAgent, message: Report) -> MessageReply:
        attempt = self.attempts.get(message.attempt)
        if attempt is not None and attempt.id in self._recalled and attempt.platform == present.name.platform:
            # The conductor ended before it recorded that this agent holds it.
            self._note(self._hold(attempt, present, delivery=1, starts=0))
            attempt = self.attempts[attempt.id]
        if attempt is None and self._ended.get(message.attempt) == present.name.agent:
            # Its answer was lost.
            return MessageReply(accepted=True)
        if attempt is None or not _holds(present, attempt):
            return MessageReply(accepted=False, reason=_why_not(attempt))
        fault = _fault_of(message.event, attempt.job)
        if fault is None and message.end is not None:
            fault = _fault_of(message.end, attempt.job)
        fault = fault or await asyncio.to_thread(self._missing_file, attempt, message.event)
        if fault is not None:
            log.warning("a report is refused", agent=present.name.agent, attempt=attempt.id, fault=fault)
            return MessageReply(accepted=False, reason=fault)
        if self.attempts.get(attempt.id) is not attempt:
            return await self._report(present, message)
        self._heard[attempt.id] = time.monotonic()
        if isinstance(message.event, BuildDone) and isinstance(attempt.job, BuildJob):
            built, of_job = message.event, attempt.job
            builder = attempt.platform
            await asyncio.to_thread(self._retried, lambda: record_build(built, of_job, builder, self._store))
        events = [message.event] if message.end is None else [message.event, message.end]
        changes = [_Change(outcome=Outcome(attempt, event, _end_of(event))) for event in events]
        refusal = "".join(await asyncio.gather(*map(self._record, changes)))
        if refusal:
            return MessageReply(accepted=False, reason=refusal)
        if any(_end_of(event) is not None for event in events):
            self._forget(attempt)
            self._gave_up.pop(attempt.job.id, None)
        for event in events:
            self._on_event(attempt, event)
        return MessageReply(accepted=True)

    def _missing_file(self, attempt: Attempt, event: Event) -> str | None:
        """Put the files into the store that an event refers to; returns that one was not sent."""
        digests: list[str | None] = []
        if isinstance(event, BuildDone):
            digests = [event.artifact]
        elif isinstance(event, TrialDone):
            digests = [digest for measurement in event.measurements.values() for digest in measurement.blobs]
        for digest in digests:
            try:
                if digest is not None and not self.uploads.store(attempt.id, digest):
                    return f"the file {digest} was not sent"
            except ValueError as wrong:
                return str(wrong)
        return None

    async def _give_up(self, present: PresentAgent, message: GiveUp) -> MessageReply:
        attempt = self.attempts.get(message.attempt)
        if attempt is None or not _holds(present, attempt):
            return MessageReply(accepted=attempt is None, reason=_why_not(attempt))
        self._gave_up.setdefault(attempt.job.id, set()).add(present.name.agent)
        self._allowances[present.name.agent].given_up.take_in_advance()
        await self.give_up(attempt, f"{present.name.agent}: {message.reason}")
        return MessageReply(accepted=True)

    def _is_for_another(self, attempt: Attempt, present: PresentAgent) -> bool:
        """Whether an agent has given up a job that another one of its platform has not tried yet."""
        if attempt.publications > PUBLICATIONS_FOR_OTHERS:
            return False
        gave_up = self._gave_up.get(attempt.job.id, set())
        usable = {one.name.agent for one in self._roster.usable(attempt.platform)}
        return present.name.agent in gave_up and not usable <= gave_up

    def load_of(self, attempt: Attempt) -> Attempt | None:
        """Return the attempt, which has not ended, at the load of another attempt."""
        for other in self.attempts.values():
            if other.kind == "load" and isinstance(other.job, LoadJob) and other.job.attempt == attempt.id:
                return other
        return None

    def end_load(self, load: Attempt) -> None:
        """End an attempt at load, whose agent is answered so when it next reports."""
        self._forget(load)
        self._note(_Change(attempt=replace(load, state="done", ended=time.time())))

    def _forget(self, attempt: Attempt) -> None:
        if self._roster.load_for(attempt.platform, attempt.engine) is not None and (load := self.load_of(attempt)):
            self.end_load(load)
        self.attempts.pop(attempt.id, None)
        self._heard.pop(attempt.id, None)
        self.uploads.discard(attempt.id)
        if attempt.agent is not None:
            self._ended[attempt.id] = attempt.agent
            if len(self._ended) > REMEMBERED:
                self._ended.popitem(last=False)

    # Writing.

    async def _record(self, change: _Change) -> str:
        """Record a change with others that wait; returns why it cannot be recorded, empty if it is."""
        self._note(change)
        return await change.done

    def _note(self, change: _Change) -> None:
        self._changes.append(change)
        self._has_changes.set()

    async def write(self) -> None:
        """Record what comes in, until cancelled; waits where the database cannot be reached.

        Raises `NotConductor` if another process is the conductor by now; what came in last is not answered then.
        """
        try:
            while True:
                await self._has_changes.wait()
                changes, self._changes = self._changes[:MOST_AT_ONCE], self._changes[MOST_AT_ONCE:]
                if not self._changes:
                    self._has_changes.clear()
                refusals = await asyncio.to_thread(self._written, changes)
                for change, refusal in zip(changes, refusals, strict=True):
                    if not change.done.done():
                        change.done.set_result(refusal)
        finally:
            # Threads that wait for a database would keep the process from its end.
            self._has_ended.set()

    def _written(self, changes: list[_Change]) -> list[str]:
        """Record changes and return why each could not be, in their order; empty for those that are recorded."""
        try:
            self._retried(lambda: self._take_in(changes))
        except NotConductor:
            raise
        except Exception as fault:  # noqa: BLE001 - a change that cannot be recorded keeps no other from it
            if len(changes) == 1:
                return [_refusal(fault)]
            return [refusal for change in changes for refusal in self._written([change])]
        return ["" for _ in changes]

    def _take_in(self, changes: list[_Change]) -> None:
        attempts = [change.attempt for change in changes if change.attempt is not None]
        outcomes = [change.outcome for change in changes if change.outcome is not None]
        self._store.fleet.take_in(attempts, outcomes)

    def _retried(self, work: Callable[[], None]) -> None:
        """Do work in the store, again and again as long as the database cannot be reached."""
        while True:
            try:
                work()
                return
            except EnvironmentMissing as fault:
                log.error("the store cannot be written to", fault=fault.message)
                if self._has_ended.wait(RETRY_SECONDS):
                    raise


def _refusal(fault: Exception) -> str:
    if isinstance(fault, ZerolapError | ValueError):
        return str(fault)
    # The error of a database has the whole statement in it.
    log.error("what was reported cannot be recorded", exc_info=fault)
    return f"it cannot be recorded: {type(fault).__name__}"


def _holds(present: PresentAgent, attempt: Attempt) -> bool:
    return attempt.state == "claimed" and attempt.agent == present.name.agent


def _why_not(attempt: Attempt | None) -> str:
    return "the attempt has ended" if attempt is None else f"{attempt.agent or 'no agent'} holds the job"


def _end_of(event: Event) -> AttemptState | None:
    match event:
        case BuildDone() | JobFinished():
            return "done"
        case JobFailed():
            return "failed"
    return None


def _fault_of(event: Event, job: GivenJob) -> str | None:
    """Return why an event cannot be of a job."""
    if not isinstance(event, BuildDone | TrialDone | JobFinished | JobFailed):
        return f"an event `{event.event}` is not recorded"
    if event.job != job.id:
        return "the event is of another job"
    if not isinstance(event, JobFailed) and has_zero_byte(event.model_dump()):
        return "a text has a character with the code 0, which a database does not take"
    return _fault_of_kind(event, job)


def _fault_of_kind(event: BuildDone | TrialDone | JobFinished | JobFailed, job: GivenJob) -> str | None:
    """Return why jobs of its kind have no such event, or what is wrong in the event."""
    if isinstance(event, BuildDone):
        return _fault_of_build(event, job)
    if isinstance(event, JobFailed):
        return None
    if isinstance(job, BuildJob) or (isinstance(job, LoadJob) and isinstance(event, TrialDone)):
        return f"a job of the kind `{job.kind}` has no event `{event.event}`"
    return _fault_of_trials(event, job) if isinstance(event, TrialDone) and isinstance(job, TrialsJob) else None


def _fault_of_build(event: BuildDone, job: GivenJob) -> str | None:
    if not isinstance(job, BuildJob):
        return "the job is no build"
    if event.build.build != job.spec.digest:
        return f"the build is {event.build.build}, not {job.spec.digest}"
    return None if event.abilities is not None else "the build has no abilities"


def _fault_of_trials(event: TrialDone, job: TrialsJob) -> str | None:
    if event.block not in {block.number for block in job.blocks}:
        return f"the job has no block {event.block}"
    if not event.measurements or not event.measurements.keys() <= job.servers.keys():
        return "the job has other sides"
    for measurement in event.measurements.values():
        if any(len(name) > LONGEST_NAME for name in measurement.metrics):
            return f"the name of a metric is longer than {LONGEST_NAME} characters"
        if abs(measurement.method) > LARGEST_INTEGER:
            return "the version of the method is too large"
    return None
