"""The directory of a fleet: its `fleet.toml`, and what is made from it for the bus, the conductor and the agents.

The bus is a nats-server. Each agent has an account of its own, into which nothing of the conductor's account is
imported but the subjects that this agent needs. Permissions alone would not keep agents apart: a request names the
subject of its answer, on which the server then publishes within the account of the agent, and asks for no permission.
"""

import json
import os
import re
import secrets
import signal
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from zerolap.errors import UsageError
from zerolap.fleet.certificates import CERTIFICATE, CERTIFICATE_KEY, make_certificates
from zerolap.fleet.delivery import PRIORITIES, AgentName

CONFIGURATION: Final = "fleet.toml"
SERVER_CONFIGURATION: Final = "nats.conf"
CONDUCTOR: Final = "conductor"
"""The user and the account of the conductor, and the stem of the file of its credentials."""
AGENTS: Final = "agents"
SECRETS: Final = "secrets.toml"
PROCESS_NUMBER: Final = "bus.pid"
SERVER_PROGRAM: Final = "nats-server"
RELOADED_SECONDS: Final = 1.0
DEFAULT_PORT: Final = 4222
MAX_PAYLOAD_BYTES: Final = 8 << 20
"""Of a job, and of an answer to an agent."""
MAX_AGENT_PAYLOAD_BYTES: Final = 1 << 20
"""Of a message of an agent; with a larger one the bus closes its connection."""
MOST_JOBS_BYTES: Final = 1 << 30
MOST_REPORTS_BYTES: Final = 64 << 20
"""Of the stream of notices, and of that of jobs that were delivered too often."""
MOST_MEMORY_BYTES: Final = MOST_JOBS_BYTES + 4 * MOST_REPORTS_BYTES
MOST_FILES_BYTES: Final = 1 << 30
MOST_CONNECTIONS: Final = 8
"""Connections of an agent at a time: several, as the server notices late that one was lost."""
MOST_SUBSCRIPTIONS: Final = 256
NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
OWNER_ONLY: Final = 0o600
OWNER_ONLY_DIRECTORY: Final = 0o700


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
AgentKind = Literal["bench", "build", "load"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LabEntry(_Part):
    """A lab: a place that has agents."""

    description: str = ""


class PlatformRequirement(_Part):
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


class AgentEntry(_Part):
    """An agent: of kind `bench` with a platform, or `build` or `load` with what builds for platforms or loads them."""

    lab: Name
    platform: Name
    kind: AgentKind = "bench"


class FleetConfiguration(_Part):
    """What `fleet.toml` says.

    `bus` is the address by which agents and the conductor reach the bus, `listen` the one that it listens on, and
    `certificate_names` are further names and IP addresses by which it may be reached. `artifacts` is the URL of the
    server of builds and sources.
    """

    bus: Annotated[str, AfterValidator(_checked_bus)]
    listen: Annotated[str, AfterValidator(_checked_listen)] = f"0.0.0.0:{DEFAULT_PORT}"
    certificate_names: tuple[str, ...] = ()
    artifacts: Annotated[str, AfterValidator(_checked_url)]
    labs: dict[Name, LabEntry] = {}
    platforms: dict[Name, PlatformRequirement] = {}
    agents: dict[Name, AgentEntry] = {}

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
                raise ValueError(f"agent {name}: there is no lab {agent.lab}; the labs are: {_listed(self.labs)}")
            known, what = {
                "bench": (set(self.platforms), "platform"),
                "build": (builders, "builder"),
                "load": (loads, "platform with load"),
            }[agent.kind]
            if agent.platform not in known:
                raise ValueError(
                    f"agent {name}: there is no {what} {agent.platform}; the {what}s are: {_listed(known)}"
                )
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


class BusCredentials(_Part):
    """What is needed to connect to the bus; `certificate_authority` is the PEM text of a certificate."""

    bus: Annotated[str, AfterValidator(_checked_bus)]
    user: str
    password: str = Field(repr=False)
    certificate_authority: str = Field(repr=False)


class ConductorCredentials(BusCredentials):
    """What the conductor needs to connect."""


class AgentCredentials(BusCredentials):
    """What an agent needs to connect, and who it is to the bus; `artifacts` is a URL."""

    artifacts: str
    lab: Name
    platform: Name
    agent: Name
    kind: AgentKind


def read_configuration(directory: Path) -> FleetConfiguration:
    """Return what the `fleet.toml` of a directory says; raises `UsageError`."""
    hint = f"zerolap fleet init {directory} makes it"
    return _read(directory / CONFIGURATION, FleetConfiguration, hint)


def new_configuration(bus: str, artifacts: str, listen: str = "", names: Sequence[str] = ()) -> FleetConfiguration:
    """Return the configuration of a fleet without labs, platforms and agents; raises `UsageError`.

    The bus listens on all addresses, at the port of its own address, unless `listen` is given.
    """
    port = urlsplit(bus).port if _has_port(urlsplit(bus)) else DEFAULT_PORT
    content = {
        "bus": bus,
        "listen": listen or f"0.0.0.0:{port}",
        "artifacts": artifacts,
        "certificate_names": tuple(names),
    }
    return _validated(content, FleetConfiguration, "the fleet cannot be set up so")


def read_agent_credentials(path: Path) -> AgentCredentials:
    """Return the credentials in an agent's file; raises `UsageError`."""
    return _read(path, AgentCredentials, f"it is made on the machine of the bus, as {AGENTS}/AGENT.toml")


def read_conductor_credentials(directory: Path) -> ConductorCredentials:
    """Return the credentials of the conductor from the directory of a fleet; raises `UsageError`."""
    hint = f"zerolap fleet init {directory} makes it"
    return _read(directory / f"{CONDUCTOR}.toml", ConductorCredentials, hint)


def initialise(directory: Path, configuration: FleetConfiguration) -> None:
    """Make all files of a fleet's directory, and `fleet.toml` if it says something else or is not there.

    Passwords and the certificate authority are kept, the bus's certificate unless its names have changed. Agents that
    the configuration no longer has lose their password and their file. `reload_bus` tells the bus.
    """
    directory = directory.resolve()
    (directory / AGENTS).mkdir(parents=True, exist_ok=True)
    (directory / AGENTS).chmod(OWNER_ONLY_DIRECTORY)
    if not (directory / CONFIGURATION).exists() or read_configuration(directory) != configuration:
        _write(directory / CONFIGURATION, _configuration_text(configuration), mode=0o644)
    address = urlsplit(configuration.bus).hostname or ""
    authority = make_certificates(directory, [address, *configuration.certificate_names])
    passwords = _passwords(directory, [CONDUCTOR, *configuration.agents])
    _write(directory / SERVER_CONFIGURATION, _server_text(directory, configuration, passwords))
    common = {"bus": configuration.bus, "certificate_authority": authority}
    conductor = ConductorCredentials(**common, user=CONDUCTOR, password=passwords[CONDUCTOR])
    _write(directory / f"{CONDUCTOR}.toml", _table(conductor.model_dump()))
    for path in (directory / AGENTS).glob("*.toml"):
        if path.stem not in configuration.agents:
            path.unlink()
    for name, entry in configuration.agents.items():
        agent = AgentCredentials(
            **common,
            user=name,
            password=passwords[name],
            artifacts=configuration.artifacts,
            lab=entry.lab,
            platform=entry.platform,
            agent=name,
            kind=entry.kind,
        )
        _write(directory / AGENTS / f"{name}.toml", _table(agent.model_dump()))


def add_lab(directory: Path, name: str, description: str = "") -> None:
    """Add a lab to a fleet; raises `UsageError` if there is one of that name."""
    _add(directory, "labs", name, {"description": description})


def add_platform(directory: Path, name: str, requirement: PlatformRequirement) -> None:
    """Add a platform to a fleet; raises `UsageError` if there is one of that name."""
    _add(directory, "platforms", name, requirement.model_dump(exclude_none=True))


def add_agent(directory: Path, name: str, lab: str, platform: str, kind: AgentKind = "bench") -> Path:
    """Add an agent to a fleet and return the file of its credentials; raises `UsageError` if that cannot be.

    For an agent that builds, `platform` may also be the platform that it builds for.
    """
    configuration = read_configuration(directory)
    if kind == "build" and platform in configuration.platforms:
        platform = configuration.builder_of(platform)
    _add(directory, AGENTS, name, {"lab": lab, "platform": platform, "kind": kind})
    return directory / AGENTS / f"{name}.toml"


def _add(directory: Path, section: str, name: str, entry: Mapping[str, Any]) -> None:
    before = read_configuration(directory).model_dump()
    if name in before[section]:
        raise UsageError(f"{directory / CONFIGURATION} has {name} already, under `{section}`", "choose another name")
    before[section][name] = entry
    configuration = _validated(before, FleetConfiguration, f"cannot add {name}", "nothing was changed")
    # At the end, so that comments and the order of the file are kept.
    path = directory / CONFIGURATION
    _write(path, f"{path.read_text().rstrip()}\n\n{_table(entry, f'{section}.{name}')}", mode=0o644)
    initialise(directory, configuration)


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


# Reading and writing.

SAID_OF: Final = {"missing": "this has to be set", "extra_forbidden": "there is no such setting"}
AnyPart = TypeVar("AnyPart", bound=_Part)


def _read(path: Path, kind: type[AnyPart], hint: str) -> AnyPart:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as fault:
        raise UsageError(f"there is no file {path}", hint) from fault
    except (OSError, UnicodeDecodeError) as fault:
        raise UsageError(f"{path} cannot be read: {fault}") from fault
    except tomllib.TOMLDecodeError as fault:
        raise UsageError(f"{path} is not TOML: {fault}") from fault
    return _validated(content, kind, str(path))


def _validated(content: Mapping[str, Any], kind: type[AnyPart], subject: str, hint: str = "") -> AnyPart:
    try:
        return kind.model_validate(content)
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "[key]")
        what = SAID_OF.get(first["type"], first["msg"].removeprefix("Value error, "))
        raise UsageError(": ".join(filter(None, [subject, where, what])), hint) from fault


