"""An agent: takes jobs of its platform from the bus, executes them one at a time, and reports to the conductor."""

import asyncio
import contextlib
import functools
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import psutil
import structlog
from pydantic import ValidationError

from zerolap import __version__
from zerolap.build import Builds, all_tools
from zerolap.engines import COMPARING, Place, engine_named
from zerolap.fleet.delivery import LEASE_SECONDS, AgentLink, DeliveredJob
from zerolap.fleet.in_thread import EventsInThread
from zerolap.fleet.messages import (
    PROTOCOL,
    AgentKind,
    Claim,
    GiveUp,
    Heartbeat,
    Hello,
    MessageReply,
    OfferedJob,
    Report,
    Version,
    message_json,
    subject_of,
    version_of,
)
from zerolap.fleet.two_hosts import LoadFromElsewhere, put_load
from zerolap.host import fingerprint, hardware_counters, read_processors
from zerolap.lab import Worker
from zerolap.records import (
    TRACED,
    BuildDone,
    BuildJob,
    EnvironmentMissing,
    Event,
    Interrupted,
    JobFailed,
    JobFinished,
    LoadJob,
    Note,
    Record,
    TrialDone,
    TrialsJob,
    UsageError,
    ZerolapError,
)
from zerolap.sandbox import Cancellation, SandboxPolicy
from zerolap.store import Blobs

IDLE_SECONDS: Final = 10.0
"""How long an agent waits for a job before it reports that it is present."""
ASK_SECONDS: Final = 10.0
RETRY_SECONDS: Final = 1.0
LONGEST_REST_SECONDS: Final = 60.0
"""The longest time for which an agent takes no job after it has given up several in a row."""
MOST_GIVEN_UP: Final = 10
LEAST_FREE_BYTES: Final = 1 << 20
"""With less free space than this, a job may have failed for lack of space: another agent has to try it."""
OTHER_VERSION_SECONDS: Final = 300.0
"""How long an agent waits before it introduces itself again to a conductor that speaks another protocol."""
GIVEN_BACK_SECONDS: Final = 5.0
END_SECONDS: Final = 0.02
"""How long an agent waits after a trial for the end of its job, to report both at once."""
BEATS_PER_LEASE: Final = 4

log = structlog.get_logger("zerolap.agent")
T = TypeVar("T")


class JobFiles(Protocol):
    """How builds, sources and what measurements refer to travel between an agent and the conductor."""

    async def fetch(self, offered: OfferedJob) -> None:
        """Bring here what a job needs; raises `EnvironmentMissing` if it cannot be fetched."""

    async def send(self, offered: OfferedJob, event: Event) -> Event:
        """Send what an event refers to, and return the event to be reported; raises `EnvironmentMissing`."""

    async def clear(self) -> None:
        """Remove what was kept for a job that has ended."""


class FilesAreHere:
    """The agent shares the store and the builds of the conductor."""

    async def fetch(self, offered: OfferedJob) -> None:
        """Do nothing."""

    async def send(self, offered: OfferedJob, event: Event) -> Event:
        """Return the event as it is."""
        return event

    async def clear(self) -> None:
        """Do nothing."""


class JobLost(Exception):
    """An attempt does not count any more: it was cancelled, or another agent holds it."""


