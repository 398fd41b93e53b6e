"""Calls of inlined functions, on call graphs made by hand: numbers are those of a count build, costs the server's."""

import math
from collections.abc import Mapping, Sequence

import pytest
from call_graphs import FILE, call_graph
from pydantic import ValidationError

from zerolap.explain import (
    BUILT_IN_DETECTORS,
    CaseEvidence,
    Detector,
    case_evidence,
    case_work,
    with_calls_of_inlined,
)
from zerolap.explain.detectors.key_lookups import KeyLookups
from zerolap.explain.detectors.repeated_calls import RepeatedCalls
from zerolap.explain.detectors.repeated_checks import RepeatedChecks
from zerolap.records import CallCounts, CallGraph, CaseOpportunity, Finding, PerSide, SourceFunction, SourceFunctions

Calls = Mapping[tuple[str, str], float]
COMMAND = {("main", "call"): 1.0, ("call", "xCommand"): 1.0}
NAMES = (
    *("main", "call", "xCommand", "addReply", "prepareClientToWrite", "clientHasPendingReplies", "reply", "makeText"),
    *("lookupKey", "dictFind", "siphash"),
)
FIRST_LINES = {name: 100 * number for number, name in enumerate(NAMES)}
FUNCTIONS = SourceFunctions([SourceFunction(FILE, name, line, line + 50) for name, line in FIRST_LINES.items()])
LABEL = "(calls counted in a build without inlining)"


def line_of(name: str) -> int:
    return FIRST_LINES[name] + 1


def server(calls: Calls, own: Mapping[str, Mapping[str, float]]) -> CallGraph:
    """The server's build: what each function costs itself per call, by the functions inlined into it and its own."""
    made = {**COMMAND, **calls}
    names = dict.fromkeys(name for pair in made for name in pair)
    parts = {name: own.get(name, {name: 100.0}) for name in names}
    entered = {name: sum(times for (_, callee), times in made.items() if callee == name) or 1.0 for name in names}
    lines = {name: [(FILE, line_of(of), cost * entered[name]) for of, cost in parts[name].items()] for name in names}
    return call_graph({name: sum(parts[name].values()) for name in names}, made, lines)


def count_build(calls: Calls, cost: float = 1e9, lines: Sequence[int] = ()) -> CallCounts:
    """The calls of a build without inlining, in which each function costs so much a call."""
    made = {**COMMAND, **calls}
    graph = call_graph(dict.fromkeys((name for pair in made for name in pair), cost), made)
    edges = [
        edge.model_copy(update={"lines": [(0, line, edge.calls / len(lines)) for line in lines]})
        for edge in graph.edges
    ]
    return CallCounts.of(graph.model_copy(update={"edges": edges}))


def evidence(graph: CallGraph, counts: CallCounts | None, *commands: str) -> CaseEvidence:
    return case_evidence(graph, FUNCTIONS, commands, counts=counts)


def detected(detector: Detector, graph: CallGraph, counts: CallCounts | None, *commands: str) -> list[CaseOpportunity]:
    return detector.detect(evidence(graph, counts, *commands))


REPLIES = {("xCommand", "addReply"): 20.0}
INLINED_CHECK = server(REPLIES, {"addReply": {"addReply": 100.0, "clientHasPendingReplies": 30.0}})
CHECKED = count_build({**REPLIES, ("addReply", "clientHasPendingReplies"): 1.0}, lines=[812])


