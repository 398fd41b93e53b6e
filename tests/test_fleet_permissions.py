"""What an agent cannot do that has its credentials and a client of its own making, as hostile code on its machine has.

Each test also does the same as somebody who may, so that it cannot pass because the attempt was made wrongly.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from nats.errors import Error as NatsError, NoRespondersError
from nats_server import NatsServer, RawClient, required_program
from waiting import PATIENCE_SECONDS

from zerolap.fleet.bus import JetStreamDispatcher
from zerolap.fleet.delivery import AgentName, JobMessage
from zerolap.fleet.setup.configuration import read_configuration
from zerolap.records import PRIORITIES

NEXT = "$JS.API.CONSUMER.MSG.NEXT.JOBS"
AT_ONCE = b'{"batch": 1, "no_wait": true}'
OWN = "agents.berlin.alpha.alpha-1"
OF_OTHERS = ("agents.berlin.alpha.alpha-2", "agents.porto.alpha.alpha-3", "agents.berlin.beta.beta-1")
JOBS = [
    JobMessage(platform, priority, "r-1", f"{platform}-{priority}-{number}", f"{platform} {number}".encode())
    for platform in ("alpha", "beta")
    for priority in PRIORITIES
    for number in range(8)
]


class Attempt:
    """The conductor with some jobs in its queues, the agent alpha-1 as a client of its own, and other agents."""

    def __init__(self, server: NatsServer, stack: AsyncExitStack) -> None:
        self._server = server
        self._stack = stack
        self.dispatcher: JetStreamDispatcher
        self.conductor: RawClient
        self.agent: RawClient
        self.heard: list[tuple[AgentName, bytes]] = []

    async def begin(self) -> None:
        """Connect all of them."""
        self.dispatcher = await self._stack.enter_async_context(self._server.dispatcher())
        await self.dispatcher.publish(JOBS)
        await self.dispatcher.reply(self._answer)
        self.conductor = await self.client("conductor")
        self.agent = await self.client("alpha-1")

    async def client(self, agent: str) -> RawClient:
        """Connect as another agent."""
        return await self._stack.enter_async_context(self._server.client(agent))

    async def is_refused(self, subject: str, content: bytes = b"", reply: str = "") -> bool:
        """Whether the server refuses what the agent publishes."""
        before = len(self.agent.refusals)
        await self.agent.nats.publish(subject, content, reply=reply)
        await self.agent.settled()
        return any("permissions violation" in refusal for refusal in self.agent.refusals[before:])

    async def cannot_subscribe(self, client: RawClient, subject: str) -> bool:
        """Whether the server refuses a subscription."""
        before = len(client.refusals)
        await client.subscribed(subject)
        return any("permissions violation for subscription" in refusal for refusal in client.refusals[before:])

    async def conductor_can(self, method: str, content: bytes = b"") -> bool:
        """Whether the conductor can call a method of the server's interface."""
        answer = await self.conductor.nats.request(f"$JS.API.{method}", content, timeout=PATIENCE_SECONDS)
        # A message is answered as it is.
        return bool(answer.headers) or "error" not in json.loads(answer.data)

    async def agent_cannot(self, method: str, content: bytes = b"") -> bool:
        """Whether the agent is refused to call it, and is sent nothing."""
        subject = f"$JS.API.{method}"
        answers = await self.agent.subscribed("_INBOX_alpha-1.of-the-method")
        is_refused = await self.is_refused(subject, content, reply="_INBOX_alpha-1.of-the-method")
        return is_refused and answers.empty()

    async def newest_job(self, subject: str) -> int:
        """Return the number in the stream of the job that was published last on a subject."""
        answer = await self.dispatcher._api("STREAM.MSG.GET.JOBS", {"last_by_subj": subject})
        return int(answer["message"]["seq"])

    async def everything_has_arrived(self) -> None:
        """Have what the agent has sent before done by the server, and what comes of it be sent."""
        inbox = f"_INBOX_alpha-1.{len(self.heard)}-fence"
        answers = await self.agent.subscribed(inbox)
        for priority in PRIORITIES:
            await self.agent.nats.publish(f"{NEXT}.alpha-{priority}", AT_ONCE, reply=inbox)
            await answers.get()
        before = len(self.heard)
        await self.agent.nats.request(OWN, b"fence", timeout=PATIENCE_SECONDS)
        assert len(self.heard) > before
        assert self.heard.pop() == (AgentName("berlin", "alpha", "alpha-1"), b"fence")

    async def _answer(self, name: AgentName, content: bytes) -> bytes:
        self.heard.append((name, content))
        return b"answer"


