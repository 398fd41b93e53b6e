"""The faults, each at a random place: what is killed, cut, filled, stopped, repeated, damaged, and what is a lie."""

import asyncio
import base64
import contextlib
import heapq
import itertools
import json
import os
import random
import shutil
import signal
import ssl
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import psutil
from nats.aio.client import Client
from nats.errors import Error as NatsError

from benches.chaos_ledger import read_lines
from benches.chaos_member import LEASE_SECONDS
from benches.chaos_processes import AGENTS, BENCH_AGENTS, BUILD_AGENTS, Fleet
from zerolap.fleet.setup.credentials import BusCredentials, read_conductor_credentials
from zerolap.records import EnvironmentMissing, TrialsJob
from zerolap.store import Attempt, Store

Document = dict[str, Any]
T = TypeVar("T")

UNDER_TEST: Final = ("redis-server", "toy-server", "memcheck", "callgrind", "valgrind", "lackey", "zerolap-load")
ACTION_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 1.5
DECK: Final = {
    "kill of a bench agent": 3,
    "kill of a build agent": 1,
    "kill of the conductor": 2,
    "kill of the bus": 1,
    "wipe of the bus": 1,
    "kill of the database": 1,
    "kill of a database session": 1,
    "kill of a server or load generator": 2,
    "full disk": 1,
    "cut network": 2,
    "stalled network": 1,
    "agent stopped past its lease": 2,
    "duplicated job": 2,
    "reordered jobs": 1,
    "corrupted job": 2,
    "duplicated report": 1,
    "corrupted message": 1,
    "foreign report": 1,
    "lie": 3,
}
"""How often each kind comes in a deck, which is drawn to its end before it is shuffled again."""


@dataclass(frozen=True)
class Fault:
    """What was done, to whom, when; `job` is the one that was under way there."""

    kind: str
    target: str
    time: float
    job: str | None = None


