"""The processes of a fleet: each is started again a moment after its end, as by systemd, and dies with this one."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Final

import httpx
import psutil
import psycopg
from free_ports import free_port
from postgresql_server import ADMINISTRATOR, programs, server_user

from benches.chaos_roads import Road, Roads
from zerolap.fleet.setup.configuration import AgentEntry, FleetConfiguration, LabEntry, PlatformRequirement
from zerolap.fleet.setup.credentials import AgentCredentials, read_agent_credentials
from zerolap.fleet.setup.directory import initialise

BUILDERS: Final = "builders"
BENCH_AGENTS: Final = {
    "alpha-1": AgentEntry(lab="berlin", platform="alpha"),
    "alpha-2": AgentEntry(lab="porto", platform="alpha"),
    "beta-1": AgentEntry(lab="berlin", platform="beta"),
    "beta-2": AgentEntry(lab="berlin", platform="beta"),
    "gamma-1": AgentEntry(lab="berlin", platform="gamma"),
}
BUILD_AGENTS: Final = {
    "builder-1": AgentEntry(lab="berlin", platform=BUILDERS, kind="build"),
    "builder-2": AgentEntry(lab="porto", platform=BUILDERS, kind="build"),
}
LOADERS: Final = "loaders"
LOADED: Final = "gamma"
"""Its servers take their load from agents of `LOADERS`."""
LOAD_AGENTS: Final = {
    "loader-1": AgentEntry(lab="berlin", platform=LOADERS, kind="load"),
    "loader-2": AgentEntry(lab="berlin", platform=LOADERS, kind="load"),
}
AGENTS: Final = BENCH_AGENTS | BUILD_AGENTS | LOAD_AGENTS
PLATFORMS: Final = ("alpha", "beta")
CONDUCTORS: Final = ("conductor-1", "conductor-2")
DISK_MIB: Final = {"bench": 160, "build": 1000, "load": 160}
"""A builder wants 600 MiB of space before it begins."""
RESTART_SECONDS: Final = (0.2, 2.5)
LOOK_SECONDS: Final = 0.5
HEALTH_SECONDS: Final = 0.5
STARTING_SECONDS: Final = 60.0
ENDING_SECONDS: Final = 120.0
"""Nine agents that end at once beside other load take half a minute."""

Command = list[str | Path]


@dataclass
class Member:
    """A process that is to run; `user` is whom it runs as, `before` is called before each start."""

    name: str
    command: list[str]
    directory: Path
    environment: dict[str, str] = field(default_factory=dict)
    user: str | None = None
    before: Callable[[], None] = lambda: None
    process: subprocess.Popen[bytes] | None = None
    starts: int = 0
    is_wanted: bool = True
    restart_at: float = 0.0
    unexpected_ends: int = 0
    is_killed: bool = False

    @property
    def number(self) -> int | None:
        """The number of its process, none while it does not run."""
        return None if self.process is None or self.process.poll() is not None else self.process.pid

    @property
    def log(self) -> Path:
        """What it has written."""
        return self.directory / f"{self.name}.log"

    def start(self) -> None:
        """Start it, tied to this thread of this process."""
        self.before()
        self.starts += 1
        self.is_killed = False
        # The main thread of the bench starts everything: the kernel ends what a thread has started with the thread.
        command = ["setpriv", "--pdeathsig", "KILL", *self.command]
        with self.log.open("ab") as log:
            log.write(f"--- start {self.starts} at {time.time():.1f}\n".encode())
            log.flush()
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.directory if self.user is None else None,
                env={**os.environ, **self.environment},
                user=self.user,
            )

    def kill(self, signal_number: signal.Signals = signal.SIGKILL) -> bool:
        """Kill it, by default as `kill -9` does; returns false if it did not run."""
        number = self.number
        if number is None:
            return False
        self.is_killed = True
        os.kill(number, signal_number)
        return True

    def tend(self, chance: random.Random) -> None:
        """Start it again if it has ended for a moment."""
        if not self.is_wanted or self.number is not None:
            return
        now = time.monotonic()
        if self.process is not None:
            if not self.is_killed:
                self.unexpected_ends += 1
            self.process = None
            self.restart_at = now + chance.uniform(*RESTART_SECONDS)
        if now >= self.restart_at:
            self.start()

    def ask_for_stacks(self) -> None:
        """Have it write the stacks of its threads to its log; only for processes of `benches.chaos_member`."""
        if self.number is not None:
            os.kill(self.number, signal.SIGUSR1)

    def ask_to_end(self, number: int) -> None:
        """Send a signal that ends it for good."""
        self.is_wanted = False
        if self.process is not None:
            self.process.send_signal(number)

    def end(self, *signals: int, seconds: float = ENDING_SECONDS) -> bool:
        """Have it end by signals, then by force; returns whether force was not needed."""
        self.is_wanted = False
        for number in signals:
            self.ask_to_end(number)
        if self.process is None:
            return True
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False
        return True


class Disk:
    """What an agent writes to: a small file system of its own where this process may mount one."""

    def __init__(self, directory: Path, mebibytes: int, *, can_mount: bool) -> None:
        self.directory = directory
        self.is_mounted = can_mount
        directory.mkdir()
        if can_mount:
            command = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", str(directory)]
            subprocess.run(command, check=True)
        (directory / "tmp").mkdir()

    @property
    def _filling(self) -> Path:
        return self.directory / "filling"

    def fill(self, number: int | None) -> bool:
        """Take all of its space, or else let the process of that number write no file; returns whether that worked."""
        if not self.is_mounted:
            return number is not None and _limit_files(number, 0)
        with self._filling.open("ab") as file:
            free = shutil.disk_usage(self.directory).free
            while free > 0:
                try:
                    os.posix_fallocate(file.fileno(), file.tell(), free)
                    file.seek(0, os.SEEK_END)
                    free = shutil.disk_usage(self.directory).free
                except OSError:
                    free //= 2
        return True

    def free(self, number: int | None) -> None:
        """Give the space back."""
        if self.is_mounted:
            self._filling.unlink(missing_ok=True)
        elif number is not None:
            _limit_files(number, -1)


def _limit_files(number: int, size: int) -> bool:
    try:
        limited = psutil.Process(number)
        _, hard = limited.rlimit(psutil.RLIMIT_FSIZE)
        limited.rlimit(psutil.RLIMIT_FSIZE, (size if size >= 0 else hard, hard))
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
    return True


@dataclass
class Fleet:
    """All processes with the roads between them; made by `set_up`."""

    directory: Path
    chance: random.Random
    roads: Roads
    bus_port: int
    api_ports: dict[str, int]
    store_location: str
    members: dict[str, Member] = field(default_factory=dict)
    disks: dict[str, Disk] = field(default_factory=dict)
    ways: dict[str, list[Road]] = field(default_factory=dict)
    _next_look: float = 0.0

    @property
    def credentials_directory(self) -> Path:
        """What `zerolap fleet init` makes."""
        return self.directory / "fleet"

    @property
    def ledgers(self) -> Path:
        """The directory of the ledgers."""
        return self.directory / "ledgers"

    def credentials(self, agent: str) -> AgentCredentials:
        """Return the credentials of an agent, with the address of the bus itself."""
        path = self.credentials_directory / "agents" / f"{agent}.toml"
        return read_agent_credentials(path).model_copy(update={"bus": f"tls://127.0.0.1:{self.bus_port}"})

    def database_session(self) -> psycopg.Connection:
        """Return a session of the administrator, without transactions."""
        directory = str(self.directory / "db")
        return psycopg.connect(host=directory, user=ADMINISTRATOR, dbname="zerolap", autocommit=True)

    def _lead_to_conductor(self) -> None:
        """Have the ways to the API lead to the conductor that works, as a proxy does that asks for `/health`."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_SECONDS
        for name, port in self.api_ports.items():
            if self.members[name].number is not None and _is_working(port):
                for agent in AGENTS:
                    self.ways[agent][1].to = port

    def tend(self) -> None:
        """Start again what has ended, and take in the ends of processes that others left behind."""
        self._lead_to_conductor()
        for member in self.members.values():
            member.tend(self.chance)
        if os.getpid() == 1:
            self._reap()

    def _reap(self) -> None:
        own = {member.process.pid for member in self.members.values() if member.process is not None}
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None or ended.si_pid in own:
                return
            os.waitpid(ended.si_pid, 0)

    def strangers(self) -> list[str]:
        """Return the processes that should not be there while no job is under way."""
        allowed: set[int] = {os.getpid()}
        for name, member in self.members.items():
            if (number := member.number) is None:
                continue
            allowed.add(number)
            if name not in AGENTS:
                allowed |= _descendants(number)
        strangers = []
        for process in psutil.process_iter(["cmdline", "status"]):
            if process.pid in allowed or process.info["status"] == psutil.STATUS_ZOMBIE:
                continue
            if os.getpid() == 1 or self._belongs(process):
                strangers.append(" ".join(process.info["cmdline"] or ["?"])[:200])
        return strangers

    def _belongs(self, process: psutil.Process) -> bool:
        """Whether a process was started by one of the fleet, where others can be seen too."""
        place = str(self.directory)
        try:
            return any(place in word for word in process.cmdline()) or process.environ().get("TMPDIR", "").startswith(
                place
            )
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            return False


