"""An agent on a machine of its own: bus, files over HTTPS, and the signals that end it."""

import asyncio
import fcntl
import os
import signal
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from zerolap.build import Builds
from zerolap.engines import TRIAL_PREFIX
from zerolap.fleet.agent import Agent, AgentPlace
from zerolap.fleet.bus import JetStreamLink
from zerolap.fleet.delivery import LEASE_SECONDS
from zerolap.fleet.files_over_http import FilesOverHttp
from zerolap.fleet.setup.credentials import AgentCredentials
from zerolap.lab import Worker
from zerolap.load.remote import LOAD_PREFIX
from zerolap.records import EnvironmentMissing
from zerolap.sandbox import SandboxPolicy, remove_abandoned, require_sandbox
from zerolap.store import open_blobs

CLEARING_SECONDS: Final = 60.0


@dataclass(frozen=True)
class AgentMachine:
    """What an agent has of its machine: a directory of its own, and the address at which load comes in, if any does."""

    directory: Path
    policy: SandboxPolicy
    address: str = ""


async def work(
    credentials: AgentCredentials,
    machine: AgentMachine,
    lease_seconds: float = LEASE_SECONDS,
    worker: Worker | None = None,
) -> None:
    """Carry out jobs until SIGTERM or SIGINT.

    The first signal lets the job that is under way end, the second stops it. Raises `EnvironmentMissing` without a
    sandbox, unless the policy allows that, and if another agent uses the directory.
    """
    directory, policy = machine.directory, machine.policy
    require_sandbox(policy, "code of other people")
    with _held(directory):
        builds, blobs = Builds(directory / "builds", policy), open_blobs(None, directory / "blobs")
        clearing = asyncio.create_task(_clear_up(builds))
        trust = ssl.create_default_context(cadata=credentials.certificate_authority)
        link = await JetStreamLink.connect(credentials)
        files = FilesOverHttp(credentials.artifacts, trust, directory / "blobs", builds)
        place = AgentPlace(builds, blobs, worker or Worker(), machine.address, policy)
        agent = Agent(credentials.kind, link, files, place, lease_seconds)
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, agent.drain)
        try:
            await agent.run()
        finally:
            clearing.cancel()
            await files.close()
            await link.close()


async def _clear_up(builds: Builds) -> None:
    """Remove now and then what killed agents have left: what is young at the start of this one, it cannot tell yet."""
    while True:
        for prefix in (TRIAL_PREFIX, LOAD_PREFIX):
            await asyncio.to_thread(remove_abandoned, prefix)
        await asyncio.to_thread(builds.clear_up)
        await asyncio.sleep(CLEARING_SECONDS)


@contextmanager
def _held(directory: Path) -> Iterator[None]:
    """Hold a directory as its only agent: two at a time on one machine would disturb each other."""
    directory.mkdir(parents=True, exist_ok=True)
    handle = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as busy:
            raise EnvironmentMissing(
                f"another agent works in {directory}", hint="stop it, or give another --directory"
            ) from busy
        yield
    finally:
        os.close(handle)
