"""The commands of `zerolap fleet` that set a fleet up, and admit, revoke and rotate its members."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from zerolap import writer
from zerolap.cli import options
from zerolap.cli.option_groups import option
from zerolap.durations import SECONDS_PER_UNIT
from zerolap.errors import UsageError

if TYPE_CHECKING:
    from zerolap.fleet.setup import AgentKind, FleetConfiguration, PlatformRequirement

FleetDirectory = Annotated[Path, typer.Option("--fleet", help="Directory of the fleet.", metavar="DIR")]
AgentNameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the agent.", show_default=False)]


@dataclass(frozen=True)
class AgentsOptions:
    """The agents that are admitted, by kind."""

    bench: list[str] | None = option("An agent that measures on a platform.", "NAME=LAB/PLATFORM")
    build: list[str] | None = option("An agent that builds for a platform.", "NAME=LAB/PLATFORM")
    load: list[str] | None = option("An agent that puts load on servers of other machines.", "NAME=LAB/PLATFORM")

    @property
    def parsed(self) -> "dict[AgentKind, list[tuple[str, str, str]]]":
        """Name, lab and platform of the agents of each kind; raises `UsageError`."""
        by_kind: dict[AgentKind, list[str] | None] = {"bench": self.bench, "build": self.build, "load": self.load}
        return {kind: [_parsed_agent(text) for text in of_kind or []] for kind, of_kind in by_kind.items()}


@dataclass(frozen=True)
class FleetOptions:
    """The addresses, labs and platforms of a fleet."""

    bus: str = option("Address at which agents and conductor reach the bus.", "URL", default="")
    listen: str = option(
        "Address that the bus listens on; by default all, at the port of --bus.", "HOST:PORT", default=""
    )
    artifacts: str = option("Address at which agents reach zerolap serve.", "URL", default="")
    name: list[str] | None = option(
        "A further name or IP address by which bus or zerolap serve is reached, for the certificate.", "NAME"
    )
    lab: list[str] | None = option("A lab: a place with agents.", "NAME")
    platform: list[str] | None = option(
        "A platform, with what its machines must have: architecture=aarch64, processors=8 and memory_gib=32 (at least),"
        " counters=true; builder=NAME shares the builders of another, load=NAME has the agents of NAME put load on its"
        " servers.",
        "NAME[:KEY=VALUE,...]",
    )
    store: str = option("Store of zerolap serve, for its unit; by default store in DIR.", "URL", default="")
    triggers: Path | None = option("Triggers of zerolap serve, for its unit.", "FILE", show_default=False)


INIT_HELP = """Set up a fleet, or add to it: configuration of the bus, certificates, units of systemd, credentials.

A new fleet needs --bus and --artifacts. The other options can be given now or later, each several times. After \
fleet.toml was edited, run the command without options. Passwords and certificates are kept.

Examples:

    zerolap fleet init --bus tls://lab.example.org:4222 --artifacts https://lab.example.org:7480
    zerolap fleet init --lab home --platform arm:architecture=aarch64
    zerolap fleet init --bench bench-1=home/arm
    zerolap fleet init --build build-1=home/arm
    zerolap fleet init --platform wire:load=loaders --bench bench-2=home/wire --load load-1=home/loaders
