"""Reasons from hand-made call graphs: who is blamed, what is set off, what cannot be seen."""

import random

import pytest
from call_graphs import (
    FILE,
    LINES,
    Calls,
    Costs,
    call_graph,
    changed_in,
    culprits,
    definitions,
    explained,
    inclusive,
    times_called,
)

from zerolap.explain import Evidence, explain_change
from zerolap.explain.blame import assign_blame
from zerolap.explain.cost_graph import CostGraph, Edge
from zerolap.records import Changes, FileChange, SourceFunction, UnknownChanges

COSTS = {"main": 100.0, "command": 200.0, "format": 300.0}
CALLS = {("main", "command"): 1.0, ("command", "format"): 1.0}


def test_a_call_made_twice() -> None:
    twice = {**CALLS, ("command", "format"): 2.0}
    findings = explained(call_graph(COSTS, CALLS), call_graph(COSTS, twice), changed_in("command", "+ format(x);"))
    assert culprits(findings) == ["format"]
    culprit = findings[0]
    assert (culprit.rank, culprit.file, culprit.in_diff) == (1, FILE, True)
    assert culprit.calls_per_op is not None
    assert (culprit.calls_per_op.base, culprit.calls_per_op.head) == (1.0, 2.0)
    assert culprit.share_of_change == pytest.approx(1.0)
    assert [caller.function for caller in culprit.callers] == ["command"]
    assert culprit.callers[0].in_diff
    assert "format" in culprit.text
    assert "command" in culprit.text


def test_work_added_to_a_function() -> None:
    slower = {**COSTS, "command": 700.0}
    findings = explained(call_graph(COSTS, CALLS), call_graph(slower, CALLS), changed_in("command", "+ loop();"))
    assert culprits(findings) == ["command"]
    assert findings[0].in_diff is True
    assert findings[0].lines == [LINES["command"] + 1]
    assert findings[0].self_instructions_per_op is not None
    assert (findings[0].self_instructions_per_op.base, findings[0].self_instructions_per_op.head) == (200.0, 700.0)


def test_a_cost_outside_of_the_change_is_not_in_it() -> None:
    slower = {**COSTS, "format": 500.0}
    findings = explained(call_graph(COSTS, CALLS), call_graph(slower, CALLS), changed_in("main", "+ other();"))
    assert culprits(findings) == ["format"]
    assert findings[0].in_diff is False


def test_no_change_has_no_reasons() -> None:
    graph = call_graph(COSTS, CALLS)
    assert explained(graph, graph) == []


def test_a_call_that_replaces_another_is_set_off() -> None:
    """Only the difference of both calls is blamed, and on the new call."""
    base_costs = {**COSTS, "lookup": 290.0}
    base = call_graph({**COSTS, "reply": 290.0}, {**CALLS, ("command", "reply"): 1.0})
    head = call_graph(base_costs | {"lookup": 400.0}, {**CALLS, ("command", "lookup"): 1.0})
    findings = explained(base, head, changed_in("command", "- reply();\n+ lookup();"))
    assert culprits(findings) == ["lookup"]
    assert findings[0].share_of_change == pytest.approx(1.0)
    moved = [finding for finding in findings if finding.kind == "moved"]
    assert [finding.function for finding in moved] == ["command"]
    assert "290" in moved[0].text


def test_a_new_function_between_two_old_ones_is_a_detour() -> None:
    """A function that was put before another is looked through: what it calls more often is the reason."""
    head_costs = {**COSTS, "reply": 10.0}
    head_calls = {("main", "command"): 1.0, ("command", "reply"): 1.0, ("reply", "format"): 2.0}
    findings = explained(
        call_graph(COSTS, CALLS), call_graph(head_costs, head_calls), changed_in("command", "- format();\n+ reply();")
    )
    assert findings[0].function == "format"
    assert findings[0].calls_per_op is not None
    assert (findings[0].calls_per_op.base, findings[0].calls_per_op.head) == (1.0, 2.0)
    assert [caller.function for caller in findings[0].callers] == ["command"]
    assert "reply" in findings[0].text


def test_a_new_function_that_brings_its_own_calls_is_left_whole() -> None:
    base_costs = {"main": 100.0, "command": 200.0, "lookup": 50.0}
    base_calls = {("main", "command"): 1.0, ("command", "lookup"): 1.0}
    head_costs = {**base_costs, "reply": 40.0, "helper": 400.0}
    head_calls = {**base_calls, ("command", "reply"): 1.0, ("reply", "helper"): 1.0}
    findings = explained(
        call_graph(base_costs, base_calls), call_graph(head_costs, head_calls), changed_in("command", "+ reply();")
    )
    assert culprits(findings) == ["reply"]
    assert findings[0].instructions_per_op is not None
    assert (findings[0].instructions_per_op.base, findings[0].instructions_per_op.head) == (None, 440.0)
    assert findings[0].in_diff is True


