"""What a detector gets and what it is: it looks for one kind of waste in the call graph of a case."""

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable

from zerolap.explain.call_index import CallIndex, Calls, Line
from zerolap.explain.categories import category_of
from zerolap.explain.cost_graph import FunctionKey
from zerolap.records import NO_SAVING, CaseOpportunity, Confidence, Estimate, RemovedCost

SMALLEST_SHARE: Final = 0.002
"""The part of a case's instructions from which on a saving is worth a line."""
MOST_FRAMES: Final = 20
MOST_LINES: Final = 20
MOST_REMOVED: Final = 20
SMALLEST_REMOVED: Final = 0.02
"""The part of a saving from which on a function is kept with it."""
LONGEST_NAME: Final = 200
"""Of a function: names of C++ templates have no bound."""

DISPATCHERS: Final = frozenset(
    {"call", "processCommand", "processCommandAndResetClient", "processInputBuffer", "execCommand"}
)
"""Functions that call that of a command: which of them does depends on what the compiler has inlined."""
COMMAND: Final = re.compile(r"\w+(?:Command|CommandDispatcher)(?:\(.*\))?", re.DOTALL)
NOT_A_COMMAND: Final = frozenset(
    {
        "afterCommand",
        "canParseCommand",
        "commandlogPushCurrentCommand",
        "getChannelsFromCommand",
        "getKeysFromCommand",
        "isInsideYieldingLongCommand",
        "isSensitiveCommand",
        "lookupCommand",
        "moduleIsModuleCommand",
        "parseCommand",
        "prepareCommand",
        "preprocessCommand",
        "processCommand",
        "queueMultiCommand",
        "rejectCommand",
        "slowlogPushCurrentCommand",
    }
)
"""Functions that the dispatchers call for any command."""


@dataclass(frozen=True)
class CaseEvidence:
    """A case of one version: its call graph, ready for questions.

    `locked` and `string_stores` are how often a request executes locked instructions and steps of repeated stores, by
    the name of the function; they are empty where the executed instructions are not known.
    """

    index: CallIndex
    commands: tuple[str, ...] = ()
    locked: Mapping[str, float] = field(default_factory=dict)
    string_stores: Mapping[str, float] = field(default_factory=dict)

    @functools.cached_property
    def command_calls(self) -> tuple[Calls, ...]:
        """The calls of the functions that carry out the case's commands; none where the server is built otherwise."""
        return tuple(
            calls
            for dispatcher in self.dispatchers
            for callee, calls in self.index.callees[dispatcher].items()
            if _is_command(callee) and calls.instructions > 0
        )

    @functools.cached_property
    def dispatchers(self) -> tuple[FunctionKey, ...]:
        """The functions that call those of commands, and measure and record what these do."""
        return tuple(
            caller
            for caller, callees in self.index.callees.items()
            if caller[0] in DISPATCHERS and any(_is_command(callee) for callee in callees)
        )

    @functools.cached_property
    def entries(self) -> dict[FunctionKey, float]:
        """The functions that carry out commands, and how often; those that nobody calls where none are known."""
        if self.command_calls:
            entries: dict[FunctionKey, float] = {}
            for calls in self.command_calls:
                entries[calls.callee] = entries.get(calls.callee, 0.0) + calls.calls
            return entries
        nobodys = (key for key in self.index.costs.nodes if key not in self.index.callers)
        return {key: max(self.index.calls_to[key], 1.0) for key in nobodys}

    @functools.cached_property
    def within_commands(self) -> dict[FunctionKey, float]:
        """How often each function is called per request on behalf of the commands."""
        return self.index.below(self.entries)

    def function_named(self, name: str) -> FunctionKey | None:
        """Return the costliest function of the program of that name; none where the graph has none."""
        named = [key for key in self.index.costs.nodes if key[0] == name and self.index.is_of_program(key)]
        return max(named, key=lambda key: (self.index.own(key), key), default=None)

    def frames(self, function: FunctionKey, caller: FunctionKey | None = None) -> tuple[str, ...]:
        """Return the functions from the command down to `function`, which may be inlined into `caller`."""
        path = self.index.path(caller or function, self.entries)
        if path[-1] != function:
            path.append(function)
        return tuple(shown(key) for key in path[-MOST_FRAMES:])

    def opportunity(
        self,
        detector: str,
        place: "CodePlace",
        saving: "Saving",
        *,
        confidence: Confidence,
        evidence: Mapping[str, float],
        text: str,
    ) -> CaseOpportunity:
        """Return an opportunity of this case, its names bounded."""
        name, file = place.function
        least = SMALLEST_REMOVED * sum(saving.costs.values())
        costs = sorted(saving.costs.items(), key=lambda item: -item[1])[:MOST_REMOVED]
        removed = tuple(
            RemovedCost(
                function=shown(key),
                file=key[1][:LONGEST_NAME],
                instructions_per_op=cost * saving.part.expected,
                share=min(cost * saving.part.expected / self.index.own(key), 1.0),
            )
            for key, cost in costs
            if cost > least and self.index.own(key) > 0
        )
        return CaseOpportunity(
            detector=detector,
            function=shown(place.function),
            file=file[:LONGEST_NAME],
            lines=tuple(f"{of[:LONGEST_NAME]}:{line}" for of, line in sorted(set(place.lines))[:MOST_LINES]),
            frames=self.frames(place.function, place.caller),
            category=category_of(name, file),
            saved_instructions_per_op=saving.instructions,
            uncounted_instructions_per_op=saving.uncounted,
            confidence=confidence,
            evidence=dict(evidence),
            text=text,
            removed=removed,
        )


