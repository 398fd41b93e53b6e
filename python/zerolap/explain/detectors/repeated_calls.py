"""The same function called several times from different places where one call might do."""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.explain.call_index import CallIndex, Calls
from zerolap.explain.categories import category_of
from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.detectors.detector import (
    OF_COUNT_BUILD,
    SMALLEST_SHARE,
    CaseEvidence,
    CodeLocation,
    Saving,
    counted_in,
    named,
    often,
)
from zerolap.explain.stated_figures import figure
from zerolap.records import CaseOpportunity, Category, Estimate

IF_EQUAL: Final = "; where the arguments are the same, once would do"
"""The end of a sentence until arguments were looked at."""
MOST_CALLS: Final = 4
"""The most calls of a request that are reported as repeated; more are those of a loop."""
WHOLE: Final = 0.02
"""A number of calls may differ from a whole number by this."""
DEEPEST: Final = 6
"""Calls from where the ways part down to the function."""
EQUAL_COST: Final = 0.25
"""The cost of the calls may differ by this share: with the same arguments they do the same."""
SMALLEST_CALL: Final = 25.0
"""Instructions from which on a call is worth to be saved: cheaper ones are to be found through what calls them."""
PASSED_OVER: Final[frozenset[Category]] = frozenset(
    {"allocation", "dictionary", "strings", "system calls", "time", "event loop"}
)
"""Kinds of functions that are called with other arguments each time, or have a detector of their own."""
EACH_A_PART: Final = re.compile(
    r"_?addReply\w*|_writeToClient\w*|lp(?:AssertValid\w*|Next|Prev|Get\w*|First|Seek|Append\w*|Insert\w*|Skip|Validate\w*)|zip\w+|quicklist\w+"
    r"|dict(?:Next|Release\w*|Resize\w*|Rehash\w*|Sds\w+|Enc\w+|Gen\w*|Obj\w+)|siphash\w*|hashtable\w*|_dict\w+|hdr_\w+|counts_\w+"
    r"|ll2string|string2\w+|get\w+FromObject\w*|rewriteClient\w*|luaH?_?[A-Z]\w*|lua_\w+|rax\w+|notifyKeyspaceEvent|signalModifiedKey"
    r"|_?prepareClientToWrite\w*|clientHasPendingReplies|getClientType\w*|digits10|sdigits10|\w*[cC]ompare\w*|\w*[hH]ash(?:Function)?"
)
"""Functions that are called for one part after the other, each time with another part, and checks of the client."""


@dataclass(frozen=True)
class _Reached:
    """How often a call leads to a function for certain, and what the cheapest and the dearest of these calls cost.

    `count_build` states that a count build alone has some of these calls.
    """

    times: int
    least: float
    most: float
    depth: int
    count_build: bool


@dataclass(frozen=True)
class _Repeated:
    """A function that is called several times for one call of `beginning`, through different calls of it."""

    beginning: FunctionKey
    function: FunctionKey
    through: Sequence[Calls]
    reached: _Reached

    @property
    def part(self) -> float:
        """The part of the calls that is saved: all but one."""
        return (self.reached.times - 1) / self.reached.times


