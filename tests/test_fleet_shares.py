"""What one agent can take from the others: it floods the bus, and their messages and leases go on."""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from nats.errors import Error as NatsError, NoRespondersError, TimeoutError as NatsTimeout
from nats_server import NatsServer, RawClient, required_program
from structlog.testing import capture_logs
from waiting import PATIENCE_SECONDS, run_bounded

from zerolap.fleet.bus import inbox as jetstream_inbox
from zerolap.fleet.delivery import AgentName, JobMessage
from zerolap.fleet.setup.bus_configuration import MAX_AGENT_PAYLOAD_BYTES

OWN = "agents.berlin.alpha.alpha-1"
DROPPED_SECONDS = 1.0
"""After so long a message counts as dropped, which is sent again."""
FLOODING_CLIENTS = 3
MESSAGES_OF_OTHERS = 50


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsServer]:
    with NatsServer.started(required_program(), tmp_path) as server:
        yield server


async def answered(name: AgentName, content: bytes) -> bytes:
    return name.agent.encode()


async def is_listened_to(client: RawClient) -> bool:
    """Whether the conductor takes messages of alpha-1, answered or not."""
    try:
        return (await client.nats.request(OWN, b"?", timeout=DROPPED_SECONDS)).data == b"alpha-1"
    except NoRespondersError:
        return False
    except NatsTimeout:
        return True


async def until_answered(client: RawClient) -> None:
    """Wait until alpha-1 gets an answer."""
    while True:
        with contextlib.suppress(NoRespondersError, NatsTimeout):
            await client.nats.request(OWN, b"?", timeout=DROPPED_SECONDS)
            return


def test_messages_of_one_agent_that_are_never_answered_leave_places_for_others(server: NatsServer) -> None:
    async def answer(name: AgentName, content: bytes) -> bytes:
        if name.agent == "alpha-1":
            await asyncio.Event().wait()
        return content

    async def test() -> None:
        async with server.dispatcher() as dispatcher, server.client("alpha-1") as flood, server.link("beta-1") as other:
            await dispatcher.reply(answer)
            for _ in range(1000):
                await flood.nats.publish(OWN, b"", reply="_INBOX_alpha-1.x")
            await flood.settled()
            assert await other.ask(b"heartbeat", PATIENCE_SECONDS) == b"heartbeat"

    run_bounded(test())


@pytest.mark.slow
@pytest.mark.parametrize("size_bytes", [10, MAX_AGENT_PAYLOAD_BYTES])
def test_others_are_answered_and_keep_their_leases_while_one_agent_floods(server: NatsServer, size_bytes: int) -> None:
    async def test() -> None:
        async with server.dispatcher(lease_seconds=600) as dispatcher, server.link("beta-1") as other:
            await dispatcher.reply(answered)
            await dispatcher.publish([JobMessage("beta", "pull", "r-1", "m-1", b"job")])
            held = await other.next_job(PATIENCE_SECONDS)
            assert held is not None
            command = [sys.executable, __file__, server.directory, str(size_bytes)]
            floods = [subprocess.Popen(command) for _ in range(FLOODING_CLIENTS)]
            try:
                async with server.client("alpha-1") as client:
                    while await is_listened_to(client):
                        await asyncio.sleep(0.1)
                for _ in range(MESSAGES_OF_OTHERS):
                    assert await other.ask(b"heartbeat", PATIENCE_SECONDS) == b"beta-1"
                    assert await held.extend()
                assert all(flood.poll() is None for flood in floods)
            finally:
                for flood in floods:
                    flood.kill()
                    flood.wait()

    run_bounded(test())


def test_an_agent_that_has_flooded_is_listened_to_again(server: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jetstream_inbox, "REST_SECONDS", 0.5)
    monkeypatch.setattr(jetstream_inbox, "MOST_DROPPED_COST", 10.0)
    monkeypatch.setattr(jetstream_inbox, "DROPPED_COST_PER_SECOND", 1e-9)
    release = asyncio.Event()

    async def answer(name: AgentName, content: bytes) -> bytes:
        await release.wait()
        return name.agent.encode()

    async def test() -> None:
        async with server.dispatcher() as dispatcher, server.client("alpha-1") as client:
            await dispatcher.reply(answer)
            with capture_logs() as logged:
                while not any("not listened to" in entry["event"] for entry in logged):
                    await client.nats.publish(OWN, b"", reply="_INBOX_alpha-1.x")
                    await client.settled()
            release.set()
            await until_answered(client)

    run_bounded(test())


def test_an_agent_that_does_not_belong_to_the_fleet_any_more_is_not_listened_to(server: NatsServer) -> None:
    async def test() -> None:
        async with server.dispatcher() as dispatcher, server.client("alpha-1") as client:
            await dispatcher.reply(answered)
            await until_answered(client)
            every = list(dispatcher._inboxes)
            await dispatcher.listen_to(name for name in every if name.agent != "alpha-1")
            while await is_listened_to(client):
                await asyncio.sleep(0.05)
            await dispatcher.listen_to(every)
            await until_answered(client)

    run_bounded(test())


def test_messages_of_an_agent_have_a_largest_size(server: NatsServer) -> None:
    async def test() -> None:
        async with server.dispatcher() as dispatcher, server.client("alpha-1") as client:
            await dispatcher.reply(answered)
            await until_answered(client)
            largest = b"x" * MAX_AGENT_PAYLOAD_BYTES
            answer = await client.nats.request(OWN, largest, timeout=PATIENCE_SECONDS)
            assert answer.data == b"alpha-1"
            await client.nats.publish(OWN, largest + b"x")
            while not client.nats.is_closed:
                await asyncio.sleep(0.05)

    run_bounded(test())


def test_the_bus_takes_no_more_connections_of_an_agent_than_it_needs(server: NatsServer) -> None:
    async def test() -> None:
        clients = [RawClient() for _ in range(20)]
        refused = 0
        for client in clients:
            try:
                await client.open(server, "alpha-1")
            except NatsError:
                refused += 1
        assert 0 < refused < len(clients)
        async with server.client("alpha-2") as other:
            assert other.nats.is_connected
        for client in clients:
            await client.nats.close()

    run_bounded(test())


async def flood(directory: Path, size_bytes: int) -> None:
    """Send messages as alpha-1, as fast as the bus takes them, until killed."""
    server = NatsServer(Path(), directory)
    content = b"x" * size_bytes
    while True:
        client = RawClient()
        try:
            await client.open(server, "alpha-1")
            while client.nats.is_connected:
                for _ in range(100):
                    await client.nats.publish(OWN, content, reply="_INBOX_alpha-1.x")
                await client.nats.flush(PATIENCE_SECONDS)
        except (NatsError, OSError):
            continue


if __name__ == "__main__":
    asyncio.run(flood(Path(sys.argv[1]), int(sys.argv[2])))
