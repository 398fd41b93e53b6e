"""A bus of the tests' own: a real nats-server on a port of this machine, with the configuration of a fleet."""

import asyncio
import contextlib
import os
import shutil
import signal
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from free_ports import free_port
from nats.aio.client import Client
from nats.aio.msg import Msg
from waiting import PATIENCE_SECONDS, is_stopped, wait_until

from zerolap.fleet.bus import JetStreamDispatcher, JetStreamLink
from zerolap.fleet.delivery import LEASE_SECONDS
from zerolap.fleet.setup.configuration import (
    AgentEntry,
    FleetConfiguration,
    LabEntry,
    PlatformRequirement,
    read_configuration,
)
from zerolap.fleet.setup.credentials import AgentCredentials, read_agent_credentials, read_conductor_credentials
from zerolap.fleet.setup.directory import initialise

SCRIPT = Path(__file__).parent.parent / "scripts" / "nats-server"
LABS = {"berlin": LabEntry(), "porto": LabEntry()}
PLATFORMS = {"alpha": PlatformRequirement(), "beta": PlatformRequirement()}
AGENTS = {
    "alpha-1": AgentEntry(lab="berlin", platform="alpha"),
    "alpha-2": AgentEntry(lab="berlin", platform="alpha"),
    "alpha-3": AgentEntry(lab="porto", platform="alpha"),
    "beta-1": AgentEntry(lab="berlin", platform="beta"),
    "builder-1": AgentEntry(lab="berlin", platform="alpha-build", kind="build"),
}


def required_program() -> Path:
    """Return a nats-server that is new enough; skips the test where there is none."""
    found = subprocess.run([SCRIPT], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        pytest.skip(f"no nats-server: {found.stderr.strip()}")
    return Path(found.stdout.strip())


class NatsServer:
    """A nats-server with the configuration of a fleet's directory, and the connections of tests to it."""

    def __init__(self, program: Path, directory: Path) -> None:
        self.directory = directory
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0

    @classmethod
    @contextlib.contextmanager
    def started(cls, program: Path, directory: Path, agents: dict[str, AgentEntry] = AGENTS) -> Iterator["NatsServer"]:
        """Start a server for these agents, and kill it at the end."""
        address = f"127.0.0.1:{free_port()}"
        configuration = FleetConfiguration(
            bus=f"tls://{address}",
            listen=address,
            artifacts="https://localhost:1",
            labs=LABS,
            platforms=PLATFORMS,
            agents=agents,
        )
        initialise(directory, configuration)
        server = cls(program, directory)
        server.start()
        try:
            yield server
        finally:
            server.kill()

    def log(self) -> str:
        """Return what it has written since its last start."""
        return (self.directory / f"log-{self._starts}").read_text(errors="replace")

    @property
    def number(self) -> int:
        """The number of its process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        self._starts += 1
        # The kernel ends the server with the tests, also where they are killed.
        command: list[str | Path] = ["setpriv", "--pdeathsig", "KILL", self._program]
        command += ["-c", self.directory / "nats.conf"]
        with (self.directory / f"log-{self._starts}").open("wb") as output:
            process = self._process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)

        def is_ready() -> bool:
            assert process.poll() is None, f"the server does not start:\n{self.log()}"
            return "Server is ready" in self.log()

        wait_until(is_ready)

    def kill(self) -> None:
        """End it without a chance to write anything."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Let it do nothing for a while: connections are kept, and nothing is answered."""
        os.kill(self.number, signal.SIGSTOP)
        wait_until(lambda: is_stopped(self.number))
        try:
            yield
        finally:
            os.kill(self.number, signal.SIGCONT)

    def restart(self) -> None:
        """Kill it and start it again."""
        self.kill()
        self.start()

    def wipe(self) -> None:
        """Kill it, remove all that it has kept, and start it again."""
        self.kill()
        shutil.rmtree(self.directory / "bus")
        self.start()

    def credentials(self, agent: str) -> AgentCredentials:
        """Return the credentials of an agent."""
        return read_agent_credentials(self.directory / "agents" / f"{agent}.toml")

    @contextlib.asynccontextmanager
    async def dispatcher(self, lease_seconds: float = LEASE_SECONDS) -> AsyncIterator[JetStreamDispatcher]:
        """Connect as the conductor, with queues for all platforms."""
        agents = read_configuration(self.directory).agent_names()
        credentials = read_conductor_credentials(self.directory)
        dispatcher = await JetStreamDispatcher.connect(credentials, agents, lease_seconds)
        try:
            await dispatcher.set_up({"alpha": 3, "beta": 1, "alpha-build": 1})
            yield dispatcher
        finally:
            await dispatcher.close()

    @contextlib.asynccontextmanager
    async def link(self, agent: str = "alpha-1") -> AsyncIterator[JetStreamLink]:
        """Connect as an agent."""
        link = await JetStreamLink.connect(self.credentials(agent))
        try:
            yield link
        finally:
            await link.close()

    @contextlib.asynccontextmanager
    async def client(self, agent: str) -> AsyncIterator["RawClient"]:
        """Connect with nothing but the credentials of an agent, or of the conductor."""
        client = RawClient()
        try:
            await client.open(self, agent)
            yield client
        finally:
            # The server may have ended the connection.
            with contextlib.suppress(ConnectionError):
                await client.nats.close()


class RawClient:
    """A client that does what it likes; `refusals` has what the server says against it."""

    def __init__(self) -> None:
        self.nats = Client()
        self.refusals: list[str] = []

    async def open(self, server: NatsServer, agent: str) -> None:
        """Connect."""
        is_conductor = agent == "conductor"
        credentials = read_conductor_credentials(server.directory) if is_conductor else server.credentials(agent)

        async def refused(fault: Exception) -> None:
            self.refusals.append(str(fault))

        await self.nats.connect(
            servers=[credentials.bus],
            user=credentials.user,
            password=credentials.password,
            tls=ssl.create_default_context(cadata=credentials.certificate_authority),
            tls_handshake_first=True,
            inbox_prefix=f"_INBOX_{agent}",
            error_cb=refused,
            allow_reconnect=False,
            connect_timeout=int(PATIENCE_SECONDS),
        )

    async def settled(self) -> None:
        """Wait until the server has taken all that was sent, and has said what it refuses of it."""
        # The client sends the first one's PING before what it has buffered.
        await self.nats.flush(int(PATIENCE_SECONDS))
        await self.nats.flush(int(PATIENCE_SECONDS))

    async def subscribed(self, subject: str) -> "asyncio.Queue[Msg]":
        """Subscribe to a subject, and return where its messages come in once the server knows of it."""
        queue: asyncio.Queue[Msg] = asyncio.Queue()

        async def receive(message: Msg) -> None:
            queue.put_nowait(message)

        await self.nats.subscribe(subject, cb=receive)
        await self.settled()
        return queue


async def until_none_wait(dispatcher: JetStreamDispatcher, platform: str) -> None:
    """Wait until the bus has no job of a platform: that one is done is not confirmed to the agent."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await dispatcher.waiting())[platform]:
            await asyncio.sleep(0.02)
