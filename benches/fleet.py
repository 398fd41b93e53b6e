"""What a fleet's queue costs: 50 simulated agents and 20,000 jobs, from a row to the stored result.

Bus, database, conductor and the links of the agents are real, each in a process of its own; only what agents measure
is made up, in no time. `python -m benches.fleet [JOBS]`; another number of jobs is stated in the file.
"""

import asyncio
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nats_server import required_program
from postgresql_server import PostgresqlServer, programs, server_user

from benches.figures import Figure, show_figures, write_figures
from zerolap.build import Builds, resolve
from zerolap.engines.simulated import Simulated
from zerolap.fleet.agent import Agent, AgentPlace, FilesAreHere
from zerolap.fleet.bus import JetStreamLink
from zerolap.fleet.setup.configuration import AgentEntry, FleetConfiguration, LabEntry, PlatformRequirement
from zerolap.fleet.setup.credentials import read_agent_credentials
from zerolap.fleet.setup.directory import initialise
from zerolap.lab import Options, Worker, on_platforms, run_request
from zerolap.records import Case, Request, RequestedServer, WrittenClient
from zerolap.store import Store, open_blobs

JOBS = 20_000
JOBS_PER_SUBMISSION = 500
AGENTS = 50
SINGLE_JOBS = 200
PLATFORM = "made-up"
POLL_SECONDS = 0.5
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def main(jobs: int) -> None:
    """Measure the figures and write them."""
    with tempfile.TemporaryDirectory(prefix="zerolap-bench-") as name, _location(Path(name)) as (location, notes):
        directory = Path(name)
        with Store.open(location) as store, _fleet(directory, location) as bus:
            figures = _claiming(store) | _draining(store, jobs, bus, notes)
    show_figures(figures)
    print(write_figures("fleet", figures))