def boot_seconds() -> float:
    """Return the seconds since the machine was started, those included in which it was suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass
class Lease:
    """Whether an agent may still hold its attempt: it asked at most `seconds` ago for what was confirmed last.

    Bus and conductor count from when they receive the request, which is later. The clock goes on while the machine or
    the agent is suspended.
    """

    seconds: float
    confirmed: float = field(default_factory=boot_seconds)

    def confirm(self, sent: float) -> None:
        """Note that the lease was extended by what was sent at a time of `boot_seconds`."""
        self.confirmed = max(self.confirmed, sent)

    @property
    def seconds_left(self) -> float:
        """After how long another agent may be given the job; 0 if that is so now."""
        return max(0.0, self.confirmed + self.seconds - boot_seconds())

    @property
    def has_lapsed(self) -> bool:
        """Whether another agent may have been given the job."""
        return self.seconds_left == 0


@dataclass
class HeldJob:
    """A job that was delivered to an agent: `recorded` and `load` are known once it is claimed."""

    offered: OfferedJob
    delivered: DeliveredJob
    lease: Lease
    recorded: tuple[TrialDone, ...] = ()
    load: LoadFromElsewhere | None = None
    cancellation: Cancellation = field(default_factory=Cancellation)


@dataclass(frozen=True)
class AgentPlace:
    """What an agent has on its machine: builds, blobs, and the worker that executes jobs.

    `address` is where agents that put load on its servers reach it, empty if none do; `policy` holds for load
    generators, as that of `builds` does for code under test.
    """

    builds: Builds
    blobs: Blobs
    worker: Worker = field(default_factory=Worker)
    address: str = ""
    policy: SandboxPolicy = SandboxPolicy.REQUIRED

    def of_job(self, cancellation: Cancellation, recorded: tuple[TrialDone, ...]) -> Place:
        """Return the place of a job of which these trials are recorded."""
        return Place(self.builds, self.blobs, read_processors(), cancellation, recorded, reports_abilities=True)


class Agent:
    """Executes jobs until it is asked to end; `kind` is what it reports to be, `lease_seconds` those of the bus."""

    def __init__(
        self,
        kind: AgentKind,
        link: AgentLink,
        files: JobFiles,
        place: AgentPlace,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self._kind: AgentKind = kind
        self._link = link
        self._files = files
        self._place = place
        self._lease_seconds = lease_seconds
        self._missing: dict[str, str] = {}
        self._draining = False
        self._given_up = 0
        self._ending = asyncio.Event()
        self._stopping = asyncio.Event()
        self._current: tuple[str, Cancellation] | None = None

    def drain(self) -> None:
        """End once the job that is under way has ended; called again, stop that job too."""
        if self._ending.is_set():
            self._stopping.set()
            if self._current is not None:
                self._current[1].cancel()
        self._ending.set()

    async def run(self) -> None:
        """Take jobs until `drain` is called."""
        self._link.on_cancel(self._cancel)
        await self._introduce()
        log.info("waiting for jobs", kind=self._kind)
        while not self._ending.is_set():
            delivered = None if self._draining else await self._next_job()
            if delivered is not None:
                await self._take(delivered)
                continue
            if self._draining:
                await self._pause(RETRY_SECONDS)
            answer = await self._ask(Heartbeat())
            if answer is not None and answer.unknown:
                await self._introduce()
        log.info("ended")

    async def _next_job(self) -> DeliveredJob | None:
        """Return the next job; none if none came for a while, or the agent is to end."""
        delivered = await self._unless_set(self._ending, self._link.next_job(IDLE_SECONDS))
        if delivered is not None and self._ending.is_set():
            await delivered.give_back(0.1)
            return None
        return delivered

    async def _unless_set(self, event: asyncio.Event, work: Coroutine[Any, Any, T | None]) -> T | None:
        """Return what some work returns; none, ending the work, once an event is set."""
        working, waiting = asyncio.create_task(work), asyncio.create_task(event.wait())
        await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if not working.done():
            working.cancel()
        try:
            return await working
        except asyncio.CancelledError:
            return None

    async def _introduce(self) -> None:
        """Report what this machine is until the conductor answers."""
        hello = await asyncio.to_thread(_hello, self._kind, self._place.address)
        self._missing = hello.missing
        while not self._ending.is_set():
            answer = await self._ask(hello)
            if answer is not None and answer.accepted:
                self._draining = answer.draining
                return
            if answer is None or answer.again:
                await self._pause(RETRY_SECONDS)
                continue
            log.warning("the conductor gives this agent no jobs", reason=answer.reason)
            await self._pause(IDLE_SECONDS if answer.protocol == PROTOCOL else OTHER_VERSION_SECONDS)

    async def _take(self, delivered: DeliveredJob) -> None:
        """Claim a job and execute it."""
        try:
            offered: OfferedJob | None = OfferedJob.model_validate_json(delivered.content)
        except ValidationError:
            offered = None
        protocol = version_of(delivered.content).protocol if offered is None else offered.protocol
        if protocol not in (0, PROTOCOL):
            log.warning("a job is of another version of Zerolap", protocol=protocol, own=PROTOCOL)
            await delivered.give_back(GIVEN_BACK_SECONDS)
            await self._introduce()
            return
        if offered is None:
            log.warning("a message is no job")
            await delivered.refuse()
            return
        held = HeldJob(offered, delivered, Lease(self._lease_seconds))
        with contextlib.ExitStack() as stack:
            try:
                if offered.load_host:
                    # Of this job, so that the wait for the other agent ends once it is cancelled.
                    with held.cancellation.current():
                        held.load = stack.enter_context(
                            LoadFromElsewhere.awaited(self._place.address, offered.load_host)
                        )
            except ZerolapError as fault:
                self._gave_up(fault)
                await delivered.give_back(GIVEN_BACK_SECONDS)
                await self._rest()
                return
            await self._claim(held)

    async def _claim(self, held: HeldJob) -> None:
        delivered = held.delivered
        claim = Claim(attempt=held.offered.attempt, delivery=delivered.delivery)
        if held.load is not None:
            listening = held.load.listening
            place = {"load_address": listening.address, "load_certificate": listening.certificate}
            claim = claim.model_copy(update=place)
        answer = await self._ask_until(claim, held.lease)
        if answer is None:
            await delivered.give_back(GIVEN_BACK_SECONDS)
            return
        if answer.unknown or answer.again or answer.protocol != PROTOCOL:
            await delivered.give_back(GIVEN_BACK_SECONDS)
            await self._introduce()
            return
        if not answer.accepted:
            log.info("a job is not for this agent", attempt=held.offered.attempt, reason=answer.reason)
            await delivered.refuse()
            return
        held.recorded = answer.recorded
        if held.load is not None:
            held.load.secret = answer.load_secret
        with structlog.contextvars.bound_contextvars(request=held.offered.job.request, attempt=held.offered.attempt):
            try:
                await self._carry_out(held)
            except JobLost as lost:
                log.info("stopped", reason=str(lost))
                if not held.lease.has_lapsed:
                    # Until its delivery has ended, the bus counts the job as held, and may give out no other.
                    await delivered.refuse()
                return
            await delivered.done()
        await self._rest()

    async def _carry_out(self, held: HeldJob) -> None:
        """Execute a claimed job and report what happens; raises `JobLost` once it does not count any more."""
        self._current = (held.offered.job.request, held.cancellation)
        beating = asyncio.create_task(self._beat(held))
        try:
            await self._execute(held)
        finally:
            beating.cancel()
            self._current = None
            held.cancellation.cancel()
            await self._files.clear()

    async def _execute(self, held: HeldJob) -> None:
        job = held.offered.job
        log.info("started", job=job.id, kind=job.kind, subject=subject_of(job))
        try:
            if isinstance(job, TrialsJob) and job.engine in self._missing:
                raise UsageError(f"the engine `{job.engine}` cannot be used: {self._missing[job.engine]}")
            await self._files.fetch(held.offered)
            async with EventsInThread(self._work(held), held.cancellation) as events:
                while (event := await events.next()) is not None:
                    if isinstance(event, TrialDone | BuildDone | JobFailed | JobFinished):
                        await self._report_event(held, event, events)
                    elif isinstance(event, Note):
                        log.warning(event.text, job=job.id)
            self._given_up = 0
        except Interrupted:
            raise JobLost("cancelled") from None
        except JobLost:
            raise
        except Exception as fault:
            if isinstance(fault, UsageError) and isinstance(job, BuildJob):
                # The archive of the source cannot be used, here or elsewhere.
                failed = JobFailed(job=job.id, reason=fault.message, hint=fault.hint, details=fault.details)
                await self._report(held, Report(attempt=held.offered.attempt, event=failed))
                return
            # The worker has made events of what is about the job: this agent, or its machine, lacks something.
            if not isinstance(fault, ZerolapError | OSError):
                log.error("a job cannot be executed", exc_info=fault)
            self._gave_up(fault)
            reason = str(fault) if isinstance(fault, ZerolapError | OSError) else f"{type(fault).__name__}: {fault}"
            await self._report(held, GiveUp(attempt=held.offered.attempt, reason=reason))
        log.info("finished", job=job.id)

    def _work(self, held: HeldJob) -> Callable[[], Iterator[Event]]:
        job, place = held.offered.job, self._place.of_job(held.cancellation, held.recorded)
        if isinstance(job, LoadJob):
            return functools.partial(put_load, job, held.offered.token, held.cancellation, self._place.policy)
        worker = self._place.worker
        if held.load is None:
            return functools.partial(worker.carry_out, job, place)
        return functools.partial(held.load.carry_out, worker, job, place)

    async def _report_event(self, held: HeldJob, event: Event, events: EventsInThread) -> None:
        has_abilities = not isinstance(event, BuildDone) or (event.abilities is not None and event.abilities.commands)
        if isinstance(event, JobFailed) or not has_abilities:
            self._require_space()
        sent = await self._files.send(held.offered, event)
        end = await events.end_within(END_SECONDS) if isinstance(event, TrialDone) else None
        await self._report(held, Report(attempt=held.offered.attempt, event=sent, end=end))

    def _is_disk_full(self) -> bool:
        """Whether servers, compilers and instruments may have failed because they could not write."""
        places = (self._place.builds.directory, Path(tempfile.gettempdir()))
        return any(place.exists() and shutil.disk_usage(place).free < LEAST_FREE_BYTES for place in places)

    def _require_space(self) -> None:
        if self._is_disk_full():
            raise EnvironmentMissing("the disk is full")

    async def _report(self, held: HeldJob, message: Record) -> None:
        """Send a message until it is answered; raises `JobLost` if it does not count, or the lease has lapsed."""
        answer = await self._ask_until(message, held.lease)
        if answer is None or not answer.accepted:
            held.cancellation.cancel()
            raise JobLost("the lease has lapsed" if answer is None else answer.reason)

    async def _beat(self, held: HeldJob) -> None:
        """Extend the lease as long as the job is wanted; end the job once it is not, or the lease has lapsed."""
        lease, cancellation = held.lease, held.cancellation
        while not cancellation.is_cancelled:
            await asyncio.sleep(min(self._lease_seconds / BEATS_PER_LEASE, lease.seconds_left))
            if lease.has_lapsed:
                log.warning("the lease has lapsed")
                await asyncio.to_thread(cancellation.cancel)
                return
            # Neither answer is waited for longer than the lease lasts, nor one for the other.
            asked, _ = await asyncio.gather(
                self._extended_by(lease, self._ask(Heartbeat(attempt=held.offered.attempt)), _is_accepted),
                self._extended_by(lease, held.delivered.extend(), bool),
            )
            if asked is not None and not (asked.accepted or asked.unknown or asked.again):
                log.info("not wanted any more", reason=asked.reason)
                await asyncio.to_thread(cancellation.cancel)
                return

    async def _extended_by(
        self, lease: Lease, asking: Coroutine[Any, Any, T], is_confirmed: Callable[[T], bool]
    ) -> T | None:
        """Return an answer, which extends the lease if it confirms it; none if the lease lapses before."""
        sent = boot_seconds()
        try:
            async with asyncio.timeout(lease.seconds_left):
                answer = await asking
        except TimeoutError:
            return None
        if is_confirmed(answer):
            lease.confirm(sent)
        return answer

    async def _ask_until(self, message: Record, lease: Lease) -> MessageReply | None:
        """Send a message until the conductor answers; None once the lease has lapsed."""
        while not lease.has_lapsed and not self._stopping.is_set():
            answer = await self._ask(message)
            if answer is not None and not answer.again:
                if answer.unknown:
                    await self._introduce()
                    continue
                return answer
            await self._unless_set(self._stopping, asyncio.sleep(RETRY_SECONDS, None))
        return None

    async def _ask(self, message: Record) -> MessageReply | None:
        content = await self._unless_set(self._stopping, self._link.ask(message_json(message), ASK_SECONDS))
        if content is None:
            return None
        try:
            answer = MessageReply.model_validate_json(content)
        except ValidationError:
            version = version_of(content)
            if version.protocol in (0, PROTOCOL):
                return None
            answer = _of_other_version(version)
        self._draining = answer.draining
        return answer

    def _gave_up(self, fault: Exception) -> None:
        log.warning("gave up", reason=str(fault))
        self._given_up = min(self._given_up + 1, MOST_GIVEN_UP)

    async def _rest(self) -> None:
        """Take no job for a while after having given up some: what this machine lacks, the next would lack too."""
        if self._given_up:
            await self._pause(min(RETRY_SECONDS * 2 ** (self._given_up - 1), LONGEST_REST_SECONDS))

    async def _pause(self, seconds: float) -> None:
        await self._unless_set(self._ending, asyncio.sleep(seconds, None))

    def _cancel(self, request: str) -> None:
        if self._current is not None and self._current[0] == request:
            # Killing processes takes a while, in which leases of others are to be extended.
            asyncio.get_running_loop().run_in_executor(None, self._current[1].cancel)


def _is_accepted(answer: MessageReply | None) -> bool:
    return answer is not None and answer.accepted


def _of_other_version(version: Version) -> MessageReply:
    """Return what an answer means that a conductor of another version gave."""
    reason = (
        f"its protocol is {version.protocol}, that of this agent is {PROTOCOL} (Zerolap {__version__}): install the"
        " same version on both"
    )
    return MessageReply(protocol=version.protocol, accepted=False, reason=reason)


def _hello(kind: AgentKind, address: str) -> Hello:
    return Hello(
        kind=kind,
        zerolap=__version__,
        platform=fingerprint(),
        architecture=os.uname().machine,
        memory_bytes=psutil.virtual_memory().total,
        counters=bool(hardware_counters().events),
        tools=all_tools(),
        address=address,
        missing={
            name: missing for name in (*COMPARING, TRACED) if (missing := engine_named(name).missing()) is not None
        },
    )
