"""What a conductor that is started beside 20,000 open jobs takes: a part of `benches.frame`."""

import asyncio
import contextlib
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from postgresql_server import PostgresqlServer, programs, server_user

from benches.figures import Figure
from zerolap import __version__
from zerolap.build import all_tools, resolve
from zerolap.fleet import Conductor, ServedPlatform
from zerolap.fleet.delivery import AgentName
from zerolap.fleet.fleet_execution import FleetExecution, record_build
from zerolap.fleet.in_process import InProcess
from zerolap.fleet.messages import Hello
from zerolap.fleet.roster import Roster
from zerolap.fleet.turns import new_attempt
from zerolap.lab import Lab, LocalPlatform, Options, Worker, on_platforms, run_request
from zerolap.records import Abilities, BuildDone, BuildJob, Case, RequestedServer, WrittenClient
from zerolap.store import Store

JOBS, REQUESTS = 20_000, 40
STARTS: Final = 3
PLATFORM: Final = "made-up"
LOOK_SECONDS: Final = 0.01


class KeptQueues(InProcess):
    """A bus that has kept the jobs of all open attempts while the conductor was away."""

    outlives_conductor = True

    async def waiting(self) -> dict[str, int]:
        """Return how many jobs it holds, by platform."""
        return {PLATFORM: JOBS}


def restart(work: Path) -> dict[str, Figure]:
    """Start conductors beside open jobs, each in a process of its own, and return their times and memory."""
    with contextlib.ExitStack() as ended:
        binaries, user = programs(), server_user()
        location, notes = str(work / "restart"), ["SQLite, as no PostgreSQL server is installed"]
        if binaries is not None and user is not None:
            server = ended.enter_context(PostgresqlServer.started(binaries, user))
            location, notes = f"{server.url(server.new_database())}&blobs={work / 'blobs'}", ["PostgreSQL"]
        with Store.open(location) as store:
            _open_jobs(store)
        command = [sys.executable, "-m", "benches.restart", location]
        runs = [subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True) for _ in range(STARTS)]
    measured = [list(map(float, run.stdout.split()[-2:])) for run in runs]
    seconds, mebibytes = [one[0] for one in measured], [one[1] for one in measured]
    notes.append(
        f"{REQUESTS} requests; from opening the store until agents are answered and all requests were taken up"
    )
    return {
        "restart_seconds_20000": Figure(max(seconds), "s, the longest", seconds, STARTS, notes=notes),
        "restart_mib_20000": Figure(max(mebibytes), "MiB, the largest", mebibytes, STARTS, notes=notes),
    }


def _roster(store: Store) -> Roster:
    roster = Roster([ServedPlatform(PLATFORM, PLATFORM)])
    known = LocalPlatform(Lab(store)).known()
    hello = Hello(
        kind="bench",
        zerolap=__version__,
        platform=known.platform,
        architecture="",
        memory_bytes=known.memory_bytes,
        tools=all_tools(),
    )
    roster.introduce(AgentName("lab", PLATFORM, "agent"), hello)
    return roster


def _open_jobs(store: Store) -> None:
    """Record requests whose jobs were all given out, and an agent that can execute them."""
    roster, lab = _roster(store), Lab(store)
    store.fleet.set_platforms([platform.row for platform in roster.platforms.values()])
    store.fleet.saw_agents(roster.rows())
    clients = [WrittenClient(commands=[f"GET {number}:__key__"]).client for number in range(JOBS // REQUESTS)]
    cases = [Case(name=f"case-{number}", group="made up", client=client) for number, client in enumerate(clients)]
    server = RequestedServer(source=resolve("redis-server", None))
    for seed in range(REQUESTS):
        asked = run_request(server, cases, Options(engines=["counted"], quick=True, seed=seed), "bench")
        [request] = on_platforms(asked, [PLATFORM], store.blobs)
        store.submit([request])
        execution = FleetExecution(request, roster, lab)
        plan = asyncio.run(execution.plan())
        for job in plan.jobs:
            if isinstance(job, BuildJob):
                for event in Worker().carry_out(job, lab.place):
                    if isinstance(event, BuildDone):
                        abilities = Abilities(commands=frozenset({"GET"}), settings=frozenset())
                        known = event.model_copy(update={"abilities": abilities})
                        record_build(known, job, PLATFORM, store)
                plan = asyncio.run(execution.plan())
        jobs = plan.jobs[: len(cases)]
        if len(jobs) != len(cases):
            raise RuntimeError(f"{len(jobs)} jobs were planned: {plan}")
        store.fleet.add_attempts([new_attempt(request.id, PLATFORM, job) for job in jobs])


async def _conduct(location: str) -> None:
    """Work until all requests were taken up, and print the seconds and MiB that this took."""
    began = time.perf_counter()
    with Store.open(location) as store, store.conduct():
        conductor = Conductor(store, KeptQueues(), [ServedPlatform(PLATFORM, PLATFORM)])
        working = asyncio.create_task(conductor.run())
        while not working.done():
            await asyncio.sleep(LOOK_SECONDS)
            executions = conductor.executions.values()
            if len(executions) == REQUESTS:
                break
        seconds = time.perf_counter() - began
        if working.done():
            await working
        attempts = len(conductor.intake.attempts)
        if attempts < JOBS:
            raise RuntimeError(f"{attempts} attempts are open")
        print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        working.cancel()
        await asyncio.wait([working])


if __name__ == "__main__":
    asyncio.run(_conduct(sys.argv[1]))
