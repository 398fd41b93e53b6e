"""Which agents belong to a fleet while its conductor works: those that `fleet.toml` has now."""

import asyncio
from pathlib import Path
from typing import Final

import structlog

from zerolap.errors import EnvironmentMissing, UsageError
from zerolap.fleet.bus import JetStreamDispatcher
from zerolap.fleet.conductor import Conductor
from zerolap.fleet.delivery import AgentName
from zerolap.fleet.setup.configuration import CONFIGURATION, read_configuration

LOOK_SECONDS: Final = 1.0

log = structlog.get_logger("zerolap.conductor")


async def follow_configuration(directory: Path, dispatcher: JetStreamDispatcher, conductor: Conductor) -> None:
    """Listen to agents that are added, and let go of those that are revoked, until cancelled.

    A file that cannot be read changes nothing, and is logged.
    """
    known: set[AgentName] = set()
    followed: tuple[int, int] | None = None
    while True:
        now = _version(directory / CONFIGURATION)
        if now is not None and now != followed:
            try:
                names = set((await asyncio.to_thread(read_configuration, directory)).agent_names())
                await dispatcher.listen_to(names)
                for name in known - names:
                    await _let_go(name, conductor)
            except UsageError as fault:
                log.error("the configuration of the fleet cannot be read", fault=fault.message)
                followed = now
            except EnvironmentMissing as fault:
                log.error("the configuration of the fleet cannot be followed yet", fault=fault.message)
            else:
                known, followed = names, now
        await asyncio.sleep(LOOK_SECONDS)


async def _let_go(name: AgentName, conductor: Conductor) -> None:
    log.warning("an agent was revoked", agent=name.agent, platform=name.platform)
    conductor.roster.forget(name)
    await conductor.intake.release(name.agent, f"{name.agent} does not belong to the fleet any more")


def _version(path: Path) -> tuple[int, int] | None:
    """Return what another content has another of; none if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino
