"""Two conductors of one store: one works, the other stands by, whatever happens to the database."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import ssl
import subprocess
import threading
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pytest
from command_line import PROGRAM
from free_ports import free_port
from nats_server import NatsServer, required_program
from postgresql_server import ADMINISTRATOR, PostgresqlServer, programs, server_user
from simulated_fleet import made_up_cases
from waiting import PATIENCE_SECONDS, wait_until

from benches.chaos_roads import Road, Roads
from zerolap.build import Builds, resolve
from zerolap.engines.simulated import Simulated
from zerolap.fleet.agent import Agent, AgentPlace, FilesAreHere
from zerolap.fleet.bus import JetStreamLink
from zerolap.fleet.messages import Claim, message_json
from zerolap.lab import Options, Worker, comparison_request, on_platforms
from zerolap.records import Measurement, Request, RequestedServer, Trial
from zerolap.store import Attempt, FleetPlatform, NotConductor, RequestBusy, Retention, Store, StoredTrigger, open_blobs

PLATFORM = "alpha"
AGENTS = ("alpha-1", "alpha-2", "builder-1")
END_LOCK_SESSIONS = (
    "SELECT pg_terminate_backend(pid, 60000) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock'"
)
NOTE_WRITERS = """
    CREATE TABLE writer (number serial, name text);
    CREATE FUNCTION note_writer() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO writer (name) VALUES (current_setting('application_name')); RETURN NULL; END $$;
