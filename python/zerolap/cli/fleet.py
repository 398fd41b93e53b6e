"""`zerolap fleet`: sets a fleet up, shows its state, and retries, cancels or drains."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerolap.cli import options
from zerolap.cli.verbs import VERBS

if TYPE_CHECKING:
    from rich.table import Table

    from zerolap.fleet.configuration import FleetConfiguration, PlatformRequirement
    from zerolap.store import Attempt, KnownAgent, Store

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help=VERBS["fleet"])

LISTED = 20
AGENT_GONE_SECONDS = 60
FLEET_SCHEMA = "zerolap.fleet/1"

Identity = Annotated[
    str,
    typer.Argument(metavar="ID", help="Id of a request, its unique beginning, or latest.", show_default=False),
]


Names = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        help="A further name or IP address by which bus or zerolap serve is reached, for the certificate.",
        metavar="NAME",
    ),
]
Platforms = Annotated[
    list[str] | None,
    typer.Option(
        "--platform",
        help="A platform, with what its machines must have: architecture=aarch64, processors=8 and memory_gib=32 (at"
        " least), counters=true; builder=NAME shares the builders of another, load=NAME has the agents of NAME put load"
        " on its servers.",
        metavar="NAME[:KEY=VALUE,...]",
    ),
]


INIT_HELP = """Set up a fleet, or add to it: configuration of the bus, certificates, and credentials of its members.

A new fleet needs --bus and --artifacts. The other options can be given now or later, each several times. After \
fleet.toml was edited, run the command without options. Passwords and certificates are kept.

Examples:

    zerolap fleet init --bus tls://lab.example.org:4222 --artifacts https://lab.example.org:7480

    zerolap fleet init --lab home --platform arm:architecture=aarch64 --bench bench-1=home/arm

    zerolap fleet init --build build-1=home/arm

    zerolap fleet init --platform wire:load=loaders --bench bench-2=home/wire --load load-1=home/loaders
