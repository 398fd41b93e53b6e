"""Trigonometry, powers, roots and logarithms: functions of libm, which cost as much as a look-up."""

import re
from collections.abc import Iterator
from typing import Final

from zerolap.explain.call_index import CallIndex, Calls
from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.detectors.detector import CaseEvidence, CodeLocation, Saving, named, often, shown
from zerolap.explain.stated_figures import figure
from zerolap.records import CaseOpportunity, Estimate

LIBM: Final = re.compile(
    r"_*(?:ieee754_|GI_)*(?P<name>a?(?:sin|cos|tan)h?|sincos|atan2|pow|exp2?|exp10|expm1|log(?:2|10|1p)?|cbrt|hypot|fmod"
    r"|tgamma|lgamma)(?:f|l)?(?:_(?:fma4?|avx2?|sse2|finite|compat|r))*(?:@@?GLIBC.*)?"
)
PART: Final = Estimate(low=0.1, expected=0.4, high=0.7)
"""What cheaper checks first and fewer functions of the same argument save: Redis's pull request 11535 took 22 % off
GEOSEARCH BYBOX, of which trigonometry was 55 %."""
FURTHER: Final = Estimate(low=0.0, expected=0.9, high=1.0)
"""What is saved of the calls that compute further results for an element: with pull request 11579, by which the second
of three distances does without trigonometry and the third is computed only where that is near enough, the same search
took half of the time, which is 90 % of its trigonometry. They may all be necessary."""
MOSTLY: Final = 0.5
"""The part of what a function costs, with all that it calls, from which on it is there for mathematics."""


class Mathematics:
    """Finds the functions of the server that call libm, and those of them that are called again for one element."""

    name = "mathematics"
    purpose = "trigonometry, powers and logarithms computed for each request or element"
    revision = 2

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return each function of the server that calls libm, and what of its calls is for further results."""
        index = evidence.index
        by_owner: dict[FunctionKey, list[Calls]] = {}
        for callee in index.callers:
            if LIBM.fullmatch(callee[0]) is None or index.is_of_program(callee):
                continue
            for caller, calls in index.callers[callee].items():
                if calls.instructions > 0 and index.is_of_program(caller):
                    by_owner.setdefault(index.owner(calls), []).append(calls)
        return evidence.worth_a_line(
            opportunity
            for owner, all_calls in by_owner.items()
            for opportunity in (_computed(evidence, owner, all_calls), _computed_again(evidence, owner, all_calls))
        )


def _plain(calls: Calls) -> str:
    """Return the name that the C standard has for a function, without that of the processor."""
    match = LIBM.fullmatch(calls.callee[0])
    return match["name"] if match is not None else shown(calls.callee)


def _computed(evidence: CaseEvidence, owner: FunctionKey, all_calls: list[Calls]) -> CaseOpportunity:
    number = sum(calls.calls for calls in all_calls)
    instructions = sum(calls.instructions for calls in all_calls)
    entered = evidence.index.calls_to.get(owner, 0.0)
    functions = named((name, "") for name in dict.fromkeys(map(_plain, all_calls)))
    figures = {"calls_per_op": number, "instructions_per_op": instructions}
    each = ""
    if entered > 0:
        figures["calls_per_call"] = number / entered
        each = f", {often(number / entered)} each time that it is called"
    return evidence.opportunity(
        Mathematics.name,
        CodeLocation(owner, all_calls[0].caller, [line for calls in all_calls for line in calls.lines]),
        Saving(evidence.index.costs_of(all_calls), PART),
        confidence="low",
        evidence=figures,
        text=f"computes {functions} {often(number)} per request{each}: "
        f"{figure(instructions)} instructions; cheaper checks first, or values that are kept, save a part of them",
    )


def _computed_again(evidence: CaseEvidence, owner: FunctionKey, all_calls: list[Calls]) -> CaseOpportunity | None:
    """Return the calls of a function of mathematics for further results; none where it has none, or does other work.

    A call that is not made saves what the function does around the mathematics too.
    """
    index = evidence.index
    mathematics = sum(calls.instructions for calls in all_calls if calls.caller == owner)
    if mathematics < MOSTLY * index.inclusive(owner):
        return None
    made = list(_further_calls(index, owner))
    number = sum(further for _, further in made)
    if not number:
        return None
    all_made = sum(calls.calls for calls, _ in made)
    costs = index.costs_below({owner: number})
    return evidence.opportunity(
        Mathematics.name,
        CodeLocation(owner, lines=[line for calls, _ in made for line in calls.lines]),
        Saving(costs, FURTHER),
        confidence="low",
        evidence={"further_calls_per_op": number, "further_instructions_per_op": sum(costs.values())},
        text=f"is called {often(all_made)} per request by several lines of {named(calls.caller for calls, _ in made)}, "
        f"for {figure(all_made - number)} elements: {figure(sum(costs.values()))} instructions for further results; a "
        "simpler formula, or a look at each result before the next is computed, saves most of them",
    )


def _further_calls(index: CallIndex, owner: FunctionKey) -> Iterator[tuple[Calls, float]]:
    """Yield the calls of a function by callers that call it in several lines for an element, and how many are further.

    A caller has as many elements as it is called, or as the line is executed that calls most often.
    """
    for calls in index.callers.get(owner, {}).values():
        elements = max(*calls.lines.values(), index.calls_to.get(calls.caller, 0.0)) if calls.lines else calls.calls
        if calls.calls > elements:
            yield calls, calls.calls - elements
