"""Which changed files the measured cases execute: also of cases whose counts leave out what is timed."""

import pytest
from made_records import a_measurement
from stored_run import REQUEST, RESOLVED

from zerolap.documents.case_trials import TimedTrials, Trials
from zerolap.documents.executed_code import ComparedCode, ExecutedCases
from zerolap.documents.executed_files import changed_files
from zerolap.documents.results import Results
from zerolap.records import BASE, HEAD, CallGraph, ChangedFiles, Changes, FileChange, Resolved, SourceFunction
from zerolap.store import Store

CASE = REQUEST.cases[0]
GRAPH = CallGraph.model_validate(
    {
        "schema": "zerolap.calls/1",
        "files": ["t_string.c"],
        "totals": {"instructions": 9.0, "syscalls": 0.0},
        "functions": [
            {
                "name": "getCommand",
                "file": 0,
                "object": "server",
                "instructions": 9.0,
                "syscalls": 0.0,
                "calls": 1.0,
                "lines": [],
            }
        ],
        "edges": [],
    }
)
FUNCTIONS = [SourceFunction("src/t_string.c", "getCommand", 1, 9), SourceFunction("src/iothread.c", "wait", 1, 9)]
NAMES = ["src/t_string.c", "src/iothread.c"]
CHANGES = Changes(files=[FileChange(old_file=name, new_file=name, hunks=[]) for name in NAMES])
UNEXECUTED = ChangedFiles(compiled=NAMES, unexecuted=["src/iothread.c"])


def resolved(config: dict[str, str], **topology: object) -> Resolved:
    server = RESOLVED.servers[HEAD].model_copy(update={"config": config})
    case = CASE.model_copy(update={"topology": CASE.topology.model_copy(update=topology)})
    return RESOLVED.model_copy(update={"servers": {BASE: server, HEAD: server}, "cases": (case,)})


def executed(
    store: Store, of: Resolved, *, timed: bool, counted: bool = True, changes: Changes = CHANGES
) -> ChangedFiles | None:
    results = Results(of, store.blobs)
    graph = store.blobs.put(GRAPH.model_dump_json(by_alias=True).encode())
    measurements = {side: [a_measurement(graph=graph)] if counted else [] for side in (BASE, HEAD)}
    results.counted[CASE.name] = Trials(CASE, measurements)
    if timed:
        results.timed[CASE.name] = TimedTrials(CASE, {})
    sides = (BASE, HEAD)
    code = ComparedCode(dict.fromkeys(sides, FUNCTIONS), None, {side: {} for side in sides}, changes)
    return changed_files(code, ExecutedCases(results, code))


def test_a_file_of_which_no_function_is_in_a_call_graph_is_not_executed(store: Store) -> None:
    assert executed(store, resolved({}), timed=True) == UNEXECUTED
    assert executed(store, resolved({"io-threads": "4"}), timed=False) == UNEXECUTED


@pytest.mark.parametrize(
    ("config", "topology"), [({"io-threads": "4"}, {}), ({}, {"transport": "tcp"}), ({}, {"replicas": 1})]
)
def test_what_a_timed_case_executes_beside_its_counts_is_not_known(
    store: Store, config: dict[str, str], topology: dict[str, object]
) -> None:
    assert executed(store, resolved(config, **topology), timed=True) is None


def test_what_is_not_counted_may_execute_anything(store: Store) -> None:
    assert executed(store, resolved({}), timed=True, counted=False) is None
    assert executed(store, resolved({}), timed=False, counted=False) is None


def test_files_that_counts_show_to_be_executed_are_known_whatever_else_is(store: Store) -> None:
    changes = Changes(files=CHANGES.files[:1])
    files = executed(store, resolved({"io-threads": "4"}), timed=True, changes=changes)
    assert files == ChangedFiles(compiled=NAMES[:1], unexecuted=[])


def test_what_the_smaller_of_two_windows_executes_more_often_is_executed(store: Store) -> None:
    function = GRAPH.functions[0].model_copy(update={"instructions": -2.0, "lines": [(0, 7, -2.0)]})
    graph = GRAPH.model_copy(update={"functions": [function]})
    results = Results(resolved({}), store.blobs)
    digest = store.blobs.put(graph.model_dump_json(by_alias=True).encode())
    results.counted[CASE.name] = Trials(CASE, {side: [a_measurement(graph=digest)] for side in (BASE, HEAD)})
    code = ComparedCode(
        {side: [SourceFunction("t_string.c", "inlined", 5, 9)] for side in (BASE, HEAD)},
        None,
        {side: {"t_string.c": frozenset({7})} for side in (BASE, HEAD)},
        CHANGES,
    )
    ((_, executed_by_side),) = ExecutedCases(results, code).of_cases()
    assert executed_by_side[HEAD].functions == {("getCommand", "t_string.c"), ("inlined", "t_string.c")}
    assert executed_by_side[HEAD].lines == {("t_string.c", 7)}