@dataclass
class Faults:
    """Does faults and, after a while, undoes them."""

    fleet: Fleet
    store: Store
    chance: random.Random
    done: list[Fault] = field(default_factory=list)
    accepted_lies: list[str] = field(default_factory=list)
    _deck: list[str] = field(default_factory=list)
    _undoing: list[tuple[float, int, Callable[[], object]]] = field(default_factory=list)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _troubled: Counter[str] = field(default_factory=Counter)

    def inject(self) -> None:
        """Do the next fault that is possible now."""
        for _ in range(len(DECK)):
            if not self._deck:
                # The first deck has each kind once: a short run has all of them.
                self._deck = [kind for kind, times in DECK.items() for _ in range(times if self.done else 1)]
                self.chance.shuffle(self._deck)
            kind = self._deck.pop()
            try:
                target = self._actions[kind]()
            except EnvironmentMissing:
                # The database is away because of another fault.
                target = None
            if target is not None:
                self.done.append(Fault(kind, target, time.time(), self._job_of(target)))
                return
            self._deck.insert(self.chance.randrange(len(self._deck) + 1), kind)

    def undo(self, *, everything: bool = False) -> None:
        """Undo the faults whose time is over."""
        while self._undoing and (everything or self._undoing[0][0] <= time.monotonic()):
            heapq.heappop(self._undoing)[2]()

    @property
    def _actions(self) -> dict[str, Callable[[], str | None]]:
        return {
            "kill of a bench agent": lambda: self._kill(self.chance.choice([*BENCH_AGENTS])),
            "kill of a build agent": lambda: self._kill(self.chance.choice([*BUILD_AGENTS])),
            "kill of the conductor": lambda: self._kill("conductor"),
            "kill of the bus": lambda: self._kill("bus"),
            "wipe of the bus": self._wipe,
            "kill of the database": lambda: self._kill("database"),
            "kill of a database session": self._kill_session,
            "kill of a server or load generator": self._kill_under_test,
            "full disk": self._fill,
            "cut network": lambda: self._trouble_road(self.fleet.roads.cut),
            "stalled network": lambda: self._trouble_road(self.fleet.roads.stall),
            "agent stopped past its lease": self._stop,
            "duplicated job": lambda: self._on_bus(self._duplicate_job),
            "reordered jobs": lambda: self._on_bus(self._reorder_jobs),
            "corrupted job": lambda: self._on_bus(self._corrupt_job),
            "duplicated report": lambda: self._on_bus(self._duplicate_report),
            "corrupted message": lambda: self._on_bus(self._corrupt_message),
            "foreign report": lambda: self._on_bus(self._foreign_report),
            "lie": lambda: self._on_bus(self._lie),
        }

    def _after(self, seconds: float, undo: Callable[[], object]) -> None:
        heapq.heappush(self._undoing, (time.monotonic() + seconds, next(self._numbers), undo))

    def _job_of(self, target: str) -> str | None:
        began = [line["job"] for line in read_lines(self.fleet.ledgers / f"{target}.jsonl") if line["what"] == "began"]
        return began[-1] if began else None

    def kept_messages(self) -> int | None:
        """Return how many jobs the bus keeps, none if it does not answer."""
        kept: list[int] = []

        async def count() -> str:
            async with self._as_conductor() as client:
                kept.append(len(await self._kept_jobs(client)))
            return "bus"

        return kept[0] if self._on_bus(count) and kept else None

    # Processes.

    def _kill(self, name: str) -> str | None:
        return name if self.fleet.members[name].kill() else None

    def _wipe(self) -> str | None:
        bus = self.fleet.members["bus"]
        if not bus.kill():
            return None
        assert bus.process is not None
        bus.process.wait()
        shutil.rmtree(self.fleet.credentials_directory / "bus", ignore_errors=True)
        return "bus"

    def _kill_session(self) -> str | None:
        number = self.fleet.members["database"].number
        if number is None:
            return None
        sessions = [child for child in _processes_below(number) if "zerolap" in " ".join(_command(child))]
        return "database" if _killed(self.chance, sessions) else None

    def _kill_under_test(self) -> str | None:
        for name in self.chance.sample([*BENCH_AGENTS], len(BENCH_AGENTS)):
            number = self.fleet.members[name].number
            below = [] if number is None else _processes_below(number)
            # The sandbox's own process has the program in its command line too.
            chosen = [
                one
                for one in below
                if any(word in _name(one) or word in " ".join(_command(one)[:1]) for word in UNDER_TEST)
            ]
            if _killed(self.chance, chosen):
                return name
        return None

    def _stop(self) -> str | None:
        name = self.chance.choice([*AGENTS])
        number = self.fleet.members[name].number
        if number is None or self._troubled[name]:
            return None
        os.kill(number, signal.SIGSTOP)
        self._troubled[name] += 1

        def go_on() -> None:
            self._troubled[name] -= 1
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGCONT)

        self._after(self.chance.uniform(1.2, 2.5) * LEASE_SECONDS, go_on)
        return name

    def _fill(self) -> str | None:
        name = self.chance.choice([*AGENTS])
        number = self.fleet.members[name].number
        disk = self.fleet.disks[name]
        if self._troubled[name] or not disk.fill(number):
            return None
        self._troubled[name] += 1

        def free() -> None:
            self._troubled[name] -= 1
            disk.free(number)

        self._after(self.chance.uniform(2, 8), free)
        return name

    def _trouble_road(self, trouble: Callable[[Any], None]) -> str | None:
        name = self.chance.choice([*self.fleet.ways])
        if self._troubled[name]:
            return None
        self._troubled[name] += 1
        for road in self.fleet.ways[name]:
            trouble(road)

        def heal() -> None:
            self._troubled[name] -= 1
            for road in self.fleet.ways[name]:
                self.fleet.roads.open(road)

        self._after(self.chance.uniform(0.5, 2.5 * LEASE_SECONDS), heal)
        return name

    # Messages.

    def _on_bus(self, action: Callable[[], Awaitable[str | None]]) -> str | None:
        async def bounded() -> str | None:
            async with asyncio.timeout(ACTION_SECONDS):
                return await action()

        try:
            return asyncio.run(bounded())
        except (NatsError, OSError, EOFError, ValueError, TimeoutError):
            # The bus is away because of another fault.
            return None

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

    async def _duplicate_job(self) -> str | None:
        async with self._as_conductor() as client:
            jobs = await self._kept_jobs(client)
            if not jobs:
                return None
            _, subject, content = self.chance.choice(jobs)
            for _ in range(self.chance.randint(1, 3)):
                await self._put(client, subject, content)
            return subject

    async def _reorder_jobs(self) -> str | None:
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

    async def _corrupt_job(self) -> str | None:
        async with self._as_conductor() as client:
            jobs = await self._kept_jobs(client)
            if not jobs:
                return None
            _, subject, content = self.chance.choice(jobs)
            document = json.loads(content)
            other = json.loads(self.chance.choice(jobs)[2])["attempt"]
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

    async def _duplicate_report(self) -> str | None:
        found = self._some_report()
        if found is None:
            return None
        await self._say(found[0], json.dumps(found[1]).encode())
        return found[0]

    async def _foreign_report(self) -> str | None:
        """Report what another has reported, with other numbers."""
        found = self._some_report()
        if found is None:
            return None
        agent = self.chance.choice([name for name in AGENTS if name != found[0]])
        answer = await self._say(agent, json.dumps(_falsified(found[1])).encode())
        if answer.get("accepted"):
            self.accepted_lies.append(f"{agent}: a report of {found[0]}")
        return agent

    async def _corrupt_message(self) -> str | None:
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

    async def _lie(self) -> str | None:
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


