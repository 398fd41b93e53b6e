"""A connection to the bus that is made again for ever, and the subjects and names that both of its ends use."""

import asyncio
import contextlib
import logging
import random
import re
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError, NoRespondersError

from zerolap.fleet.delivery import AgentName
from zerolap.fleet.setup.agent_keys import AgentKey
from zerolap.fleet.setup.credentials import BusCredentials

JOBS: Final = "JOBS"
"""The stream of the jobs; a job's subject is `jobs.PLATFORM.PRIORITY.REQUEST`."""
NOTICES: Final = "NOTICES"
"""The stream of the notices that jobs were published, on `notices.PLATFORM`; each reaches one agent that waits."""
NANOSECONDS: Final = 1_000_000_000

OPENING_SECONDS: Final = 5.0
CONNECT_SECONDS: Final = 10
PING_SECONDS: Final = 10
PAUSE_SECONDS: Final = 0.1
LONGEST_PAUSE_SECONDS: Final = 3.0
CLOSING_SECONDS: Final = 2.0
TOKEN: Final = re.compile(r"[^\s.*>]+")
BUS_FAULTS: Final = (NatsError, OSError)
"""What the client raises when the bus cannot be reached or does not answer in time."""
CONNECT_FAULTS: Final = (*BUS_FAULTS, EOFError, ValueError)
"""What it raises besides when a server, or what answers in its place, sends something else than expected."""

log = structlog.get_logger("zerolap.bus")
# nats-py does not tell asyncio that its streams are over TLS, of which asyncio complains at the end of each connection.
logging.getLogger("asyncio").addFilter(
    lambda record: not str(record.msg).startswith("returning true from eof_received")
)


def consumer_name(platform: str, priority: str) -> str:
    """Return the name of the consumer that gives out the jobs of a platform and priority."""
    return f"{platform}-{priority}"


def next_subject(stream: str, consumer: str) -> str:
    """Return the subject on which a message of a stream is asked for."""
    return f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"


def agent_subject(name: AgentName) -> str:
    """Return the subject on which an agent, and nobody else, asks the conductor."""
    return f"agents.{name.lab}.{name.platform}.{name.agent}"


def cancel_subject(platform: str) -> str:
    """Return the subject on which agents of a platform are told what to stop."""
    return f"cancel.{platform}"


def is_token(text: str) -> bool:
    """Whether a text can be a part of a subject, between two dots."""
    return TOKEN.fullmatch(text) is not None


def status_of(message: Msg) -> str:
    """Return the status of a message that has no content of its own, such as `408`; empty for all others."""
    return (message.headers or {}).get("Status", "")


@dataclass(frozen=True)
class Session:
    """A connection from the moment it was made; `ended` is done once it is lost."""

    client: Client
    ended: "asyncio.Future[None]"

    def end(self) -> None:
        """Note that the connection is lost."""
        if not self.ended.done():
            self.ended.set_result(None)

    async def wait_for(self, future: "asyncio.Future[Any]", seconds: float | None = None) -> None:
        """Wait until something is done, the connection is lost, or the time is over."""
        either: set[asyncio.Future[Any]] = {future, self.ended}
        await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)

    async def request(self, subject: str, content: bytes, seconds: float) -> Msg | None:
        """Return the answer to a request; None if none came within the time, or the connection was lost meanwhile.

        Raises `NoRespondersError` if nobody listens to the subject.
        """
        asking = asyncio.ensure_future(self._request(subject, content, seconds))
        try:
            await self.wait_for(asking)
            return asking.result() if asking.done() else None
        finally:
            asking.cancel()

    async def _request(self, subject: str, content: bytes, seconds: float) -> Msg | None:
        try:
            return await self.client.request(subject, content, timeout=seconds)
        except NoRespondersError:
            raise
        except BUS_FAULTS:
            return None


Preparing = Callable[[Session], Coroutine[Any, Any, None]]
"""Makes the subscriptions of a new session."""


