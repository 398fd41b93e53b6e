"""What a detector gets and what it is: it looks for one kind of waste in the call graph of a case."""

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, runtime_checkable

from zerolap.explain.blame import is_same_number
from zerolap.explain.call_index import CallIndex, Calls, Line
from zerolap.explain.categories import category_of
from zerolap.explain.cost_graph import LONGEST_NAME, FunctionKey
from zerolap.explain.stated_figures import figure
from zerolap.explain.text import listing
from zerolap.records import NO_SAVING, CaseOpportunity, Confidence, Estimate, RemovedCost

SMALLEST_SHARE: Final = 0.002
"""The part of a case's instructions from which on a saving is worth a line."""
MOST_FRAMES: Final = 20
MOST_LINES: Final = 20
MOST_REMOVED: Final = 20
SMALLEST_REMOVED: Final = 0.02
"""The part of a saving from which on a function is kept with it."""
OF_COUNT_BUILD: Final = {True: " (calls counted in a build without inlining)", False: ""}
"""The words after a number of calls in a sentence, by whether the number is that of a count build."""

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
    the name of the function; they are empty where the executed instructions are not known. `uninlined` has the calls
    that a count build makes, at the costs of the server's build; none where they were not counted. Of the evidence
    `without_inlining`, `built` is the index of the server's build.
    """

    index: CallIndex
    commands: tuple[str, ...] = ()
    locked: Mapping[str, float] = field(default_factory=dict)
    string_stores: Mapping[str, float] = field(default_factory=dict)
    uninlined: CallIndex | None = None
    built: CallIndex | None = None

    @functools.cached_property
    def without_inlining(self) -> "CaseEvidence":
        """The case with the calls of a count build, those of inlined functions among them; as it is without any."""
        return self if self.uninlined is None else replace(self, index=self.uninlined, uninlined=None, built=self.index)

    def are_of_count_build(self, made: Iterable[Calls]) -> bool:
        """Whether a count build alone makes some of these calls, or makes them more or less often."""
        return any(map(self._is_of_count_build, made))

    def _is_of_count_build(self, calls: Calls) -> bool:
        if self.built is None:
            return False
        built = self.built.callees.get(calls.caller, {}).get(calls.callee)
        return built is None or not is_same_number(built.calls, calls.calls)

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

    @functools.cached_property
    def parts_within_commands(self) -> dict[FunctionKey, float]:
        """The part of the calls of each function that is made on behalf of the commands.

        Recursive calls are left out: they call functions that other calls have entered already.
        """
        by_commands = {(calls.caller, calls.callee) for calls in self.command_calls}
        parts: dict[FunctionKey, float] = {}
        for function in self.index.order:
            entering = [calls for calls in self.index.callers.get(function, {}).values() if self.index.goes_down(calls)]
            within = sum(
                calls.calls * (1.0 if (calls.caller, function) in by_commands else parts[calls.caller])
                for calls in entering
            )
            parts[function] = within / sum(calls.calls for calls in entering) if entering else 0.0
        return parts

    def within_command(self, calls: Calls) -> Calls:
        """Return those of the calls that are made on behalf of the commands."""
        return calls.part(self.parts_within_commands[calls.caller])

    def function_named(self, name: str) -> FunctionKey | None:
        """Return the costliest function of the program of that name; none where the graph has none."""
        named = [key for key in self.index.costs.nodes if key[0] == name and self.index.is_of_program(key)]
        return max(named, key=lambda key: (self.index.own(key), key), default=None)

    def worth_a_line(self, opportunities: Iterable[CaseOpportunity | None]) -> list[CaseOpportunity]:
        """Return those that save enough of the case's instructions, or of what takes as long."""
        least = SMALLEST_SHARE * self.index.total
        return [
            opportunity
            for opportunity in opportunities
            if opportunity is not None and opportunity.saved_instructions_per_op.expected >= least
        ]

    def frames(self, function: FunctionKey, caller: FunctionKey | None = None) -> tuple[str, ...]:
        """Return the functions from the command down to `function`, which may be inlined into `caller`."""
        path = self.index.path(caller or function, self.entries)
        if path[-1] != function:
            path.append(function)
        return tuple(shown(key) for key in path[-MOST_FRAMES:])

    def opportunity(
        self,
        detector: str,
        location: "CodeLocation",
        saving: "Saving",
        *,
        confidence: Confidence,
        evidence: Mapping[str, float],
        text: str,
    ) -> CaseOpportunity:
        """Return an opportunity of this case, its names bounded."""
        name, file = location.function
        return CaseOpportunity(
            detector=detector,
            function=shown(location.function),
            file=file[:LONGEST_NAME],
            lines=tuple(f"{of[:LONGEST_NAME]}:{line}" for of, line in sorted(set(location.lines))[:MOST_LINES]),
            frames=self.frames(location.function, location.caller),
            category=category_of(name, file),
            saved_instructions_per_op=saving.instructions,
            uncounted_instructions_per_op=saving.uncounted,
            confidence=confidence,
            evidence=dict(evidence),
            text=text,
            removed=self._removed(saving),
        )

    @functools.cached_property
    def _holders(self) -> Mapping[FunctionKey, Mapping[FunctionKey, float]]:
        """The instructions of each function by the function of the server's build that executes them."""
        holders: dict[FunctionKey, dict[FunctionKey, float]] = {}
        for holder, node in (self.built or self.index).costs.nodes.items():
            for function, instructions in [(holder, node.body), *node.inlined.items()]:
                if instructions > 0:
                    holders.setdefault(function, {})[holder] = instructions
        return holders

    def _by_holder(self, costs: Mapping[FunctionKey, float]) -> dict[FunctionKey, float]:
        """Return costs of functions by the functions of the server's build that execute them."""
        executed: dict[FunctionKey, float] = {}
        for function, cost in costs.items():
            parts = self._holders.get(function, {})
            for holder, part in parts.items():
                executed[holder] = executed.get(holder, 0.0) + cost * part / sum(parts.values())
        return executed

    def _removed(self, saving: "Saving") -> tuple[RemovedCost, ...]:
        """Return most of what a change removes, by the function of the server's build that executes it."""
        index = self.built or self.index
        executed = saving.costs if self.built is None else self._by_holder(saving.costs)
        least = SMALLEST_REMOVED * sum(executed.values())
        costs = sorted(executed.items(), key=lambda item: -item[1])[:MOST_REMOVED]
        return tuple(
            RemovedCost(
                function=shown(key),
                file=key[1][:LONGEST_NAME],
                instructions_per_op=cost * saving.part.expected,
                share=min(cost * saving.part.expected / index.own(key), 1.0),
            )
            for key, cost in costs
            if cost > least and index.own(key) > 0
        )