"""


def init(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory of the fleet, made if it is missing.")
    ] = Path("fleet"),
    *,
    of: FleetOptions,
    admitted: AgentsOptions,
) -> None:
    """Write what is new, and make the bus load it if it runs here."""
    from zerolap.fleet.setup import CONFIGURATION, directory as fleet, new_configuration, read_configuration

    platforms = dict(_parsed_platform(added) for added in of.platform or [])
    agents, labs = admitted.parsed, of.lab or []
    is_new = not (directory / CONFIGURATION).exists()
    if is_new and not (of.bus and of.artifacts):
        raise UsageError(
            f"there is no fleet in {directory} yet, and a new one needs --bus and --artifacts",
            hint=f"zerolap fleet init {directory} --bus tls://HOST:4222 --artifacts https://HOST:7480",
        )
    if not is_new and (of.bus or of.listen or of.artifacts or of.name or of.store or of.triggers):
        raise UsageError(
            f"{directory / CONFIGURATION} already sets the addresses and the options of zerolap serve",
            hint=f"edit it, then run: zerolap fleet init {directory}",
        )
    if is_new:
        conductor = _conductor(directory, of.artifacts, of.store, of.triggers)
        of_artifacts = urlsplit(of.artifacts).hostname
        # The certificate of the bus is also that of `zerolap serve`.
        is_elsewhere = of_artifacts and of_artifacts != urlsplit(of.bus).hostname
        names = [*(of.name or []), *([of_artifacts] if of_artifacts and is_elsewhere else [])]
        configuration = new_configuration(of.bus, of.artifacts, of.listen, names, conductor)
    else:
        configuration = read_configuration(directory)
    # All is checked before anything is written, so that the corrected command can be repeated.
    _check_additions(configuration, labs, platforms, agents)
    directory.mkdir(parents=True, exist_ok=True)
    fleet.initialise(directory, configuration)
    for added in labs:
        fleet.add_lab(directory, added)
    for added, requirement in platforms.items():
        fleet.add_platform(directory, added, requirement)
    written = [fleet.add_agent(directory, *added, kind=kind) for kind, of_kind in agents.items() for added in of_kind]
    if fleet.reload_bus(directory):
        writer.show("the bus uses the new configuration")
    else:
        _show_start(directory, read_configuration(directory))
    for path in written:
        writer.show(f"{path}: copy it to the machine of the agent")


def token(
    *,
    admitted: AgentsOptions,
    fleet: FleetDirectory = Path("fleet"),
    hours: Annotated[float, typer.Option(help="Time until the tokens expire.", min=0.0, max=720.0)] = 1.0,
    store: options.StoreLocation = None,
) -> None:
    """Print the command by which an agent joins the fleet; its token can be used once.

    The agent makes its key itself; zerolap serve adds it to the configuration of the bus.

    Example: zerolap fleet token --bench bench-1=home/arm --build build-1=home/arm --store /var/lib/zerolap
    """
    from zerolap.fleet.setup import read_configuration

    agents = admitted.parsed
    if not any(agents.values()):
        raise UsageError("a token is for an agent", hint="give --bench, --build or --load NAME=LAB/PLATFORM")
    configuration = read_configuration(fleet)
    _check_additions(configuration, [], {}, agents)
    for kind, of_kind in agents.items():
        for name, lab, platform in of_kind:
            _print_token(fleet, configuration.artifacts, store, hours, (name, lab, platform, kind))


def revoke(name: AgentNameArgument, fleet: FleetDirectory = Path("fleet")) -> None:
    """Remove an agent from the fleet: the bus ends its connections, and its job goes to another agent.

    Run it on the machine of the bus, as its user. A running zerolap serve takes it on within seconds.

    Example: zerolap fleet revoke bench-3
    """
    from zerolap.fleet.setup import reload_bus, revoke_agent

    revoke_agent(fleet, name)
    writer.show(f"{name} does not belong to the fleet any more")
    _show_reload(reload_bus(fleet))


def rotate(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the agent, or conductor.", show_default=False)],
    fleet: FleetDirectory = Path("fleet"),
    hours: Annotated[float, typer.Option(help="Time for which the token is good.", min=0.0, max=720.0)] = 1.0,
    store: options.StoreLocation = None,
) -> None:
    """Give an agent, or the conductor, another key or password.

    An agent that has joined makes the new key itself, by the command that is printed; its old one is good until then.
    Another agent gets a new password at once, and needs its new file; so does zerolap serve, which is to be restarted.

    Example: zerolap fleet rotate bench-1 --store /var/lib/zerolap
    """
    from zerolap.fleet.setup import CONDUCTOR, read_configuration, reload_bus, rotate_password

    configuration = read_configuration(fleet)
    entry = configuration.agents.get(name)
    if entry is not None and entry.key is not None:
        agent = (name, entry.lab, entry.platform, entry.kind)
        _print_token(fleet, configuration.artifacts, store, hours, agent, replaces=True)
        return
    path = rotate_password(fleet, name)
    writer.show("restart zerolap serve" if name == CONDUCTOR else f"{path}: copy it to the machine of the agent")
    _show_reload(reload_bus(fleet))


def _print_token(
    fleet: Path,
    address: str,
    store: str | None,
    hours: float,
    agent: "tuple[str, str, str, AgentKind]",
    replaces: bool = False,
) -> None:
    """Record a token for an agent, given by name, lab, platform and kind, and print the command that uses it."""
    from zerolap.fleet.setup import JoinToken, secret_digest
    from zerolap.store import AdmittedAgent, Store

    join_token = JoinToken.new((fleet / "ca.pem").read_text())
    expires = time.time() + hours * SECONDS_PER_UNIT["h"]
    with Store.open(store) as results:
        admitted = AdmittedAgent(*agent, expires=expires, replaces=replaces)
        results.fleet.add_join_token(secret_digest(join_token.secret), admitted)
    writer.show(f"zerolap agent join {address} --token {join_token}")


def _show_start(directory: Path, configuration: "FleetConfiguration") -> None:
    from zerolap.fleet.setup import SERVER_CONFIGURATION, UNITS

    writer.show(f"start the bus: nats-server -c {directory / SERVER_CONFIGURATION}")
    if (conductor := configuration.conductor) is not None:
        triggers = f" --triggers {conductor.triggers}" if conductor.triggers else ""
        command = f"zerolap serve --fleet {directory} --listen {conductor.listen} --store {conductor.store}{triggers}"
        writer.show(f"start the conductor: {command}")
        units = " ".join(str(path) for path in sorted((directory.resolve() / UNITS).glob("*.service")))
        writer.show(f"or, as services, both: systemctl enable --now {units}")


def _show_reload(is_told: bool) -> None:
    if is_told:
        writer.show("the bus uses the new configuration")
    else:
        writer.show("the bus does not run here: reload it where it runs, with this directory (systemctl reload)")


def _conductor(directory: Path, artifacts: str, store: str, triggers: Path | None) -> dict[str, str]:
    parts = urlsplit(artifacts)
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as fault:
        raise UsageError(f"`--artifacts {artifacts}`: expected a URL like https://lab.example.org:7480") from fault
    where = store if "://" in store else str(Path(store).absolute() if store else directory.absolute() / "store")
    given = {} if triggers is None else {"triggers": str(triggers.absolute())}
    return {"listen": f"0.0.0.0:{port}", "store": where} | given


def _check_additions(
    configuration: "FleetConfiguration",
    labs: Sequence[str],
    platforms: "Mapping[str, PlatformRequirement]",
    agents: "Mapping[AgentKind, Sequence[tuple[str, str, str]]]",
) -> None:
    """Raise `UsageError` if a fleet cannot have these labs, platforms and agents, each named once."""
    from pydantic import ValidationError

    from zerolap.records import FirstFault

    content = configuration.model_dump()
    known = content["platforms"] | {name: one.model_dump() for name, one in platforms.items()}
    additions: list[tuple[str, str, str, dict[str, object]]] = [("lab", "labs", name, {}) for name in labs]
    additions += [("platform", "platforms", name, known[name]) for name in platforms]
    for kind, of_kind in agents.items():
        for name, lab, platform in of_kind:
            builder = (known.get(platform) or {"builder": platform})["builder"] or f"{platform}-build"
            entry = {"lab": lab, "platform": builder if kind == "build" else platform, "kind": kind}
            additions.append(("agent", "agents", name, entry))
    for noun, section, name, entry in additions:
        if name in content[section]:
            raise UsageError(f"the {noun} {name} exists already", hint="nothing was changed; choose another name")
        content[section][name] = entry
    try:
        type(configuration).model_validate(content)
    except ValidationError as wrong:
        first = FirstFault.of(wrong, leaving_out=[section, "[key]"])
        raise UsageError(str(first), hint="nothing was changed; correct it and run the command again") from wrong


def _parsed_platform(text: str) -> "tuple[str, PlatformRequirement]":
    """Return the platform in `NAME:KEY=VALUE,...`; raises `UsageError`."""
    from pydantic import ValidationError

    from zerolap.fleet.setup import PlatformRequirement
    from zerolap.records import FirstFault

    name, _, rest = text.partition(":")
    pairs = dict(pair.partition("=")[::2] for pair in filter(None, rest.split(",")))
    try:
        return name, PlatformRequirement.model_validate(pairs)
    except ValidationError as wrong:
        first = FirstFault.of(wrong)
        key = first.location
        if first.kind == "extra_forbidden":
            what = f"there is no requirement `{key}`"
            hint = f"requirements: {', '.join(PlatformRequirement.model_fields)}"
        else:
            what = f"`{pairs[key]}` is not valid for `{key}`"
            hint = "write NAME:processors=8,memory_gib=32,counters=true"
        raise UsageError(f"`--platform {text}`: {what}", hint=hint) from wrong


def _parsed_agent(text: str) -> tuple[str, str, str]:
    """Return name, lab and platform in `NAME=LAB/PLATFORM`; raises `UsageError`."""
    name, equals, rest = text.partition("=")
    lab, slash, platform = rest.partition("/")
    if not (name and equals and lab and slash and platform):
        raise UsageError(
            f"`{text}` does not describe an agent", hint="write NAME=LAB/PLATFORM, such as bench-1=home/arm"
        )
    return name, lab, platform