@pytest.fixture(scope="module")
def program() -> Path:
    return required_program()


@pytest.fixture
def attempting(
    program: Path, tmp_path: Path
) -> Iterator[Callable[[Callable[[Attempt], Coroutine[Any, Any, None]]], None]]:
    """Runs a test with a bus and all who are connected to it."""
    with NatsServer.started(program, tmp_path) as server:

        async def run(test: Callable[[Attempt], Coroutine[Any, Any, None]]) -> None:
            async with AsyncExitStack() as stack:
                attempt = Attempt(server, stack)
                await attempt.begin()
                await test(attempt)

        yield lambda test: asyncio.run(asyncio.wait_for(run(test), PATIENCE_SECONDS))


Attempting = Callable[[Callable[[Attempt], Coroutine[Any, Any, None]]], None]


def test_an_agent_cannot_enqueue(attempting: Attempting) -> None:
    async def test(attempt: Attempt) -> None:
        before = await attempt.dispatcher.waiting()
        for subject in ("jobs.alpha.release.r-2", "jobs.beta.pull.r-1", "notices.alpha"):
            assert await attempt.is_refused(subject, b"mine")
        # What an agent may send to is no way in either: by a mapping, or as what the server answers to.
        await attempt.agent.nats.publish(f"{NEXT}.alpha-pull", AT_ONCE, reply="jobs.alpha.release.r-2")
        await attempt.everything_has_arrived()
        assert await attempt.dispatcher.waiting() == before
        await attempt.conductor.nats.request("jobs.alpha.release.r-2", b"of the conductor", timeout=PATIENCE_SECONDS)
        assert (await attempt.dispatcher.waiting())["alpha"] == before["alpha"] + 1

    attempting(test)


def test_an_agent_cannot_take_a_job_of_another_platform(attempting: Attempting) -> None:
    async def test(attempt: Attempt) -> None:
        other = await attempt.client("beta-1")
        for priority in PRIORITIES:
            assert await attempt.agent_cannot(f"CONSUMER.MSG.NEXT.JOBS.beta-{priority}", AT_ONCE)
            for client, platform in ((attempt.agent, "alpha"), (other, "beta")):
                agent = f"{platform}-1"
                jobs = await client.subscribed(f"_INBOX_{agent}.job-{priority}")
                subject = f"{NEXT}.{platform}-{priority}"
                await client.nats.publish(subject, AT_ONCE, reply=f"_INBOX_{agent}.job-{priority}")
                job = await jobs.get()
                assert job.data == f"{platform} 0".encode()
                # Nor can it end such a job.
                if platform == "beta":
                    assert await attempt.is_refused(job.reply, b"+ACK")
                    assert await attempt.is_refused(job.reply, b"+TERM")
                answer = await client.nats.request(job.reply, b"+ACK", timeout=PATIENCE_SECONDS)
                assert answer.data == b""
        assert await attempt.dispatcher.waiting() == {"alpha": 21, "beta": 21, "alpha-build": 0}

    attempting(test)


def test_an_agent_cannot_end_a_job_that_is_not_of_its_queue(attempting: Attempting) -> None:
    """All platforms share a stream; servers before 2.12.5 remove what is acknowledged, whoever was given it."""

    async def test(attempt: Attempt) -> None:
        foreign = await attempt.newest_job("jobs.beta.pull.r-1")
        # Nothing is acknowledged that comes after what its queue has reached.
        await attempt.dispatcher.publish([JobMessage("alpha", "pull", "r-2", "alpha-later", b"alpha later")])
        before = await attempt.dispatcher.waiting()
        jobs = await attempt.agent.subscribed("_INBOX_alpha-1.own")
        content = b""
        while content != b"alpha later":
            await attempt.agent.nats.publish(f"{NEXT}.alpha-pull", AT_ONCE, reply="_INBOX_alpha-1.own")
            own = await jobs.get()
            content = own.data
            await attempt.agent.nats.request(own.reply, b"+ACK", timeout=PATIENCE_SECONDS)
        after = await attempt.dispatcher.waiting()
        assert after == before | {"alpha": before["alpha"] - 9}
        for acknowledgement in (b"-NAK", b"+TERM", b"+ACK", b"+NXT", b""):
            for of_queue in (1, 9, foreign):
                subject = f"$JS.ACK.JOBS.alpha-pull.1.{foreign}.{of_queue}.1.0"
                assert not await attempt.is_refused(subject, acknowledgement)
                # Answered once the server has done what it does.
                if acknowledgement in (b"+TERM", b"+ACK"):
                    await attempt.agent.nats.request(subject, acknowledgement, timeout=PATIENCE_SECONDS)
                assert await attempt.newest_job("jobs.beta.pull.r-1") == foreign
        await attempt.everything_has_arrived()
        assert await attempt.dispatcher.waiting() == after

    attempting(test)


