"""The faults, each at a random place: what is killed, cut, filled, stopped, repeated, damaged, and what is a lie."""

import contextlib
import heapq
import itertools
import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import psutil
import psycopg

from benches.chaos_ledger import read_lines
from benches.chaos_member import LEASE_SECONDS
from benches.chaos_messages import Messages
from benches.chaos_processes import AGENTS, BENCH_AGENTS, BUILD_AGENTS, CONDUCTORS, LOAD_AGENTS, Fleet
from benches.chaos_roads import Road
from zerolap.records import EnvironmentMissing
from zerolap.store import Store

UNDER_TEST: Final = ("redis-server", "toy-server", "memcheck", "callgrind", "valgrind", "lackey", "zerolap-load")
OF_CONDUCTORS: Final = "FROM pg_stat_activity WHERE application_name LIKE 'conductor-%'"
OF_LOCK: Final = "FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted"
DECK: Final = {
    "kill of a bench agent": 3,
    "kill of a build agent": 1,
    "kill of a load agent": 1,
    "kill of a conductor": 2,
    "conductor stopped": 1,
    "kill of the bus": 1,
    "wipe of the bus": 1,
    "kill of the database": 1,
    "kill of a database session": 1,
    "restart of the database": 1,
    "end of a conductor's database sessions": 1,
    "end of the session with the lock": 2,
    "cut of a conductor from the database": 1,
    "stall between a conductor and the database": 1,
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
    _deck: list[str] = field(default_factory=list)
    _undoing: list[tuple[float, int, Callable[[], object]]] = field(default_factory=list)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _troubled: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.messages = Messages(self.fleet, self.store, self.chance)

    def inject(self) -> Fault | None:
        """Do the next fault that is possible now, and return it."""
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
                return self.done[-1]
            self._deck.insert(self.chance.randrange(len(self._deck) + 1), kind)
        return None

    def undo(self, *, everything: bool = False) -> None:
        """Undo the faults whose time is over."""
        while self._undoing and (everything or self._undoing[0][0] <= time.monotonic()):
            heapq.heappop(self._undoing)[2]()

    @property
    def _actions(self) -> dict[str, Callable[[], str | None]]:
        return {
            "kill of a bench agent": lambda: self._kill(self.chance.choice([*BENCH_AGENTS])),
            "kill of a build agent": lambda: self._kill(self.chance.choice([*BUILD_AGENTS])),
            "kill of a load agent": lambda: self._kill(self.chance.choice([*LOAD_AGENTS])),
            "kill of a conductor": lambda: self._kill(self.chance.choice(CONDUCTORS)),
            "conductor stopped": lambda: self._stop(CONDUCTORS),
            "kill of the bus": lambda: self._kill("bus"),
            "wipe of the bus": self._wipe,
            "kill of the database": lambda: self._kill("database"),
            "kill of a database session": self._kill_session,
            "restart of the database": self._restart_database,
            "end of a conductor's database sessions": lambda: self._end_sessions(OF_CONDUCTORS),
            "end of the session with the lock": lambda: self._end_sessions(OF_LOCK),
            "cut of a conductor from the database": lambda: self._trouble_database(self.fleet.roads.cut),
            "stall between a conductor and the database": lambda: self._trouble_database(self.fleet.roads.stall),
            "kill of a server or load generator": self._kill_under_test,
            "full disk": self._fill,
            "cut network": lambda: self._trouble_road(self.fleet.roads.cut),
            "stalled network": lambda: self._trouble_road(self.fleet.roads.stall),
            "agent stopped past its lease": lambda: self._stop([*AGENTS]),
            "duplicated job": lambda: self.messages.on_bus(self.messages.duplicate_job),
            "reordered jobs": lambda: self.messages.on_bus(self.messages.reorder_jobs),
            "corrupted job": lambda: self.messages.on_bus(self.messages.corrupt_job),
            "duplicated report": lambda: self.messages.on_bus(self.messages.duplicate_report),
            "corrupted message": lambda: self.messages.on_bus(self.messages.corrupt_message),
            "foreign report": lambda: self.messages.on_bus(self.messages.foreign_report),
            "lie": lambda: self.messages.on_bus(self.messages.lie),
        }

    def _after(self, seconds: float, undo: Callable[[], object]) -> None:
        heapq.heappush(self._undoing, (time.monotonic() + seconds, next(self._numbers), undo))

    def _job_of(self, target: str) -> str | None:
        began = [line["job"] for line in read_lines(self.fleet.ledgers / f"{target}.jsonl") if line["what"] == "began"]
        return began[-1] if began else None

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

    def _restart_database(self) -> str | None:
        """Have the server end all sessions and itself; it is started again as after a kill."""
        database = self.fleet.members["database"]
        return "database" if database.kill(signal.SIGINT) else None

    def _end_sessions(self, sessions: str) -> str | None:
        """End sessions with the database by its own means."""
        try:
            with self.fleet.database_session() as session:
                ended = session.execute(f"SELECT pg_terminate_backend(pid) {sessions}".encode()).fetchall()
        except psycopg.OperationalError:
            # The database is away because of another fault.
            return None
        return "database" if ended else None

    def _stop(self, names: Sequence[str]) -> str | None:
        name = self.chance.choice(names)
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

    def _trouble_road(self, trouble: Callable[[Road], None]) -> str | None:
        return self._trouble(trouble, self.chance.choice([*AGENTS, "conductor"]))

    def _trouble_database(self, trouble: Callable[[Road], None]) -> str | None:
        return self._trouble(trouble, f"database of {self.chance.choice(CONDUCTORS)}")

    def _trouble(self, trouble: Callable[[Road], None], name: str) -> str | None:
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
