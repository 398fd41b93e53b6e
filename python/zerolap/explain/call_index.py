"""A call graph of one version for looking things up: who calls whom, where, and what follows from a call.

A call graph does not tell apart the calls that a function makes when it is called by a function or by another: what
follows from some of its calls is taken to be as many parts of what follows from all of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from zerolap.explain.attribution import cost_graph, function_keys
from zerolap.explain.cost_graph import CostGraph, FunctionKey
from zerolap.records import CallGraph, SourceFunctions

Line: TypeAlias = tuple[str, int]
"""A line of a file."""
MOST_OF: Final = 0.5
"""The part of the calls that has to stand in the lines of an inlined function for them to be that function's."""


@dataclass
class Calls:
    """The calls of one function by another per request: with their costs, and by line."""

    caller: FunctionKey
    callee: FunctionKey
    calls: float = 0.0
    instructions: float = 0.0
    lines: dict[Line, float] = field(default_factory=dict)

    @property
    def instructions_per_call(self) -> float:
        """What each of the calls costs, with all that it calls."""
        return self.instructions / self.calls

    def part(self, share: float) -> "Calls":
        """Return so much of the calls."""
        lines = {line: calls * share for line, calls in self.lines.items()}
        return Calls(self.caller, self.callee, self.calls * share, self.instructions * share, lines)


