"""Runs in a store whose call graphs waste something."""

from collections.abc import Callable

from call_graphs import call_graph
from made_records import a_measurement
from stored_run import REQUEST, RESOLVED, RUN, SPEC, record_trials, stored_run

from zerolap.records import HEAD, Block, Case, ServerSpec, TrialDone, TrialsJob
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


def counted_run(store: Store) -> None:
    """Record the run of `stored_run`, two of whose cases have call graphs; the first has sampled stacks too."""
    stored_run(store)
    for case, times in (("get-100B", 1.0), ("hset", 2.0)):
        record_trials(store, case, "counted", [a_measurement(graph=store.blobs.put(planted_graph(times)))])


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
        case, graph = case_of(place)
        server = ServerSpec(build=SPEC.digest, topology=case.topology)
        block = Block(number=0, seed=0)
        job = TrialsJob(request=MANY, case=case, servers={HEAD: server}, engine="counted", blocks=(block,))
        store.record_job(job)
        blob = store.blobs.put(graph)
        store.record(job, TrialDone(job=job.id, block=0, measurements={HEAD: a_measurement(graph=blob)}))
    store.end(MANY, "done")
    return MANY
