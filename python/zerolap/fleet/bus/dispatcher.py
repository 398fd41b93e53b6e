"""The conductor's connection to the bus: its queues, and the messages of agents."""

import asyncio
import base64
import contextlib
import json
import time
from collections import Counter
from collections.abc import Coroutine, Iterable
from typing import Any, Final, TypeAlias

import structlog
from nats.aio.msg import Msg
from nats.errors import NoRespondersError
from nats.js import JetStreamContext
from nats.js.api import Header

from zerolap.fleet.bus.bus_connection import (
    BUS_FAULTS,
    JOBS,
    NANOSECONDS,
    NOTICES,
    BusConnection,
    Session,
    cancel_subject,
    consumer_name,
    is_token,
)
from zerolap.fleet.bus.inbox import AgentInbox
from zerolap.fleet.delivery import (
    LEASE_SECONDS,
    MAX_DELIVERIES,
    AgentName,
    Answering,
    BusLost,
    JobMessage,
)
from zerolap.fleet.setup.bus_configuration import MOST_JOBS_BYTES, MOST_REPORTS_BYTES
from zerolap.fleet.setup.credentials import ConductorCredentials
from zerolap.records import PRIORITIES, EnvironmentMissing

EXHAUSTED: Final = "EXHAUSTED"
"""The stream of what the server reports when a job was delivered `MAX_DELIVERIES` times; it reports it once."""
LEAST_SERVER: Final = (2, 12, 5)
"""Older ones let an agent end the jobs of other platforms: they remove whatever message of the queue it names."""
API_SECONDS: Final = 5.0
PUBLISH_SECONDS: Final = 10.0
PUBLISHED_AT_ONCE: Final = 1000
HEADER_BYTES: Final = 1024
"""More bytes than the headers of a message have; the server counts them as a part of the message."""
DUPLICATE_SECONDS: Final = 120
MOST_WAITING_AGENTS: Final = 4096
LONGEST_WAIT_SECONDS: Final = 30
"""A request that is to wait for longer is refused, so that no agent can fill the list of those who wait."""
NOTICE_SECONDS: Final = 2
"""How long a notice is kept that no agent waits for: busy agents look for jobs by themselves later."""

NO_MESSAGE: Final = 10037
NO_STREAM: Final = 10059

Document: TypeAlias = dict[str, Any]

log = structlog.get_logger("zerolap.bus")


class _Refused(Exception):
    """The server refuses a request, with a number of its own for each reason."""

    def __init__(self, error: Document) -> None:
        super().__init__(error.get("description", "the server gives no reason"))
        self.number = int(error.get("err_code", 0))