def _write(path: Path, text: str, mode: int = OWNER_ONLY) -> None:
    """Replace a file as one step; nobody else can read a secret at any moment."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
            file.write(text)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _passwords(directory: Path, users: list[str]) -> dict[str, str]:
    """Return a password for each user, those that there are and new ones."""
    path = directory / SECRETS
    before = tomllib.loads(path.read_text()) if path.exists() else {}
    passwords = {user: before.get(user) or secrets.token_urlsafe(32) for user in users}
    _write(path, _table(passwords))
    return passwords


def _table(entry: Mapping[str, Any], name: str = "") -> str:
    lines = [f"[{name}]"] if name else []
    return "\n".join([*lines, *(f"{key} = {_toml(value)}" for key, value in entry.items())]) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, str) and "\n" in value:
        return f'"""\n{value}"""'
    # Strings, numbers, truth values and lists are written as in JSON.
    return json.dumps(value, ensure_ascii=False)


def _configuration_text(configuration: FleetConfiguration) -> str:
    content = configuration.model_dump(exclude_none=True)
    tables = [
        _table(entry, f"{section}.{name}")
        for section in ("labs", "platforms", AGENTS)
        for name, entry in content.pop(section).items()
    ]
    return "\n".join([_table(content), *tables])


# The configuration of the server.


def _server_text(directory: Path, configuration: FleetConfiguration, passwords: Mapping[str, str]) -> str:
    accounts = [_conductor_account(passwords[CONDUCTOR])]
    accounts += [_agent_account(name, agent, passwords[name]) for name, agent in configuration.agents.items()]
    return f"""\
