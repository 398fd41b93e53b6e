"""Agents that are revoked, get other keys, or join by themselves, over a real bus."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from nats.errors import Error as NatsError
from nats_server import NatsServer, RawClient, required_program
from waiting import PATIENCE_SECONDS, run_bounded, until

from zerolap.api import application
from zerolap.errors import UsageError
from zerolap.fleet import Conductor, ServedPlatform
from zerolap.fleet.bus import JetStreamLink
from zerolap.fleet.delivery import AgentName, JobMessage
from zerolap.fleet.in_process import InProcess
from zerolap.fleet.membership import follow_configuration
from zerolap.fleet.messages import Hello
from zerolap.fleet.setup.agent_keys import AgentKey, checked_public_key
from zerolap.fleet.setup.configuration import read_configuration
from zerolap.fleet.setup.credentials import (
    AgentCredentials,
    read_agent_credentials,
    read_conductor_credentials,
    write_credentials,
)
from zerolap.fleet.setup.directory import add_agent, reload_bus, revoke_agent, rotate_key, rotate_password
from zerolap.fleet.setup.join_messages import JoinToken, fingerprint_of, secret_digest
from zerolap.fleet.turns import new_attempt
from zerolap.records import LoadJob
from zerolap.store import AdmittedAgent, Store

SEED = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
PUBLIC = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"
"""A pair that the documentation of NATS shows."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsServer]:
    with NatsServer.started(required_program(), tmp_path / "fleet") as server:
        yield server


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "store")) as store:
        yield store


async def accepted(server: NatsServer, name: str) -> None:
    """Wait until the server takes what a client with the present credentials of that name sends."""
    while True:
        # The bus may still be about to end other sessions because of its new configuration.
        with contextlib.suppress(NatsError, OSError):
            async with server.client(name) as client:
                await client.settled()
                return


async def answered(name: AgentName, content: bytes) -> bytes:
    return name.agent.encode()


def test_keys_are_written_as_nats_writes_them() -> None:
    assert AgentKey.read(SEED).public == PUBLIC
    assert AgentKey.read(SEED).seed == SEED
    new = AgentKey.new()
    assert AgentKey.read(new.seed).public == checked_public_key(new.public)


