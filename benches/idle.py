"""What a conductor costs that has nothing to do: its agent is busy, 1,000 jobs wait, and 50 pull requests are watched.

`python -m benches.idle DIRECTORY GITHUB` is the conductor with its triggers, and an agent that never ends its first
job. It prints a line once all jobs are open.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from github_state import TOKEN
from played_github import PlayedGitHub
from simulated_fleet import SimulatedFleet, made_up_cases
from webhook_payloads import LABEL, MAINTAINER, REPOSITORY

from benches.figures import Figure
from zerolap.engines.simulated import Simulated
from zerolap.fleet import Pace, turns
from zerolap.lab import SubmissionOptions
from zerolap.records import Block, TrialsJob
from zerolap.store import Store
from zerolap.triggers import outbox
from zerolap.triggers.running import Triggers
from zerolap.triggers.settings import checked_settings
from zerolap.triggers.trigger import PullRequestTrigger
from zerolap.triggers.webhooks.admission_state import stored_trigger

PULL_REQUESTS: Final = 50
JOBS_EACH: Final = 20
SECONDS: Final = 60
SAMPLE_SECONDS: Final = 5
BASE, HEAD = "1" * 40, "2" * 40
TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")


def idle_conductor_share(work: Path) -> Figure:
    """Return the processor time of an idle conductor over the time that passes, with SQLite."""
    directory = work / "idle"
    directory.mkdir()
    with PlayedGitHub.started() as github, _conductor(directory, github) as process:
        samples = []
        for _ in range(SECONDS // SAMPLE_SECONDS):
            before, began = _cpu_seconds(process), time.perf_counter()
            time.sleep(SAMPLE_SECONDS)
            samples.append((_cpu_seconds(process) - before) / (time.perf_counter() - began))
        comments = sum(len(github.bodies(REPOSITORY, number)) for number in range(1, PULL_REQUESTS + 1))
    return Figure(
        sum(samples) / len(samples),
        "of a processor",
        [round(sample, 5) for sample in samples],
        len(samples),
        notes=[
            f"{PULL_REQUESTS * JOBS_EACH:,} open jobs, {PULL_REQUESTS} pull requests, {comments} comments; limit 0.02"
        ],
    )


@contextlib.contextmanager
def _conductor(directory: Path, github: PlayedGitHub) -> Iterator[int]:
    """Start the conductor, and yield its process once it has nothing to do."""
    github.add_repository(REPOSITORY)
    for number in range(1, PULL_REQUESTS + 1):
        github.add_pull_request(REPOSITORY, number, HEAD, BASE)
    command = ["setpriv", "--pdeathsig", "KILL", sys.executable, "-m", "benches.idle", str(directory), github.url]
    with (
        (directory / "log").open("wb") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log) as process,
    ):
        assert process.stdout is not None
        try:
            if not any(line.startswith(b"ready") for line in process.stdout):
                raise SystemExit((directory / "log").read_text())
            while any(not github.bodies(REPOSITORY, number) for number in range(1, PULL_REQUESTS + 1)):
                time.sleep(0.1)
            time.sleep(SAMPLE_SECONDS)
            yield process.pid
        finally:
            process.kill()


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def _busy(_job: TrialsJob, _block: Block) -> None:
    threading.Event().wait()


def serve(directory: Path, github: str) -> None:
    """Be the conductor, until killed."""
    # All jobs are given out, though there is one agent, and all comments are written at once.
    turns.JOBS_PER_AGENT = 2 * PULL_REQUESTS * JOBS_EACH  # type: ignore[misc]
    outbox.WRITES_AT_ONCE = outbox.WRITES_PER_HOUR = 10.0 * PULL_REQUESTS  # type: ignore[misc]
    token = directory / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    settings = checked_settings(
        {
            "github": {"api_url": github, "token_file": str(token)},
            "repository": [{"name": REPOSITORY, "clone_url": str(directory)}],
        },
        directory,
    )
    with Store.open(str(directory / "store")) as store:
        server = Path("/usr/bin/redis-server")
        fleet = SimulatedFleet(store, server, Simulated(on_trial=_busy), agents=1, pace=Pace())
        for number in range(1, PULL_REQUESTS + 1):
            _add_pull_request(fleet, number)

        async def scenario(fleet: SimulatedFleet) -> None:
            while len(store.fleet.open_attempts()) < PULL_REQUESTS * JOBS_EACH:
                await asyncio.sleep(1)
            print("ready", flush=True)
            await Triggers(store, settings, directory / "mirrors").run()

        fleet.run(scenario)


def _add_pull_request(fleet: SimulatedFleet, number: int) -> None:
    trigger = PullRequestTrigger(
        repository=REPOSITORY,
        number=number,
        actor=MAINTAINER,
        head=HEAD,
        base_ref="unstable",
        base_sha=BASE,
        head_repository=REPOSITORY,
        is_fork=False,
        label=LABEL,
        scope="affected",
    )
    request = fleet.submit(made_up_cases(JOBS_EACH), submitting=SubmissionOptions(topic=trigger.subject))
    waiting = stored_trigger(trigger, f"bench {number}", time.time())
    fleet.store.triggers.add(waiting)
    fleet.store.triggers.end(waiting.id, "done", asked=[request])


if __name__ == "__main__":
    serve(Path(sys.argv[1]), sys.argv[2])