"""
WRITTEN_TABLES = ("request", "job", "attempt", "trial", "artifact", "agent", "fleet_platform", "document")


# The store.


def write_request(store: Store) -> None:
    store.fleet.set_platforms([FleetPlatform("arm", "arm-build")])


def write_trigger(store: Store) -> None:
    store.triggers.add(StoredTrigger("t-1", "", "", "push", "{}"))


def write_attempts(store: Store) -> None:
    store.fleet.take_in([], [])


def remove_results(store: Store) -> None:
    store.prune(Retention())


@pytest.fixture
def lost_store(postgresql: PostgresqlServer, tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """Two handles of a store: the conductor before, whose lock session was ended, and the present one."""
    database = postgresql.new_database()
    location = f"{postgresql.url(database)}&blobs={tmp_path / 'blobs'}"
    with Store.open(location) as before, Store.open(location) as after, contextlib.ExitStack() as held:
        held.enter_context(before.conduct())
        write_trigger(before)
        with pytest.raises(RequestBusy):
            held.enter_context(after.conduct())
        assert not before.has_lost_lock()
        postgresql.execute(END_LOCK_SESSIONS, database)
        held.enter_context(after.conduct())
        yield before, after


@pytest.mark.parametrize("write", [write_request, write_trigger, write_attempts, remove_results])
def test_who_lost_the_lock_writes_nothing(lost_store: tuple[Store, Store], write: Callable[[Store], None]) -> None:
    before, after = lost_store
    assert before.has_lost_lock()
    with pytest.raises(NotConductor):
        write(before)
    write(after)
    assert after.triggers.with_id("t-1") is not None
    assert not after.has_lost_lock()


def test_a_write_that_was_begun_ends_before_another_takes_over(postgresql: PostgresqlServer, tmp_path: Path) -> None:
    database = postgresql.new_database()
    location = f"{postgresql.url(database)}&blobs={tmp_path / 'blobs'}"
    order = []
    with Store.open(location) as before, Store.open(location) as after, contextlib.ExitStack() as held:
        held.enter_context(before.conduct())

        def take_over() -> None:
            with after.conduct():
                order.append("taken over")

        with before._database.write_transaction():
            postgresql.execute(END_LOCK_SESSIONS, database)
            other = threading.Thread(target=take_over)
            other.start()
            with postgresql.session(database) as session:
                waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                wait_until(lambda: session.execute(waiting).fetchone() == (1,))
            order.append("written")
        other.join()
    assert order == ["written", "taken over"]


def test_the_lock_of_a_file_that_was_removed_is_lost(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    with Store.open(location) as before, Store.open(location) as after, before.conduct():
        shutil.rmtree(tmp_path / "store" / "claims")
        with after.conduct():
            assert before.has_lost_lock()
            with pytest.raises(NotConductor):
                write_trigger(before)
            write_trigger(after)


def test_others_write_beside_the_conductor(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    with Store.open(location) as conductor, Store.open(location) as other:
        with conductor.conduct():
            pass
        with conductor.conduct():
            write_trigger(other)
            write_request(conductor)


# Processes.


@dataclass
class Conductor:
    """A process of `zerolap serve`, whose sessions with the database have its name."""

    process: "subprocess.Popen[bytes]"
    log: Path
    port: int

    def health(self) -> str:
        """Return what `/health` answers, empty if nothing does."""
        try:
            with urllib.request.urlopen(
                f"https://127.0.0.1:{self.port}/health", timeout=5, context=ssl._create_unverified_context()
            ) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError as fault:
            return fault.read().decode()
        except OSError:
            return ""

    def is_working(self) -> bool:
        """Whether it answers as the conductor does, whatever agents there are."""
        answer = self.health()
        return answer.startswith("{") and json.loads(answer)["state"] != "failed"


@dataclass
class Lab:
    """A database behind a road, a bus with simulated agents, and conductors."""

    server: PostgresqlServer
    bus: NatsServer
    directory: Path
    database: str
    roads: Roads
    road: Road
    conductors: list[Conductor]

    @property
    def blobs(self) -> Path:
        return self.directory / "blobs"

    def store(self) -> Store:
        return Store.open(f"{self.server.url(self.database)}&blobs={self.blobs}")

    def start(self, name: str, way: str) -> Conductor:
        """Start a conductor that reaches the database by that way: `host=…&port=…`."""
        port = free_port()
        location = f"postgresql://{ADMINISTRATOR}@/{self.database}?{way}&application_name={name}&blobs={self.blobs}"
        command = [*PROGRAM, "serve", "--fleet", self.bus.directory, "--listen", f"127.0.0.1:{port}"]
        log = self.directory / f"{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *map(str, command), "--store", location, "--unsafe-no-sandbox"],
                cwd=self.directory,
                env={**os.environ},
                stdout=output,
                stderr=output,
            )
        conductor = Conductor(process, log, port)
        self.conductors.append(conductor)
        return conductor

    def submit(self, store: Store, server: Path, count: int) -> Request:
        side = RequestedServer(source=resolve(str(server), None))
        asked = comparison_request(side, side, made_up_cases(count), Options(engines=["counted"]))
        [request] = on_platforms(asked, [PLATFORM], store.blobs)
        store.submit([request])
        return request

    @contextlib.contextmanager
    def agents(self) -> Iterator[None]:
        """Have agents work in a thread that make their measurements up."""
        ended = threading.Event()
        thread = threading.Thread(target=lambda: asyncio.run(self._work_until(ended)))
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    async def _work_until(self, ended: threading.Event) -> None:
        builds, worker = Builds(self.directory / ".zerolap" / "builds"), Worker({"counted": Simulated()})
        place = AgentPlace(builds, open_blobs(None, self.blobs), worker)
        links, agents = [], []
        for name in AGENTS:
            credentials = self.bus.credentials(name)
            links.append(await JetStreamLink.connect(credentials))
            agents.append(Agent(credentials.kind, links[-1], FilesAreHere(), place))
        tasks = [asyncio.create_task(agent.run()) for agent in agents]
        await asyncio.to_thread(ended.wait)
        for agent in agents:
            agent.drain()
            agent.drain()
        await asyncio.wait(tasks, timeout=PATIENCE_SECONDS)
        for link in links:
            await link.close()


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    binaries, user = programs(), server_user()
    if binaries is None or user is None:
        pytest.skip("not installed: PostgreSQL (initdb, postgres, and a user for them)")
    roads = Roads()
    with (
        PostgresqlServer.started(binaries, user) as server,
        NatsServer.started(required_program(), tmp_path / "fleet") as bus,
    ):
        lab = Lab(server, bus, tmp_path, server.new_database(), roads, roads.lay(server.socket), [])
        lab.store().close()
        for statement in filter(str.strip, NOTE_WRITERS.split(";\n    CREATE FUNCTION")):
            prefix = "" if "CREATE TABLE" in statement else "CREATE FUNCTION"
            server.execute(f"{prefix}{statement}", lab.database)
        for table in WRITTEN_TABLES:
            events = "AFTER INSERT OR UPDATE OR DELETE"
            noting = f"CREATE TRIGGER note_writer {events} ON {table} FOR EACH ROW EXECUTE FUNCTION note_writer()"
            server.execute(noting, lab.database)
        try:
            yield lab
        finally:
            for conductor in lab.conductors:
                conductor.process.kill()
                conductor.process.wait()


def end_session(lab: Lab) -> None:
    lab.server.execute(END_LOCK_SESSIONS, lab.database)


def restart_database(lab: Lab) -> None:
    lab.server.stop()
    lab.server.start()


def cut_connections(lab: Lab) -> None:
    lab.roads.cut(lab.road)


def stall_connections(lab: Lab) -> None:
    lab.roads.stall(lab.road)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [end_session, restart_database, cut_connections, stall_connections])
def test_the_stand_by_takes_over_once_the_conductor_has_lost_the_database(
    lab: Lab, redis_server: Path, fault: Callable[[Lab], None]
) -> None:
    first = lab.start("first", f"host=127.0.0.1&port={lab.road.port}")
    wait_until(first.is_working)
    second = lab.start("second", f"host={lab.server.directory}")
    wait_until(lambda: second.health().startswith("stand-by"))

    with lab.agents(), lab.store() as store:
        request = lab.submit(store, redis_server, 60)
        wait_until(lambda: len(store.measurements(request.id)) >= 5)
        fault(lab)
        assert first.process.wait(PATIENCE_SECONDS) == 3, first.log.read_text()
        assert "not the conductor any more" in first.log.read_text()
        # What was stalled arrives now.
        lab.roads.open(lab.road)
        wait_until(second.is_working)
        wait_until(lambda: store.state(request.id) == "done")
        require_once(store.fleet.attempts(request.id), store.measurements(request.id))
    with lab.server.session(lab.database) as session:
        names = [name for (name,) in session.execute("SELECT name FROM writer ORDER BY number") if name != "zerolap"]
    # At no time have both written.
    assert [name for name, _ in groupby(names)] == ["first", "second"]


def require_once(attempts: list[Attempt], measurements: list[tuple[Trial, Measurement]]) -> None:
    """Require that each job has ended once, and that each trial was recorded once."""
    ended = Counter(attempt.job.id for attempt in attempts if attempt.state == "done")
    assert {attempt.job.id for attempt in attempts} == set(ended)
    assert set(ended.values()) == {1}
    trials = Counter((trial.job, trial.side, trial.block) for trial, _ in measurements)
    assert set(trials.values()) == {1}


def is_answering(conductor: Conductor) -> bool:
    """Whether a conductor has begun to listen to agents."""
    return '"event": "working"' in conductor.log.read_text()


@pytest.mark.slow
def test_only_who_holds_the_lock_answers_agents(lab: Lab) -> None:
    first = lab.start("first", f"host={lab.server.directory}")
    wait_until(lambda: is_answering(first))
    second = lab.start("second", f"host={lab.server.directory}")
    wait_until(lambda: second.health().startswith("stand-by"))

    async def answers() -> int:
        """Return how many answers an agent gets to a message."""
        async with lab.bus.client("alpha-1") as client:
            inbox = f"_INBOX_alpha-1.{os.urandom(4).hex()}"
            subscription = await client.nats.subscribe(inbox)
            message = message_json(Claim(attempt="a-1", delivery=1))
            await client.nats.publish("agents.berlin.alpha.alpha-1", message, reply=inbox)
            await subscription.next_msg(timeout=PATIENCE_SECONDS)
            count = 1
            with contextlib.suppress(TimeoutError):
                while True:
                    await subscription.next_msg(timeout=1)
                    count += 1
            return count

    assert asyncio.run(answers()) == 1
    # What is stopped sees nothing of what it has lost, until it goes on.
    first.process.send_signal(signal.SIGSTOP)
    end_session(lab)
    wait_until(lambda: is_answering(second))
    first.process.send_signal(signal.SIGCONT)
    assert asyncio.run(answers()) == 1
    assert first.process.wait(PATIENCE_SECONDS) == 3