def test_an_inlined_check_is_called_as_often_as_in_the_count_build_and_costs_what_it_costs_the_server() -> None:
    assert detected(RepeatedChecks(), INLINED_CHECK, None) == []
    (opportunity,) = detected(RepeatedChecks(), INLINED_CHECK, CHECKED)
    assert (opportunity.function, opportunity.file) == ("clientHasPendingReplies", FILE)
    assert opportunity.evidence == pytest.approx(
        {"calls_without_inlining_per_op": 20.0, "commands_per_op": 1.0, "instructions_per_op": 600.0}
    )
    assert f"is called 20 times per request {LABEL} by `addReply`" in opportunity.text
    assert opportunity.frames == ("xCommand", "addReply", "clientHasPendingReplies")
    assert opportunity.lines == (f"{FILE}:812",)
    saved = opportunity.saved_instructions_per_op
    assert (saved.low, saved.expected, saved.high) == pytest.approx((285.0, 513.0, 570.0))
    # The server executes it in the function that it is inlined into, where other changes save too.
    (removed,) = opportunity.removed
    assert (removed.function, removed.instructions_per_op) == ("addReply", pytest.approx(513.0))
    assert removed.share == pytest.approx(513.0 / 2600.0)


def test_nothing_but_calls_is_taken_from_a_count_build() -> None:
    cheap, dear = (count_build({**REPLIES, ("addReply", "clientHasPendingReplies"): 1.0}, cost) for cost in (1.0, 1e9))
    assert cheap == dear
    assert "instructions" not in dear.model_dump_json()
    without = case_work(INLINED_CHECK, FUNCTIONS, BUILT_IN_DETECTORS)
    counted = case_work(INLINED_CHECK, FUNCTIONS, BUILT_IN_DETECTORS, counts=dear)
    assert counted.opportunities
    assert counted.model_copy(update={"opportunities": without.opportunities}) == without


def test_calls_that_both_builds_make_are_those_of_the_server() -> None:
    calls = {**REPLIES, ("addReply", "prepareClientToWrite"): 1.0}
    graph = server(calls, {"prepareClientToWrite": {"prepareClientToWrite": 30.0}})
    counts = count_build({**calls, ("prepareClientToWrite", "clientHasPendingReplies"): 1.0})
    assert detected(RepeatedChecks(), graph, counts) == detected(RepeatedChecks(), graph, None)
    (opportunity,) = detected(RepeatedChecks(), graph, counts)
    assert opportunity.evidence == pytest.approx(
        {"calls_per_op": 20.0, "commands_per_op": 1.0, "instructions_per_op": 600.0}
    )
    assert LABEL not in opportunity.text


def test_a_check_that_is_inlined_at_some_calls_is_called_at_all_of_them() -> None:
    calls = {**REPLIES, ("xCommand", "reply"): 10.0, ("reply", "clientHasPendingReplies"): 1.0}
    graph = server(
        calls,
        {
            "addReply": {"addReply": 100.0, "clientHasPendingReplies": 30.0},
            "clientHasPendingReplies": {"clientHasPendingReplies": 30.0},
        },
    )
    counts = count_build({**calls, ("addReply", "clientHasPendingReplies"): 1.0})
    (opportunity,) = detected(RepeatedChecks(), graph, counts)
    assert opportunity.evidence == pytest.approx(
        {"calls_without_inlining_per_op": 30.0, "commands_per_op": 1.0, "instructions_per_op": 900.0}
    )
    assert {removed.function for removed in opportunity.removed} == {"addReply", "clientHasPendingReplies"}


def test_a_lookup_that_is_inlined_is_made_again_with_all_that_it_does() -> None:
    graph = server(
        {("xCommand", "dictFind"): 2.0, ("dictFind", "siphash"): 1.0},
        {"xCommand": {"xCommand": 100.0, "lookupKey": 300.0}},
    )
    counts = count_build({("xCommand", "lookupKey"): 2.0, ("lookupKey", "dictFind"): 1.0, ("dictFind", "siphash"): 1.0})
    assert detected(KeyLookups(), graph, None, "GET") == []
    (opportunity,) = detected(KeyLookups(), graph, counts, "GET")
    assert opportunity.evidence["lookups_without_inlining_per_op"] == 2.0
    # Half of the lookups: 150 of 300 in the command, a call of the table and of the hash.
    assert opportunity.evidence["instructions_per_op"] == pytest.approx(150.0 + 100.0 + 100.0)
    assert f"where 1 would do {LABEL}, by `lookupKey`" in opportunity.text