# Lies: each returns who tells it, what, and whether the conductor can know it for one.

Lie = tuple[str, bytes, bool]


def _falsified(report: Document) -> Document:
    """Return a report with other metrics."""
    falsified: Document = json.loads(json.dumps(report))
    for measurement in falsified["event"].get("measurements", {}).values():
        measurement["metrics"] = {name: 1.0 + value for name, value in measurement["metrics"].items()}
    return falsified


def _made_up(attempt: Attempt, measurement: Document | None = None, **changes: object) -> bytes:
    """Return a report of a trial that nobody has carried out."""
    assert isinstance(attempt.job, TrialsJob)
    values = {"metrics": {"instructions_per_op": 1.0}, "validity": {"valid": True, "checks": []}, **(measurement or {})}
    event = {
        "event": "trial_done",
        "job": attempt.job.id,
        "block": attempt.job.blocks[0].number,
        "measurements": dict.fromkeys(attempt.job.servers, values),
        **changes,
    }
    return json.dumps({"message": "report", "attempt": attempt.id, "event": event}).encode()


def _held(chance: random.Random, attempts: list[Attempt]) -> Attempt | None:
    held = [one for one in attempts if one.state == "claimed" and one.agent in BENCH_AGENTS]
    return chance.choice(held) if held else None


def _of_held(make: Callable[[Attempt], bytes]) -> Callable[[random.Random, list[Attempt]], Lie | None]:
    """Return a lie of an agent about the attempt that it holds."""

    def lie(chance: random.Random, attempts: list[Attempt]) -> Lie | None:
        attempt = _held(chance, attempts)
        return None if attempt is None or attempt.agent is None else (attempt.agent, make(attempt), True)

    return lie


def _of_others(chance: random.Random, attempts: list[Attempt]) -> Lie | None:
    """Report the result of a job that another holds, or that is for another platform."""
    attempt = chance.choice(attempts)
    return _who_has_not(chance, attempt), _made_up(attempt), True


def _who_has_not(chance: random.Random, attempt: Attempt) -> str:
    """Return an agent that cannot have been given a job.

    Of a job that nobody holds, those of its platform may report: they may have claimed it while the conductor died.
    """
    is_held = attempt.state == "claimed"
    others = [name for name, of in AGENTS.items() if is_held or of.platform != attempt.platform]
    return chance.choice([name for name in others if name != attempt.agent])


def _end_of_others(chance: random.Random, attempts: list[Attempt]) -> Lie | None:
    """Report the end of a job that another holds, or give it up."""
    attempt = chance.choice(attempts)
    liar = _who_has_not(chance, attempt)
    event: Document = chance.choice([{"event": "finished"}, {"event": "failed", "reason": "it is bad"}])
    report = {"message": "report", "attempt": attempt.id, "event": {**event, "job": attempt.job.id}}
    give_up = {"message": "give up", "attempt": attempt.id, "reason": "no wish"}
    return liar, json.dumps(chance.choice([report, give_up])).encode(), True


