"""An agent's connection to the bus: how it asks for jobs, holds them, and asks the conductor."""

import asyncio
import itertools
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import structlog
from nats.aio.msg import Msg
from nats.errors import NoRespondersError

from zerolap.fleet.bus.bus_connection import (
    BUS_FAULTS,
    JOBS,
    NANOSECONDS,
    NOTICES,
    BusConnection,
    Session,
    agent_subject,
    cancel_subject,
    consumer_name,
    next_subject,
    status_of,
)
from zerolap.fleet.delivery import AgentName
from zerolap.fleet.setup.bus_configuration import MAX_AGENT_PAYLOAD_BYTES
from zerolap.fleet.setup.credentials import AgentCredentials
from zerolap.records import PRIORITIES, EnvironmentMissing

QUICK_SECONDS: Final = 2.0
"""How long an agent waits for a job of one priority before it asks for the next priority."""
UNANSWERED_SECONDS: Final = 30.0
"""How long after a request without a reply no other is sent for the same priority, as the reply may still come. The
server does not reply while as many jobs are with agents as there are machines, until a job ends.
"""
FIRST_POLL_SECONDS: Final = 0.25
POLL_SECONDS: Final = 5.0
"""How often an agent looks for jobs without a notice, and sooner after it has had a job. There is no notice of jobs
that are delivered again.
"""
RETRY_SECONDS: Final = 1.0
LEAST_DELAY_SECONDS: Final = 0.05
CONFIRM_SECONDS: Final = 3.0
CONFIRM_TRIES: Final = 4

ACKNOWLEDGED: Final = b"+ACK"
IN_PROGRESS: Final = b"+WPI"
TERMINATED: Final = b"+TERM"
ACKNOWLEDGEMENTS: Final = f"$JS.ACK.{JOBS}."
EXPIRED: Final = "408"

log = structlog.get_logger("zerolap.bus")


