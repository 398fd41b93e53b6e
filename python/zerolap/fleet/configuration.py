"""The directory of a fleet: its `fleet.toml`, and what is made from it for the bus, the conductor and the agents.

The bus is a nats-server. Each agent has an account of its own, into which nothing of the conductor's account is
imported but the subjects that this agent needs. Permissions alone would not keep agents apart: a request names the
subject of its answer, on which the server then publishes within the account of the agent, and asks for no permission.
"""

import contextlib
import fcntl
import json
import os
import re
import secrets
import signal
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from zerolap.errors import UsageError
from zerolap.fleet.certificates import CERTIFICATE, CERTIFICATE_KEY, make_certificates
from zerolap.fleet.delivery import PRIORITIES, AgentName
from zerolap.fleet.keys import AgentKey, checked_public_key
from zerolap.fleet.units import ConductorUnits, write_units

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
FOR_OTHERS: Final = 0o077
CREDENTIALS_DIRECTORY: Final = "CREDENTIALS_DIRECTORY"


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


def _checked_seed(text: str) -> str:
    if text:
        AgentKey.read(text)
    return text


Name = Annotated[str, AfterValidator(_checked_name)]
PublicKey = Annotated[str, AfterValidator(checked_public_key)]
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
    """An agent: of kind `bench` with a platform, or `build` or `load` with what builds for platforms or loads them.

    `key` is its public key, where it has joined by itself; otherwise it has a password.
    """

    lab: Name
    platform: Name
    kind: AgentKind = "bench"
    key: PublicKey | None = None


class ConductorEntry(_Part):
    """How `zerolap serve` is started: where it listens, its store, and the file of its triggers, if it has any."""

    listen: Annotated[str, AfterValidator(_checked_listen)]
    store: str
    triggers: str = ""


class FleetConfiguration(_Part):
    """What `fleet.toml` says.

    `bus` is the address by which agents and the conductor reach the bus, `listen` the one that it listens on, and
    `certificate_names` are further names and IP addresses by which it may be reached. `artifacts` is the URL of the
    server of builds and sources. `conductor` is for the unit of `zerolap serve`.
    """

    bus: Annotated[str, AfterValidator(_checked_bus)]
    listen: Annotated[str, AfterValidator(_checked_listen)] = f"0.0.0.0:{DEFAULT_PORT}"
    certificate_names: tuple[str, ...] = ()
    artifacts: Annotated[str, AfterValidator(_checked_url)]
    conductor: ConductorEntry | None = None
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
    """What is needed to connect to the bus: a password, or a private key of an agent that has joined.

    `certificate_authority` is the PEM text of a certificate.
    """

    bus: Annotated[str, AfterValidator(_checked_bus)]
    user: str
    password: str = Field(default="", repr=False)
    key: Annotated[str, AfterValidator(_checked_seed)] = Field(default="", repr=False)
    certificate_authority: str = Field(repr=False)

    @model_validator(mode="after")
    def _check(self) -> "BusCredentials":
        if bool(self.password) == bool(self.key):
            raise ValueError("either `password` or `key` has to be set")
        return self


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
    return _validated(content, FleetConfiguration, "the fleet cannot be set up so")


def read_agent_credentials(path: Path) -> AgentCredentials:
    """Return the credentials in an agent's file; raises `UsageError`, also if others can read it."""
    _require_private(path)
    return _read(path, AgentCredentials, "zerolap agent join makes it")


def read_conductor_credentials(directory: Path) -> ConductorCredentials:
    """Return the credentials of the conductor from the directory of a fleet.

    Raises `UsageError`, also if others can read them.
    """
    hint = f"zerolap fleet init {directory} makes it"
    _require_private(directory / f"{CONDUCTOR}.toml")
    return _read(directory / f"{CONDUCTOR}.toml", ConductorCredentials, hint)


