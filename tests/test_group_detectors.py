"""Detectors of groups, on call graphs made by hand: what grows too fast, and what is asked for each element."""

import math
from collections.abc import Callable, Mapping, Sequence

import pytest
from call_graphs import FILE, call_graph, definitions

from zerolap.explain import CaseEvidence, CaseGroup, SizedCase
from zerolap.explain.call_index import CallIndex
from zerolap.explain.detectors.growth import (
    Line,
    above_a_sort,
    above_proportion,
    exponent,
    grows_faster_than_a_sort,
    median_line,
    points_by_size,
)
from zerolap.explain.detectors.repeated_checks import RepeatedChecks
from zerolap.explain.detectors.super_linear import SuperLinear
from zerolap.records import CaseOpportunity, SourceFunctions

SIZES = (10.0, 100.0, 1000.0)
Cost = Callable[[float], float]
Shape = Callable[[float], tuple[Mapping[str, float], Mapping[tuple[str, str], float]]]
"""The own costs of one call of each function, and the calls that it makes each time, at a size."""


# How costs grow.


@pytest.mark.parametrize(
    ("cost", "faster"),
    [
        (lambda size: 100 * size, False),
        (lambda size: 5000 + 100 * size, False),
        (lambda size: 5000.0, False),
        (lambda size: 40 * size * math.log2(1 + size), False),
        (lambda size: 300 + 40 * size * math.log2(1 + size), False),
        (lambda size: 1e6 / size, False),
        # A threshold: the reply has got a second buffer.
        (lambda size: 100 * size + (20 * size if size > 500 else 0), False),
        (lambda size: size**2, True),
        (lambda size: 500 + 100 * size + 2 * size**2, True),
        (lambda size: size**1.5, True),
    ],
)
def test_costs_that_grow_faster_than_a_sort(cost: Cost, faster: bool) -> None:
    assert grows_faster_than_a_sort([(size, cost(size)) for size in SIZES]) is faster


def test_with_two_sizes_all_of_the_cost_is_taken_to_grow() -> None:
    assert grows_faster_than_a_sort([(10.0, 100.0), (100.0, 10_000.0)])
    assert not grows_faster_than_a_sort([(10.0, 10_100.0), (100.0, 20_000.0)])
    assert not grows_faster_than_a_sort([(10.0, 100.0)])
    assert not grows_faster_than_a_sort([(10.0, 0.0), (100.0, 10_000.0)])


def test_growth_may_begin_to_show_with_many_elements_but_one_dear_size_is_a_step() -> None:
    assert grows_faster_than_a_sort([(1, 10), (10, 1000), (100, 1e5), (1000, 1e7)])
    assert grows_faster_than_a_sort([(1, 10), (10, 100), (20, 200), (100, 4000), (1000, 1e6)])
    assert not grows_faster_than_a_sort([(1, 10), (10, 100), (100, 1000), (1000, 1e7)])


def test_the_exponent_of_a_power_law_is_not_moved_by_one_point() -> None:
    assert exponent([(size, 3 * size**2) for size in SIZES]) == pytest.approx(2.0)
    off = [(1.0, 3.0), (10.0, 300.0), (100.0, 90_000.0), (1000.0, 3e6), (1e4, 3e8)]
    assert exponent(off) == pytest.approx(2.0, abs=0.05)


def test_the_median_line_has_calls_for_each_element_and_besides() -> None:
    assert median_line([(10.0, 31.0), (100.0, 301.0), (1000.0, 3001.0)]) == Line(3.0, 1.0)


def test_what_is_above_proportion_and_above_a_sort() -> None:
    points = [(size, 100 * size + size**2) for size in SIZES]
    # Proportion is by the smallest size, at which each element costs 110.
    assert above_proportion(points, 1000.0, 1_100_000.0) == pytest.approx(990_000.0)
    assert above_proportion(points, 10.0, 1100.0) == 0.0
    sort = 1100 * 1000 * math.log2(1001) / (10 * math.log2(11))
    assert above_a_sort(points, 1000.0, 1_100_000.0) == pytest.approx(1_100_000.0 - sort)
    # Constant costs do not grow: of two lines the lower is taken.
    points = [(1.0, 5000.0), (10.0, 5090.0), (100.0, 105_990.0)]
    assert above_proportion(points, 100.0, 105_990.0) == pytest.approx(100_000.0)


def test_points_of_about_one_size_are_one_the_cheapest() -> None:
    assert points_by_size([(100.0, 7.0), (101.0, 5.0), (10.0, 1.0)]) == [(10.0, 1.0), (100.0, 5.0)]


# Functions whose cost grows too fast.