class RepeatedCalls:
    """Finds functions that a request calls two to four times, from different places, at about the same cost."""

    name = "repeated-calls"
    purpose = "the same function called again for one request, perhaps with the same arguments"
    revision = 2

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return what is called repeatedly, but for what only is because its callers are.

        Where a count build has counted calls, those of inlined functions are among them.
        """
        evidence = evidence.without_inlining
        least = SMALLEST_SHARE * evidence.index.total
        certain = _CertainCalls(evidence)
        costs = _Costs(evidence.index)
        largest: dict[FunctionKey, tuple[_Repeated, float]] = {}
        for beginning in evidence.within_commands:
            for repeated in certain.repeated_below(beginning):
                _, known = largest.get(repeated.function, (None, 0.0))
                # Most repetitions save too little for their costs to be worth a look.
                if costs.most_saved(repeated) < least or costs.most_saved(repeated) <= known:
                    continue
                saved = costs.saved(repeated)
                if saved >= least and saved > known:
                    largest[repeated.function] = repeated, saved
        covered = {
            below for function in largest for below in evidence.index.below({function: 1.0}) if below != function
        }
        return [
            _opportunity(evidence, repeated, costs)
            for function, (repeated, _) in largest.items()
            if function not in covered
        ]


class _CertainCalls:
    """Follows the calls that a function makes equally often each time: those of a loop are none of them."""

    def __init__(self, evidence: CaseEvidence) -> None:
        self._index = evidence.index
        self._evidence = evidence
        self._below: dict[FunctionKey, dict[FunctionKey, _Reached]] = {}
        for function in reversed(self._index.order):
            reached: dict[FunctionKey, list[_Reached]] = {}
            for calls in self._made_by(function):
                for below, way in self._reached_by(calls).items():
                    reached.setdefault(below, []).append(way)
            self._below[function] = {below: _together(ways) for below, ways in reached.items()}

    def repeated_below(self, beginning: FunctionKey) -> Iterator[_Repeated]:
        """Yield the functions that a call of `beginning` leads to several times, by different calls that it makes."""
        through: dict[FunctionKey, list[Calls]] = {}
        for calls in self._made_by(beginning):
            for function in self._reached_by(calls):
                through.setdefault(function, []).append(calls)
        for function, ways in through.items():
            if not (_is_candidate(function) and self._index.has_source(function)):
                continue
            places = {(calls.callee, line) for calls in ways for line in calls.lines or [None]}
            reached = _together([self._reached_by(calls)[function] for calls in ways])
            is_alike = reached.least >= SMALLEST_CALL and reached.most <= (1 + EQUAL_COST) * reached.least
            if len(places) > 1 and 2 <= reached.times <= MOST_CALLS and is_alike:
                yield _Repeated(beginning, function, ways, reached)

    def _made_by(self, caller: FunctionKey) -> Iterator[Calls]:
        for calls in self._index.callees.get(caller, {}).values():
            times = self._index.per_call(calls)
            if 1 <= round(times) <= MOST_CALLS and abs(times - round(times)) <= WHOLE and calls.instructions > 0:
                yield calls

    def _reached_by(self, calls: Calls) -> dict[FunctionKey, _Reached]:
        """Return what all of these calls of their caller lead to, the callee included."""
        times, each = round(self._index.per_call(calls)), calls.instructions_per_call
        count_build = self._evidence.are_of_count_build([calls])
        reached = {calls.callee: _Reached(times, each, each, 1, count_build)}
        # What leads back to a caller is not there yet, and ends here.
        for function, onward in self._below.get(calls.callee, {}).items():
            if times * onward.times <= MOST_CALLS and onward.depth < DEEPEST and function != calls.callee:
                reached[function] = _Reached(
                    times * onward.times,
                    onward.least,
                    onward.most,
                    onward.depth + 1,
                    count_build or onward.count_build,
                )
        return reached


def _together(ways: Sequence[_Reached]) -> _Reached:
    return _Reached(
        sum(way.times for way in ways),
        min(way.least for way in ways),
        max(way.most for way in ways),
        min(way.depth for way in ways),
        any(way.count_build for way in ways),
    )


def _is_candidate(function: FunctionKey) -> bool:
    # What servers bring along, such as algorithms on numbers, is called with others each time.
    if function[1].startswith("deps/"):
        return False
    return EACH_A_PART.fullmatch(function[0]) is None and category_of(*function) not in PASSED_OVER


def _opportunity(evidence: CaseEvidence, repeated: _Repeated, costs: "_Costs") -> CaseOpportunity:
    times, count_build = repeated.reached.times, repeated.reached.count_build
    through = [way.callee for way in repeated.through if way.callee != repeated.function]
    ways = f", also through {named(dict.fromkeys(through))}" if through else ""
    return evidence.opportunity(
        RepeatedCalls.name,
        CodeLocation(repeated.function, repeated.beginning, [line for way in repeated.through for line in way.lines]),
        # Other arguments make all of the calls necessary.
        Saving(costs.of(repeated), Estimate(low=0.0, expected=repeated.part, high=repeated.part)),
        confidence="medium",
        evidence={
            counted_in("calls_per_op", count_build=count_build): times * evidence.index.calls_to[repeated.beginning],
            counted_in("calls_per_call", count_build=count_build): float(times),
            "instructions_per_call": repeated.reached.least,
        },
        text=f"is called {often(times)} each time that {named([repeated.beginning])} is called"
        f"{OF_COUNT_BUILD[count_build]}{ways}, at about {figure(repeated.reached.least)} instructions a call{IF_EQUAL}",
    )


class _Costs:
    """What repeated calls cost, by the function that carries it out."""

    def __init__(self, index: CallIndex) -> None:
        self._index = index
        self._of_all_calls = functools.cache(lambda function: index.costs_of(index.callers[function].values()))

    def most_saved(self, repeated: _Repeated) -> float:
        """Return the instructions per request that are saved at most."""
        return repeated.part * self._instructions(repeated)

    def saved(self, repeated: _Repeated) -> float:
        """Return the instructions per request that are saved: no more than all calls of the function cost."""
        whole = sum(self._of_all_calls(repeated.function).values())
        return repeated.part * min(self._instructions(repeated), whole)

    def of(self, repeated: _Repeated) -> Mapping[FunctionKey, float]:
        """Return the instructions of the calls by the function that carries them out."""
        costs = self._of_all_calls(repeated.function)
        whole = sum(costs.values())
        part = min(self._instructions(repeated) / whole, 1.0) if whole > 0 else 0.0
        return {key: cost * part for key, cost in costs.items()}

    def _instructions(self, repeated: _Repeated) -> float:
        return repeated.reached.times * self._index.calls_to[repeated.beginning] * repeated.reached.least
