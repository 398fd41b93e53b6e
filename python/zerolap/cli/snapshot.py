"""`zerolap snapshot`: what a save in the background costs the clients of a server, over sizes of data."""

import re
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from zerolap.cli import options
from zerolap.cli.verbs import VERBS

if TYPE_CHECKING:
    from zerolap.records import SnapshotEvent, SnapshotLoad

MOST_REPETITIONS = 100
SMALLEST_SIZE = 1 << 20
FAILED = 4

app = typer.Typer(rich_markup_mode="rich")

HELP = f"""{VERBS["snapshot"]}

SERVER is a binary, a source tree, a revision with --repo, or a program on the PATH. It is started and filled once for \
each size; then an event makes it fork several times, at random moments under load. It reports the time of the fork, \
the longest pause that a client saw, latencies outside of the event and during it, and how the fork grows with the data.

Examples:

    zerolap snapshot redis-server

    zerolap snapshot redis-server --sizes 256MiB,512MiB,1GiB --html snapshot.html

    zerolap snapshot 8.0 --repo ~/redis --event bgrewriteaof

    zerolap snapshot redis-server --event replica --load open --rate 20000

    zerolap snapshot redis-server --config disable-thp=no --markdown -
"""


@app.command(help=HELP)
def snapshot(
    context: typer.Context,
    server: Annotated[str, typer.Argument(metavar="SERVER", show_default=False)],
    sizes: Annotated[
        str | None,
        typer.Option(
            help="Sizes of data, separated by commas: 256MiB,1GiB. By default 1, 2, 4 and 8 GiB, as memory allows.",
            metavar="SIZES",
        ),
    ] = None,
    event: Annotated[
        str,
        typer.Option(help="What makes the server fork: bgsave, bgrewriteaof, replica, or none.", metavar="NAME"),
    ] = "bgsave",
    load: Annotated[
        str,
        typer.Option(
            help="Loads, separated by commas: open (requests are due at a fixed rate), closed (each connection waits "
            "for its reply).",
            metavar="NAMES",
        ),
    ] = "open,closed",
    rate: Annotated[
        int, typer.Option(help="Requests a second of the open loop.", min=100, max=10_000_000, metavar="N")
    ] = 5000,
    connections: Annotated[int, typer.Option(help="Connections of the load.", min=1, max=10_000, metavar="N")] = 50,
    repetitions: Annotated[
        int,
        typer.Option(help="Events for each size and load.", min=1, max=MOST_REPETITIONS, metavar="N"),
    ] = 5,
    repo: options.Repo = None,
    config: options.Config = None,
    variant: options.VariantWords = None,
    json: options.Json = None,
    html: options.Html = None,
    markdown: options.Markdown = None,
    store: options.StoreLocation = None,
    unsafe_no_sandbox: options.UnsafeNoSandbox = False,
    seed: options.Seed = None,
    quiet: options.Quiet = False,
) -> None:
    """Carry out the sweep, write what was asked for, and the table."""
    import secrets

    from zerolap.build import resolve
    from zerolap.cli.bar import Bar
    from zerolap.cli.output import write_snapshot
    from zerolap.lab import Lab, SnapshotRequest
    from zerolap.lab import snapshot as sweep
    from zerolap.records import RequestedServer
    from zerolap.store import Store

    options.check_reports(json=json, markdown=markdown, html=html)
    request = SnapshotRequest(
        server=RequestedServer(
            source=resolve(server, repo),
            variant=options.variant(variant).name,
            config=options.server_settings(config),
        ),
        event=_event(event),
        sizes_bytes=None if sizes is None else _sizes(sizes),
        loads=_loads(load),
        rate_per_second=rate,
        connections=connections,
        repetitions=repetitions,
        seed=secrets.randbits(63) if seed is None else seed,
        command_line=options.command_line(context),
    )
    with Store.open(store) as results, Bar(quiet=quiet) as bar:
        report = sweep(request, Lab(results, bar, options.sandbox_policy(unsafe_no_sandbox)))
    write_snapshot(report, json=json, markdown=markdown, html=html, quiet=quiet)
    raise typer.Exit(FAILED if report.failed else 0)


def _sizes(text: str) -> list[int]:
    """Return sizes such as `256MiB,1GiB` in bytes; raises `UsageError`."""
    from zerolap.errors import UsageError

    sizes = []
    for word in filter(None, (word.strip() for word in text.split(","))):
        match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)\s*(MiB|GiB|TiB)", word)
        size = 0 if match is None else int(float(match[1]) * options.BYTES_PER_UNIT[match[2]])
        if size < SMALLEST_SIZE:
            raise UsageError(f"`--sizes {word}` is not a size of data", hint="write 256MiB,1GiB; 1MiB is the smallest")
        sizes.append(size)
    if not sizes:
        raise UsageError(f"`--sizes {text}` names no size", hint="write 256MiB,512MiB,1GiB")
    return sizes


def _event(name: str) -> "SnapshotEvent":
    from zerolap.errors import UsageError
    from zerolap.records import SnapshotEvent

    for known in get_args(SnapshotEvent):
        if name == known:
            event: SnapshotEvent = known
            return event
    raise UsageError(f"`--event {name}` is not valid", hint=f"write one of {', '.join(get_args(SnapshotEvent))}")


def _loads(text: str) -> "list[SnapshotLoad]":
    """Return the loads of that text, each once; raises `UsageError`."""
    from zerolap.errors import UsageError
    from zerolap.records import SnapshotLoad

    names = list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    known: tuple[SnapshotLoad, ...] = get_args(SnapshotLoad)
    loads = [load for name in names for load in known if load == name]
    if not loads or len(loads) < len(names):
        raise UsageError(f"`--load {text}` is not valid", hint="write open, closed, or open,closed")
    return loads
