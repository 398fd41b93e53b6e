"""Lists the newest comparisons, runs and sweeps of a store."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from zerolap import writer
from zerolap.records import UsageError
from zerolap.report import sweep_headline, sweep_kernel, sweep_servers
from zerolap.store import Store, StoredRow, StoredSweep

LISTED = 20


@dataclass(frozen=True)
class NewestResult:
    """A comparison, a run or a sweep as it is listed."""

    id: str
    created: str
    state: str
    servers: str
    outcome: str


def newest_results(store: Store) -> list[NewestResult]:
    """Return the newest results of all kinds, the newest first; raises `UsageError` if there are none."""
    rows: Iterable[NewestResult] = map(_of_row, store.comparisons(LISTED))
    sweeps: Iterable[NewestResult] = map(_of_sweep, store.sweeps.newest(LISTED))
    results = list(heapq.merge(rows, sweeps, key=lambda result: result.created, reverse=True))[:LISTED]
    if not results:
        raise UsageError("the store is empty", hint="measure something with zerolap compare or zerolap run")
    return results


def show_newest(store: Store) -> None:
    """Print a table of the newest results."""
    console = writer.console()
    try:
        results = newest_results(store)
    except UsageError:
        console.print("The store is empty. Fill it: zerolap run, zerolap compare")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("id", "created", "state", "servers", "outcome"):
        table.add_column(heading, overflow="fold")
    for result in results:
        table.add_row(*map(Text, (result.id, result.created, result.state, result.servers, result.outcome)))
    console.print(table)


def _of_row(row: StoredRow) -> NewestResult:
    outcome = row.unreadable
    if row.summary is not None:
        counts = row.summary.model_dump(exclude={"machine_seconds"})
        outcome = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    servers = row.head if row.base is None else f"{row.base} .. {row.head}"
    return NewestResult(row.id, row.created, row.state, servers, outcome)


def _of_sweep(sweep: StoredSweep) -> NewestResult:
    if sweep.report is None:
        return NewestResult(sweep.id, sweep.created, "done", "", sweep.unreadable)
    servers = " on ".join(filter(None, [sweep_servers(sweep.report), sweep_kernel(sweep.report)]))
    return NewestResult(sweep.id, sweep.created, "done", servers, sweep_headline(sweep.report))