def test_a_function_that_is_inlined_twice_is_called_again() -> None:
    own = {"xCommand": {"xCommand": 100.0, "makeText": 400.0}, "reply": {"reply": 100.0, "makeText": 400.0}}
    graph = server({("xCommand", "reply"): 1.0}, own)
    counts = count_build(
        {("xCommand", "reply"): 1.0, ("xCommand", "makeText"): 1.0, ("reply", "makeText"): 1.0}, lines=[210]
    )
    assert detected(RepeatedCalls(), graph, None) == []
    (opportunity,) = detected(RepeatedCalls(), graph, counts)
    assert opportunity.function == "makeText"
    assert opportunity.evidence == pytest.approx(
        {
            "calls_without_inlining_per_op": 2.0,
            "calls_without_inlining_per_call": 2.0,
            "instructions_per_call": 400.0,
        }
    )
    assert f"is called twice each time that `xCommand` is called {LABEL}, also through `reply`" in opportunity.text


def test_without_debug_information_the_calls_of_a_count_build_are_left_out() -> None:
    assert case_evidence(INLINED_CHECK, SourceFunctions([]), counts=CHECKED).uninlined is None


def test_a_count_build_of_hostile_size_or_shape_disturbs_nothing() -> None:
    long_name = CHECKED.functions[-1].model_copy(update={"name": "x" * 100_000})
    back = [calls.model_copy(update={"caller": calls.callee, "callee": calls.caller}) for calls in CHECKED.calls]
    never = [calls.model_copy(update={"calls": -1.0}) for calls in CHECKED.calls]
    hostile = CHECKED.model_copy(
        update={"functions": [*CHECKED.functions[:-1], long_name], "calls": [*CHECKED.calls, *back, *never]}
    )
    work = case_work(INLINED_CHECK, FUNCTIONS, BUILT_IN_DETECTORS, counts=hostile)
    assert work.instructions_per_op == INLINED_CHECK.totals.instructions
    assert all(len(opportunity.function) <= 200 for opportunity in work.opportunities)
    many = CHECKED.model_copy(update={"functions": CHECKED.functions * 400})
    assert case_evidence(INLINED_CHECK, FUNCTIONS, counts=many).uninlined is None


@pytest.mark.parametrize(
    ("list_of", "field", "value"),
    [
        ("functions", "file", 1),
        ("functions", "calls", math.nan),
        ("calls", "caller", -1),
        ("calls", "callee", 99),
        ("calls", "lines", [[1, 1, 1.0]]),
        ("calls", "calls", 1e300),
    ],
)
def test_calls_that_refer_to_nothing_or_have_no_numbers_are_refused(list_of: str, field: str, value: object) -> None:
    document = CHECKED.model_dump(by_alias=True)
    assert CallCounts.model_validate(document) == CHECKED
    document[list_of][0][field] = value
    with pytest.raises(ValidationError):
        CallCounts.model_validate(document)


def test_a_finding_on_an_inlined_function_states_its_calls_by_both_count_builds() -> None:
    inlined = Finding(kind="culprit", rank=1, function="clientHasPendingReplies", file=FILE, text="It costs more.")
    called = inlined.model_copy(update={"calls_per_op": PerSide(base=1.0, head=1.0)})
    elsewhere = inlined.model_copy(update={"file": "other.c"})
    limits = Finding(kind="limits", rank=4, text="Unknown.")
    more = count_build({**REPLIES, ("addReply", "clientHasPendingReplies"): 2.0})
    first, *others = with_calls_of_inlined([inlined, called, elsewhere, limits], CHECKED, more)
    assert first.calls_without_inlining_per_op == PerSide(base=20.0, head=40.0)
    assert first.text == f"It costs more. It is called 20 -> 40 times per request {LABEL}."
    assert others == [called, elsewhere, limits]