def _claim(attempt: Attempt, delivery: int) -> bytes:
    return json.dumps({"message": "claim", "attempt": attempt.id, "delivery": delivery}).encode()


def _claim_of_other_platform(chance: random.Random, attempts: list[Attempt]) -> Lie | None:
    attempt = chance.choice(attempts)
    return (
        chance.choice([name for name, of in AGENTS.items() if of.platform != attempt.platform]),
        _claim(attempt, 9),
        True,
    )


def _claim_not_given(chance: random.Random, attempts: list[Attempt]) -> Lie | None:
    """Claim a job of the own platform that the bus has not given to this agent: only the bus could tell."""
    attempt = chance.choice(attempts)
    liar = chance.choice([name for name, of in BENCH_AGENTS.items() if of.platform == attempt.platform])
    return liar, _claim(attempt, chance.choice([1, 2, 1000])), False


def _claim_beyond_integers(chance: random.Random, attempts: list[Attempt]) -> Lie | None:
    attempt = chance.choice(attempts)
    liar = chance.choice([name for name, of in BENCH_AGENTS.items() if of.platform == attempt.platform])
    return liar, _claim(attempt, chance.choice([1 << 31, 1 << 70, -(1 << 40)])), True


def _give_up_in_bad_words(chance: random.Random, attempts: list[Attempt]) -> Lie | None:
    attempt = _held(chance, attempts)
    if attempt is None or attempt.agent is None:
        return None
    message = {"message": "give up", "attempt": attempt.id, "reason": "\0 no text"}
    return attempt.agent, json.dumps(message).encode(), False


def _other_machine(chance: random.Random, attempts: list[Attempt]) -> Lie | None:
    """Introduce oneself as another machine, whose name no database takes."""
    platform = {"fingerprint": "f-\0", "name": "\0", "cpu": "\0", "cores": 1, "kernel": "\0", "facts": {}}
    hello = {"message": "hello", "kind": "bench", "zerolap": "\0", "platform": platform, "architecture": "\0"}
    return chance.choice([*BENCH_AGENTS]), json.dumps({**hello, "memory_bytes": 1 << 80}).encode(), True


LIES: Final[tuple[Callable[[random.Random, list[Attempt]], Lie | None], ...]] = (
    _of_others,
    _of_others,
    _end_of_others,
    _claim_of_other_platform,
    _claim_not_given,
    _claim_not_given,
    _claim_beyond_integers,
    _give_up_in_bad_words,
    _other_machine,
    _of_held(lambda attempt: _made_up(attempt, block=999_999)),
    _of_held(lambda attempt: _made_up(attempt, block=1 << 40)),
    _of_held(lambda attempt: _made_up(attempt, job="j-other")),
    _of_held(lambda attempt: _made_up(attempt, measurements={})),
    _of_held(lambda attempt: _made_up(attempt, measurements={"other": {"metrics": {}, "validity": {"valid": True}}})),
    _of_held(lambda attempt: _made_up(attempt, {"graph": "0" * 64})),
    _of_held(lambda attempt: _made_up(attempt, {"graph": "../../etc/passwd"})),
    _of_held(lambda attempt: _made_up(attempt, {"metrics": {"instructions_per_op": float("nan")}})),
    _of_held(lambda attempt: _made_up(attempt, {"metrics": {"instructions_per_op": float("-inf")}})),
    _of_held(lambda attempt: _made_up(attempt, {"metrics": {"a\0b": 1.0}})),
    _of_held(lambda attempt: _made_up(attempt, {"method": 1 << 40})),
    _of_held(lambda attempt: _made_up(attempt, {"zerolap": "\0"})),
    _of_held(lambda attempt: _made_up(attempt, event="build_done")),
)


def _processes_below(number: int) -> list[psutil.Process]:
    try:
        return psutil.Process(number).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.Error:
        return ""


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _killed(chance: random.Random, processes: list[psutil.Process]) -> bool:
    """Kill one of them."""
    for process in chance.sample(processes, len(processes)):
        try:
            process.kill()
        except psutil.Error:
            continue
        return True
    return False