@dataclass(frozen=True)
class CodeLocation:
    """Where an opportunity lies: a function, another that calls it or that it is inlined into, and lines of calls."""

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

    `purpose` is one line for lists. `revision` grows when the detector reports otherwise: what an older revision has
    reported is not shown then. `detect` reads the evidence alone: no file, clock or process.
    """

    name: str
    purpose: str
    revision: int

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return what one case wastes, in any order."""


def counted_in(figure_name: str, *, count_build: bool) -> str:
    """Return the name of a figure of the evidence, such as `calls_per_op`, which states when a count build has it."""
    return figure_name.replace("_per_", "_without_inlining_per_") if count_build else figure_name


def shown(key: FunctionKey) -> str:
    """Return the name of a function, bounded."""
    return key[0][:LONGEST_NAME]


def named(keys: Iterable[FunctionKey]) -> str:
    """Return functions as prose, their names bounded."""
    return listing([shown(key) for key in keys])


def often(times: float) -> str:
    """Return how often something happens: once, twice, 42.7 times."""
    rounded = round(times)
    if rounded < 1 or abs(times - rounded) >= 0.02:
        return f"{figure(times)} times"
    return {1: "once", 2: "twice"}.get(rounded, f"{figure(rounded)} times")


def _is_command(key: FunctionKey) -> bool:
    return COMMAND.fullmatch(key[0]) is not None and key[0].partition("(")[0] not in NOT_A_COMMAND