@pytest.mark.parametrize("text", ["", "U", PUBLIC[:-1], PUBLIC.lower(), PUBLIC.replace("X", "Y"), SEED, "ü" * 56])
def test_what_is_no_public_key(text: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        checked_public_key(text)


def test_a_revoked_agent_loses_its_connections_and_gets_none(server: NatsServer) -> None:
    async def test() -> None:
        before = server.credentials("alpha-1")
        fleet = server.directory
        text = (fleet / "fleet.toml").read_text()
        (fleet / "fleet.toml").write_text(text.replace("[agents.alpha-2]", "# the second\n[agents.alpha-2]"))
        async with server.client("alpha-1") as revoked, server.client("alpha-2") as kept:
            revoke_agent(fleet, "alpha-1")
            assert await asyncio.to_thread(reload_bus, fleet)
            await until(lambda: revoked.nats.is_closed)
            await kept.settled()
            assert not kept.nats.is_closed
        write_credentials(fleet / "agents" / "alpha-1.toml", before)
        with pytest.raises((NatsError, OSError)):
            await RawClient().open(server, "alpha-1")
        assert "alpha-1" not in read_configuration(fleet).agents
        assert "# the second\n[agents.alpha-2]" in (fleet / "fleet.toml").read_text()
        with pytest.raises(UsageError, match="there is no agent alpha-1"):
            revoke_agent(fleet, "alpha-1")

    run_bounded(test())


def test_a_running_conductor_gives_the_job_of_a_revoked_agent_to_another(server: NatsServer, store: Store) -> None:
    async def test() -> None:
        async with server.dispatcher() as dispatcher:
            conductor = Conductor(store, dispatcher, [ServedPlatform("alpha", "alpha-build")])
            working = [
                asyncio.create_task(follow_configuration(server.directory, dispatcher, conductor)),
                asyncio.create_task(conductor.intake.write()),
            ]
            attempt = new_attempt("c-1", "alpha", LoadJob(request="c-1", attempt="a-1", address="127.0.0.1:1"))
            conductor.intake.open([attempt])
            name = AgentName("berlin", "alpha", "alpha-1")
            conductor.roster.introduce(name, hello())
            conductor.intake._hold(attempt, conductor.roster.usable("alpha")[0], delivery=1, starts=1)
            added = asyncio.create_task(asyncio.to_thread(add_agent, server.directory, "alpha-9", "berlin", "alpha"))
            await until(lambda: any(one.agent == "alpha-9" for one in dispatcher._inboxes))
            await added
            assert attempt.id in conductor.intake.attempts
            await asyncio.to_thread(revoke_agent, server.directory, "alpha-1")
            await until(lambda: attempt.id not in conductor.intake.attempts)
            assert name not in dispatcher._inboxes
            assert conductor.roster.usable("alpha") == []
            for task in working:
                task.cancel()

    run_bounded(test())


def hello() -> Hello:
    from zerolap.host import fingerprint

    return Hello(kind="bench", zerolap="0", platform=fingerprint(), architecture="x86_64", memory_bytes=1 << 30)


@pytest.mark.parametrize("name", ["alpha-1", "conductor"])
def test_a_password_that_was_rotated_is_good_for_nothing(server: NatsServer, name: str) -> None:
    async def test() -> None:
        fleet = server.directory
        async with server.client(name) as old, server.client("alpha-2") as kept:
            before = read_conductor_credentials(fleet) if name == "conductor" else server.credentials(name)
            path = rotate_password(fleet, name)
            assert before.password not in path.read_text()
            assert before.password not in (fleet / "nats.conf").read_text()
            assert await asyncio.to_thread(reload_bus, fleet)
            await until(lambda: old.nats.is_closed)
            assert not kept.nats.is_closed
        await accepted(server, name)

    run_bounded(test())


def test_an_agent_works_with_a_key_of_its_own_until_it_has_another(server: NatsServer) -> None:
    fleet = server.directory
    about = server.credentials("alpha-1")

    def credentials(key: AgentKey) -> AgentCredentials:
        content = about.model_dump() | {"user": "alpha-9", "agent": "alpha-9", "password": "", "key": key.seed}
        return AgentCredentials.model_validate(content)

    async def test() -> None:
        keys = [AgentKey.new(), AgentKey.new()]
        add_agent(fleet, "alpha-9", "berlin", "alpha", key=keys[0].public)
        assert await asyncio.to_thread(reload_bus, fleet)
        assert not (fleet / "agents" / "alpha-9.toml").exists()
        async with server.dispatcher() as dispatcher:
            await dispatcher.reply(answered)
            await dispatcher.publish([JobMessage("alpha", "pull", "r-1", "m-1", b"job")])
            link = await JetStreamLink.connect(credentials(keys[0]))
            job = await link.next_job(PATIENCE_SECONDS)
            assert job is not None
            assert await link.ask(b"?", PATIENCE_SECONDS) == b"alpha-9"
            rotate_key(fleet, "alpha-9", keys[1].public)
            assert await asyncio.to_thread(reload_bus, fleet)
            await until(lambda: link._connection.current is None)
            other = await JetStreamLink.connect(credentials(keys[1]))
            assert await other.ask(b"?", PATIENCE_SECONDS) == b"alpha-9"
            assert link._connection.current is None
            await link.close()
            await other.close()
            # In place of a password too.
            rotate_key(fleet, "alpha-2", AgentKey.new().public)
            assert not (fleet / "agents" / "alpha-2.toml").exists()
            assert "alpha-2" not in (fleet / "secrets.toml").read_text()

    run_bounded(test())


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_credentials_that_others_can_read_are_refused(
    server: NatsServer, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    path = server.directory / "agents" / "alpha-1.toml"
    path.chmod(mode)
    with pytest.raises(UsageError, match="by others") as refused:
        read_agent_credentials(path)
    assert refused.value.hint == f"chmod 600 {path}"
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(path.parent))
    assert read_agent_credentials(path).agent == "alpha-1"
    (server.directory / "conductor.toml").chmod(mode)
    with pytest.raises(UsageError, match="by others"):
        read_conductor_credentials(server.directory)


# Joining


def test_a_token_is_good_for_once_and_for_a_time(server: NatsServer, store: Store) -> None:
    """The whole of joining is in `test_fleet_page.py`; this is what the conductor refuses."""
    fleet = server.directory
    authority = (fleet / "ca.pem").read_text()
    tokens = [JoinToken.new(authority) for _ in range(4)]
    assert JoinToken.read(str(tokens[0])) == tokens[0]
    now = time.time()
    admitted = [
        AdmittedAgent("alpha-9", "berlin", "alpha", "bench", now + 3600),
        AdmittedAgent("alpha-8", "berlin", "alpha", "bench", now - 1),
        AdmittedAgent("alpha-7", "rome", "alpha", "bench", now + 3600),
        AdmittedAgent("alpha-6", "berlin", "alpha", "bench", now + 3600, replaces=True),
    ]
    for token, agent in zip(tokens, admitted, strict=True):
        store.fleet.add_join_token(secret_digest(token.secret), agent)

    async def test() -> None:
        conductor = Conductor(store, InProcess(), [ServedPlatform("alpha", "alpha")])
        transport = httpx.ASGITransport(application(conductor, store, fleet=fleet))
        async with httpx.AsyncClient(transport=transport, base_url="https://lab") as client:

            async def code(secret: str, key: str) -> int:
                return (await client.post("/join", json={"secret": secret, "key": key})).status_code

            key = AgentKey.new().public
            assert fingerprint_of((await client.get("/ca.pem")).text) == tokens[0].fingerprint
            assert await code(tokens[0].secret, "UAAA") == 422
            assert (await client.post("/join", content=b"x" * 5000)).status_code == 413
            assert [await code(token.secret, key) for token in tokens] == [200, 403, 409, 409]
            assert await code(tokens[0].secret, key) == 403
        agents = read_configuration(fleet).agents
        assert agents["alpha-9"].key == key
        assert not {"alpha-8", "alpha-7", "alpha-6"} & agents.keys()

    run_bounded(test())


@pytest.mark.parametrize("text", ["", "zj_x", "zl_" + "A" * 43, "zj_" + "A" * 43 + "." + "A" * 42])
def test_what_is_no_token(text: str) -> None:
    with pytest.raises(UsageError, match="no token"):
        JoinToken.read(text)