def test_an_agent_cannot_read_streams(attempting: Attempting) -> None:
    methods = [
        ("STREAM.MSG.GET.JOBS", b'{"seq": 1, "next_by_subj": ">"}'),
        ("STREAM.MSG.GET.JOBS", b'{"last_by_subj": "jobs.alpha.pull.r-1"}'),
        ("STREAM.INFO.JOBS", b'{"subjects_filter": ">"}'),
        ("STREAM.LIST", b""),
        ("STREAM.NAMES", b""),
        ("CONSUMER.LIST.JOBS", b""),
        ("CONSUMER.INFO.JOBS.alpha-pull", b""),
        ("INFO", b""),
    ]

    async def test(attempt: Attempt) -> None:
        for method, content in methods:
            assert await attempt.conductor_can(method, content)
            assert await attempt.agent_cannot(method, content)
        assert await attempt.agent_cannot("DIRECT.GET.JOBS", b'{"seq": 1}')
        assert await attempt.agent_cannot("DIRECT.GET.JOBS.jobs.alpha.pull.r-1")
        assert await attempt.agent_cannot("STREAM.SNAPSHOT.JOBS", b'{"deliver_subject": "_INBOX_alpha-1.snapshot"}')

    attempting(test)


def test_an_agent_cannot_delete_or_purge(attempting: Attempting) -> None:
    methods = [
        ("STREAM.MSG.DELETE.JOBS", b'{"seq": FIRST}'),
        ("STREAM.PURGE.JOBS", b'{"filter": "jobs.alpha.pull.r-1"}'),
        ("STREAM.UPDATE.NOTICES", b'{"name": "NOTICES", "subjects": ["notices.>"], "storage": "memory"}'),
        ("CONSUMER.DELETE.JOBS.alpha-pull", b""),
        ("STREAM.DELETE.JOBS", b""),
    ]

    async def test(attempt: Attempt) -> None:
        before = await attempt.dispatcher.waiting()
        info = await attempt.dispatcher._api("STREAM.INFO.JOBS", {})
        first = str(info["state"]["first_seq"]).encode()
        for method, content in methods:
            assert await attempt.agent_cannot(method, content.replace(b"FIRST", first))
        assert await attempt.dispatcher.waiting() == before
        for method, content in methods:
            assert await attempt.conductor_can(method, content.replace(b"FIRST", first))

    attempting(test)


def test_an_agent_cannot_make_consumers_or_streams(attempting: Attempting) -> None:
    consumer = {"stream_name": "EXHAUSTED", "config": {"name": "mine", "durable_name": "mine", "ack_policy": "none"}}
    stream = {"name": "MINE", "subjects": ["_INBOX_alpha-1.>", "mine"], "storage": "memory"}
    methods = [
        ("CONSUMER.CREATE.EXHAUSTED.mine", consumer),
        ("CONSUMER.DURABLE.CREATE.EXHAUSTED.mine", consumer),
        ("STREAM.CREATE.MINE", stream),
    ]

    async def test(attempt: Attempt) -> None:
        for method, content in methods:
            assert await attempt.agent_cannot(method, json.dumps(content).encode())
        for method, content in methods:
            assert await attempt.conductor_can(method, json.dumps(content).encode())

    attempting(test)


def test_an_agent_cannot_speak_as_another(attempting: Attempting) -> None:
    async def test(attempt: Attempt) -> None:
        for subject in OF_OTHERS:
            assert await attempt.is_refused(subject, b"forged")
        assert attempt.heard == []
        await attempt.agent.nats.request(OWN, b"true", timeout=PATIENCE_SECONDS)
        assert attempt.heard == [(AgentName("berlin", "alpha", "alpha-1"), b"true")]
        other = await attempt.client("beta-1")
        await other.nats.request(OF_OTHERS[2], b"true", timeout=PATIENCE_SECONDS)
        assert attempt.heard[1:] == [(AgentName("berlin", "beta", "beta-1"), b"true")]

    attempting(test)


