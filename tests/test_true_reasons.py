"""Reasons of any two call graphs are true: words against figures, parts against their total, calls against zero."""

import random

import pytest
from call_graphs import FILE, Calls, Costs, call_graph, hunk_at, times_called
from reason_checks import check_reasons

from zerolap.explain import Evidence, explain_change
from zerolap.records import Changes, FileChange, SourceFunction, UnknownChanges

UNCHANGED = "which is unchanged"
"""What gives another more to do is not itself what costs more."""
NAMES = ("main", *(f"f{number}" for number in range(9)))
BODIES = {name: SourceFunction(FILE, name, 100 * (at + 1), 100 * (at + 1) + 50) for at, name in enumerate(NAMES)}


def random_costs(chance: random.Random) -> dict[str, float]:
    return {name: float(chance.randint(1, 1000)) for name in NAMES}


def random_calls(chance: random.Random) -> dict[tuple[str, str], float]:
    """Calls without cycles, some of them rare; not all functions are called."""
    calls = {}
    for index, name in enumerate(NAMES[1:], 1):
        for caller in {NAMES[chance.randrange(index)] for _ in range(chance.choice([1, 1, 2, 3]))}:
            calls[caller, name] = chance.choice([0.003, 0.1, 1.0, 1.0, 2.0, 5.0])
    return calls


def changed_costs(chance: random.Random, costs: Costs) -> dict[str, float]:
    return {name: cost * chance.choice([1.0, 1.0, 1.0, 0.02, 0.5, 2.0, 40.0]) for name, cost in costs.items()}


def changed_calls(chance: random.Random, calls: Calls) -> dict[tuple[str, str], float]:
    """Some made more or less often, some dropped, some new."""
    changed = {pair: times * chance.choice([1.0, 1.0, 1.0, 0.01, 0.5, 3.0, 50.0]) for pair, times in calls.items()}
    kept = {pair: times for pair, times in changed.items() if chance.random() > 0.1}
    caller, callee = sorted(chance.sample(range(len(NAMES)), 2))
    return kept | {(NAMES[caller], NAMES[callee]): chance.choice([0.5, 1.0, 4.0])}


def placed_lines(chance: random.Random, costs: Costs, calls: Calls) -> dict[str, list[tuple[str, int, float]]]:
    """Each function's own instructions, of some of them a part in lines of others, which are inlined there."""
    lines = {}
    for name in NAMES:
        other = chance.choice(NAMES[1:]) if chance.random() < 0.3 else name
        cost = costs[name] * times_called(name, calls) / 2
        lines[name] = [(FILE, BODIES[owner].first_line + 1, cost) for owner in (name, other)]
    return lines


def random_evidence(chance: random.Random) -> Evidence:
    costs, calls = random_costs(chance), random_calls(chance)
    head_costs, head_calls = changed_costs(chance, costs), changed_calls(chance, calls)
    base = call_graph(costs, calls, placed_lines(chance, costs, calls))
    head = call_graph(head_costs, head_calls, placed_lines(chance, head_costs, head_calls))
    hunks = [hunk_at(BODIES[name].first_line + 1, "-a\n+b") for name in NAMES if chance.random() < 0.3]
    changes = Changes(files=[FileChange(old_file=f"src/{FILE}", new_file=f"src/{FILE}", hunks=hunks)])
    functions = [function for function in BODIES.values() if chance.random() < 0.9]
    return Evidence(base, head, functions, functions, changes, base_stripped=False, head_stripped=False)


def cost_at_most(function: str | None, evidence: Evidence) -> float:
    """What a function costs with all that it calls, on the side where it costs more, also where it is inlined."""
    costs = []
    for graph in (evidence.base, evidence.head):
        entering = [edge.instructions for edge in graph.edges if graph.functions[edge.callee].name == function]
        line = BODIES[function or "main"].first_line + 1
        inlined = sum(cost for one in graph.functions for _, at, cost in one.lines if at == line)
        costs.append(inlined + (sum(entering) if function != "main" else graph.totals.instructions))
    return max(costs)