def group_of(shape: Shape, sizes: Sequence[float] = SIZES, *commands: str) -> CaseGroup:
    return CaseGroup(
        "elements", [SizedCase(f"x-{size:.0f}", size, evidence_of(shape, size, commands)) for size in sizes]
    )


def evidence_of(shape: Shape, size: float, commands: Sequence[str]) -> CaseEvidence:
    costs, calls = shape(size)
    made = {("main", "call"): 1.0, ("call", "xCommand"): 1.0, **calls}
    names = dict.fromkeys(name for pair in made for name in pair)
    graph = call_graph({name: costs.get(name, 100.0) for name in names}, made)
    return CaseEvidence(CallIndex(graph, SourceFunctions(definitions(*names))), tuple(commands or ("X",)))


def searched(group: CaseGroup) -> dict[str, list[CaseOpportunity]]:
    return {case: [*of] for case, of in SuperLinear().detect_group(group).items() if of}


def linear(size: float) -> tuple[Mapping[str, float], Mapping[tuple[str, str], float]]:
    return {"xCommand": 500 + 10 * size}, {("xCommand", "store"): size, ("xCommand", "reply"): 1.0}


def searches(size: float) -> tuple[Mapping[str, float], Mapping[tuple[str, str], float]]:
    """Each element is looked for among those before it."""
    costs, calls = linear(size)
    compared = {("xCommand", "isThere"): size, ("isThere", "compare"): size / 2}
    return {**costs, "isThere": 5.0 + size, "compare": 8.0}, {**calls, **compared}


def test_a_search_for_each_element_is_the_function_that_searches() -> None:
    by_case = searched(group_of(searches))
    (opportunity,) = by_case["x-1000"]
    # What it calls is cheap each time, but called too often.
    assert (opportunity.detector, opportunity.function, opportunity.file) == ("super-linear", "isThere", FILE)
    assert (opportunity.confidence, opportunity.frames) == ("high", ("xCommand", "isThere"))
    costs = {size: size * (5 + size + 8 * size / 2) for size in SIZES}
    evidence = opportunity.evidence
    assert evidence["sizes"] == 3.0
    assert evidence["exponent"] == pytest.approx(1.98, abs=0.02)
    assert evidence["instructions_at_1000_elements"] == pytest.approx(costs[1000.0])
    saved = opportunity.saved_instructions_per_op
    assert saved.expected == pytest.approx(costs[1000.0] - 100 * costs[10.0])
    assert 0 < saved.low < saved.expected < saved.high < costs[1000.0]
    assert opportunity.text == (
        f"costs {costs[1000.0] / costs[10.0]:,.0f} times as much for 100 times the data: 550, 50,500 and 5,005,000 "
        "instructions per request at 10, 100 and 1,000 elements; in proportion it would be 55,000; a place or an "
        "index that is kept from one element to the next saves a search for each"
    )
    assert sorted(removed.function for removed in opportunity.removed) == ["compare", "isThere"]
    # At the smallest size nothing is above proportion.
    assert set(by_case) == {"x-100", "x-1000"}


def test_each_size_has_a_figure_of_its_own() -> None:
    (opportunity,) = searched(group_of(searches, (1.6, 2.4, 1000.0)))["x-1000"]
    costs = [name for name in opportunity.evidence if name.startswith("instructions_at")]
    assert costs == ["instructions_at_1.6_elements", "instructions_at_2.4_elements", "instructions_at_1000_elements"]


def test_a_loop_within_the_function_of_the_command_is_there() -> None:
    def shape(size: float) -> tuple[Mapping[str, float], Mapping[tuple[str, str], float]]:
        return {"xCommand": 500 + 10 * size + size**2}, {("xCommand", "store"): size}

    (opportunity,) = searched(group_of(shape))["x-1000"]
    assert opportunity.function == "xCommand"


def test_a_cheap_function_that_is_called_too_often_is_its_callers() -> None:
    def shape(size: float) -> tuple[Mapping[str, float], Mapping[tuple[str, str], float]]:
        return {"xCommand": 10 * size}, {("xCommand", "next"): size**2, ("next", "decode"): 2.0}

    (opportunity,) = searched(group_of(shape))["x-1000"]
    assert opportunity.function == "xCommand"


def test_the_way_down_goes_to_the_lowest_function_that_has_most_of_it() -> None:
    def shape(size: float) -> tuple[Mapping[str, float], Mapping[tuple[str, str], float]]:
        chain = {("xCommand", "reply"): 1.0, ("reply", "addAll"): 1.0, ("addAll", "makeRoom"): 2.0}
        return {"makeRoom": size**2, "addAll": 50 * size}, chain

    (opportunity,) = searched(group_of(shape))["x-1000"]
    assert (opportunity.function, opportunity.frames) == ("makeRoom", ("xCommand", "reply", "addAll", "makeRoom"))