class BusConnection:
    """Connects again whenever the connection is lost.

    The client's own reconnecting is not used: it sends again what it had buffered for the lost connection, loses
    subscriptions (nats-py issue 504), and ends for ever at most errors that the server reports. So each session has a
    client of its own.
    """

    def __init__(self, credentials: BusCredentials, name: str, prepare: Preparing) -> None:
        self._credentials = credentials
        self._name = name
        self._prepare = prepare
        self._tls = ssl.create_default_context(cadata=credentials.certificate_authority)
        self._session: Session | None = None
        self._changed = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._fault = "not connected yet"
        self._is_closed = False

    @property
    def fault(self) -> str:
        """Why there is no session."""
        return f"{self._credentials.bus}: {self._fault}"

    @property
    def current(self) -> Session | None:
        """The session, if there is one."""
        return self._session if self._session is not None and not self._session.ended.done() else None

    async def open(self) -> None:
        """Begin to connect; returns when connected, or after a while, which is then not the end of trying."""
        self._keeping = asyncio.create_task(self._keep())
        await self.session(OPENING_SECONDS)

    async def session(self, seconds: float) -> Session | None:
        """Return the session once there is one; None if that takes longer, or after `close`."""
        if (session := self.current) is not None:
            return session
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.current is None and not self._is_closed:
                    self._changed.clear()
                    await self._changed.wait()
        return self.current

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something meanwhile; a fault of the bus ends it quietly, `close` waits for it for a while."""
        task = asyncio.create_task(_quietly(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End the connection, after what is being sent."""
        self._is_closed = True
        self._changed.set()
        await self._wait_for_tasks()
        while self._keeping is not None and not self._keeping.done():
            # Again, as `wait_for` of Python 3.11, which the client uses, loses a cancellation that comes with a result.
            self._keeping.cancel()
            await asyncio.wait({self._keeping}, timeout=CLOSING_SECONDS)
        await self._wait_for_tasks()

    async def _wait_for_tasks(self) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=2 * CLOSING_SECONDS)

    async def _keep(self) -> None:
        pause = PAUSE_SECONDS
        while True:
            begun = asyncio.get_running_loop().time()
            try:
                session = await self._connect()
            except CONNECT_FAULTS as fault:
                self._note(str(fault) or type(fault).__name__)
            else:
                await self._hold(session)
                if asyncio.get_running_loop().time() - begun > LONGEST_PAUSE_SECONDS:
                    pause = PAUSE_SECONDS
            # Many agents lose a server at the same time, and are not to come back all at once.
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def _connect(self) -> Session:
        client = Client()
        key = AgentKey.read(self._credentials.key) if self._credentials.key else None
        if key is not None:
            # The client reads a public key only from a seed, by a package that does what `AgentKey` does.
            client._public_nkey = key.public
        session = Session(client, asyncio.get_running_loop().create_future())

        async def closed() -> None:
            session.end()

        async def failed(fault: Exception) -> None:
            log.debug("the bus reports", fault=str(fault) or type(fault).__name__)

        try:
            await client.connect(
                servers=[self._credentials.bus],
                name=self._name,
                user=self._credentials.user,
                # Without a password the client would not identify itself at all.
                password=self._credentials.password or "by key",
                signature_cb=None if key is None else key.signature,
                tls=self._tls,
                tls_handshake_first=True,
                inbox_prefix=f"_INBOX_{self._name}",
                allow_reconnect=False,
                max_reconnect_attempts=1,
                reconnect_time_wait=0,
                connect_timeout=CONNECT_SECONDS,
                error_cb=failed,
                closed_cb=closed,
            )
            if not client.is_connected:
                raise NatsError("the server closed the connection")
            await self._prepare(session)
        except (*CONNECT_FAULTS, asyncio.CancelledError):
            self.spawn(_closed(client))
            raise
        return session

    async def _hold(self, session: Session) -> None:
        """Let others use a session until it is lost."""
        self._session, self._fault = session, "the connection was lost"
        self._changed.set()
        log.info("connected to the bus", bus=self._credentials.bus)
        try:
            while not session.ended.done():
                await asyncio.wait({session.ended}, timeout=PING_SECONDS)
                if not session.ended.done():
                    # Not `flush`, which is content when the client's reading task has died.
                    await session.client.rtt(timeout=PING_SECONDS)
        except BUS_FAULTS as fault:
            self._fault = str(fault)
        finally:
            session.end()
            self._session = None
            self.spawn(_closed(session.client))
        log.warning("the connection to the bus is lost", bus=self._credentials.bus, fault=self._fault)

    def _note(self, fault: str) -> None:
        if fault != self._fault:
            log.warning("the bus cannot be reached", bus=self._credentials.bus, fault=fault)
            self._fault = fault


async def _closed(client: Client) -> None:
    """Close a client; with a machine that does not answer, or TLS that has not begun, this takes long or for ever."""
    await asyncio.wait_for(client.close(), CLOSING_SECONDS)


async def _quietly(work: Awaitable[None]) -> None:
    with contextlib.suppress(*BUS_FAULTS):
        await work