@pytest.mark.parametrize("seed", range(300))
def test_reasons_of_random_changes_are_true(seed: int) -> None:
    evidence = random_evidence(random.Random(seed))
    findings = explain_change(evidence)
    check_reasons([finding.model_dump(mode="json") for finding in findings])
    for part in [part for finding in findings for part in finding.parts if UNCHANGED not in part.text]:
        assert abs(part.instructions_changed_per_op) <= 1.02 * cost_at_most(part.function, evidence) + 1, part


def test_what_is_called_a_tenth_as_often_at_ten_times_the_cost_saves_no_more_than_it_cost() -> None:
    """A step of a collector: fewer and larger ones. Means of both sides would make it add five times its cost."""
    calls = {("main", "f1"): 1.0, ("f1", "f2"): 1.0}
    costs = dict.fromkeys(NAMES, 100.0)
    findings = explain_change(
        Evidence(
            call_graph(costs, calls),
            call_graph(costs | {"f2": 900.0}, {("main", "f1"): 1.0, ("f1", "f2"): 0.1}),
            [],
            [],
            UnknownChanges(reason="The sources are not kept"),
            base_stripped=False,
            head_stripped=False,
        )
    )
    check_reasons([finding.model_dump(mode="json") for finding in findings])
    changed = [(finding.text, finding.share_of_change) for finding in findings if finding.kind == "culprit"]
    # From 100 to 90 instructions a request: 90 of 100 calls are gone, the other 10 cost 80 more.
    assert changed[0][1] == pytest.approx(9.0)
    assert "calls `f2` less often (1 -> 0.1 per request): -90 instructions" in changed[0][0]
    assert changed[1][1] == pytest.approx(-8.0)
    assert "`f2` (server.c) itself takes more instructions a call (100 -> 900 instructions a call)" in changed[1][0]


def test_a_call_of_the_small_window_alone_is_none() -> None:
    """A buffer grows in the first requests: the difference of the windows has less than no call a request."""
    calls = {("main", "f1"): 1.0, ("f1", "realloc"): 1.0}
    costs = {"main": 10.0, "f1": 10.0, "realloc": 50.0}
    base, head = call_graph(costs, calls), call_graph(costs, calls)
    edges = [
        edge.model_copy(update={"calls": -0.0096}) if head.functions[edge.callee].name == "realloc" else edge
        for edge in head.edges
    ]
    evidence = Evidence(
        base,
        head.model_copy(update={"edges": edges}),
        [],
        [],
        UnknownChanges(reason="The sources are not kept"),
        base_stripped=False,
        head_stripped=False,
        metric="allocations_per_op",
    )
    (finding,) = explain_change(evidence)
    check_reasons([finding.model_dump(mode="json")])
    assert finding.text == "`f1` no longer calls `realloc` (1 -> 0 per request)."
    assert finding.calls_per_op is not None
    assert (finding.calls_per_op.base, finding.calls_per_op.head) == (1.0, 0.0)


def test_an_allocation_is_of_who_decides_on_it() -> None:
    """Not of the functions that a server has around its allocator: these are called by everyone."""
    costs = {"main": 10.0, "f1": 10.0, "f2": 10.0, "zrealloc": 5.0, "ztryrealloc_usable": 5.0, "je_realloc": 50.0}
    calls = {("main", "f1"): 1.0, ("main", "f2"): 1.0, ("f2", "zrealloc"): 1.0, ("zrealloc", "ztryrealloc_usable"): 1.0}
    calls |= {("ztryrealloc_usable", "je_realloc"): 1.0}
    base = call_graph(costs, calls | {("f1", "zrealloc"): 2.0})
    evidence = Evidence(
        base,
        call_graph(costs, calls),
        [],
        [],
        UnknownChanges(reason="The sources are not kept"),
        base_stripped=False,
        head_stripped=False,
        metric="allocations_per_op",
    )
    (finding,) = explain_change(evidence)
    assert finding.text == "`f1` no longer calls `zrealloc` (2 -> 0 per request)."
    assert finding.share_of_change == pytest.approx(1.0)