def _claiming(store: Store) -> dict[str, Figure]:
    """Give out jobs while all agents wait, and return how long it takes from a job's row until an agent holds it."""
    samples = []
    for number in range(SINGLE_JOBS):
        request = _submitted(store, 1, f"single-{number}")
        _wait_for(store, [request])
        samples += _claim_ms(store, request)
        # The first ones wait for agents to connect, and for the build.
    samples = samples[len(samples) // 10 :]
    ordered = sorted(samples)
    p99 = ordered[int(0.99 * (len(ordered) - 1))]
    raw = [round(sample, 3) for sample in samples]
    return {
        "ready_to_claimed_p50_ms": Figure(statistics.median(ordered), "ms", raw, len(raw)),
        "ready_to_claimed_p99_ms": Figure(p99, "ms", raw, len(raw)),
    }


def _draining(store: Store, jobs: int, bus: int, notes: list[str]) -> dict[str, Figure]:
    """Submit all jobs, and return how long they take and what that costs the bus."""
    requests = [_submitted(store, JOBS_PER_SUBMISSION, f"many-{one}") for one in range(jobs // JOBS_PER_SUBMISSION)]
    cpu_before, began = _cpu_seconds(bus), time.time()
    _wait_for(store, requests)
    seconds, cpu = time.time() - began, _cpu_seconds(bus) - cpu_before
    trials = sum(len(store.measurements(request.id)) for request in requests)
    if trials != jobs:
        raise SystemExit(f"{trials} results of {jobs} jobs are stored")
    ended = sorted(attempt.ended or 0.0 for request in requests for attempt in store.fleet.attempts(request.id))
    per_second = [
        sum(began + second <= one < began + second + 1 for one in ended) for second in range(int(seconds) + 1)
    ]
    if jobs != JOBS:
        notes = [*notes, f"with {jobs} jobs instead of {JOBS}"]
    return {
        "drain_seconds": Figure(
            seconds, "s", per_second, jobs, notes=[*notes, "samples: results stored in each second"]
        ),
        "bus_cpu_seconds": Figure(cpu, "s", [cpu], jobs),
    }


def _submitted(store: Store, count: int, group: str) -> Request:
    clients = [WrittenClient(commands=[f"GET {group}:{number}:__key__"]).client for number in range(count)]
    cases = [Case(name=f"{group}-{number}", group=group, client=client) for number, client in enumerate(clients)]
    server = RequestedServer(source=resolve("redis-server", None))
    asked = run_request(server, cases, Options(engines=["counted"], quick=True), "bench")
    [request] = on_platforms(asked, [PLATFORM], store.blobs)
    store.submit([request])
    return request


def _wait_for(store: Store, requests: list[Request]) -> None:
    identities = [request.id for request in requests]
    pause = POLL_SECONDS if len(identities) > 1 else POLL_SECONDS / 10
    while (states := set(store.fleet.states(identities).values())) != {"done"}:
        if "failed" in states:
            raise SystemExit(next(store.request(one).reason for one in identities))
        time.sleep(pause)


def _claim_ms(store: Store, request: Request) -> list[float]:
    attempts = store.fleet.attempts(request.id)
    return [(one.claimed - one.created) * 1e3 for one in attempts if one.claimed is not None]


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


@contextmanager
def _location(directory: Path) -> Iterator[tuple[str, list[str]]]:
    """Return the location of a store: PostgreSQL where it is installed, else SQLite."""
    binaries, user = programs(), server_user()
    if binaries is None or user is None:
        yield str(directory / "store"), ["SQLite, as no PostgreSQL server is installed"]
        return
    with PostgresqlServer.started(binaries, user, durable=True) as server:
        yield (
            f"{server.url(server.new_database())}&blobs={directory / 'blobs'}",
            ["PostgreSQL, which writes to the disk"],
        )


@contextmanager
def _fleet(directory: Path, location: str) -> Iterator[int]:
    """Start bus, conductor and agents; returns the process id of the bus."""
    fleet = directory / "fleet"
    bus_address, api_address = _free_address(), _free_address()
    initialise_fleet(fleet, bus_address, api_address)
    commands: list[list[str | Path]] = [
        [required_program(), "-c", fleet / "nats.conf"],
        [
            Path(sys.executable).with_name("zerolap"),
            "serve",
            "--fleet",
            fleet,
            "--listen",
            api_address,
            "--store",
            location,
        ],
        [sys.executable, "-m", "benches.fleet", "agents", fleet, *_directories(directory, location)],
    ]
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            with (directory / f"log-{len(processes)}").open("wb") as log:
                tied = ["setpriv", "--pdeathsig", "KILL", *map(str, command)]
                processes.append(subprocess.Popen(tied, stdout=log, stderr=log, cwd=directory, env=_environment()))
            time.sleep(1)
        yield processes[0].pid
    finally:
        for process in reversed(processes):
            process.send_signal(signal.SIGKILL)
            process.wait()


def _directories(directory: Path, location: str) -> list[Path]:
    """Return where the conductor has its builds and blobs."""
    if location.startswith("postgresql:"):
        return [directory / ".zerolap" / "builds", directory / "blobs"]
    return [Path(location) / "builds", Path(location) / "blobs"]


def _environment() -> dict[str, str]:
    here = Path(__file__).parent.parent
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(here), str(here / "tests")])}


def _free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"127.0.0.1:{free.getsockname()[1]}"


def initialise_fleet(directory: Path, bus_address: str, api_address: str) -> None:
    """Write the configuration of a fleet with `AGENTS` agents, and one that builds."""
    agents = {f"agent-{number}": AgentEntry(lab="lab", platform=PLATFORM) for number in range(AGENTS)}
    agents["builder"] = AgentEntry(lab="lab", platform=f"{PLATFORM}-build", kind="build")
    configuration = FleetConfiguration(
        bus=f"tls://{bus_address}",
        listen=bus_address,
        artifacts=f"https://{api_address}",
        labs={"lab": LabEntry()},
        platforms={PLATFORM: PlatformRequirement()},
        agents=agents,
    )
    directory.mkdir()
    initialise(directory, configuration)


async def run_agents(fleet: Path, builds: Path, blobs: Path) -> None:
    """Run all agents; they share the blobs of the conductor, as what they make up is no load for a network."""
    place = AgentPlace(Builds(builds), open_blobs(None, blobs), Worker({"counted": Simulated()}))
    tasks = []
    for path in sorted((fleet / "agents").glob("*.toml")):
        credentials = read_agent_credentials(path)
        link = await JetStreamLink.connect(credentials)
        tasks.append(asyncio.create_task(Agent(credentials.kind, link, FilesAreHere(), place).run()))
    await asyncio.gather(*tasks)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["agents", fleet_directory, builds_directory, blobs_directory]:
            asyncio.run(run_agents(Path(fleet_directory), Path(builds_directory), Path(blobs_directory)))
        case [count]:
            main(int(count))
        case _:
            if shutil.which("redis-server") is None:
                raise SystemExit("redis-server is not installed")
            main(JOBS)
