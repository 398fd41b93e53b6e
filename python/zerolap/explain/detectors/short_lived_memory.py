"""Memory that a request allocates and frees again before the command has ended."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from zerolap.explain.call_index import Calls
from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.detectors.allocations import (
    ALLOCATES,
    FREES,
    is_allocator,
    is_wrapper,
    keeps_data,
    releases_table,
    stores_in_table,
)
from zerolap.explain.detectors.detector import SMALLEST_SHARE, CaseEvidence, CodePlace, Saving, figure, named, often
from zerolap.records import CaseOpportunity, Estimate

FEWEST_PAIRS: Final = 0.5
"""Blocks per call from which on it is what usually happens."""
PART: Final = Estimate(low=0.3, expected=0.8, high=1.0)
"""What of the cost of allocating and freeing is saved: the memory that takes their place has to be set up too."""


@dataclass(frozen=True)
class _Memory:
    """How many blocks a call of a function allocates and frees with all that it calls.

    `stored` are those that it allocates for tables, which outlive the call unless the table is released.
    """

    allocated: float = 0.0
    freed: float = 0.0
    stored: float = 0.0

    @property
    def pairs(self) -> float:
        """The blocks of which both ends lie within the call."""
        return min(self.allocated, self.freed)


_Memories = Mapping[FunctionKey, _Memory]


class ShortLivedMemory:
    """Finds functions in which blocks of memory are both allocated and freed."""

    name = "short-lived-memory"
    purpose = "memory allocated and freed again within one request"
    revision = 2

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return the functions that allocate blocks by one call and free them by another.

        What the server allocates for each request, such as its arguments, is freed outside of the command.
        """
        memory = _memory_of_calls(evidence)
        least = SMALLEST_SHARE * evidence.index.total
        opportunities = (_opportunity(evidence, function, memory) for function in evidence.within_commands)
        return [one for one in opportunities if one is not None and one.saved_instructions_per_op.expected >= least]


def _memory_of_calls(evidence: CaseEvidence) -> _Memories:
    index = evidence.index
    memory: dict[FunctionKey, _Memory] = {}
    for function in reversed(index.order):
        if is_allocator(function):
            allocates, frees = ALLOCATES.fullmatch(function[0]), FREES.fullmatch(function[0])
            memory[function] = _Memory(float(allocates is not None), float(frees is not None))
            continue
        made = [
            (index.per_call(calls), memory[calls.callee])
            for calls in index.callees.get(function, {}).values()
            if calls.callee in memory
        ]
        allocated = sum(times * below.allocated for times, below in made)
        stored = sum(times * below.stored for times, below in made)
        if stores_in_table(function):
            memory[function] = _Memory(stored=allocated + stored)
        elif keeps_data(function):
            memory[function] = _Memory()
        else:
            memory[function] = _Memory(allocated, sum(times * below.freed for times, below in made), stored)
    return memory


def _opportunity(evidence: CaseEvidence, function: FunctionKey, memory: _Memories) -> CaseOpportunity | None:
    """Return what is allocated and freed by different calls of one function; none where that is nothing."""
    index = evidence.index
    if is_wrapper(function) or is_allocator(function) or keeps_data(function):
        return None
    made = [calls for calls in index.callees.get(function, {}).values() if calls.callee in memory]
    within = sum(index.per_call(calls) * memory[calls.callee].pairs for calls in made)
    has_table = any(releases_table(calls.callee) for calls in made)
    whole = memory[function]
    pairs = min(whole.allocated + (whole.stored if has_table else 0.0), whole.freed) - within
    if pairs < FEWEST_PAIRS:
        return None
    allocating = _way_down(
        evidence,
        function,
        memory,
        lambda below: below.allocated - below.pairs + (below.stored if has_table else 0.0),
    )
    freeing = _way_down(evidence, function, memory, lambda below: below.freed - below.pairs)
    if allocating is None or freeing is None:
        return None
    blocks = pairs * index.calls_to[function]
    costs = index.costs_below({allocating.callee: blocks, freeing.callee: blocks})
    return evidence.opportunity(
        ShortLivedMemory.name,
        CodePlace(function, lines=[line for calls in made if calls in (allocating, freeing) for line in calls.lines]),
        Saving(costs, PART),
        confidence="medium",
        evidence={"blocks_per_op": blocks, "instructions_per_op": sum(costs.values())},
        text=f"allocates memory by {_who(allocating, function)} and frees it by {_who(freeing, function)} before it "
        f"returns, {often(blocks)} per request: {figure(sum(costs.values()))} instructions",
    )


def _who(calls: Calls, function: FunctionKey) -> str:
    where = "" if calls.caller == function else f" in {named([calls.caller])}"
    return f"{named([calls.callee])}{where}"


def _way_down(
    evidence: CaseEvidence, function: FunctionKey, memory: _Memories, blocks: Callable[[_Memory], float]
) -> Calls | None:
    """Return the call that moves the most blocks below a function, and is not made on behalf of its caller."""
    index, way = evidence.index, None
    while True:
        made = [
            calls
            for calls in index.callees.get(function, {}).values()
            if calls.callee in memory and blocks(memory[calls.callee]) > 0 and index.goes_down(calls)
        ]
        if not made:
            return way
        way = max(made, key=lambda calls: index.per_call(calls) * blocks(memory[calls.callee]))
        if is_wrapper(way.callee) or is_allocator(way.callee):
            return way
        function = way.callee
