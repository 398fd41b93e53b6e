"""`zerolap store`: shows the size of the store, and removes results and histories that are not kept."""

from typing import Annotated

import typer

from zerolap import writer
from zerolap.cli import options
from zerolap.cli.verb import Verb
from zerolap.cli.verbs import VERBS

app = Verb(help=VERBS["store"])

USAGE_SCHEMA = "zerolap.store-usage/1"
PRUNED_SCHEMA = "zerolap.store-pruned/1"
BYTES_PER_STEP = 1024


@app.own()
def prune(
    *,
    kept: options.KeptOptions,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report what would be removed.")] = False,
    json: options.Json = None,
    store: options.StoreLocation = None,
) -> None:
    """Remove results and histories that are not kept, files to which no result refers, and builds not used for 30 days.

    A removed result is gone with its measurements. What is still open, and what a kept result needs, stays. A removed
    history is shown by pages once zerolap history judges it again. Without --keep, --keep-newest and --keep-bytes no
    result or history is removed. zerolap serve does the same once an hour.

    Examples: zerolap store prune --dry-run; zerolap store prune --keep 90d --keep-newest 50
    """
    from zerolap.api import look_after
    from zerolap.cli.output import write_document
    from zerolap.store import Store

    retention = kept.retention
    with Store.open(store) as results:
        upkeep = look_after(results, retention, dry_run=dry_run)
    removed = upkeep.removed
    document = {
        "schema": PRUNED_SCHEMA,
        "dry_run": dry_run,
        "results": removed.requests,
        "histories": removed.histories,
        "blobs": removed.blobs,
        "blob_bytes": removed.blob_bytes,
        "builds": upkeep.builds,
        "build_bytes": upkeep.build_bytes,
    }
    write_document(json, document)
    if json == "-":
        return
    writer.show(
        f"{'would remove' if dry_run else 'removed'} {len(removed.requests)} results,"
        f" {removed.histories} histories, {removed.blobs} files ({size(removed.blob_bytes)}),"
        f" {upkeep.builds} builds ({size(upkeep.build_bytes)})"
    )


@app.own()
def usage(json: options.Json = None, store: options.StoreLocation = None) -> None:
    """Show the size of the store.

    Example: zerolap store usage --json -
    """
    from dataclasses import asdict

    from zerolap.api import usage as usage_of
    from zerolap.cli.output import write_document
    from zerolap.store import Store

    with Store.open_to_read(store) as results:
        taken = usage_of(results)
    sizes = {f"{name}_bytes": count for name, count in asdict(taken).items()}
    write_document(json, {"schema": USAGE_SCHEMA, **sizes})
    if json == "-":
        return
    for name, count in asdict(taken).items():
        writer.show(f"{name:8} {size(count)}")


def size(count: float) -> str:
    """Return a number of bytes in words."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < BYTES_PER_STEP:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= BYTES_PER_STEP
    return f"{count:.1f} TiB"
