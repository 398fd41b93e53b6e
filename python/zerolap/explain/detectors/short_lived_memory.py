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
from zerolap.explain.detectors.detector import CaseEvidence, CodePlace, Saving, named, often
from zerolap.explain.text import figure
from zerolap.records import CaseOpportunity, Estimate

FEWEST_PAIRS: Final = 0.5
"""Blocks per call from which on it is what usually happens."""
PART: Final = Estimate(low=0.3, expected=0.8, high=1.0)
"""What of the cost of allocating and freeing is saved, and of filling and releasing a table: what takes their place has
to be set up too."""


@dataclass(frozen=True)
class _Memory:
    """How many blocks a call of a function allocates and frees with all that it calls.

    `stored` are those that it allocates for tables, which outlive the call unless it releases the table: such blocks
    are `released`, and neither stored nor freed.
    """

    allocated: float = 0.0
    freed: float = 0.0
    stored: float = 0.0
    released: float = 0.0

    @property
    def pairs(self) -> float:
        """The blocks of which both ends lie within the call."""
        return min(self.allocated, self.freed)


_Memories = Mapping[FunctionKey, _Memory]


class ShortLivedMemory:
    """Finds functions in which blocks of memory are both allocated and freed, or tables both filled and released."""

    name = "short-lived-memory"
    purpose = "memory allocated and freed again within one request"
    revision = 3

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return the functions that allocate blocks by one call and free them by another.

        What the server allocates for each request, such as its arguments, is freed outside of the command.
        """
        memory = _memory_of_calls(evidence)
        return evidence.worth_a_line(
            opportunity
            for function in evidence.within_commands
            for opportunity in (_blocks(evidence, function, memory), _table(evidence, function, memory))
        )


def _memory_of_calls(evidence: CaseEvidence) -> _Memories:
    index = evidence.index
    memory: dict[FunctionKey, _Memory] = {}
    for function in reversed(index.order):
        if is_allocator(function):
            allocates, frees = ALLOCATES.fullmatch(function[0]), FREES.fullmatch(function[0])
            memory[function] = _Memory(float(allocates is not None), float(frees is not None))
            continue
        made = [
            (calls.callee, index.per_call(calls), memory[calls.callee])
            for calls in index.callees.get(function, {}).values()
            if calls.callee in memory
        ]
        allocated = sum(times * below.allocated for _, times, below in made)
        stored = sum(times * below.stored for _, times, below in made)
        if stores_in_table(function):
            memory[function] = _Memory(stored=allocated + stored)
        elif keeps_data(function):
            memory[function] = _Memory()
        else:
            freed = sum(times * below.freed for _, times, below in made)
            released = sum(times * below.freed for callee, times, below in made if releases_table(callee))
            of_table = min(stored, released)
            memory[function] = _Memory(allocated, freed - of_table, stored - of_table, of_table)
    return memory


def _blocks(evidence: CaseEvidence, function: FunctionKey, memory: _Memories) -> CaseOpportunity | None:
    """Return what is allocated and freed by different calls of one function; none where that is nothing."""
    index = evidence.index
    if is_wrapper(function) or is_allocator(function) or keeps_data(function):
        return None
    made = [calls for calls in index.callees.get(function, {}).values() if calls.callee in memory]
    within = sum(index.per_call(calls) * memory[calls.callee].pairs for calls in made)
    pairs = memory[function].pairs - within
    if pairs < FEWEST_PAIRS:
        return None
    allocating = _way_down(evidence, function, memory, lambda calls: _allocated(evidence, calls, memory))
    freeing = _way_down(evidence, function, memory, lambda calls: _freed(evidence, calls, memory))
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


def _table(evidence: CaseEvidence, function: FunctionKey, memory: _Memories) -> CaseOpportunity | None:
    """Return the table that a function fills and releases: what is added to it is hashed, compared and moved too.

    Where it fills other tables as well, calls do not show which is which: each has its part of all additions.
    """
    index, released = evidence.index, memory.get(function, _Memory()).released
    if released < FEWEST_PAIRS:
        return None
    part = released / (released + memory[function].stored)
    additions = {callee: times * part for callee, times in _additions(evidence, function, memory).items()}
    made = index.callees[function].values()
    releases = {calls.callee: index.per_call(calls) for calls in made if releases_table(calls.callee)}
    entered = index.calls_to[function]
    costs = index.costs_below({callee: times * entered for callee, times in (additions | releases).items()})
    blocks = released * entered
    return evidence.opportunity(
        ShortLivedMemory.name,
        CodePlace(
            function,
            lines=[line for calls in made if calls.callee in additions | releases for line in calls.lines],
        ),
        Saving(costs, PART),
        confidence="medium",
        evidence={"blocks_per_op": blocks, "instructions_per_op": sum(costs.values())},
        text=f"fills a table by {named(additions)} and releases it by {named(releases)} before it returns, "
        f"{figure(blocks)} blocks of memory per request: {figure(sum(costs.values()))} instructions",
    )


def _additions(evidence: CaseEvidence, function: FunctionKey, memory: _Memories) -> dict[FunctionKey, float]:
    """Return how often a call of a function leads to those that add to tables."""
    index = evidence.index
    additions: dict[FunctionKey, float] = {}
    times = {function: 1.0}
    for caller in index.order[index.order.index(function) :]:
        entered = times.get(caller, 0.0)
        for calls in index.callees.get(caller, {}).values() if entered else ():
            number = entered * index.per_call(calls)
            if not index.goes_down(calls) or memory.get(calls.callee, _Memory()).stored <= 0:
                continue
            of_kind = additions if stores_in_table(calls.callee) else times
            of_kind[calls.callee] = of_kind.get(calls.callee, 0.0) + number
    return additions


def _who(calls: Calls, function: FunctionKey) -> str:
    where = "" if calls.caller == function else f" in {named([calls.caller])}"
    return f"{named([calls.callee])}{where}"


def _allocated(evidence: CaseEvidence, calls: Calls, memory: _Memories) -> float:
    """Return how many blocks a call of the caller allocates by these calls, that are freed outside of them."""
    below = memory[calls.callee]
    return evidence.index.per_call(calls) * (below.allocated - below.pairs)


def _freed(evidence: CaseEvidence, calls: Calls, memory: _Memories) -> float:
    """Return how many blocks a call of the caller frees by these calls, that are not allocated there, nor a table's."""
    below = memory[calls.callee]
    freed = evidence.index.per_call(calls) * (below.freed - below.pairs)
    return freed - memory[calls.caller].released if releases_table(calls.callee) else freed


def _way_down(
    evidence: CaseEvidence, function: FunctionKey, memory: _Memories, moved: Callable[[Calls], float]
) -> Calls | None:
    """Return the call that moves the most blocks below a function, and is not made on behalf of its caller."""
    index, way = evidence.index, None
    while True:
        made = [
            calls
            for calls in index.callees.get(function, {}).values()
            if calls.callee in memory and index.goes_down(calls) and moved(calls) > 0
        ]
        if not made:
            return way
        way = max(made, key=moved)
        if is_wrapper(way.callee) or is_allocator(way.callee):
            return way
        function = way.callee
