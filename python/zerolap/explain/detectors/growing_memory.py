"""Memory that is allocated too small, and grown while the same function fills it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from zerolap.explain.allocations import ALLOCATES, KEEPS_DATA, MAKES_ROOM, REALLOCATES, is_wrapper
from zerolap.explain.call_index import Calls
from zerolap.explain.cost_graph import FunctionKey, is_named
from zerolap.explain.detectors.detector import CaseEvidence, CodeLocation, Saving, often
from zerolap.explain.stated_figures import figure
from zerolap.records import CaseOpportunity, Estimate

FEWEST: Final = 0.5
"""How often per call memory has to be allocated, and enlarged, to be reported."""
PART: Final = Estimate(low=0.5, expected=0.9, high=1.0)
"""The part of the cost of growing that the right size saves; less where the size has to be computed first."""


@dataclass(frozen=True)
class _Growth:
    """How often a call of a wrapper allocates, and how often it enlarges what it was given."""

    allocated: float = 0.0
    grown: float = 0.0


class GrowingMemory:
    """Finds functions that allocate memory and enlarge it in the same call."""

    name = "growing-memory"
    purpose = "memory allocated small and enlarged within the same function"
    revision = 1

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return the functions that both allocate and enlarge memory themselves, by wrappers such as those of sds."""
        growth = _growth_of_wrappers(evidence)
        looked_at = [key for key in evidence.within_commands if not (is_wrapper(key) or is_named(key, KEEPS_DATA))]
        return evidence.worth_a_line(_opportunity(evidence, function, growth) for function in looked_at)


def _growth_of_wrappers(evidence: CaseEvidence) -> Mapping[FunctionKey, _Growth]:
    index = evidence.index
    growth: dict[FunctionKey, _Growth] = {}
    for function in reversed(index.order):
        if REALLOCATES.fullmatch(function[0]):
            growth[function] = _Growth(grown=1.0)
        elif ALLOCATES.fullmatch(function[0]):
            growth[function] = _Growth(allocated=1.0)
        elif is_wrapper(function):
            made = [
                (index.per_call(calls), growth[calls.callee])
                for calls in index.callees.get(function, {}).values()
                if calls.callee in growth
            ]
            allocated = sum(times * below.allocated for times, below in made)
            grown = sum(times * below.grown for times, below in made)
            # A larger header needs a new block: the old one is copied, and not reallocated.
            makes_room = MAKES_ROOM.fullmatch(function[0]) is not None
            growth[function] = _Growth(0.0, allocated + grown) if makes_room else _Growth(allocated, grown)
    return growth


def _opportunity(
    evidence: CaseEvidence, function: FunctionKey, growth: Mapping[FunctionKey, _Growth]
) -> CaseOpportunity | None:
    index = evidence.index
    made = [calls for calls in index.callees.get(function, {}).values() if calls.callee in growth]
    allocated = sum(index.per_call(calls) * growth[calls.callee].allocated for calls in made)
    growing = [calls for calls in made if growth[calls.callee].grown > 0]
    grown = sum(index.per_call(calls) * growth[calls.callee].grown for calls in growing)
    if allocated < FEWEST or grown < FEWEST:
        return None
    entered = index.calls_to[function]
    costs = _costs_of_growth(evidence, growing, growth)
    return evidence.opportunity(
        GrowingMemory.name,
        CodeLocation(function, lines=[line for calls in growing for line in calls.lines]),
        Saving(costs, PART),
        confidence="medium",
        evidence={"allocations_per_op": allocated * entered, "growths_per_op": grown * entered},
        text=f"allocates memory and enlarges it {often(grown)} each time that it is called: "
        f"{figure(sum(costs.values()))} instructions, which the right size at first would save",
    )


def _costs_of_growth(
    evidence: CaseEvidence, growing: list[Calls], growth: Mapping[FunctionKey, _Growth]
) -> dict[FunctionKey, float]:
    """Return what enlarging costs: the calls of allocators, or those of the wrappers that only make room."""
    starts: dict[FunctionKey, float] = {}
    for calls in growing:
        for callee, times in evidence.index.below({calls.callee: calls.calls}).items():
            if REALLOCATES.fullmatch(callee[0]) or MAKES_ROOM.fullmatch(callee[0]):
                starts[callee] = times
    rooms = {key: times for key, times in starts.items() if MAKES_ROOM.fullmatch(key[0])}
    return evidence.index.costs_below(rooms or starts)