def initialise(directory: Path, configuration: FleetConfiguration) -> None:
    """Make all files of a fleet's directory, and `fleet.toml` if it says something else or is not there.

    Passwords and the certificate authority are kept, the bus's certificate unless its names have changed. Agents that
    the configuration no longer has lose their password and their file. `reload_bus` tells the bus.
    """
    directory = directory.resolve()
    (directory / AGENTS).mkdir(parents=True, exist_ok=True)
    if (serving := configuration.conductor) is not None:
        write_units(directory, ConductorUnits(serving.listen, serving.store, serving.triggers))
    (directory / AGENTS).chmod(OWNER_ONLY_DIRECTORY)
    if not (directory / CONFIGURATION).exists() or read_configuration(directory) != configuration:
        _write(directory / CONFIGURATION, _configuration_text(configuration), mode=0o644)
    address = urlsplit(configuration.bus).hostname or ""
    authority = make_certificates(directory, [address, *configuration.certificate_names])
    with_password = [name for name, entry in configuration.agents.items() if not entry.key]
    passwords = _passwords(directory, [CONDUCTOR, *with_password])
    _write(directory / SERVER_CONFIGURATION, _server_text(directory, configuration, passwords))
    common = {"bus": configuration.bus, "certificate_authority": authority}
    conductor = ConductorCredentials(**common, user=CONDUCTOR, password=passwords[CONDUCTOR])
    _write(directory / f"{CONDUCTOR}.toml", _credentials_text(conductor))
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
            lab=entry.lab,
            platform=entry.platform,
            agent=name,
            kind=entry.kind,
        )
        write_credentials(directory / AGENTS / f"{name}.toml", agent)


def write_credentials(path: Path, credentials: AgentCredentials) -> None:
    """Write the file of an agent, which only its owner can read."""
    _write(path, _credentials_text(credentials))


def _credentials_text(credentials: BusCredentials) -> str:
    return _table({key: value for key, value in credentials.model_dump().items() if value})


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
        _write(directory / SECRETS, _table(kept))
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
        raise UsageError(f"there is no agent {name}", hint=f"the agents are: {_listed(configuration.agents)}")
    return entry


def _add(directory: Path, section: str, name: str, entry: Mapping[str, Any]) -> None:
    with _held(directory):
        before = read_configuration(directory).model_dump()
        if name in before[section]:
            raise UsageError(
                f"{directory / CONFIGURATION} has {name} already, under `{section}`", "choose another name"
            )
        before[section][name] = entry
        configuration = _validated(before, FleetConfiguration, f"cannot add {name}", "nothing was changed")
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
    _write(path, f"{path.read_text().rstrip()}\n\n{_table(entry, section)}", mode=0o644)


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
    _write(path, "".join(lines[:begin] + lines[end:]), mode=0o644)
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
    before = _read_passwords(directory)
    passwords = {user: before.get(user) or secrets.token_urlsafe(32) for user in users}
    _write(directory / SECRETS, _table(passwords))
    return passwords


def _read_passwords(directory: Path) -> dict[str, str]:
    path = directory / SECRETS
    return tomllib.loads(path.read_text()) if path.exists() else {}


def _require_private(path: Path) -> None:
    """Raise `UsageError` if others than its owner can read a file with secrets.

    In the directory of a unit's credentials systemd itself keeps others from them, and the mode shows more.
    """
    credentials = os.environ.get(CREDENTIALS_DIRECTORY)
    if credentials and path.resolve().is_relative_to(Path(credentials).resolve()):
        return
    with contextlib.suppress(OSError):
        # What cannot be read is reported by the reading.
        if path.is_file() and path.stat().st_mode & FOR_OTHERS:
            raise UsageError(f"{path} can be read or changed by others than its owner", hint=f"chmod 600 {path}")


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
    if (conductor := content.pop(CONDUCTOR, None)) is not None:
        tables.insert(0, _table(conductor, CONDUCTOR))
    return "\n".join([_table(content), *tables])


# The configuration of the server.


def _server_text(directory: Path, configuration: FleetConfiguration, passwords: Mapping[str, str]) -> str:
    accounts = [_conductor_account(passwords[CONDUCTOR])]
    accounts += [_agent_account(name, agent, passwords.get(name, "")) for name, agent in configuration.agents.items()]
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
    user = f"nkey: {agent.key}" if agent.key else f"user: {_quoted(name)}, password: {_quoted(password)}"
    return f"""\
  {_quoted(name)} {{
    limits: {{
      max_connections: {MOST_CONNECTIONS}, max_subscriptions: {MOST_SUBSCRIPTIONS}
      max_payload: {MAX_AGENT_PAYLOAD_BYTES}
    }}
    users: [{{
      {user}
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