def test_an_agent_cannot_have_the_server_speak_as_another(attempting: Attempting) -> None:
    """The server answers on the subject that a request names, and asks for no permission to do so."""

    async def test(attempt: Attempt) -> None:
        unchecked = await attempt.conductor.subscribed("agents.>")
        for subject in (*OF_OTHERS, OWN):
            await attempt.agent.nats.publish(f"{NEXT}.alpha-pull", AT_ONCE, reply=subject)
            await attempt.agent.nats.publish("$JS.ACK.JOBS.alpha-pull.1.1.1.1.0", b"+WPI", reply=subject)
            await attempt.agent.nats.publish(OWN, b"asked", reply=subject)
        await attempt.everything_has_arrived()
        # What it asks arrives under its own name. What the server sends there in its place is not taken for a message.
        assert attempt.heard == [(AgentName("berlin", "alpha", "alpha-1"), b"asked")] * 4
        while not unchecked.empty():
            message = unchecked.get_nowait()
            assert message.subject == OWN or not message.subject.startswith("agents.")
        # In an account that is shared the same request is a message of somebody else.
        await attempt.conductor.nats.publish(f"{NEXT}.alpha-backfill", AT_ONCE, reply=OF_OTHERS[0])
        assert (await unchecked.get()).data.startswith(b"alpha ")

    attempting(test)


def test_an_agent_cannot_receive_what_is_for_others(attempting: Attempting) -> None:
    foreign = (">", "*", "_INBOX_alpha-2.>", "_INBOX_beta-1.>", "_INBOX.>", "cancel.beta", "cancel.*", "agents.>")

    async def test(attempt: Attempt) -> None:
        for subject in (*foreign, "jobs.>", "notices.>", "$JS.>", "$SYS.>", "_R_.>"):
            assert await attempt.cannot_subscribe(attempt.agent, subject), subject
        other = await attempt.client("beta-1")
        refused = len(attempt.agent.refusals)
        of_agent, of_other = await attempt.agent.subscribed("cancel.alpha"), await other.subscribed("cancel.beta")
        assert (len(attempt.agent.refusals), other.refusals) == (refused, [])
        await attempt.dispatcher.cancel("beta", "r-1")
        assert (await of_other.get()).data == b"r-1"
        assert of_agent.empty()
        await attempt.dispatcher.cancel("alpha", "r-2")
        assert (await of_agent.get()).data == b"r-2"

    attempting(test)


def test_an_agent_cannot_send_to_others(attempting: Attempting) -> None:
    async def test(attempt: Attempt) -> None:
        for name in ("alpha-2", "beta-1"):
            other = await attempt.client(name)
            inbox, cancelled = await other.subscribed(f"_INBOX_{name}.>"), await other.subscribed(f"cancel.{name[:-2]}")
            assert other.refusals == []
            for subject in (f"_INBOX_{name}.x", f"cancel.{name[:-2]}"):
                assert await attempt.is_refused(subject, b"forged")
                await attempt.agent.nats.publish(OWN, b"asked", reply=subject)
                await attempt.agent.nats.publish(f"{NEXT}.alpha-pull", AT_ONCE, reply=subject)
            await attempt.everything_has_arrived()
            await attempt.dispatcher.cancel(name[:-2], "r-1")
            assert (await cancelled.get()).data == b"r-1"
            assert inbox.empty()
            assert cancelled.empty()
            await other.nats.publish(f"{NEXT}.{name[:-2]}-pull", AT_ONCE, reply=f"_INBOX_{name}.x")
            assert (await inbox.get()).data.startswith(name[:-2].encode())

    attempting(test)


def test_nobody_connects_with_the_password_of_another(program: Path, tmp_path: Path) -> None:
    async def test(server: NatsServer) -> None:
        path = server.directory / "agents" / "alpha-1.toml"
        path.write_text(path.read_text().replace('user = "alpha-1"', 'user = "conductor"'))
        with pytest.raises(NatsError):
            async with server.client("alpha-1"):
                pass
        async with server.client("alpha-2") as client:
            await client.settled()
            with pytest.raises(NoRespondersError):
                await client.nats.request("agents.berlin.alpha.alpha-2", b"", timeout=PATIENCE_SECONDS)

    with NatsServer.started(program, tmp_path) as server:
        assert "alpha-1" in read_configuration(tmp_path).agents
        asyncio.run(test(server))