class JetStreamDispatcher:
    """A `Dispatcher` over NATS JetStream; `connect` makes it.

    Its methods raise `BusLost` at once while there is no connection, which is made again meanwhile. `answer` does not:
    messages are answered whenever there is a connection.
    """

    outlives_conductor = True

    def __init__(self, credentials: ConductorCredentials, lease_seconds: float) -> None:
        self._lease_seconds = lease_seconds
        self._connection = BusConnection(credentials, "conductor", self._prepare)
        self._answering: Answering | None = None
        self._inboxes: dict[AgentName, AgentInbox] = {}
        self._answers: set[asyncio.Task[None]] = set()
        self._machines: dict[str, int] = {}
        self._publisher: tuple[Session, JetStreamContext] | None = None
        self._outdated = ""

    @classmethod
    async def connect(
        cls,
        credentials: ConductorCredentials,
        agents: Iterable[AgentName],
        lease_seconds: float = LEASE_SECONDS,
    ) -> "JetStreamDispatcher":
        """Connect as the conductor; returns after a few seconds also while the bus cannot be reached.

        Messages are taken of these `agents` alone, which `listen_to` changes. A job whose agent has not reported for
        `lease_seconds` is delivered to another. Raises `EnvironmentMissing` if the server is older than `LEAST_SERVER`.
        """
        dispatcher = cls(credentials, lease_seconds)
        await dispatcher.listen_to(agents)
        await dispatcher._connection.open()
        if dispatcher._outdated:
            await dispatcher.close()
            raise EnvironmentMissing(f"{credentials.bus}: {dispatcher._outdated}", hint="https://nats.io/download")
        return dispatcher

    async def close(self) -> None:
        """End the connection."""
        for task in self._answers:
            task.cancel()
        await self._connection.close()

    # Queues.

    async def set_up(self, platforms: dict[str, int]) -> str:
        """Create what the bus lacks for these platforms, each with its number of machines; may be called again.

        As many jobs of a priority can be with the agents of a platform as it has ever had machines, and at least one.
        Returns when the queues were created.
        """
        created = await self._create_stream(
            {
                "name": JOBS,
                "subjects": ["jobs.*.*.*"],
                "retention": "workqueue",
                # The store has them in any case, and a write to the disk is 40 % of what a job costs the bus.
                "storage": "memory",
                # More than two jobs for each agent are never published. What has no room is refused, and nothing lost.
                "max_bytes": MOST_JOBS_BYTES,
                "discard": "new",
                "duplicate_window": DUPLICATE_SECONDS * NANOSECONDS,
            }
        )
        await self._create_stream(
            {
                "name": EXHAUSTED,
                "subjects": [f"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.{JOBS}.>"],
                # Its reports are of use as long as the other stream has the jobs.
                "storage": "memory",
                "max_bytes": MOST_REPORTS_BYTES,
            }
        )
        await self._create_stream(
            {
                "name": NOTICES,
                "subjects": ["notices.*"],
                "storage": "memory",
                "max_bytes": MOST_REPORTS_BYTES,
                "max_age": NOTICE_SECONDS * NANOSECONDS,
            }
        )
        queues, notices = await self._consumers(JOBS), await self._consumers(NOTICES)
        for platform, machines in platforms.items():
            if not is_token(platform):
                raise ValueError(f"not the name of a platform: {platform!r}")
            for priority in PRIORITIES:
                await self._create_queue(platform, priority, machines, queues)
            await self._create_consumer(
                NOTICES,
                platform,
                {"filter_subject": f"notices.{platform}", "deliver_policy": "new", "ack_policy": "none"},
                notices.get(platform, {}),
            )
            self._machines[platform] = max(machines, self._machines.get(platform, 1))
        return created

    def largest_bytes(self) -> int:
        """Return the size of the largest content of a job that the server takes."""
        return self._session().client.max_payload - HEADER_BYTES

    async def publish(self, jobs: list[JobMessage]) -> None:
        """Publish jobs; they are kept by the bus when this returns."""
        for job in jobs:
            if not (is_token(job.platform) and is_token(job.request) and job.priority in PRIORITIES):
                raise ValueError(f"not to be published: {job.platform!r}, {job.priority!r}, {job.request!r}")
        session = self._session()
        for first in range(0, len(jobs), PUBLISHED_AT_ONCE):
            published = jobs[first : first + PUBLISHED_AT_ONCE]
            await self._publish(session, published)
            await self._notify(session, published)

    async def waiting(self) -> dict[str, int]:
        """Return how many jobs the bus holds by platform, delivered ones that have not ended included."""
        counts = dict.fromkeys(self._machines, 0)
        seen = 0
        while True:
            info = await self._required(f"STREAM.INFO.{JOBS}", {"subjects_filter": "jobs.>", "offset": seen})
            subjects = info["state"].get("subjects") or {}
            for subject, count in subjects.items():
                platform = subject.split(".")[1]
                counts[platform] = counts.get(platform, 0) + count
            seen += len(subjects)
            if not subjects or seen >= info.get("total", 0):
                return counts

    async def purge(self, request: str) -> None:
        """Remove the jobs of a request; those that agents have been given are not delivered to others either."""
        if not is_token(request):
            raise ValueError(f"not a request: {request!r}")
        await self._required(f"STREAM.PURGE.{JOBS}", {"filter": f"jobs.*.*.{request}"})

    async def exhausted(self) -> list[bytes]:
        """Return the contents of the jobs that were delivered `MAX_DELIVERIES` times since the last call.

        They are removed from the queue.
        """
        contents = []
        begin = 1
        while (report := await self._message(EXHAUSTED, {"seq": begin, "next_by_subj": ">"})) is not None:
            begin = report["seq"] + 1
            sequence = json.loads(_data(report))["stream_seq"]
            job = await self._message(JOBS, {"seq": sequence})
            if job is not None:
                # None if an agent ended it after all.
                contents.append(_data(job))
                await self._delete(JOBS, sequence)
            await self._delete(EXHAUSTED, report["seq"])
        return contents

    # Agents.

    async def reply(self, answering: Answering) -> None:
        """Have the messages of agents answered from now on, several at a time."""
        is_first = self._answering is None
        self._answering = answering
        if is_first:
            await self._open(self._inboxes.values())

    async def listen_to(self, agents: Iterable[AgentName]) -> None:
        """Take messages of these agents from now on, and of no others."""
        wanted = set(agents)
        for name in self._inboxes.keys() - wanted:
            await self._inboxes.pop(name).close()
        added = {name: AgentInbox(name, self._reply, self._spawn) for name in wanted - self._inboxes.keys()}
        self._inboxes |= added
        if self._answering is not None:
            await self._open(added.values())

    async def cancel(self, platform: str, request: str) -> None:
        """Tell the agents of a platform, if they are connected, to stop the jobs of a request."""
        session = self._session()
        try:
            await session.client.publish(cancel_subject(platform), request.encode())
        except BUS_FAULTS as fault:
            raise BusLost(str(fault)) from fault

    async def _prepare(self, session: Session) -> None:
        self._outdated = _outdated(session)
        if self._answering is not None and not self._outdated:
            # Again for those that `listen_to` adds meanwhile.
            while closed := [inbox for inbox in self._inboxes.values() if inbox.session is not session]:
                await closed[0].open(session)

    async def _open(self, inboxes: Iterable[AgentInbox]) -> None:
        """Listen in the session that there is; if it is lost meanwhile, the next one is prepared."""
        session = self._connection.current
        if session is not None and not self._outdated:
            with contextlib.suppress(*BUS_FAULTS):
                for inbox in list(inboxes):
                    await inbox.open(session)

    async def _reply(self, name: AgentName, message: Msg) -> None:
        if self._answering is None:
            return
        try:
            answer = await self._answering(name, message.data)
        except Exception as fault:
            log.error("a message was not answered", agent=name.agent, exc_info=fault)
            return
        if answer is not None and (session := self._connection.current) is not None:
            # The agent asks again where the answer is lost.
            with contextlib.suppress(*BUS_FAULTS):
                await session.client.publish(message.reply, answer)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    # The server.

    def _session(self) -> Session:
        session = self._connection.current
        if session is None:
            raise BusLost(self._connection.fault)
        if self._outdated:
            # It has taken the place of a newer one.
            raise BusLost(self._outdated)
        return session

    async def _publish(self, session: Session, jobs: list[JobMessage]) -> None:
        if self._publisher is None or self._publisher[0] is not session:
            # Its limit would wait for ever for answers that a lost connection has taken along.
            unlimited = session.client.jetstream(publish_async_max_pending=1_000_000)
            self._publisher = (session, unlimited)
        publisher = self._publisher[1]
        acknowledged: list[asyncio.Future[Any]] = []
        try:
            for job in jobs:
                subject = f"jobs.{job.platform}.{job.priority}.{job.request}"
                headers = {Header.MSG_ID.value: job.message}
                acknowledged.append(await publisher.publish_async(subject, job.content, headers=headers))
            everything = asyncio.gather(*acknowledged)
            # Looked at, so that nothing is logged of what nobody waits for any more.
            everything.add_done_callback(lambda all_of_them: all_of_them.cancelled() or all_of_them.exception())
            await session.wait_for(everything, PUBLISH_SECONDS)
            if not everything.done():
                everything.cancel()
                raise BusLost("the bus does not confirm that it keeps the jobs")
            everything.result()
        except BUS_FAULTS as fault:
            # No queue takes them, it is full, or the connection was lost.
            raise BusLost(f"the bus does not take jobs: {fault}") from fault
        finally:
            for future in acknowledged:
                future.cancel()

    async def _notify(self, session: Session, jobs: list[JobMessage]) -> None:
        """Have as many agents of each platform look for jobs as there are, and as can be there."""
        try:
            for platform, count in Counter(job.platform for job in jobs).items():
                for _ in range(min(count, self._machines.get(platform, 1))):
                    await session.client.publish(f"notices.{platform}")
        except BUS_FAULTS as fault:
            # The jobs are kept, and agents look for them by themselves after a while.
            log.debug("agents were not notified", fault=str(fault))

    async def _create_stream(self, wanted: Document) -> str:
        """Create a stream, or give it another configuration; returns when it was created."""
        name = wanted["name"]
        try:
            info = await self._api(f"STREAM.INFO.{name}", {})
        except _Refused as refused:
            if refused.number != NO_STREAM:
                raise BusLost(str(refused)) from refused
            return await self._new_stream(wanted)
        if all(info["config"].get(key) == value for key, value in wanted.items()):
            return str(info["created"])
        try:
            return str((await self._api(f"STREAM.UPDATE.{name}", info["config"] | wanted))["created"])
        except _Refused as refused:
            # Such as for the kind of its storage. What it holds is published again.
            log.warning("a stream is made anew", stream=name, reason=str(refused))
            await self._required(f"STREAM.DELETE.{name}", {})
            return await self._new_stream(wanted)

    async def _new_stream(self, wanted: Document) -> str:
        # No number of a job that was lost is used again: who holds it would end another.
        first = time.time_ns() // 1_000_000
        return str((await self._required(f"STREAM.CREATE.{wanted['name']}", wanted | {"first_seq": first}))["created"])

    async def _consumers(self, stream: str) -> dict[str, Document]:
        found: dict[str, Document] = {}
        while True:
            page = await self._required(f"CONSUMER.LIST.{stream}", {"offset": len(found)})
            consumers = page.get("consumers") or []
            found |= {consumer["name"]: consumer["config"] for consumer in consumers}
            if not consumers or len(found) >= page["total"]:
                return found

    async def _create_queue(self, platform: str, priority: str, machines: int, existing: dict[str, Document]) -> None:
        name = consumer_name(platform, priority)
        before = existing.get(name, {})
        wanted = {
            "filter_subject": f"jobs.{platform}.{priority}.>",
            "deliver_policy": "all",
            "ack_policy": "explicit",
            "ack_wait": round(self._lease_seconds * NANOSECONDS),
            "max_deliver": MAX_DELIVERIES,
            # Not lowered: what agents hold that are gone would keep jobs from those that are left.
            "max_ack_pending": max(1, machines, before.get("max_ack_pending", 0)),
        }
        await self._create_consumer(JOBS, name, wanted, before)

    async def _create_consumer(self, stream: str, name: str, settings: Document, before: Document) -> None:
        # `nats.js.api.ConsumerConfig` lacks `max_batch`.
        wanted = settings | {
            "name": name,
            "durable_name": name,
            "max_batch": 1,
            "max_expires": LONGEST_WAIT_SECONDS * NANOSECONDS,
            "max_waiting": before.get("max_waiting", MOST_WAITING_AGENTS),
        }
        if any(before.get(key) != value for key, value in wanted.items()):
            method = f"CONSUMER.CREATE.{stream}.{name}.{wanted['filter_subject']}"
            await self._required(method, {"stream_name": stream, "config": wanted})

    async def _message(self, stream: str, which: Document) -> Document | None:
        try:
            return (await self._api(f"STREAM.MSG.GET.{stream}", which))["message"]  # type: ignore[no-any-return]
        except _Refused as refused:
            if refused.number == NO_MESSAGE:
                return None
            raise BusLost(str(refused)) from refused

    async def _delete(self, stream: str, sequence: int) -> None:
        try:
            await self._api(f"STREAM.MSG.DELETE.{stream}", {"seq": sequence, "no_erase": True})
        except _Refused:
            # An agent ended the job at this moment.
            return

    async def _required(self, method: str, content: Document) -> Document:
        """Call the server's interface; raises `BusLost` if it refuses, as it does when the queues are gone."""
        try:
            return await self._api(method, content)
        except _Refused as refused:
            raise BusLost(f"{method}: {refused}") from refused

    async def _api(self, method: str, content: Document) -> Document:
        session = self._session()
        try:
            answer = await session.request(f"$JS.API.{method}", json.dumps(content).encode(), API_SECONDS)
        except NoRespondersError as fault:
            raise BusLost("the bus has no JetStream") from fault
        if answer is None:
            raise BusLost(f"{method}: the bus does not answer")
        document: Document = json.loads(answer.data)
        if "error" in document:
            raise _Refused(document["error"])
        return document


def _outdated(session: Session) -> str:
    """Return why a server is not to be worked with; empty if it is new enough."""
    version = session.client.connected_server_version
    if (version.major, version.minor, version.patch) >= LEAST_SERVER:
        return ""
    here, least = f"{version.major}.{version.minor}.{version.patch}", ".".join(map(str, LEAST_SERVER))
    return f"nats-server {here} lets agents remove jobs of other platforms: {least} or newer is needed"


def _data(message: Document) -> bytes:
    return base64.b64decode(message.get("data", ""))
