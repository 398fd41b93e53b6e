"""Runs in a store whose call graphs waste something."""

from collections.abc import Callable

from call_graphs import call_graph
from made_records import a_measurement
from stored_run import REQUEST, RESOLVED, RUN, record_job, stored_run

from zerolap.records import HEAD, Case
from zerolap.store import Store

HOSTILE = "<img src=x onerror=\"document.title='acted'\">"
"""What a program under test may name a function."""
MANY = "r-0a11"


def planted_graph(times: float = 1.0, formatting: str = "addReplyDouble") -> bytes:
    """Return the call graph of a request in which a function formats so many times by `snprintf`."""
    costs = {"main": 100.0, "call": 200.0, "xCommand": 300.0, formatting: 50.0, "snprintf": 950.0}
    calls = {("main", "call"): 1.0, ("call", "xCommand"): 1.0, ("xCommand", formatting): 2.0}
    graph = call_graph(costs, {**calls, (formatting, "snprintf"): times})
    return graph.model_dump_json(by_alias=True).encode()


def record_counted(store: Store, request: str, case: Case, graph: bytes) -> None:
    """Record a counted trial of a case in a run."""
    record_job(store, request, case, "counted", [{HEAD: a_measurement(graph=store.blobs.put(graph))}])


def counted_run(store: Store) -> None:
    """Record the run of `stored_run`, two of whose cases have call graphs; the first has sampled stacks too."""
    stored_run(store)
    cases = {case.name: case for case in REQUEST.cases}
    for name, times in (("get-100B", 1.0), ("hset", 2.0)):
        record_counted(store, REQUEST.id, cases[name], planted_graph(times))


def planted_case(place: int) -> tuple[Case, bytes]:
    """Return a case with a call graph of its own."""
    case = REQUEST.cases[0].model_copy(update={"name": f"case-{place:03}"})
    return case, planted_graph(1.0 + place / 100)


def run_of_many_cases(store: Store, number: int, case_of: Callable[[int], tuple[Case, bytes]] = planted_case) -> str:
    """Record a run of so many cases, each with a call graph; return its id."""
    request = REQUEST.model_copy(update={"id": MANY})
    store.begin(RESOLVED.model_copy(update={"request": request}))
    store.record_run(RUN.model_copy(update={"id": MANY}))
    for place in range(number):
        record_counted(store, MANY, *case_of(place))
    store.end(MANY, "done")
    return MANY