@pytest.mark.parametrize("name", ["in proportion", "sorted", "constant", "another encoding"])
def test_what_has_to_grow_is_left_alone(name: str) -> None:
    def shape(size: float) -> tuple[Mapping[str, float], Mapping[tuple[str, str], float]]:
        if name == "sorted":
            return {}, {("xCommand", "sort"): 1.0, ("sort", "compare"): size * math.log2(size)}
        if name == "constant":
            return {}, {("xCommand", "lookup"): 1.0}
        if name == "another encoding":
            # Many elements are in a table, whose functions cost five times as much for each of them.
            step = "nextOfTable" if size > 500 else "nextOfArray"
            return {step: 500.0 if size > 500 else 100.0}, {("xCommand", step): size, ("xCommand", "reply"): size}
        return linear(size)

    assert searched(group_of(shape)) == {}


def test_what_only_one_encoding_does_too_often_is_detected_in_its_cases() -> None:
    def shape(size: float) -> tuple[Mapping[str, float], Mapping[tuple[str, str], float]]:
        if size > 200:
            return {}, {("xCommand", "addToTable"): size, ("xCommand", "reply"): 1.0}
        return {"seekInArray": 10 * size}, {("xCommand", "seekInArray"): size, ("xCommand", "reply"): 1.0}

    by_case = searched(group_of(shape, (10.0, 30.0, 100.0, 1000.0, 10_000.0)))
    assert {case: of.function for case, (of,) in by_case.items()} == {"x-30": "seekInArray", "x-100": "seekInArray"}
    # Two sizes alone may be a step, such as a buffer that is full from some size on.
    assert searched(group_of(shape, (30.0, 100.0, 1000.0, 10_000.0))) == {}


def test_two_sizes_are_medium_confidence_at_most() -> None:
    (opportunity,) = searched(group_of(searches, (10.0, 1000.0)))["x-1000"]
    assert (opportunity.confidence, opportunity.evidence["sizes"]) == ("medium", 2.0)


@pytest.mark.parametrize("command", ["SINTER", "lcs", "EVAL"])
def test_commands_that_are_documented_to_take_more_are_low_confidence(command: str) -> None:
    (opportunity,) = searched(group_of(searches, SIZES, command))["x-1000"]
    assert opportunity.confidence == "low"


def test_what_grows_too_fast_but_is_little_is_left_alone() -> None:
    def shape(size: float) -> tuple[Mapping[str, float], Mapping[tuple[str, str], float]]:
        return {"xCommand": 2000 * size, "count": size**2 / 50}, {("xCommand", "count"): 1.0}

    assert searched(group_of(shape)) == {}


def test_a_program_without_known_commands_is_left_alone() -> None:
    group = group_of(searches)
    stripped = [SizedCase(case.case, case.size, CaseEvidence(_without_command(case.size))) for case in group.cases]
    assert searched(CaseGroup("elements", stripped)) == {}


def _without_command(size: float) -> CallIndex:
    graph = call_graph({"main": 100.0, "work": size**2}, {("main", "work"): 1.0})
    return CallIndex(graph, SourceFunctions(definitions("main", "work")))


# Checks for each element.


def asks(size: float) -> tuple[Mapping[str, float], Mapping[tuple[str, str], float]]:
    calls = {("xCommand", "addReplyBulk"): size, ("addReplyBulk", "prepareClientToWrite"): 3.0}
    return {}, {**calls, ("xCommand", "prepareClientToWrite"): 1.0}


def test_checks_are_stated_for_each_element_by_a_fit_over_all_sizes() -> None:
    by_case = RepeatedChecks().detect_group(group_of(asks))
    (check,) = by_case["x-100"]
    assert check.text.endswith("once per request would do; called 3.00 times per element (fit over 3 sizes)")
    assert check.evidence["calls_per_element"] == pytest.approx(3.0)
    assert check.evidence["calls_besides"] == pytest.approx(1.0)
    assert (check.evidence["calls_per_op"], check.evidence["sizes"]) == (301.0, 3.0)


def test_checks_that_do_not_grow_and_sizes_that_are_no_elements_are_left_as_they_are() -> None:
    def shape(size: float) -> tuple[Mapping[str, float], Mapping[tuple[str, str], float]]:
        return {}, {("xCommand", "prepareClientToWrite"): 4.0}

    assert all(not checks for checks in RepeatedChecks().detect_group(group_of(shape)).values())
    group = group_of(asks)
    assert RepeatedChecks().detect_group(CaseGroup("bytes of the value", group.cases)) == {}
