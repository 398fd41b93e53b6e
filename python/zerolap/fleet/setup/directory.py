"""The directory of a fleet: what is made from its `fleet.toml`, and how members are added, revoked and rotated."""

import fcntl
import os
import secrets
import signal
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from zerolap.errors import UsageError
from zerolap.fleet.setup import toml_files
from zerolap.fleet.setup.bus_configuration import PROCESS_NUMBER, server_text
from zerolap.fleet.setup.certificates import make_certificates
from zerolap.fleet.setup.configuration import (
    CONDUCTOR,
    CONFIGURATION,
    AgentEntry,
    AgentKind,
    FleetConfiguration,
    PlatformRequirement,
    listed,
    read_configuration,
)
from zerolap.fleet.setup.credentials import AgentCredentials, ConductorCredentials, write_credentials
from zerolap.fleet.setup.units import ConductorUnits, write_units

SERVER_CONFIGURATION: Final = "nats.conf"
AGENTS: Final = "agents"
SECRETS: Final = "secrets.toml"
SERVER_PROGRAM: Final = "nats-server"
RELOADED_SECONDS: Final = 1.0
OWNER_ONLY_DIRECTORY: Final = 0o700


def initialise(directory: Path, configuration: FleetConfiguration) -> None:
    """Make all files of a fleet's directory, and `fleet.toml` if it says something else or is not there.

    Passwords and the certificate authority are kept, the bus's certificate unless its names have changed. Agents that
    the configuration no longer has lose their password and their file. `reload_bus` has the bus read the new one.
    """
    directory = directory.resolve()
    (directory / AGENTS).mkdir(parents=True, exist_ok=True)
    if (serving := configuration.conductor) is not None:
        write_units(directory, ConductorUnits(serving.listen, serving.store, serving.triggers))
    (directory / AGENTS).chmod(OWNER_ONLY_DIRECTORY)
    if not (directory / CONFIGURATION).exists() or read_configuration(directory) != configuration:
        toml_files.write(directory / CONFIGURATION, _configuration_text(configuration), mode=toml_files.FOR_ALL)
    address = urlsplit(configuration.bus).hostname or ""
    authority = make_certificates(directory, [address, *configuration.certificate_names])
    with_password = [name for name, entry in configuration.agents.items() if not entry.key]
    passwords = _passwords(directory, [CONDUCTOR, *with_password])
    toml_files.write(directory / SERVER_CONFIGURATION, server_text(directory, configuration, passwords))
    common: dict[str, Any] = {"bus": configuration.bus, "certificate_authority": authority}
    conductor = ConductorCredentials(**common, user=CONDUCTOR, password=passwords[CONDUCTOR])
    write_credentials(directory / f"{CONDUCTOR}.toml", conductor)
    for path in (directory / AGENTS).glob("*.toml"):
        if path.stem not in with_password:
            path.unlink()
    for name in with_password:
        entry = configuration.agents[name]
        agent = AgentCredentials(
            **common,
            user=name,
            password=passwords[name],
            artifacts=configuration.artifacts,
            agent=name,
            **entry.model_dump(exclude={"key"}),
        )
        write_credentials(directory / AGENTS / f"{name}.toml", agent)


def add_lab(directory: Path, name: str, description: str = "") -> None:
    """Add a lab to a fleet; raises `UsageError` if there is one of that name."""
    _add(directory, "labs", name, {"description": description})


def add_platform(directory: Path, name: str, requirement: PlatformRequirement) -> None:
    """Add a platform to a fleet; raises `UsageError` if there is one of that name."""
    _add(directory, "platforms", name, requirement.model_dump(exclude_none=True))


def add_agent(directory: Path, name: str, lab: str, platform: str, kind: AgentKind = "bench", key: str = "") -> Path:
    """Add an agent to a fleet; raises `UsageError` if that cannot be.

    For an agent that builds, `platform` may also be the platform that it builds for. Returns the file of its
    credentials, which is there unless it has a public `key` of its own.
    """
    configuration = read_configuration(directory)
    if kind == "build" and platform in configuration.platforms:
        platform = configuration.builder_of(platform)
    entry = {"lab": lab, "platform": platform, "kind": kind} | ({"key": key} if key else {})
    _add(directory, AGENTS, name, entry)
    return directory / AGENTS / f"{name}.toml"


def revoke_agent(directory: Path, name: str) -> None:
    """Remove an agent from a fleet, with its password or key; raises `UsageError` if there is none of that name.

    The bus takes no connection of it any more once `reload_bus` was called, and closes those that there are.
    """
    with _held(directory):
        configuration = read_configuration(directory)
        _known_agent(configuration, name)
        _remove_section(directory / CONFIGURATION, name)
        agents = {other: entry for other, entry in configuration.agents.items() if other != name}
        initialise(directory, configuration.model_copy(update={"agents": agents}))