"""


@app.command(help=INIT_HELP)
def init(
    directory: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="Directory of the fleet, made if it is missing.")
    ] = Path("fleet"),
    bus: Annotated[str, typer.Option(help="Address at which agents and conductor reach the bus.", metavar="URL")] = "",
    listen: Annotated[
        str,
        typer.Option(
            help="Address that the bus listens on; by default all, at the port of --bus.", metavar="HOST:PORT"
        ),
    ] = "",
    artifacts: Annotated[str, typer.Option(help="Address at which agents reach zerolap serve.", metavar="URL")] = "",
    name: Names = None,
    lab: Annotated[list[str] | None, typer.Option(help="A lab: a place with agents.", metavar="NAME")] = None,
    platform: Platforms = None,
    bench: Annotated[
        list[str] | None, typer.Option(help="An agent that measures on a platform.", metavar="NAME=LAB/PLATFORM")
    ] = None,
    build: Annotated[
        list[str] | None, typer.Option(help="An agent that builds for a platform.", metavar="NAME=LAB/PLATFORM")
    ] = None,
    load: Annotated[
        list[str] | None,
        typer.Option(help="An agent that puts load on servers of other machines.", metavar="NAME=LAB/PLATFORM"),
    ] = None,
) -> None:
    """Write what is new, and tell the bus if it runs here."""
    from zerolap.errors import UsageError
    from zerolap.fleet import configuration as fleet

    platforms = dict(_parsed_platform(added) for added in platform or [])
    agents = {
        "bench": [_parsed_agent(one) for one in bench or []],
        "build": [_parsed_agent(one) for one in build or []],
        "load": [_parsed_agent(one) for one in load or []],
    }
    is_new = not (directory / fleet.CONFIGURATION).exists()
    if is_new and not (bus and artifacts):
        raise UsageError(
            f"there is no fleet in {directory} yet, and a new one needs --bus and --artifacts",
            hint=f"zerolap fleet init {directory} --bus tls://HOST:4222 --artifacts https://HOST:7480",
        )
    if not is_new and (bus or listen or artifacts or name):
        raise UsageError(
            f"{directory / fleet.CONFIGURATION} has the addresses already",
            hint=f"edit it, then run: zerolap fleet init {directory}",
        )
    if is_new:
        configuration = fleet.new_configuration(bus, artifacts, listen, _certificate_names(bus, artifacts, name or []))
    else:
        configuration = fleet.read_configuration(directory)
    # All is checked before anything is written, so that the corrected command can be repeated.
    _check_additions(configuration, lab or [], platforms, agents)
    directory.mkdir(parents=True, exist_ok=True)
    fleet.initialise(directory, configuration)
    for added in lab or []:
        fleet.add_lab(directory, added)
    for added, requirement in platforms.items():
        fleet.add_platform(directory, added, requirement)
    written = [fleet.add_agent(directory, *added, kind="bench") for added in agents["bench"]]
    written += [fleet.add_agent(directory, *added, kind="build") for added in agents["build"]]
    written += [fleet.add_agent(directory, *added, kind="load") for added in agents["load"]]
    if fleet.reload_bus(directory):
        typer.echo("the bus uses the new configuration")
    else:
        typer.echo(f"start the bus: nats-server -c {directory / fleet.SERVER_CONFIGURATION}")
    for path in written:
        typer.echo(f"{path}: copy it to the machine of the agent")


@app.command()
def status(json: options.Json = None, store: options.StoreLocation = None) -> None:
    """Show platforms, agents and the newest requests: what waits, what is under way, what is stuck and why.

    It reads the store, and works without a conductor too.

    Example: zerolap fleet status --store postgresql://zerolap@db/zerolap
    """
    from zerolap.store import Store

    with Store.open(store) as results:
        if json is not None:
            import json as encoder

            from zerolap.cli.output import write

            write(json, encoder.dumps(_document(results), indent=2))
            if json == "-":
                return
        _show(results)


@app.command(no_args_is_help=True)
def retry(identity: Identity, store: options.StoreLocation = None) -> None:
    """Continue a request that has ended: what failed is tried again, what was measured is kept.

    Example: zerolap fleet retry c-1f2e3d4c
    """
    from zerolap.store import Store

    with Store.open(store) as results:
        work = results.request(identity)
        results.fleet.retry(work.request.id)
        typer.echo(f"{work.request.id} waits again")


@app.command(no_args_is_help=True)
def cancel(identity: Identity, store: options.StoreLocation = None) -> None:
    """End a request: its jobs are stopped on all agents, and what was measured is kept.

    Example: zerolap fleet cancel c-1f2e3d4c
    """
    from zerolap.errors import UsageError
    from zerolap.store import Store

    with Store.open(store) as results:
        work = results.request(identity)
        if not results.fleet.set_state(work.request.id, "cancelled", "by zerolap fleet cancel"):
            raise UsageError(f"{work.request.id} is {work.state} already", hint="zerolap fleet status")
        typer.echo(f"{work.request.id} is cancelled")


@app.command(no_args_is_help=True)
def drain(
    name: Annotated[
        str, typer.Argument(metavar="AGENT|PLATFORM", help="Name of an agent or a platform.", show_default=False)
    ],
    undo: Annotated[bool, typer.Option("--undo", help="Have it take jobs again.")] = False,
    store: options.StoreLocation = None,
) -> None:
    """Have an agent, or all agents of a platform, finish their job and take no further one.

    It stays so until --undo, also over restarts of agent and conductor.

    Examples: zerolap fleet drain bench-3; zerolap fleet drain bench-3 --undo
    """
    from zerolap.store import Store

    with Store.open(store) as results:
        names = results.fleet.drain(name, draining=not undo)
        typer.echo(f"{', '.join(names)}: {'takes jobs again' if undo else 'takes no further job'}")


def _certificate_names(bus: str, artifacts: str, names: Sequence[str]) -> list[str]:
    """Return the names of the certificate beside that of the bus: it is also that of `zerolap serve`."""
    from urllib.parse import urlsplit

    of_artifacts = urlsplit(artifacts).hostname
    return [*names, *([of_artifacts] if of_artifacts and of_artifacts != urlsplit(bus).hostname else [])]


def _check_additions(
    configuration: "FleetConfiguration",
    labs: Sequence[str],
    platforms: "Mapping[str, PlatformRequirement]",
    agents: Mapping[str, Sequence[tuple[str, str, str]]],
) -> None:
    """Raise `UsageError` if a fleet cannot have these labs, platforms and agents, each named once."""
    from pydantic import ValidationError

    from zerolap.errors import UsageError

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
        first = wrong.errors()[0]
        named = f"{first['loc'][1]}: " if len(first["loc"]) > 1 else ""
        message = named + first["msg"].removeprefix("Value error, ")
        raise UsageError(message, hint="nothing was changed; correct it and run the command again") from wrong


def _parsed_platform(text: str) -> "tuple[str, PlatformRequirement]":
    """Return the platform in `NAME:KEY=VALUE,...`; raises `UsageError`."""
    from pydantic import ValidationError

    from zerolap.errors import UsageError
    from zerolap.fleet.configuration import PlatformRequirement

    name, _, rest = text.partition(":")
    pairs = dict(pair.partition("=")[::2] for pair in filter(None, rest.split(",")))
    try:
        return name, PlatformRequirement.model_validate(pairs)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        key = str(first["loc"][0])
        if first["type"] == "extra_forbidden":
            what = f"there is no requirement `{key}`"
            hint = f"requirements: {', '.join(PlatformRequirement.model_fields)}"
        else:
            what = f"`{pairs[key]}` is no value of `{key}`"
            hint = "write NAME:processors=8,memory_gib=32,counters=true"
        raise UsageError(f"`--platform {text}`: {what}", hint=hint) from wrong


def _parsed_agent(text: str) -> tuple[str, str, str]:
    """Return name, lab and platform in `NAME=LAB/PLATFORM`; raises `UsageError`."""
    from zerolap.errors import UsageError

    name, equals, rest = text.partition("=")
    lab, slash, platform = rest.partition("/")
    if not (name and equals and lab and slash and platform):
        raise UsageError(
            f"`{text}` does not describe an agent", hint="write NAME=LAB/PLATFORM, such as bench-1=home/arm"
        )
    return name, lab, platform


def _document(store: "Store") -> dict[str, object]:
    """Return the state of a fleet as a document."""
    attempts = store.fleet.open_attempts()
    return {
        "schema": FLEET_SCHEMA,
        "conductor": _conductor_state(store),
        "platforms": [{"name": platform.name, "builder": platform.builder} for platform in store.fleet.platforms()],
        "agents": [
            {
                "name": agent.name,
                "lab": agent.lab,
                "platform": agent.platform,
                "state": _state_of(agent, attempts),
                "seen_seconds_ago": round(time.time() - agent.seen, 1),
                "reason": agent.refusal or "",
            }
            for agent in store.fleet.agents()
        ],
        "submissions": [
            {
                "id": work.request.id,
                "kind": work.request.kind,
                "platform": work.request.platform,
                "priority": work.request.priority,
                "topic": work.request.topic,
                "state": work.state,
                "reason": work.reason,
                "age_seconds": round(time.time() - work.submitted, 1),
                "jobs": _job_counts(store, work.request.id),
            }
            for work in store.fleet.requests(is_open=False, limit=LISTED)
        ],
    }


def _show(store: "Store") -> None:
    from rich.console import Console

    console = Console()
    attempts = store.fleet.open_attempts()
    console.print(f"conductor: {_conductor_state(store)}")
    platforms = _table("platform", "agents", "waiting", "under way", "oldest")
    agents = store.fleet.agents()
    names = {platform.name for platform in store.fleet.platforms()}
    for name in sorted(names | {platform.builder for platform in store.fleet.platforms()}):
        usable = [
            agent for agent in agents if agent.platform == name and _state_of(agent, attempts) in ("idle", "busy")
        ]
        of_platform = [attempt for attempt in attempts if attempt.platform == name]
        under_way = sum(attempt.state == "claimed" for attempt in of_platform)
        oldest = min((attempt.created for attempt in of_platform), default=None)
        age = "" if oldest is None else _age(time.time() - oldest)
        platforms.add_row(name, str(len(usable)), str(len(of_platform) - under_way), str(under_way), age)
    console.print(platforms)
    if agents:
        table = _table("agent", "platform", "state", "seen", "job or reason")
        for agent in agents:
            job = next((one for one in attempts if one.agent == agent.name and one.state == "claimed"), None)
            doing = agent.refusal or ("" if job is None else _described(job))
            seen = _age(time.time() - agent.seen)
            table.add_row(agent.name, agent.platform, _state_of(agent, attempts), f"{seen} ago", doing)
        console.print(table)
    works = store.fleet.requests(is_open=False, limit=LISTED)
    if works:
        table = _table("request", "platform", "priority", "state", "age", "jobs", "reason")
        for work in works:
            counts = _job_counts(store, work.request.id)
            jobs = ", ".join(f"{count} {state}" for state, count in counts.items())
            age = _age((work.ended or time.time()) - work.submitted)
            row = (work.request.id, work.request.platform, work.request.priority, work.state)
            table.add_row(*row, age, jobs, work.reason)
        console.print(table)


def _table(*headings: str) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in headings:
        # The first one has the names that other commands take: they are to be copied.
        table.add_column(heading, overflow="fold", no_wrap=heading == headings[0])
    return table


def _conductor_state(store: "Store") -> str:
    """Return whether a conductor works on the store."""
    from zerolap.api.serving import CONDUCTOR
    from zerolap.store import RequestBusy

    try:
        with store.claim(CONDUCTOR):
            return "none: zerolap serve starts one"
    except RequestBusy:
        return "working"


def _state_of(agent: "KnownAgent", attempts: Sequence["Attempt"]) -> str:
    if agent.refusal is not None:
        return "refused"
    if time.time() - agent.seen > AGENT_GONE_SECONDS:
        return "gone"
    if agent.draining:
        return "draining"
    is_busy = any(attempt.agent == agent.name and attempt.state == "claimed" for attempt in attempts)
    return "busy" if is_busy else "idle"


def _job_counts(store: "Store", identity: str) -> dict[str, int]:
    return dict(Counter(attempt.state for attempt in store.fleet.attempts(identity)))


def _described(attempt: "Attempt") -> str:
    job = attempt.job
    match job.kind:
        case "build":
            subject = f"build {job.source.name}"
        case "trials":
            subject = f"{job.case.name} ({job.engine})"
        case "load":
            subject = "load for another machine"
    return f"{subject} of {attempt.request}"


def _age(seconds: float) -> str:
    """Return a duration in one unit."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"
