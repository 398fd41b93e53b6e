"""Lists the newest comparisons, runs, sweeps and checks of a store, and what of them is unfinished."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

from rich.text import Text

from zerolap import writer
from zerolap.foreign_text import one_line
from zerolap.records import UsageError, moment_text
from zerolap.sheets import sweep_headline, sweep_kernel, sweep_servers
from zerolap.store import INTERRUPTED_STATES, RequestInShort, Store, StoredRow, StoredSweep

LISTED = 20
MEASURED_NOTHING = "nothing measured yet"
NOT_DONE = "not done yet"


@dataclass(frozen=True)
class NewestResult:
    """A result as it is listed; `is_unfinished` where `zerolap resume` goes on with it."""

    id: str
    created: str
    state: str
    servers: str
    outcome: str
    is_unfinished: bool = False


def latest_result(store: Store) -> str:
    """Return the id of the newest result that can be shown; raises `UsageError` if there is none."""
    results = _measured(store)
    if results:
        return results[0].id
    unfinished = store.undocumented(1)
    if unfinished and unfinished[0].kind in {"snapshot", "check"}:
        return unfinished[0].id
    if unfinished:
        raise UsageError(f"{unfinished[0].id} has {MEASURED_NOTHING}", hint="zerolap explain lists all")
    raise UsageError("the store is empty", hint="measure something with zerolap compare or zerolap run")


def newest_results(store: Store) -> list[NewestResult]:
    """Return the newest results of all kinds, the newest first, those too that were not begun to be measured."""
    undocumented: Iterable[NewestResult] = map(_of_request, store.undocumented(LISTED))
    return list(heapq.merge(_measured(store), undocumented, key=attrgetter("created"), reverse=True))[:LISTED]


def show_newest(store: Store) -> None:
    """Print a table of the newest results, and the command that goes on with the newest that was interrupted."""
    console = writer.console()
    results = newest_results(store)
    if not results:
        console.print("The store is empty. Fill it: zerolap run, zerolap compare")
        return
    table = writer.table("id", "created", "state", "servers", "outcome")
    for result in results:
        table.add_row(*map(Text, (result.id, result.created, result.state, result.servers, result.outcome)))
    console.print(table)
    unfinished = next((result for result in results if result.is_unfinished), None)
    if unfinished is not None:
        console.print(Text(f"\nzerolap resume {unfinished.id}  continues what was interrupted"))


def _measured(store: Store) -> list[NewestResult]:
    rows: Iterable[NewestResult] = map(_of_row, store.comparisons(LISTED))
    sweeps: Iterable[NewestResult] = map(_of_sweep, store.sweeps.newest(LISTED))
    return list(heapq.merge(rows, sweeps, key=attrgetter("created"), reverse=True))[:LISTED]


def _of_request(request: RequestInShort) -> NewestResult:
    servers = " .. ".join(source.name for source in request.sides.values())
    nothing = {"snapshot": NOT_DONE, "check": ""}.get(request.kind, MEASURED_NOTHING)
    outcome = request.unreadable or one_line(request.reason) or nothing
    return NewestResult(
        request.id, moment_text(request.submitted), request.state, servers, outcome, request.state in INTERRUPTED_STATES
    )


def _of_row(row: StoredRow) -> NewestResult:
    outcome = row.unreadable
    if row.summary is not None:
        counts = row.summary.model_dump(exclude={"machine_seconds"})
        outcome = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    servers = row.head if row.base is None else f"{row.base} .. {row.head}"
    return NewestResult(row.id, row.created, row.state, servers, outcome, row.state in {"running", "interrupted"})


def _of_sweep(sweep: StoredSweep) -> NewestResult:
    if sweep.report is None:
        return NewestResult(sweep.id, sweep.created, "done", "", sweep.unreadable)
    servers = " on ".join(filter(None, [sweep_servers(sweep.report), sweep_kernel(sweep.report)]))
    return NewestResult(sweep.id, sweep.created, "done", servers, sweep_headline(sweep.report))