@dataclass(frozen=True)
class CodePlace:
    """Where an opportunity lies: a function, one that calls it or that it is inlined into, and lines of calls."""

    function: FunctionKey
    caller: FunctionKey | None = None
    lines: Iterable[Line] = ()


@dataclass(frozen=True)
class Saving:
    """What a change removes: so much of the instructions of these functions, and what is not counted.

    `uncounted` is work that instructions do not show, such as that of the kernel, in instructions that take as long.
    """

    costs: Mapping[FunctionKey, float]
    part: Estimate
    uncounted: Estimate = NO_SAVING

    @property
    def instructions(self) -> Estimate:
        """The saved instructions per request."""
        return self.part.times(sum(self.costs.values())).plus(self.uncounted)


@runtime_checkable
class Detector(Protocol):
    """Looks for one kind of waste.

    `purpose` is one line for lists. `revision` grows when the detector finds otherwise: what an older one has found is
    not shown then. `detect` reads the evidence alone: no file, clock or process.
    """

    name: str
    purpose: str
    revision: int

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return what one case wastes, in any order."""


def shown(key: FunctionKey) -> str:
    """Return the name of a function, bounded."""
    return key[0][:LONGEST_NAME]


def named(keys: Iterable[FunctionKey], most: int = 3) -> str:
    """Return functions as prose: `a`, `b` and 3 more."""
    quoted = [f"`{shown(key)}`" for key in keys]
    if len(quoted) > most:
        return f"{', '.join(quoted[: most - 1])} and {len(quoted) - most + 1} more"
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else "".join(quoted)


def figure(value: float) -> str:
    """Return a number with the digits that matter."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == round(value) else f"{value:.3g}"


def often(times: float) -> str:
    """Return how often something happens: once, twice, 42.7 times."""
    rounded = round(times)
    if rounded < 1 or abs(times - rounded) >= 0.02:
        return f"{figure(times)} times"
    return {1: "once", 2: "twice"}.get(rounded, f"{figure(rounded)} times")


def _is_command(key: FunctionKey) -> bool:
    return COMMAND.fullmatch(key[0]) is not None and key[0].partition("(")[0] not in NOT_A_COMMAND