# Made by `zerolap fleet` from {CONFIGURATION}: it is made anew by every change.
server_name: zerolap
listen: {_quoted(configuration.listen)}
pid_file: {_quoted(directory / PROCESS_NUMBER)}
max_payload: {MAX_PAYLOAD_BYTES}
# A connection that is lost without an end is noticed after a minute.
ping_interval: "20s"
ping_max: 2
tls {{
  cert_file: {_quoted(directory / CERTIFICATE)}
  key_file: {_quoted(directory / CERTIFICATE_KEY)}
  # Nothing is sent in the clear, also not what the server is.
  handshake_first: true
}}
jetstream {{
  store_dir: {_quoted(directory / "bus")}
  max_memory_store: {MOST_MEMORY_BYTES}
  max_file_store: {MOST_FILES_BYTES}
  # The queues are in memory. A stream that is kept here has on the disk what was confirmed.
  sync_interval: always
}}
accounts {{
{"".join(accounts)}}}
"""


def _conductor_account(password: str) -> str:
    return f"""\
  {CONDUCTOR} {{
    jetstream: enabled
    users: [{{user: {CONDUCTOR}, password: {_quoted(password)}}}]
    exports: [
      {{service: "$JS.API.CONSUMER.MSG.NEXT.JOBS.*"}}
      {{service: "$JS.API.CONSUMER.MSG.NEXT.NOTICES.*"}}
      {{service: "$JS.ACK.JOBS.>"}}
      {{service: "agents.*.*.*"}}
      {{stream: "cancel.*"}}
    ]
  }}
"""


def _agent_account(name: str, agent: AgentEntry, password: str) -> str:
    consumers = [f"{agent.platform}-{priority}" for priority in PRIORITIES]
    services = [
        *(f"$JS.API.CONSUMER.MSG.NEXT.JOBS.{consumer}" for consumer in consumers),
        f"$JS.API.CONSUMER.MSG.NEXT.NOTICES.{agent.platform}",
        *(f"$JS.ACK.JOBS.{consumer}.>" for consumer in consumers),
        f"agents.{agent.lab}.{agent.platform}.{name}",
    ]
    cancel = f"cancel.{agent.platform}"
    imports = "\n".join(
        [
            *(f"      {{service: {{account: {CONDUCTOR}, subject: {_quoted(service)}}}}}" for service in services),
            f"      {{stream: {{account: {CONDUCTOR}, subject: {_quoted(cancel)}}}}}",
        ]
    )
    return f"""\
  {_quoted(name)} {{
    limits: {{
      max_connections: {MOST_CONNECTIONS}, max_subscriptions: {MOST_SUBSCRIPTIONS}
      max_payload: {MAX_AGENT_PAYLOAD_BYTES}
    }}
    users: [{{
      user: {_quoted(name)}, password: {_quoted(password)}
      permissions: {{
        publish: {json.dumps(services)}
        subscribe: {json.dumps([f"_INBOX_{name}.>", cancel])}
      }}
    }}]
    imports: [
{imports}
    ]
  }}
"""


def _quoted(text: object) -> str:
    return json.dumps(str(text), ensure_ascii=False)


def _listed(names: Any) -> str:
    return ", ".join(sorted(names)) or "none yet"
