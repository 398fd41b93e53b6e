"""Faults on the bus: messages that are repeated, reordered, damaged or a lie."""

import asyncio
import base64
import contextlib
import json
import random
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from nats.aio.client import Client
from nats.errors import Error as NatsError

from benches.chaos_ledger import read_lines
from benches.chaos_lies import LIES, Document, falsified
from benches.chaos_processes import AGENTS, Fleet
from zerolap.fleet.setup.credentials import BusCredentials, read_conductor_credentials
from zerolap.records import EnvironmentMissing, TrialsJob
from zerolap.store import Store

ACTION_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 1.5
LEFT_SECONDS: Final = 30.0


@dataclass
class Messages:
    """Sends messages that nobody should send; each method returns who or what was troubled, none if nothing was."""

    fleet: Fleet
    store: Store
    chance: random.Random
    accepted_lies: list[str] = field(default_factory=list)

    def kept_messages(self) -> int | None:
        """Return how many jobs the bus keeps, none if it does not answer."""
        kept: list[int] = []

        async def count() -> str:
            async with self._as_conductor() as client:
                kept.append(len(await self._kept_jobs(client)))
            return "bus"

        return kept[0] if self.on_bus(count) and kept else None

    def on_bus(self, action: Callable[[], Awaitable[str | None]]) -> str | None:
        """Do something on the bus; returns none where the bus is away because of another fault.

        The client may take for ever to close a connection that was lost, whatever cancels it: it has a thread that can
        be left, as faults are undone, and processes started again, by the thread that calls this.
        """
        done: list[str | None] = []

        async def bounded() -> str | None:
            async with asyncio.timeout(ACTION_SECONDS):
                return await action()

        def act() -> None:
            with contextlib.suppress(NatsError, OSError, EOFError, ValueError, TimeoutError, EnvironmentMissing):
                done.append(asyncio.run(bounded()))

        acting = threading.Thread(target=act, daemon=True)
        acting.start()
        acting.join(LEFT_SECONDS)
        return done[0] if done else None

    @contextlib.asynccontextmanager
    async def _connected(self, credentials: BusCredentials, name: str) -> AsyncIterator[Client]:
        client = Client()

        async def ignore(_: Exception) -> None:
            pass

        await client.connect(
            servers=[f"tls://127.0.0.1:{self.fleet.bus_port}"],
            user=credentials.user,
            password=credentials.password,
            tls=ssl.create_default_context(cadata=credentials.certificate_authority),
            tls_handshake_first=True,
            inbox_prefix=f"_INBOX_{name}",
            allow_reconnect=False,
            max_reconnect_attempts=1,
            error_cb=ignore,
        )
        try:
            yield client
        finally:
            await client.close()

    def _as_conductor(self) -> "contextlib.AbstractAsyncContextManager[Client]":
        return self._connected(read_conductor_credentials(self.fleet.credentials_directory), "conductor")

    async def _kept_jobs(self, client: Client) -> list[tuple[int, str, bytes]]:
        """Return the jobs that the bus keeps: number, subject and content of each."""
        jobs: list[tuple[int, str, bytes]] = []
        begin = 1
        while True:
            asked = {"seq": begin, "next_by_subj": "jobs.>"}
            answer = await client.request("$JS.API.STREAM.MSG.GET.JOBS", json.dumps(asked).encode(), timeout=2)
            message = json.loads(answer.data).get("message")
            if message is None:
                return jobs
            jobs.append((message["seq"], message["subject"], base64.b64decode(message.get("data", ""))))
            begin = message["seq"] + 1

    async def _put(self, client: Client, subject: str, content: bytes) -> None:
        headers = {"Nats-Msg-Id": f"chaos-{self.chance.getrandbits(64):x}"}
        await client.request(subject, content, timeout=2, headers=headers)

    async def duplicate_job(self) -> str | None:
        """Publish a job once more, or several times."""
        async with self._as_conductor() as client:
            jobs = await self._kept_jobs(client)
            if not jobs:
                return None
            _, subject, content = self.chance.choice(jobs)
            for _ in range(self.chance.randint(1, 3)):
                await self._put(client, subject, content)
            return subject

    async def reorder_jobs(self) -> str | None:
        """Put the jobs that wait into another order."""
        async with self._as_conductor() as client:
            jobs = await self._kept_jobs(client)
            if len(jobs) < 2:
                return None
            for sequence, _, _ in jobs:
                asked = json.dumps({"seq": sequence, "no_erase": True}).encode()
                await client.request("$JS.API.STREAM.MSG.DELETE.JOBS", asked, timeout=2)
            for _, subject, content in reversed(jobs):
                await self._put(client, subject, content)
            return f"{len(jobs)} jobs"

    async def corrupt_job(self) -> str | None:
        """Publish a damaged copy of a job."""
        async with self._as_conductor() as client:
            jobs = [(subject, content) for _, subject, content in await self._kept_jobs(client) if _is_job(content)]
            if not jobs:
                return None
            subject, content = self.chance.choice(jobs)
            document = json.loads(content)
            other = json.loads(self.chance.choice(jobs)[1])["attempt"]
            damaged = [
                content[: self.chance.randrange(len(content))],
                b"",
                b"null",
                b"\xff" * 100,
                json.dumps({**document, "attempt": 5}).encode(),
                json.dumps({**document, "attempt": "a-unknown"}).encode(),
                json.dumps({**document, "attempt": other}).encode(),
                json.dumps({**document, "token": "none"}).encode(),
                json.dumps({**document, "job": {**document["job"], "kind": "other"}}).encode(),
            ]
            await self._put(client, subject, self.chance.choice(damaged))
            return subject

    async def _say(self, agent: str, content: bytes) -> Document:
        """Send a message in the name of an agent; returns the answer, empty if none came."""
        entry = AGENTS[agent]
        async with self._connected(self.fleet.credentials(agent), agent) as client:
            subject = f"agents.{entry.lab}.{entry.platform}.{agent}"
            try:
                answer = await client.request(subject, content, timeout=ANSWER_SECONDS)
            except (NatsError, TimeoutError):
                return {}
            document: Document = json.loads(answer.data)
            return document

    def _some_report(self) -> tuple[str, Document] | None:
        """Return a report that was accepted, and its agent."""
        agent = self.chance.choice([*AGENTS])
        reports = [
            line["report"] for line in read_lines(self.fleet.ledgers / f"{agent}.jsonl") if line["what"] == "told"
        ]
        return (agent, self.chance.choice(reports[-4:])) if reports else None

    async def duplicate_report(self) -> str | None:
        """Send a report that was accepted again."""
        found = self._some_report()
        if found is None:
            return None
        await self._say(found[0], json.dumps(found[1]).encode())
        return found[0]

    async def foreign_report(self) -> str | None:
        """Report what another has reported, with other numbers."""
        found = self._some_report()
        if found is None:
            return None
        agent = self.chance.choice([name for name in AGENTS if name != found[0]])
        answer = await self._say(agent, json.dumps(falsified(found[1])).encode())
        if answer.get("accepted"):
            self.accepted_lies.append(f"{agent}: a report of {found[0]}")
        return agent

    async def corrupt_message(self) -> str | None:
        """Send a damaged message in the name of an agent."""
        found = self._some_report()
        if found is None:
            return None
        agent, report = found
        content = json.dumps(report).encode()
        damaged = [
            content[: self.chance.randrange(len(content))],
            b"",
            b"[" * 100_000,
            b"x" * (1 << 20),
            b'{"message":"claim","attempt":null,"delivery":"many"}',
            b'{"message":"report","attempt":"a-1","event":{"event":"trial_done"}}',
            json.dumps({**report, "attempt": f"{report['attempt']}x"}).encode(),
            json.dumps({**report, "event": {**report["event"], "job": "j-other"}}).encode(),
        ]
        await self._say(agent, self.chance.choice(damaged))
        return agent

    async def lie(self) -> str | None:
        """Say something that is not true in the name of an agent."""
        attempts = [one for one in self.store.fleet.open_attempts() if isinstance(one.job, TrialsJob)]
        if not attempts:
            return None
        told = self.chance.choice(LIES)(self.chance, attempts)
        if told is None:
            return None
        agent, content, is_refused = told
        answer = await self._say(agent, content)
        if is_refused and answer.get("accepted"):
            self.accepted_lies.append(f"{agent}: {content[:300].decode()}")
        return agent


def _is_job(content: bytes) -> bool:
    """Whether the content of a message is a job that nobody has damaged."""
    try:
        document = json.loads(content)
    except ValueError:
        return False
    return isinstance(document, dict) and isinstance(document.get("job"), dict) and "attempt" in document
