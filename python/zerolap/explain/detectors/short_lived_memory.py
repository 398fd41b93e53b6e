"""Memory that a request allocates and frees again before the command has ended."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from zerolap.explain.allocations import (
    ALLOCATES,
    FREES,
    KEEPS_DATA,
    RELEASES_TABLE,
    STORES_IN_TABLE,
    is_allocator,
    is_wrapper,
)
from zerolap.explain.call_index import CallIndex, Calls
from zerolap.explain.cost_graph import FunctionKey, is_named
from zerolap.explain.detectors.detector import CaseEvidence, CodeLocation, Saving, named, often
from zerolap.explain.stated_figures import figure
from zerolap.records import CaseOpportunity, Estimate

FEWEST_PAIRS: Final = 0.5
"""Blocks per call from which on it is what usually happens."""
PART: Final = Estimate(low=0.3, expected=0.8, high=1.0)
"""What of the cost of allocating and freeing is saved, and of filling and releasing a table: what takes their place has
to be set up too."""


IDLE: Final = 0.25
"""The part of what calls of a wrapper cost on average below which calls move no memory: they release nothing."""


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


class ShortLivedMemory:
    """Finds functions in which blocks of memory are both allocated and freed, or tables both filled and released."""

    name = "short-lived-memory"
    purpose = "memory allocated and freed again within one request"
    revision = 5

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return the functions that allocate blocks by one call and free them by another.

        What the server allocates for each request, such as its arguments, is freed outside of the command.
        """
        moved = _MovedMemory(evidence.index)
        return evidence.worth_a_line(
            opportunity
            for function in evidence.within_commands
            for opportunity in (_blocks(evidence, function, moved), _table(evidence, function, moved))
        )


class _MovedMemory:
    """The memory that calls move, by function and by call."""

    def __init__(self, index: CallIndex) -> None:
        self._index = index
        self._idle: set[tuple[FunctionKey, FunctionKey]] = set()
        self._calls_per_move: dict[FunctionKey, float] = {}
        for wrapper in filter(is_wrapper, index.callers):
            self._add_wrapper(wrapper)
        self._memory: dict[FunctionKey, _Memory] = {}
        for function in reversed(index.order):
            self._memory[function] = self._moved_by(function)

    def _add_wrapper(self, wrapper: FunctionKey) -> None:
        entering = self._index.callers[wrapper].values()
        number = sum(calls.calls for calls in entering)
        least = IDLE * sum(calls.instructions for calls in entering) / number
        idle = [calls for calls in entering if calls.instructions_per_call < least]
        self._idle.update((calls.caller, wrapper) for calls in idle)
        self._calls_per_move[wrapper] = number / (number - sum(calls.calls for calls in idle))

    def by(self, function: FunctionKey) -> _Memory:
        return self._memory.get(function, _Memory())

    def made_by(self, function: FunctionKey) -> list[Calls]:
        """Return the calls of a function; those that lead back to a caller are left out while memory is added up."""
        return [calls for calls in self._index.callees.get(function, {}).values() if calls.callee in self._memory]

    def times(self, calls: Calls) -> float:
        """Return how often a call of the caller makes such calls, as many as move what the callee does on average.

        Calls of a wrapper that move no memory are none, and the others move all of it.
        """
        if (calls.caller, calls.callee) in self._idle:
            return 0.0
        return self._index.per_call(calls) * self.calls_per_move(calls.callee)

    def calls_per_move(self, function: FunctionKey) -> float:
        """Return how many calls of a function there are for each that moves memory."""
        return self._calls_per_move.get(function, 1.0)

    def allocated(self, calls: Calls) -> float:
        """Return how many blocks a call of the caller allocates by these calls, that are freed outside of them."""
        below = self.by(calls.callee)
        return self.times(calls) * (below.allocated - below.pairs)

    def freed(self, calls: Calls) -> float:
        """Return how many blocks a call of the caller frees by these calls, that were not made there nor a table's."""
        below = self.by(calls.callee)
        freed = self.times(calls) * (below.freed - below.pairs)
        return freed - self.by(calls.caller).released if is_named(calls.callee, RELEASES_TABLE) else freed

    def _moved_by(self, function: FunctionKey) -> _Memory:
        if is_allocator(function):
            allocates, frees = ALLOCATES.fullmatch(function[0]), FREES.fullmatch(function[0])
            return _Memory(float(allocates is not None), float(frees is not None))
        made = [(calls.callee, self.times(calls), self.by(calls.callee)) for calls in self.made_by(function)]
        allocated = sum(times * below.allocated for _, times, below in made)
        stored = sum(times * below.stored for _, times, below in made)
        if is_named(function, STORES_IN_TABLE):
            return _Memory(stored=allocated + stored)
        if is_named(function, KEEPS_DATA):
            return _Memory()
        freed = sum(times * below.freed for _, times, below in made)
        released = sum(times * below.freed for callee, times, below in made if is_named(callee, RELEASES_TABLE))
        of_table = min(stored, released)
        return _Memory(allocated, freed - of_table, stored - of_table, of_table)


