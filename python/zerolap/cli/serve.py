"""`zerolap serve`: works on what is submitted."""

from pathlib import Path
from typing import Annotated

import typer

from zerolap.cli import options
from zerolap.cli.verbs import VERBS

app = typer.Typer(rich_markup_mode="rich")

HELP = f"""{VERBS["serve"]}

Comparisons and runs are submitted with --platform and the same --store. Without --fleet the platform is called
`local`: this machine builds and measures, one job at a time. With --fleet, jobs go to the agents of the fleet that
`zerolap fleet init` has set up in that directory. It may be stopped and started at any moment: nothing is lost.

Examples:

    zerolap serve

    zerolap compare HEAD~1 HEAD --repo ~/redis --platform local      (in another terminal)

    zerolap serve --fleet /etc/zerolap/fleet --store postgresql://zerolap@db/zerolap?blobs=s3://zerolap/blobs
"""

Listen = Annotated[str, typer.Option(help="Address of /health, /metrics and the files of jobs.", metavar="HOST:PORT")]
FleetDirectory = Annotated[
    Path | None, typer.Option("--fleet", help="Directory of a fleet; without it this machine measures.", metavar="DIR")
]


@app.command(help=HELP)
def serve(
    listen: Listen = "127.0.0.1:7480",
    fleet: FleetDirectory = None,
    store: options.StoreLocation = None,
    unsafe_no_sandbox: options.UnsafeNoSandbox = False,
) -> None:
    """Serve until stopped."""
    import asyncio

    from zerolap.api.serving import Address, Serving
    from zerolap.api.serving import serve as serve_store
    from zerolap.cli.logging import set_up_logs
    from zerolap.errors import UsageError
    from zerolap.store import Store

    host, colon, port = listen.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"`--listen {listen}` is not an address", hint="write 127.0.0.1:7480")
    set_up_logs()
    with Store.open(store) as results:
        policy = options.sandbox_policy(unsafe_no_sandbox)
        address = Address(host.strip("[]"), int(port))
        asyncio.run(serve_store(Serving(results, address, fleet, policy)))