def rotate_password(directory: Path, name: str) -> Path:
    """Give an agent that has a password, or the conductor, another one; returns the file of its credentials."""
    with _held(directory):
        configuration = read_configuration(directory)
        if name != CONDUCTOR:
            _known_agent(configuration, name)
        kept = _read_passwords(directory)
        kept.pop(name, None)
        toml_files.write(directory / SECRETS, toml_files.table(kept))
        initialise(directory, configuration)
    return directory / f"{CONDUCTOR}.toml" if name == CONDUCTOR else directory / AGENTS / f"{name}.toml"


def rotate_key(directory: Path, name: str, key: str) -> None:
    """Give an agent another public key, in place of its key or its password; raises `UsageError`."""
    with _held(directory):
        configuration = read_configuration(directory)
        entry = _known_agent(configuration, name).model_copy(update={"key": key})
        if _remove_section(directory / CONFIGURATION, name):
            _append(directory / CONFIGURATION, f"{AGENTS}.{name}", entry.model_dump())
        initialise(directory, configuration.model_copy(update={"agents": configuration.agents | {name: entry}}))


def _known_agent(configuration: FleetConfiguration, name: str) -> AgentEntry:
    entry = configuration.agents.get(name)
    if entry is None:
        raise UsageError(f"there is no agent {name}", hint=f"the agents are: {listed(configuration.agents)}")
    return entry


def _add(directory: Path, section: str, name: str, entry: Mapping[str, Any]) -> None:
    with _held(directory):
        before = read_configuration(directory).model_dump()
        if name in before[section]:
            raise UsageError(
                f"{directory / CONFIGURATION} has {name} already, under `{section}`", "choose another name"
            )
        before[section][name] = entry
        configuration = toml_files.validated(before, FleetConfiguration, f"cannot add {name}", "nothing was changed")
        _append(directory / CONFIGURATION, f"{section}.{name}", entry)
        initialise(directory, configuration)


@contextmanager
def _held(directory: Path) -> Iterator[None]:
    """Keep others from changing a fleet: `zerolap serve` does so when an agent joins."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _append(path: Path, section: str, entry: Mapping[str, Any]) -> None:
    """Add a section at the end of a file, so that comments and the order of the file are kept."""
    toml_files.write(
        path, f"{path.read_text().rstrip()}\n\n{toml_files.table(entry, section)}", mode=toml_files.FOR_ALL
    )


def _remove_section(path: Path, agent: str) -> bool:
    """Remove the section of an agent from a file; returns false if it is written in another form.

    `initialise` writes the file anew then.
    """
    lines = path.read_text().splitlines(keepends=True)
    headers = (f"[{AGENTS}.{agent}]", f'[{AGENTS}."{agent}"]')
    begin = next((number for number, line in enumerate(lines) if line.partition("#")[0].strip() in headers), None)
    if begin is None:
        return False
    end = next((number for number in range(begin + 1, len(lines)) if lines[number].startswith("[")), len(lines))
    while end > begin + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        # A comment above the next section.
        end -= 1
    toml_files.write(path, "".join(lines[:begin] + lines[end:]), mode=toml_files.FOR_ALL)
    return True


def reload_bus(directory: Path) -> bool:
    """Have the bus of a directory, if it runs on this machine, take on its new configuration; returns whether it runs.

    Connections are kept, but those of agents that are not in the configuration any more.
    """
    try:
        number = int((directory / PROCESS_NUMBER).read_text())
        if Path(f"/proc/{number}/comm").read_text().strip() != SERVER_PROGRAM:
            return False
        # nats-server imports nothing into an account that is new, but does so when it finds it once more.
        os.kill(number, signal.SIGHUP)
        time.sleep(RELOADED_SECONDS)
        os.kill(number, signal.SIGHUP)
    except (OSError, ValueError):
        return False
    return True


def _passwords(directory: Path, users: list[str]) -> dict[str, str]:
    """Return a password for each user, those that there are and new ones."""
    before = _read_passwords(directory)
    passwords = {user: before.get(user) or secrets.token_urlsafe(32) for user in users}
    toml_files.write(directory / SECRETS, toml_files.table(passwords))
    return passwords


def _read_passwords(directory: Path) -> dict[str, str]:
    path = directory / SECRETS
    return tomllib.loads(path.read_text()) if path.exists() else {}


def _configuration_text(configuration: FleetConfiguration) -> str:
    content = configuration.model_dump(exclude_none=True)
    tables = [
        toml_files.table(entry, f"{section}.{name}")
        for section in ("labs", "platforms", AGENTS)
        for name, entry in content.pop(section).items()
    ]
    if (conductor := content.pop(CONDUCTOR, None)) is not None:
        tables.insert(0, toml_files.table(conductor, CONDUCTOR))
    return "\n".join([toml_files.table(content), *tables])
