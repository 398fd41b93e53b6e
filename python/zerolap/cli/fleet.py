"""`zerolap fleet`: shows the state of a fleet, and retries, cancels or drains; `fleet_setup` has the other commands."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from zerolap import writer
from zerolap.cli import fleet_setup, options
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS
from zerolap.errors import UnreadableRecord, UsageError

if TYPE_CHECKING:
    from zerolap.store import Attempt, KnownAgent, Store

app = Verb(help=VERBS["fleet"])
app.own(help=fleet_setup.INIT_HELP)(fleet_setup.init)
app.own()(fleet_setup.token)
app.own()(fleet_setup.revoke)
app.own()(fleet_setup.rotate)

LISTED = 20
AGENT_GONE_SECONDS = 60
FLEET_SCHEMA = "zerolap.fleet/1"

Identity = Annotated[
    str,
    typer.Argument(metavar="ID", help="Id of a request, its unique beginning, or latest.", show_default=False),
]


@app.own()
def status(json: options.Json = None, store: options.StoreLocation = None) -> None:
    """Show platforms, agents and the newest requests: what waits, what is under way, what is stuck and why.

    It reads the store, and works without a conductor too.

    Example: zerolap fleet status --store postgresql://zerolap@db/zerolap
    """
    from zerolap.cli.output import write_document
    from zerolap.store import Store

    with Store.open(store) as results:
        if json is not None:
            write_document(json, _document(results))
        if json == "-":
            return
        _show(results)


@app.own()
def retry(identity: Identity, store: options.StoreLocation = None) -> None:
    """Continue a request that has ended: what failed is tried again, what was measured is kept.

    Example: zerolap fleet retry c-1f2e3d4c
    """
    from zerolap.store import Store

    with Store.open(store) as results:
        work = results.request(identity)
        results.fleet.retry(work.request.id)
        writer.show(f"{work.request.id} waits again")


@app.own()
def cancel(identity: Identity, store: options.StoreLocation = None) -> None:
    """End a request: its jobs are stopped on all agents, and what was measured is kept.

    Example: zerolap fleet cancel c-1f2e3d4c
    """
    from zerolap.store import Store

    with Store.open(store) as results:
        work = results.request(identity)
        if not results.fleet.set_state(work.request.id, "cancelled", "by zerolap fleet cancel"):
            raise UsageError(f"{work.request.id} is {work.state} already", hint="zerolap fleet status")
        writer.show(f"{work.request.id} is cancelled")


@app.own()
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
        writer.show(f"{', '.join(names)}: {'takes jobs again' if undo else 'takes no further job'}")


def _document(store: "Store") -> dict[str, object]:
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
                "id": asked.id,
                "kind": asked.kind,
                "platform": asked.platform,
                "priority": asked.priority,
                "topic": asked.topic,
                "state": asked.state,
                "reason": asked.reason or asked.unreadable,
                "age_seconds": round(time.time() - asked.submitted, 1),
                "jobs": store.fleet.attempt_counts(asked.id),
            }
            for asked in store.fleet.newest_requests(LISTED)
        ],
    }


def _show(store: "Store") -> None:
    console = writer.console()
    attempts = store.fleet.open_attempts()
    console.print(f"conductor: {_conductor_state(store)}")
    platforms = writer.table("platform", "agents", "waiting", "under way", "oldest")
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
        table = writer.table("agent", "platform", "state", "seen", "job or reason")
        for agent in agents:
            job = next((one for one in attempts if one.agent == agent.name and one.state == "claimed"), None)
            doing = agent.refusal or ("" if job is None else _described(job))
            seen = _age(time.time() - agent.seen)
            table.add_row(agent.name, agent.platform, _state_of(agent, attempts), f"{seen} ago", doing)
        console.print(table)
    newest = store.fleet.newest_requests(LISTED)
    if newest:
        table = writer.table("request", "platform", "priority", "state", "age", "jobs", "reason")
        for asked in newest:
            jobs = ", ".join(f"{count} {state}" for state, count in store.fleet.attempt_counts(asked.id).items())
            age = _age((asked.ended or time.time()) - asked.submitted)
            row = (asked.id, asked.platform, asked.priority, asked.state)
            table.add_row(*row, age, jobs, asked.reason or asked.unreadable)
        console.print(table)


def _conductor_state(store: "Store") -> str:
    return "working" if store.has_conductor() else "none: zerolap serve starts one"


def _state_of(agent: "KnownAgent", attempts: Sequence["Attempt"]) -> str:
    if agent.refusal is not None:
        return "refused"
    if time.time() - agent.seen > AGENT_GONE_SECONDS:
        return "gone"
    if agent.draining:
        return "draining"
    is_busy = any(attempt.agent == agent.name and attempt.state == "claimed" for attempt in attempts)
    return "busy" if is_busy else "idle"


def _described(attempt: "Attempt") -> str:
    try:
        job = attempt.job
    except UnreadableRecord as fault:
        return fault.message
    match job.kind:
        case "build":
            subject = f"build {job.source.name}"
        case "trials":
            subject = f"{job.case.name} ({job.engine})"
        case "load":
            subject = "load for another machine"
    return f"{subject} of {attempt.request}"


def _age(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"
