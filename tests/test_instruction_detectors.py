"""Detectors of what single instructions do: locked ones, and memory that is cleared."""

from collections.abc import Mapping

from call_graphs import LINES, call_graph, definitions

from zerolap.explain import CaseEvidence
from zerolap.explain.call_index import CallIndex
from zerolap.explain.detectors.atomics import Atomics
from zerolap.explain.detectors.zeroed_memory import ZeroedMemory
from zerolap.records import SourceFunctions

CALLS = {("main", "getCommand"): 1.0, ("getCommand", "zmalloc"): 2.0, ("getCommand", "memset"): 1.0}


def evidence(
    memset: float = 5.0, locked: Mapping[str, float] | None = None, string_stores: Mapping[str, float] | None = None
) -> CaseEvidence:
    costs = {"main": 500.0, "getCommand": 400.0, "zmalloc": 50.0, "memset": memset}
    graph = call_graph(costs, CALLS)
    functions = SourceFunctions(definitions("main", "getCommand", "zmalloc"))
    library = [
        function.model_copy(update={"object": "libc.so.6"}) if function.name == "memset" else function
        for function in graph.functions
    ]
    index = CallIndex(graph.model_copy(update={"functions": library}), functions)
    return CaseEvidence(index, ("GET",), locked or {}, string_stores or {})


def test_locked_instructions_of_a_request_are_reported_with_their_number() -> None:
    (opportunity,) = Atomics().detect(evidence(locked={"zmalloc": 2.0, "getCommand": 0.01}))
    assert (opportunity.detector, opportunity.function) == ("atomics", "zmalloc")
    assert opportunity.evidence == {"locked_instructions_per_op": 2.0}
    assert opportunity.text.startswith("executes 2 locked instructions per request")
    saved = opportunity.saved_instructions_per_op
    assert saved.low == saved.expected == 0.0 < saved.high, "no trial has shown a gain"
    assert opportunity.confidence == "low"


def test_locked_instructions_of_a_function_that_the_graph_lacks_are_no_opportunity() -> None:
    assert Atomics().detect(evidence(locked={"inlined_everywhere": 5.0})) == []
    assert Atomics().detect(evidence()) == []


def test_memory_that_is_cleared_by_repeated_stores() -> None:
    (opportunity,) = ZeroedMemory().detect(evidence(string_stores={"getCommand": 512.0}))
    assert (opportunity.function, opportunity.evidence) == ("getCommand", {"instructions_per_op": 512.0})
    assert ZeroedMemory().detect(evidence(string_stores={"getCommand": 8.0})) == []
    # An allocator clears what was asked to be clear.
    assert ZeroedMemory().detect(evidence(string_stores={"zmalloc": 512.0})) == []


def test_memory_that_is_cleared_by_a_library() -> None:
    (opportunity,) = ZeroedMemory().detect(evidence(memset=200.0))
    assert (opportunity.function, opportunity.evidence) == ("getCommand", {"instructions_per_op": 200.0})
    assert ZeroedMemory().detect(evidence(memset=20.0)) == []


def test_memory_that_an_inlined_function_clears_for_several_callers_is_added_up() -> None:
    costs = {"main": 500.0, "command": 400.0, "reply": 300.0, "memset": 200.0}
    calls = {("main", "command"): 1.0, ("main", "reply"): 1.0, ("command", "memset"): 1.0, ("reply", "memset"): 1.0}
    graph = call_graph(costs, calls)
    library = [
        function.model_copy(update={"object": "libc.so.6"}) if function.name == "memset" else function
        for function in graph.functions
    ]
    clears = graph.model_copy(
        update={
            "functions": library,
            "edges": [
                edge.model_copy(update={"lines": [(0, LINES["format"] + 1, edge.calls)]})
                if graph.functions[edge.callee].name == "memset"
                else edge
                for edge in graph.edges
            ],
        }
    )
    functions = SourceFunctions(definitions("main", "command", "reply", "format"))
    (opportunity,) = ZeroedMemory().detect(CaseEvidence(CallIndex(clears, functions)))
    assert (opportunity.function, opportunity.evidence) == ("format", {"instructions_per_op": 400.0})
    # The way down passes a function that it is inlined into.
    assert opportunity.frames[0] == "main"
    assert opportunity.frames[-1] == "format"
