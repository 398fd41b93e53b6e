"""`zerolap serve`: carries out submitted requests."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from zerolap import writer
from zerolap.cli import options
from zerolap.cli.option_groups import flag, option
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS
from zerolap.errors import UsageError

app = Verb()

HELP = f"""{VERBS["serve"]}

Submit with zerolap compare or zerolap run, --platform, and the same --store. Without --fleet there is one platform, \
local: this machine builds and measures, one job at a time. With --fleet, the agents of the fleet do both; zerolap \
fleet init sets up its directory.

A second zerolap serve on the same store is the stand-by: it takes over when the first one ends. One that loses its \
database ends with exit code 3.

It can be stopped and started at any moment: what was measured is kept, and what was not is measured again. Once an \
hour it removes files to which no result refers, builds that were not used for 30 days, and the results that --keep, \
--keep-newest and --keep-bytes do not keep.

Examples:

Look at all pages over made-up data, without measuring anything:

    zerolap serve --demo

Measure on this machine, and show the pages at http://127.0.0.1:7480/:

    zerolap serve

Ask it for a comparison, from another terminal:

    zerolap compare HEAD~1 HEAD --repo ~/redis --platform local

Have the agents of a fleet measure, with the results in PostgreSQL:

    zerolap serve --fleet fleet --listen 0.0.0.0:7480 --store postgresql://zerolap@db/zerolap

Measure what pull requests, pushes and schedules ask for:

    zerolap serve --triggers triggers.toml
"""

DEFAULT_LISTEN = "127.0.0.1:7480"


@dataclass(frozen=True)
class ServedOptions:
    """What is served, and where."""

    listen: list[str] | None = option(
        "Address for reports, the HTTP API, agents (builds and sources), /health and /metrics; agents on other machines"
        " need one that they can reach, such as 0.0.0.0:7480 or [::]:7480. May be repeated."
        f" [default: {DEFAULT_LISTEN}]",
        "HOST:PORT",
    )
    fleet: Path | None = option(
        "Directory of a fleet, made by zerolap fleet init; without it this machine measures.", "DIR"
    )
    triggers: Path | None = option(
        "Settings of triggers: labels and commands on pull requests, pushes, tags, watched remotes, schedules.", "FILE"
    )
    hosts: list[str] | None = option(
        "Further name under which the lab is reached, such as that of a proxy; requests to other names are refused."
        " Addresses, localhost, this machine's name, and those of --listen and public_url are permitted.",
        "NAME",
        name="--host",
    )
    public_reports: bool = flag("Make reports public: readable without a token.")
    demo: bool = flag(
        "Show made-up data on all pages, to look at them without measuring anything: they are in a temporary store,"
        " which is removed at the end, and readable without a token."
    )


@app.own(help=HELP)
def serve(*, served: ServedOptions, kept: options.KeptOptions, place: options.LabOptions) -> None:
    """Serve until stopped."""
    import asyncio

    from zerolap.api import Address, ServeOptions, serve as serve_store
    from zerolap.cli.logging import set_up_logs
    from zerolap.fleet.setup import read_configuration
    from zerolap.store import Store
    from zerolap.triggers import Triggers, mirrors_of, read_trigger_settings

    fleet, hosts, listen = served.fleet, served.hosts or (), served.listen or [DEFAULT_LISTEN]
    if served.demo:
        if any((fleet, served.triggers, place.store)) or kept != options.KeptOptions():
            raise UsageError(
                "--demo shows a store of its own", hint="leave out --store, --fleet, --triggers and the --keep options"
            )
        _serve_made_up_data(listen, hosts)
        return
    addresses = [Address.parse(address) for address in listen]
    if fleet is not None:
        if not fleet.is_dir():
            raise UsageError(f"there is no directory {fleet}", hint=f"make a fleet: zerolap fleet init {fleet} --help")
        read_configuration(fleet)
    settings = None if served.triggers is None else read_trigger_settings(served.triggers)
    retention = kept.retention
    set_up_logs()
    with Store.open(place.store) as results:
        policy = options.sandbox_policy(place.unsafe_no_sandbox)
        by_itself = None if settings is None else Triggers(results, settings, mirrors_of(results))
        serving = ServeOptions(
            results,
            addresses,
            fleet,
            policy,
            triggers=by_itself,
            retention=retention,
            hosts=hosts,
            public_reports=served.public_reports,
        )
        asyncio.run(serve_store(serving))


def _serve_made_up_data(listen: Sequence[str], hosts: Sequence[str]) -> None:
    """Serve a temporary store with made-up data until stopped."""
    import asyncio
    import tempfile

    from zerolap.api import Address, ServeOptions, serve as serve_store
    from zerolap.cli.logging import set_up_logs
    from zerolap.demonstration import fill_with_made_up_data, keep_agents_reporting
    from zerolap.store import Store

    addresses = [Address.parse(address) for address in listen]
    set_up_logs()
    with (
        tempfile.TemporaryDirectory(prefix="zerolap-demo-") as directory,
        Store.open(directory, is_temporary=True) as made_up,
    ):

        def make_up() -> None:
            writer.note("making data up: nothing of what the pages show was measured")
            fill_with_made_up_data(made_up)

        async def keep_reporting() -> None:
            for address in listen:
                writer.note(f"the demonstration is at http://{address}/")
            await keep_agents_reporting(made_up)

        serving = ServeOptions(
            made_up,
            addresses,
            until=keep_reporting,
            hosts=hosts,
            public_reports=True,
            shows_only=True,
            prepare=make_up,
        )
        asyncio.run(serve_store(serving))