def set_up(directory: Path, chance: random.Random, nats_server: Path, *, can_mount: bool) -> Fleet:
    """Make the files of a fleet and its members, and start its database."""
    roads = Roads()
    bus_port, *of_conductors = (free_port() for _ in range(1 + len(CONDUCTORS)))
    api_ports = dict(zip(CONDUCTORS, of_conductors, strict=True))
    api_port = of_conductors[0]
    database = directory / "db"
    blobs = directory / "blobs"
    store = f"postgresql://{ADMINISTRATOR}@/zerolap?host={database}&blobs={blobs}"
    fleet = Fleet(directory, chance, roads, bus_port, api_ports, store)
    conductors = roads.lay(bus_port)
    fleet.ways["conductor"] = [conductors]
    for name in CONDUCTORS:
        fleet.ways[f"database of {name}"] = [roads.lay(database / ".s.PGSQL.5432")]
    configuration = FleetConfiguration(
        bus=f"tls://127.0.0.1:{conductors.port}",
        listen=f"127.0.0.1:{bus_port}",
        artifacts=f"https://127.0.0.1:{api_port}",
        labs={"berlin": LabEntry(), "porto": LabEntry()},
        platforms={
            **dict.fromkeys(PLATFORMS, PlatformRequirement(builder=BUILDERS)),
            LOADED: PlatformRequirement(builder=BUILDERS, load=LOADERS),
        },
        agents=AGENTS,
    )
    initialise(fleet.credentials_directory, configuration)
    fleet.ledgers.mkdir()
    for name, entry in AGENTS.items():
        to_bus, to_api = fleet.ways[name] = [roads.lay(bus_port), roads.lay(api_port)]
        path = fleet.credentials_directory / "agents" / f"{name}.toml"
        text = path.read_text().replace(f":{conductors.port}", f":{to_bus.port}")
        path.write_text(text.replace(f":{api_port}", f":{to_api.port}"))
        fleet.disks[name] = Disk(directory / name, DISK_MIB[entry.kind], can_mount=can_mount)
    _add_members(fleet, nats_server, database)
    for name in ("database", "bus"):
        fleet.members[name].start()
    _create_database(fleet, database)
    return fleet