class JetStreamLink:
    """An `AgentLink` over NATS JetStream; `connect` makes it.

    An agent asks for a job of each priority in turn, and is answered at once whether there is one. After that it waits
    for a notice of a job that was published, each of which reaches one agent. It does not wait for the jobs themselves,
    for all priorities at the same time: it would be given several, and the server cannot take back a request that it is
    answering, so that a job would wait for the end of its lease now and then.
    """

    def __init__(self, credentials: AgentCredentials) -> None:
        self._platform = credentials.platform
        self._subject = agent_subject(AgentName(credentials.lab, credentials.platform, credentials.agent))
        self._connection = BusConnection(credentials, credentials.agent, self._prepare)
        self._callbacks: list[Callable[[str], None]] = []
        self._inbox = ""
        self._numbers = itertools.count()
        self._poll_seconds = FIRST_POLL_SECONDS
        self._expected: tuple[str, asyncio.Future[Msg]] | None = None
        self._unanswered: dict[str, float] = {}

    @classmethod
    async def connect(cls, credentials: AgentCredentials) -> "JetStreamLink":
        """Connect as an agent; returns after a few seconds also while the bus cannot be reached."""
        link = cls(credentials)
        await link._connection.open()
        return link

    async def next_job(self, seconds: float) -> "JetStreamJob | None":
        """Return the next job of this agent's platform by `PRIORITIES`; None if none came within the time.

        To be called by one task at a time. It may be cancelled: a job that has come by then is given back.
        """
        end = _after(seconds)
        while (session := await self._connection.session(_until(end))) is not None:
            try:
                job = await self._look_for_job(session)
                if job is None and _until(end) > 0:
                    job = await self._wait_for_notice(session, min(_until(end), self._poll_seconds))
                    self._poll_seconds = min(1.5 * self._poll_seconds, POLL_SECONDS * random.uniform(0.8, 1.0))
                if job is not None:
                    self._poll_seconds = FIRST_POLL_SECONDS
                if job is not None or _until(end) == 0:
                    return job
            except BUS_FAULTS as fault:
                log.debug("asking for a job failed", fault=str(fault))
                await asyncio.sleep(min(RETRY_SECONDS, _until(end)))
        return None

    async def ask(self, content: bytes, seconds: float) -> bytes | None:
        """Send a message to the conductor and return its answer; None if none came within the time.

        The message is sent again after the connection was lost: the conductor may get it twice. Raises
        `EnvironmentMissing` for a message that the bus does not take, as it is too large.
        """
        if len(content) > MAX_AGENT_PAYLOAD_BYTES:
            # The bus would close the connection, again and again.
            what = f"a message has {len(content):,} bytes, and the bus takes {MAX_AGENT_PAYLOAD_BYTES:,}"
            raise EnvironmentMissing(what)
        end = _after(seconds)
        while (left := _until(end)) > 0 and (session := await self._connection.session(left)) is not None:
            try:
                answer = await session.request(self._subject, content, _until(end))
            except NoRespondersError:
                await asyncio.sleep(min(RETRY_SECONDS, _until(end)))
                continue
            if answer is not None:
                return answer.data
        return None

    def on_cancel(self, callback: Callable[[str], None]) -> None:
        """Have `callback` called with the id of each request of which jobs are to be stopped; some may be missed."""
        self._callbacks.append(callback)

    async def close(self) -> None:
        """End the connection."""
        await self._connection.close()

    async def confirmed(self, subject: str, content: bytes, seconds: float) -> bool:
        """Send an acknowledgement; returns whether the server has confirmed it within the time."""
        end = _after(seconds)
        session = await self._connection.session(seconds)
        try:
            return session is not None and await session.request(subject, content, _until(end)) is not None
        except NoRespondersError:
            return False

    async def send(self, subject: str, content: bytes) -> None:
        """Send an acknowledgement; if that fails, the lease ends later by itself."""
        if (session := self._connection.current) is not None:
            try:
                await session.client.publish(subject, content)
            except BUS_FAULTS as fault:
                log.debug("a job was not given back", fault=str(fault))

    async def _prepare(self, session: Session) -> None:
        self._inbox = session.client.new_inbox()
        self._unanswered.clear()
        await session.client.subscribe(f"{self._inbox}.>", cb=self._receive)
        await session.client.subscribe(cancel_subject(self._platform), cb=self._cancelled)

    async def _cancelled(self, message: Msg) -> None:
        for callback in self._callbacks:
            callback(message.data.decode(errors="replace"))

    async def _look_for_job(self, session: Session) -> "JetStreamJob | None":
        """Return a job that the bus has now: of the first priority of which it has one."""
        for priority in PRIORITIES:
            if _until(self._unanswered.get(priority, 0.0)) > 0:
                continue
            subject = next_subject(JOBS, consumer_name(self._platform, priority))
            message = await self._request(session, subject, priority, {"batch": 1, "no_wait": True}, QUICK_SECONDS)
            if message is not None and (job := self._job(message)) is not None:
                return job
        return None

    async def _wait_for_notice(self, session: Session, seconds: float) -> "JetStreamJob | None":
        """Wait until a job has been published that is for this agent; returns one only if it comes late."""
        subject = next_subject(NOTICES, self._platform)
        request = {"batch": 1, "expires": max(1, round(seconds * NANOSECONDS))}
        message = await self._request(session, subject, NOTICES, request, seconds + RETRY_SECONDS)
        if message is None or status_of(message) not in ("", EXPIRED):
            # The server ends, or has no queues.
            await asyncio.sleep(min(RETRY_SECONDS, seconds))
            return None
        return self._job(message)

    async def _request(
        self, session: Session, subject: str, wanted: str, request: Mapping[str, Any], seconds: float
    ) -> Msg | None:
        """Return what comes of a request to a stream, for a job of a priority or for a notice: that, or a status.

        Instead a job of another priority is returned that comes late.
        """
        reply = f"{self._inbox}.{next(self._numbers)}.{wanted}"
        coming: asyncio.Future[Msg] = asyncio.get_running_loop().create_future()
        self._expected = reply, coming
        self._unanswered[wanted] = _after(UNANSWERED_SECONDS)
        try:
            await session.client.publish(subject, json.dumps(request).encode(), reply=reply)
            await session.wait_for(coming, seconds)
            return coming.result() if coming.done() else None
        except asyncio.CancelledError:
            if coming.done() and (job := self._job(coming.result())) is not None:
                self._connection.spawn(job.give_back(LEAST_DELAY_SECONDS))
            raise
        finally:
            self._expected = None

    async def _receive(self, message: Msg) -> None:
        """Take in what comes of requests: a job also if it comes late, anything else only if it is expected."""
        reply, coming = self._expected or ("", None)
        # A message of a stream has its own subject here, a status that of the inbox.
        job = self._job(message)
        is_notice = message.subject.startswith("notices.")
        answered = NOTICES if is_notice else message.subject.split(".")[2] if job else message.subject.split(".")[-1]
        self._unanswered.pop(answered, None)
        is_expected = job is not None or message.subject == reply or (is_notice and reply.endswith(NOTICES))
        if coming is not None and not coming.done() and is_expected:
            coming.set_result(message)
        elif job is not None:
            await job.give_back(LEAST_DELAY_SECONDS)

    def _job(self, message: Msg) -> "JetStreamJob | None":
        if not message.reply.startswith(ACKNOWLEDGEMENTS):
            return None
        return JetStreamJob(self, message.data, int(message.reply.split(".")[4]), message.reply)


@dataclass(frozen=True)
class JetStreamJob:
    """A `DeliveredJob`: its content, and the subject on which the server takes what becomes of it."""

    _link: JetStreamLink
    content: bytes
    delivery: int
    _subject: str

    async def extend(self) -> bool:
        """Extend the lease from now; returns whether the bus has confirmed it."""
        return await self._link.confirmed(self._subject, IN_PROGRESS, CONFIRM_SECONDS)

    async def done(self) -> None:
        """Take the job from the queue: its result is stored.

        It is not confirmed: if it is lost, the job is delivered again, and the conductor refuses it.
        """
        await self._link.send(self._subject, ACKNOWLEDGED)

    async def give_back(self, delay_seconds: float) -> None:
        """Have the job delivered again after a delay, which counts as a delivery."""
        delay = {"delay": round(max(delay_seconds, LEAST_DELAY_SECONDS) * NANOSECONDS)}
        await self._link.send(self._subject, b"-NAK " + json.dumps(delay).encode())

    async def refuse(self) -> None:
        """Take the job from the queue: it is not a job of this agent, or no job at all."""
        await self._end(TERMINATED)

    async def _end(self, content: bytes) -> None:
        for _ in range(CONFIRM_TRIES):
            if await self._link.confirmed(self._subject, content, CONFIRM_SECONDS):
                return


def _after(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


def _until(end: float) -> float:
    return max(0.0, end - asyncio.get_running_loop().time())