def _blocks(evidence: CaseEvidence, function: FunctionKey, moved: _MovedMemory) -> CaseOpportunity | None:
    """Return what is allocated and freed by different calls of one function; none where that is nothing."""
    index = evidence.index
    if is_wrapper(function) or is_allocator(function) or is_named(function, KEEPS_DATA):
        return None
    made = moved.made_by(function)
    pairs = moved.by(function).pairs - sum(moved.times(calls) * moved.by(calls.callee).pairs for calls in made)
    if pairs < FEWEST_PAIRS:
        return None
    allocating = _way_down(evidence, function, moved.allocated)
    freeing = _way_down(evidence, function, moved.freed)
    if allocating is None or freeing is None:
        return None
    blocks = pairs * index.calls_to[function]
    costs = index.costs_below(
        {calls.callee: blocks * moved.calls_per_move(calls.callee) for calls in (allocating, freeing)}
    )
    return evidence.opportunity(
        ShortLivedMemory.name,
        CodeLocation(
            function, lines=[line for calls in made if calls in (allocating, freeing) for line in calls.lines]
        ),
        Saving(costs, PART),
        confidence="medium",
        evidence={"blocks_per_op": blocks, "instructions_per_op": sum(costs.values())},
        text=f"allocates memory by {_who(allocating, function)} and frees it by {_who(freeing, function)} before it "
        f"returns, {often(blocks)} per request: {figure(sum(costs.values()))} instructions; memory on the stack, or "
        "kept for the next call, would do",
    )


def _table(evidence: CaseEvidence, function: FunctionKey, moved: _MovedMemory) -> CaseOpportunity | None:
    """Return the table that a function fills and releases: what is added to it is hashed, compared and moved too.

    Where it fills other tables as well, calls do not show which is which: each has its part of all additions.
    """
    index, memory = evidence.index, moved.by(function)
    if memory.released < FEWEST_PAIRS:
        return None
    part = memory.released / (memory.released + memory.stored)
    additions = {callee: times * part for callee, times in _additions(index, function, moved).items()}
    made = moved.made_by(function)
    releases = {calls.callee: index.per_call(calls) for calls in made if is_named(calls.callee, RELEASES_TABLE)}
    entered = index.calls_to[function]
    costs = index.costs_below({callee: times * entered for callee, times in (additions | releases).items()})
    return evidence.opportunity(
        ShortLivedMemory.name,
        CodeLocation(
            function,
            lines=[line for calls in made if calls.callee in additions | releases for line in calls.lines],
        ),
        Saving(costs, PART),
        confidence="medium",
        evidence={"blocks_per_op": memory.released * entered, "instructions_per_op": sum(costs.values())},
        text=f"fills a table by {named(additions)} and releases it by {named(releases)} before it returns, "
        f"{figure(memory.released * entered)} blocks of memory per request: {figure(sum(costs.values()))} instructions"
        "; what is added can go to the result at once",
    )


def _additions(index: CallIndex, function: FunctionKey, moved: _MovedMemory) -> dict[FunctionKey, float]:
    """Return how often a call of a function leads to those that add to tables."""
    additions: dict[FunctionKey, float] = {}
    times = {function: 1.0}
    for caller in index.order[index.order.index(function) :]:
        entered = times.get(caller, 0.0)
        for calls in index.callees.get(caller, {}).values() if entered else ():
            if index.goes_down(calls) and moved.by(calls.callee).stored > 0:
                of_kind = additions if is_named(calls.callee, STORES_IN_TABLE) else times
                of_kind[calls.callee] = of_kind.get(calls.callee, 0.0) + entered * index.per_call(calls)
    return additions


def _who(calls: Calls, function: FunctionKey) -> str:
    where = "" if calls.caller == function else f" in {named([calls.caller])}"
    return f"{named([calls.callee])}{where}"


def _way_down(evidence: CaseEvidence, function: FunctionKey, blocks: Callable[[Calls], float]) -> Calls | None:
    """Return the call that moves the most blocks below a function, and is not made on behalf of its caller."""
    index, way = evidence.index, None
    while True:
        made = [
            calls for calls in index.callees.get(function, {}).values() if index.goes_down(calls) and blocks(calls) > 0
        ]
        if not made:
            return way
        way = max(made, key=blocks)
        if is_wrapper(way.callee) or is_allocator(way.callee):
            return way
        function = way.callee