def _add_members(fleet: Fleet, nats_server: Path, database: Path) -> None:
    def add(name: str, command: Command, environment: dict[str, str] | None = None, user: str | None = None) -> None:
        words = [str(word) for word in command]
        fleet.members[name] = Member(name, words, fleet.directory, environment or {}, user)

    binaries, user = programs(), server_user()
    assert binaries is not None
    assert user is not None
    as_user = user if os.geteuid() == 0 else None
    database.mkdir()
    if as_user is not None:
        shutil.chown(database, as_user)
    fleet.directory.chmod(0o755)
    initdb: Command = [binaries / "initdb", "-D", database / "data", "--no-sync", "--username", ADMINISTRATOR]
    subprocess.run([*initdb, "--encoding", "UTF8"], check=True, capture_output=True, user=as_user, cwd=database)
    settings: Command = ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "log_destination=stderr"]
    postgres: Command = [binaries / "postgres", "-D", database / "data", "-k", database, *settings]
    add("database", postgres, user=as_user)
    add("bus", [nats_server, "-c", fleet.credentials_directory / "nats.conf"])
    member: Command = [sys.executable, "-m", "benches.chaos_member"]
    path = os.pathsep.join(filter(None, [str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH")]))
    environment = {"PYTHONPATH": path}
    for name in CONDUCTORS:
        [road] = fleet.ways[f"database of {name}"]
        way = f"host=127.0.0.1&port={road.port}&application_name={name}"
        location = f"postgresql://{ADMINISTRATOR}@/zerolap?{way}&blobs={fleet.directory / 'blobs'}"
        port = str(fleet.api_ports[name])
        add(name, [*member, "serve", fleet.credentials_directory, location, port], environment=environment)
    for name in AGENTS:
        disk = fleet.disks[name].directory
        credentials = fleet.credentials_directory / "agents" / f"{name}.toml"
        agent: Command = [*member, "agent", credentials, disk / "agent", fleet.ledgers / f"{name}.jsonl"]
        add(name, agent, environment={**environment, "TMPDIR": str(disk / "tmp")})


def _create_database(fleet: Fleet, directory: Path) -> None:
    end = time.monotonic() + STARTING_SECONDS
    while True:
        try:
            with psycopg.connect(
                host=str(directory), user=ADMINISTRATOR, dbname="postgres", autocommit=True
            ) as session:
                session.execute("CREATE DATABASE zerolap")
                return
        except psycopg.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def _is_working(port: int) -> bool:
    """Whether the conductor at a port answers that it works."""
    try:
        answer = httpx.get(f"https://127.0.0.1:{port}/health", verify=False, timeout=HEALTH_SECONDS)
    except httpx.HTTPError:
        return False
    return answer.status_code == HTTPStatus.OK


def _descendants(number: int) -> set[int]:
    try:
        return {child.pid for child in psutil.Process(number).children(recursive=True)}
    except psutil.NoSuchProcess:
        return set()


def has_programs() -> bool:
    """Whether PostgreSQL is installed, and there is a user whom it can run as."""
    return programs() is not None and server_user() is not None