class CallIndex:
    """The functions of a call graph by name and file, the calls between them, and the order in which they call."""

    def __init__(self, graph: CallGraph, functions: SourceFunctions) -> None:
        self.costs: CostGraph = cost_graph(graph, functions)
        self.calls_to: dict[FunctionKey, float] = {}
        self.syscalls: dict[FunctionKey, float] = {}
        self.callees: dict[FunctionKey, dict[FunctionKey, Calls]] = {}
        self.callers: dict[FunctionKey, dict[FunctionKey, Calls]] = {}
        keys = function_keys(graph, functions)
        for key, function in zip(keys, graph.functions, strict=True):
            self.calls_to[key] = self.calls_to.get(key, 0.0) + function.calls
            self.syscalls[key] = self.syscalls.get(key, 0.0) + function.syscalls
        for edge in graph.edges:
            caller, callee = keys[edge.caller], keys[edge.callee]
            # What occurs in the small window only has less than no cost a request.
            if caller == callee or edge.calls <= 0 or edge.instructions < 0:
                continue
            calls = self.callees.setdefault(caller, {}).setdefault(callee, Calls(caller, callee))
            self.callers.setdefault(callee, {})[caller] = calls
            calls.calls += edge.calls
            calls.instructions += edge.instructions
            for file, line, of_line in edge.lines:
                if of_line > 0:
                    place = graph.files[file], line
                    calls.lines[place] = calls.lines.get(place, 0.0) + of_line
        self.total = graph.totals.instructions
        program = self._program_object(graph)
        self._of_program = {
            key for key, function in zip(keys, graph.functions, strict=True) if function.object == program
        }
        self.order, self._position = self._ordered(keys)

    @staticmethod
    def _program_object(graph: CallGraph) -> str:
        """Return the server's program: in a request, most instructions are its own."""
        costs: dict[str, float] = {}
        for function in graph.functions:
            if ".so" not in function.object:
                costs[function.object] = costs.get(function.object, 0.0) + function.instructions
        return max(costs, key=lambda name: costs[name], default="")

    def is_of_program(self, key: FunctionKey) -> bool:
        """Whether the function is in the server's program, and not in a library that it loads."""
        return key in self._of_program

    def own(self, key: FunctionKey) -> float:
        """Return a function's own instructions per request, with those of functions that are inlined into it."""
        node = self.costs.nodes.get(key)
        return node.instructions if node is not None else 0.0

    def inclusive(self, key: FunctionKey) -> float:
        """Return the instructions of a function with all that it calls."""
        entering = self.callers.get(key, {})
        if entering:
            return sum(calls.instructions for calls in entering.values())
        return self.own(key) + sum(calls.instructions for calls in self.callees.get(key, {}).values())

    def per_call(self, calls: Calls) -> float:
        """Return how often a call of the caller makes these calls."""
        entered = self.calls_to.get(calls.caller, 0.0)
        return calls.calls / entered if entered > 0 else 0.0

    def goes_down(self, calls: Calls) -> bool:
        """Whether the calls do not lead back to a caller of their caller."""
        return self._position[calls.callee] > self._position[calls.caller]

    def owner(self, calls: Calls) -> FunctionKey:
        """Return the function in whose lines the calls stand: the caller, or a function that is inlined into it."""
        edge = self.costs.edges.get((calls.caller, calls.callee))
        if edge is None or not edge.makers:
            return calls.caller
        maker = max(edge.makers, key=lambda key: edge.makers[key])
        return maker if edge.makers[maker] >= MOST_OF * edge.calls else calls.caller

    def below(self, starts: Mapping[FunctionKey, float]) -> dict[FunctionKey, float]:
        """Return how often each function is called if those of `starts` are called so often, these included."""
        times = dict(starts)
        first = min((self._position[key] for key in starts if key in self._position), default=len(self.order))
        for key in self.order[first:]:
            entered = times.get(key, 0.0)
            if not entered:
                continue
            for calls in self.callees.get(key, {}).values():
                if self.goes_down(calls):
                    times[calls.callee] = times.get(calls.callee, 0.0) + entered * self.per_call(calls)
        return times

    def costs_of(self, removed: Iterable[Calls]) -> dict[FunctionKey, float]:
        """Return the instructions of calls by the function that carries them out, all of them together."""
        costs: dict[FunctionKey, float] = {}
        for calls in removed:
            own = self.costs_below({calls.callee: calls.calls})
            whole = sum(own.values())
            for key, cost in own.items():
                costs[key] = costs.get(key, 0.0) + cost * calls.instructions / whole
        return {key: min(cost, self.own(key)) for key, cost in costs.items()}

    def costs_below(self, starts: Mapping[FunctionKey, float]) -> dict[FunctionKey, float]:
        """Return what it costs to call the functions of `starts` so often, by the function that carries it out."""
        return {
            key: self.own(key) * min(times / self.calls_to[key], 1.0)
            for key, times in self.below(starts).items()
            if self.calls_to.get(key, 0.0) > 0 and self.own(key) > 0
        }

    def path(self, key: FunctionKey, ends: Iterable[FunctionKey] = ()) -> list[FunctionKey]:
        """Return the functions by which most of its calls come, down to itself; from that of `ends` which they pass."""
        ended, path = set(ends), [key]
        while path[-1] not in ended:
            callers = {
                caller: calls for caller, calls in self.callers.get(path[-1], {}).items() if self.goes_down(calls)
            }
            if not callers:
                break
            path.append(max(callers, key=lambda caller: callers[caller].instructions))
        return path[::-1]

    def has_source(self, key: FunctionKey) -> bool:
        """Return whether the function is of the program and its file is known."""
        node = self.costs.nodes.get(key)
        return self.is_of_program(key) and node is not None and node.has_file

    def _ordered(self, keys: Iterable[FunctionKey]) -> tuple[list[FunctionKey], dict[FunctionKey, int]]:
        """Return the functions so that callers come before callees, but for calls that lead back to a caller."""
        finished: list[FunctionKey] = []
        seen: set[FunctionKey] = set()
        roots = sorted(set(keys), key=lambda key: (key in self.callers, key))
        for root in roots:
            if root in seen:
                continue
            seen.add(root)
            stack = [(root, iter(self.callees.get(root, {})))]
            while stack:
                key, callees = stack[-1]
                callee = next((callee for callee in callees if callee not in seen), None)
                if callee is None:
                    finished.append(key)
                    stack.pop()
                else:
                    seen.add(callee)
                    stack.append((callee, iter(self.callees.get(callee, {}))))
        order = finished[::-1]
        return order, {key: position for position, key in enumerate(order)}
