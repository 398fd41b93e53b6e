"""What `fleet.toml` says of a fleet: addresses, labs, platforms, agents, and how its conductor is started."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field, model_validator

from zerolap.fleet.delivery import AgentName
from zerolap.fleet.setup import toml_files
from zerolap.fleet.setup.agent_keys import checked_public_key
from zerolap.fleet.setup.toml_files import FilePart

CONFIGURATION: Final = "fleet.toml"
CONDUCTOR: Final = "conductor"
"""The user and the account of the conductor, and the stem of the file of its credentials."""
DEFAULT_PORT: Final = 4222
NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


def _checked_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise ValueError("a name consists of a-z, 0-9 and -, and does not begin with -")
    return name


def _checked_bus(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme != "tls" or not parts.hostname or not _has_port(parts) or parts.path.strip("/"):
        raise ValueError("the bus has an address like tls://bus.example.org:4222")
    return address


def _checked_listen(address: str) -> str:
    parts = urlsplit(f"//{address}")
    if not parts.hostname or not _has_port(parts) or parts.path:
        raise ValueError("an address to listen on is like 0.0.0.0:4222")
    return address


def _checked_url(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("expected a URL like https://artifacts.example.org")
    return address


def _has_port(parts: SplitResult) -> bool:
    try:
        return parts.port is not None
    except ValueError:
        return False


Name = Annotated[str, AfterValidator(_checked_name)]
BusAddress = Annotated[str, AfterValidator(_checked_bus)]
PublicKey = Annotated[str, AfterValidator(checked_public_key)]
AgentKind = Literal["bench", "build", "load"]


class LabEntry(FilePart):
    """A lab: a place that has agents."""

    description: str = ""


class PlatformRequirement(FilePart):
    """What a machine must be to be of a platform: architecture, processors, GiB of memory, hardware counters.

    None requires nothing. `builder` is the platform of the agents that build for it, by default `NAME-build`; `load`
    that of the agents that put load on its servers, by default the machine itself does.
    """

    architecture: str | None = None
    processors: Annotated[int, Field(ge=1)] | None = None
    memory_gib: Annotated[float, Field(gt=0)] | None = None
    counters: bool = False
    builder: Name | None = None
    load: Name | None = None


class AgentEntry(FilePart):
    """An agent: of kind `bench` with a platform, or `build` or `load` with what builds for platforms or loads them.

    `key` is its public key, where it has joined by itself; otherwise it has a password.
    """

    lab: Name
    platform: Name
    kind: AgentKind = "bench"
    key: PublicKey | None = None


class ConductorEntry(FilePart):
    """How `zerolap serve` is started: where it listens, its store, and the file of its triggers, if it has any."""

    listen: Annotated[str, AfterValidator(_checked_listen)]
    store: str
    triggers: str = ""


class FleetConfiguration(FilePart):
    """What `fleet.toml` says.

    Agents and the conductor reach the bus at the address `bus`, which listens on the address `listen`;
    `certificate_names` are further names and IP addresses of the bus. `artifacts` is the URL of the
    server of builds and sources. `conductor` is for the unit of `zerolap serve`.
    """

    bus: BusAddress
    listen: Annotated[str, AfterValidator(_checked_listen)] = f"0.0.0.0:{DEFAULT_PORT}"
    certificate_names: tuple[str, ...] = ()
    artifacts: Annotated[str, AfterValidator(_checked_url)]
    conductor: ConductorEntry | None = None
    labs: dict[Name, LabEntry] = Field(default_factory=dict)
    platforms: dict[Name, PlatformRequirement] = Field(default_factory=dict)
    agents: dict[Name, AgentEntry] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> "FleetConfiguration":
        builders, loads = self._builders(), self._loads()
        if both := sorted(builders & self.platforms.keys()):
            raise ValueError(f"{both[0]} is a platform and the builder of one: these have to be two")
        if both := sorted(loads & (self.platforms.keys() | builders)):
            raise ValueError(f"{both[0]} puts load on a platform, and is a platform or a builder: these have to be two")
        for name, agent in self.agents.items():
            if name == CONDUCTOR:
                raise ValueError(f"an agent cannot have the name {CONDUCTOR}")
            if agent.lab not in self.labs:
                raise ValueError(f"agent {name}: there is no lab {agent.lab}; the labs are: {listed(self.labs)}")
            known, what = {
                "bench": (set(self.platforms), "platform"),
                "build": (builders, "builder"),
                "load": (loads, "platform with load"),
            }[agent.kind]
            if agent.platform not in known:
                raise ValueError(f"agent {name}: there is no {what} {agent.platform}; the {what}s are: {listed(known)}")
        return self

    def agent_names(self) -> list[AgentName]:
        """Return the agents, as the bus names them."""
        return [AgentName(agent.lab, agent.platform, name) for name, agent in self.agents.items()]

    def builder_of(self, platform: str) -> str:
        """Return the platform of the agents that build for a platform."""
        return self.platforms[platform].builder or f"{platform}-build"

    def machines(self) -> dict[str, int]:
        """Return the number of agents of each platform; builders, and what puts load on others, are platforms too."""
        names = sorted({*self.platforms, *self._builders(), *self._loads()})
        return {name: sum(agent.platform == name for agent in self.agents.values()) for name in names}

    def _builders(self) -> set[str]:
        return {self.builder_of(platform) for platform in self.platforms}

    def _loads(self) -> set[str]:
        return {platform.load for platform in self.platforms.values() if platform.load is not None}


def read_configuration(directory: Path) -> FleetConfiguration:
    """Return what the `fleet.toml` of a directory says; raises `UsageError`."""
    hint = f"zerolap fleet init {directory} makes it"
    return toml_files.read(directory / CONFIGURATION, FleetConfiguration, hint)


def new_configuration(
    bus: str,
    artifacts: str,
    listen: str = "",
    names: Sequence[str] = (),
    conductor: Mapping[str, str] | None = None,
) -> FleetConfiguration:
    """Return the configuration of a fleet without labs, platforms and agents; raises `UsageError`.

    The bus listens on all addresses, at the port of its own address, unless `listen` is given.
    """
    port = urlsplit(bus).port if _has_port(urlsplit(bus)) else DEFAULT_PORT
    content = {
        "bus": bus,
        "listen": listen or f"0.0.0.0:{port}",
        "artifacts": artifacts,
        "certificate_names": tuple(names),
        "conductor": conductor,
    }
    return toml_files.validated(content, FleetConfiguration, "the fleet cannot be set up so")


def listed(names: Iterable[str]) -> str:
    """Return names for a message."""
    return ", ".join(sorted(names)) or "none yet"
