"""`zerolap agent`: joins a fleet; builds, measures, or puts load on servers, for a conductor on another machine."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from zerolap import writer
from zerolap.cli import options
from zerolap.cli.option_groups import option
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS
from zerolap.errors import UsageError

app = Verb(help=VERBS["agent"])


@dataclass(frozen=True)
class AgentOptions:
    """Who an agent is, and where it works."""

    credentials: Path = option(
        "File of this agent: agent.toml, which zerolap agent join has written, or a copy of agents/NAME.toml.",
        "FILE",
        default=dataclasses.MISSING,
        show_default=False,
    )
    directory: Path = option(
        "Directory for builds and files of jobs, of this agent alone.", "DIR", default=Path(".zerolap-agent")
    )
    unsafe_no_sandbox: options.UnsafeNoSandbox = False


@app.own()
def join(
    address: Annotated[str, typer.Argument(metavar="URL", help="Address of zerolap serve.", show_default=False)],
    token: Annotated[
        str, typer.Option(help="Token that zerolap fleet token has printed.", metavar="TOKEN", show_default=False)
    ],
    directory: Annotated[
        Path | None,
        typer.Option(help="Directory of the agent, made if it is missing; by default its name.", metavar="DIR"),
    ] = None,
    start: Annotated[bool, typer.Option("--start", help="Start working, in this terminal.")] = False,
    unsafe_no_sandbox: options.UnsafeNoSandbox = False,
) -> None:
    """Become an agent of a fleet: make a key, have it admitted, write credentials and a unit of systemd.

    The private key stays on this machine. Run it as the user who is to run the agent.

    Example: zerolap agent join https://lab.example.org:7480 --token zj_...
    """
    from zerolap.fleet.setup import JoinToken, join as join_fleet

    joined = join_fleet(address, JoinToken.read(token), directory)
    work_directory = joined.credentials.with_name("work")
    command = f"zerolap agent {joined.kind} --credentials {joined.credentials} --directory {work_directory}"
    writer.show(f"joined; start it: {command}")
    writer.show(f"or, as a service: systemctl enable --now {joined.unit}")
    if start:
        _work(joined.kind, AgentOptions(joined.credentials, work_directory, unsafe_no_sandbox))


@app.own()
def bench(
    *,
    agent: AgentOptions,
    address: Annotated[
        str,
        typer.Option(
            help="IP address of this machine for agents that put load on its servers, if its platform has such agents.",
            metavar="ADDRESS",
        ),
    ] = "",
) -> None:
    """Measure, one job at a time, for the conductor of a fleet.

    SIGTERM or Ctrl-C lets the job that is under way finish; a second one stops it, and another agent repeats it.

    Examples:
        zerolap agent bench --credentials bench-1.toml
        zerolap agent bench --credentials bench-1.toml --address 192.0.2.17
    """
    _work("bench", agent, _checked_address(address))


@app.own()
def load(*, agent: AgentOptions) -> None:
    """Put load on the servers that agents of other machines measure.

    Timed trials of a platform with `load=NAME` take their load from the agents of NAME. SIGTERM or Ctrl-C lets the job
    that is under way finish; a second one stops it, and it is repeated.

    Example: zerolap agent load --credentials load-1.toml
    """
    _work("load", agent)


@app.own()
def build(*, agent: AgentOptions) -> None:
    """Build, one build at a time, what the agents of a platform measure.

    SIGTERM or Ctrl-C lets the build that is under way finish; a second one stops it, and another agent repeats it.

    Example: zerolap agent build --credentials build-1.toml
    """
    _work("build", agent)


def _checked_address(address: str) -> str:
    """Return an IP address, or nothing; raises `UsageError` for anything else."""
    import ipaddress

    try:
        return str(ipaddress.ip_address(address)) if address else ""
    except ValueError as wrong:
        raise UsageError(
            f"`--address {address}` is not an IP address", hint="give the one by which other machines reach this one"
        ) from wrong


def _work(kind: str, agent: AgentOptions, address: str = "") -> None:
    import asyncio

    from zerolap.cli.logging import set_up_logs
    from zerolap.fleet import AgentMachine, work
    from zerolap.fleet.setup import read_agent_credentials

    read = read_agent_credentials(agent.credentials)
    if read.kind != kind:
        raise UsageError(
            f"{agent.credentials} belongs to an agent of the kind `{read.kind}`",
            hint=f"zerolap agent {read.kind} --credentials {agent.credentials}",
        )
    try:
        agent.directory.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise UsageError(
            f"`--directory {agent.directory}` cannot be made: {fault.strerror}",
            hint="give a directory that can be written to",
        ) from fault
    set_up_logs()
    asyncio.run(work(read, AgentMachine(agent.directory, options.sandbox_policy(agent.unsafe_no_sandbox), address)))