def test_work_that_moved_to_another_caller_is_no_culprit() -> None:
    """A removed function and a new function that call the same function elsewhere are looked through."""
    base_costs = {"main": 100.0, "command": 200.0, "reply": 20.0, "format": 300.0}
    base_calls = {("main", "command"): 1.0, ("command", "reply"): 1.0, ("reply", "format"): 1.0}
    head_costs = {"main": 100.0, "command": 120.0, "helper": 15.0, "format": 300.0}
    head_calls = {("main", "command"): 1.0, ("main", "helper"): 1.0, ("helper", "format"): 1.0}
    findings = explained(call_graph(base_costs, base_calls), call_graph(head_costs, head_calls))
    assert culprits(findings)[0] == "command"
    assert "format" not in culprits(findings)


def test_a_part_larger_than_the_whole_change_is_reported_as_such() -> None:
    """Two independent commands of one request, one 200 more, one 150 less: 400 % and other functions take it back."""
    base = {"main": 100.0, "command": 200.0, "format": 300.0, "helper": 400.0}
    calls = {("main", "command"): 1.0, ("command", "format"): 1.0, ("main", "helper"): 1.0}
    findings = explained(call_graph(base, calls), call_graph({**base, "format": 500.0, "helper": 250.0}, calls))
    assert culprits(findings)[0] == "format"
    assert findings[0].share_of_change == pytest.approx(4.0)
    assert "take back" in findings[0].text


def test_a_function_inlined_on_one_side_only_is_no_culprit() -> None:
    """What stood in the called function stands in its caller now; another function is what became slower."""
    base = call_graph({**COSTS, "helper": 100.0}, {**CALLS, ("command", "helper"): 1.0})
    lines = {"command": [(FILE, LINES["command"] + 1, 200.0), (FILE, LINES["helper"] + 1, 97.0)]}
    head = call_graph({**COSTS, "command": 297.0, "format": 500.0}, CALLS, lines)
    findings = explain_change(
        Evidence(
            base=base,
            head=head,
            base_functions=definitions("main", "command", "format", "helper"),
            head_functions=definitions("main", "command", "format", "helper"),
            changes=changed_in("format", "+ slow();"),
            base_stripped=False,
            head_stripped=False,
        )
    )
    assert culprits(findings)[0] == "format"
    assert "helper" not in culprits(findings)
    assert findings[0].share_of_change == pytest.approx(1.0, abs=0.05)


def test_a_renamed_function_is_no_culprit() -> None:
    base = call_graph(COSTS, CALLS)
    head = call_graph(
        {"main": 100.0, "command": 500.0, "reply": 300.0}, {("main", "command"): 1.0, ("command", "reply"): 1.0}
    )
    findings = explained(base, head, changed_in("command", "- format();\n+ reply();\n+ loop();"))
    assert culprits(findings) == ["command"]


def test_a_function_moved_to_another_file_is_no_culprit() -> None:
    base = call_graph(COSTS, CALLS)
    slower = call_graph({**COSTS, "command": 500.0}, CALLS)
    files = [FILE, "other.c"]
    functions = [
        function.model_copy(update={"file": 1, "lines": [(1, 5, 300.0)]}) if function.name == "format" else function
        for function in slower.functions
    ]
    head = slower.model_copy(update={"files": files, "functions": functions})
    findings = explain_change(
        Evidence(
            base=base,
            head=head,
            base_functions=definitions("main", "command", "format"),
            head_functions=[*definitions("main", "command"), SourceFunction("other.c", "format", 1, 10)],
            changes=Changes(files=[]),
            base_stripped=False,
            head_stripped=False,
        )
    )
    assert culprits(findings) == ["command"]


def test_a_change_spread_over_many_functions_is_diffuse() -> None:
    names = [f"function{number}" for number in range(100)]
    base_costs = {"main": 100.0} | dict.fromkeys(names, 100.0)
    calls = {("main", name): 1.0 for name in names}
    head_costs = {"main": 100.0} | dict.fromkeys(names, 101.0)
    findings = explained(call_graph(base_costs, calls), call_graph(head_costs, calls))
    assert findings[0].kind == "diffuse"
    assert culprits(findings) == []
    assert "+100" in findings[0].text


def test_what_cannot_be_seen_is_said() -> None:
    base, head = call_graph(COSTS, CALLS), call_graph({**COSTS, "format": 500.0}, CALLS)
    limits = [finding for finding in explained(base, head, stripped=True) if finding.kind == "limits"]
    assert len(limits) == 1
    assert "head is stripped" in limits[0].text
    unknown = UnknownChanges(reason="The sources are not both revisions of one repository or trees")
    findings = explain_change(Evidence(base, head, [], [], unknown, base_stripped=True, head_stripped=True))
    texts = [finding.text for finding in findings if finding.kind == "limits"]
    assert len(texts) == 2
    assert "base and head" in texts[0]
    assert "not both revisions" in texts[1]
    assert culprits(findings) == ["format"]
    assert findings[0].in_diff is None
    ranks = [finding.rank for finding in findings]
    assert ranks == sorted(ranks)


def test_functions_of_a_file_whose_changes_were_not_read() -> None:
    base, head = call_graph(COSTS, CALLS), call_graph({**COSTS, "format": 500.0}, CALLS)
    [file] = {finding.file for finding in explained(base, head) if finding.function == "format"}
    changes = Changes(files=[FileChange(old_file="a", new_file=f"src/{file}", hunks=[])], left_out=[f"src/{file}"])
    findings = explain_change(Evidence(base, head, [], [], changes, base_stripped=False, head_stripped=False))
    texts = [finding.text for finding in findings if finding.kind == "limits"]
    assert any(text.startswith(f"The changes of `src/{file}` are too large to be read") for text in texts)
    # It is not known whether the function changed.
    assert [finding.in_diff for finding in findings if finding.function == "format"] == [None]


def test_without_debug_information() -> None:
    base, head = call_graph(COSTS, CALLS), call_graph({**COSTS, "format": 500.0}, CALLS)
    findings = explain_change(Evidence(base, head, [], [], Changes(files=[]), base_stripped=False, head_stripped=False))
    assert any("-g" in finding.text for finding in findings if finding.kind == "limits")


def test_an_improvement_is_explained_alike() -> None:
    twice = {**CALLS, ("command", "format"): 2.0}
    findings = explained(call_graph(COSTS, twice), call_graph(COSTS, CALLS), changed_in("command", "- format(x);"))
    assert culprits(findings) == ["format"]
    assert findings[0].share_of_change == pytest.approx(1.0)
    assert findings[0].calls_per_op is not None
    assert (findings[0].calls_per_op.base, findings[0].calls_per_op.head) == (2.0, 1.0)


# All terms together


def random_side(chance: random.Random, size: int) -> tuple[dict[str, float], dict[tuple[str, str], float]]:
    """Costs of one call and calls of an acyclic graph in which all functions are reached from `main`."""
    names = ["main", *(f"f{number}" for number in range(size))]
    costs = {name: float(chance.randint(1, 1000)) for name in names}
    calls = {}
    for index, name in enumerate(names[1:], 1):
        for caller in {names[chance.randrange(index)] for _ in range(3)}:
            calls[caller, name] = float(chance.randint(1, 4))
    return costs, calls


def as_cost_graph(costs: Costs, calls: Calls) -> CostGraph:
    graph = CostGraph()
    for name, cost in costs.items():
        node = graph.node((name, FILE))
        node.calls = 0.0 if name == "main" else times_called(name, calls)
        node.instructions = cost * times_called(name, calls)
    for (caller, callee), times in calls.items():
        count = times * times_called(caller, calls)
        graph.add_edge((caller, FILE), (callee, FILE), Edge(count, count * inclusive(callee, costs, calls)))
    return graph


@pytest.mark.parametrize("seed", range(60))
def test_the_terms_of_blame_add_up_to_the_whole_change(seed: int) -> None:
    chance = random.Random(seed)
    costs, calls = random_side(chance, chance.randint(1, 9))
    new_costs = {name: cost * chance.choice([1.0, 1.0, 0.5, 2.0]) for name, cost in costs.items()}
    new_calls = {pair: max(1.0, times + chance.choice([-1, 0, 0, 1])) for pair, times in calls.items()}
    for head_costs, head_calls in ((new_costs, calls), (costs, new_calls), (new_costs, new_calls)):
        blame = assign_blame(as_cost_graph(costs, calls), as_cost_graph(head_costs, head_calls))
        total = inclusive("main", head_costs, head_calls) - inclusive("main", costs, calls)
        scale = inclusive("main", costs, calls) + inclusive("main", head_costs, head_calls)
        assert sum(term.instructions for term in blame.terms) == pytest.approx(total, abs=1e-9 * scale + 1e-3)


@pytest.mark.parametrize("seed", range(60))
def test_a_function_that_became_slower_is_found_in_any_graph(seed: int) -> None:
    """One function that became slower is found first, wherever it stands in a graph."""
    chance = random.Random(seed)
    costs, calls = random_side(chance, 8)
    slow = chance.choice(sorted(costs))
    findings = explained(call_graph(costs, calls), call_graph({**costs, slow: costs[slow] * 3 + 100}, calls))
    assert culprits(findings) == [slow]
    assert findings[0].share_of_change == pytest.approx(1.0)
