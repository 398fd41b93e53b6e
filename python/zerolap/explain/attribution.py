"""From the linker's symbols to the source's functions.

A compiler inlines one function into another, and does so differently after each change. Costs are therefore taken to
the function whose lines they come from; a function that was inlined becomes a callee like any other.
"""

import bisect
from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.explain.cost_graph import CostGraph, Edge, FunctionKey
from zerolap.records import CallGraph, GraphEdge, GraphFunction


@dataclass(frozen=True)
class SourceFunction:
    """A definition in the source: file, name and lines."""

    file: str
    name: str
    first_line: int
    last_line: int


class SourceFunctions:
    """Finds the function that a line belongs to."""

    def __init__(self, functions: Sequence[SourceFunction]) -> None:
        self._by_file: dict[str, list[SourceFunction]] = {}
        for function in sorted(functions, key=lambda one: one.first_line):
            self._by_file.setdefault(function.file, []).append(function)

    def at(self, file: str, line: int) -> SourceFunction | None:
        """Return the definition that holds the line, or none."""
        known = self._by_file.get(file, [])
        index = bisect.bisect_right(known, line, key=lambda one: one.first_line) - 1
        if index < 0 or line > known[index].last_line:
            return None
        return known[index]

    def named(self, name: str, file: str) -> SourceFunction | None:
        """Return the definition of that name in that file, or none."""
        return next((one for one in self._by_file.get(file, []) if one.name == name), None)


def by_source_function(graph: CallGraph, functions: SourceFunctions) -> CostGraph:
    """Return the graph with each cost at the source function whose line it comes from."""
    result = CostGraph()
    keys = [_key(graph, function) for function in graph.functions]
    for key, function in zip(keys, graph.functions, strict=True):
        _add_function(result, graph, key, function, functions)
    for edge in graph.edges:
        _add_calls(result, graph, keys, edge, functions)
    return result


def _key(graph: CallGraph, function: GraphFunction) -> FunctionKey:
    return function.name, function.object if function.file is None else graph.files[function.file]


def _add_function(
    result: CostGraph, graph: CallGraph, key: FunctionKey, function: GraphFunction, functions: SourceFunctions
) -> None:
    node = result.node(key)
    node.has_file = function.file is not None
    node.calls += function.calls
    node.instructions += function.instructions
    for file_index, line, instructions in function.lines:
        file = graph.files[file_index]
        owner = _owner(functions, file, line, key)
        if owner == key:
            node.lines[file, line] = node.lines.get((file, line), 0.0) + instructions
            continue
        node.instructions -= instructions
        inlined = result.node(owner)
        inlined.instructions += instructions
        inlined.lines[file, line] = inlined.lines.get((file, line), 0.0) + instructions
        _add_inlined(result, key, owner, function.calls, instructions)


def _add_inlined(result: CostGraph, outer: FunctionKey, inner: FunctionKey, outer_calls: float, cost: float) -> None:
    """Count an inlined function as called once for each call of the function that it was inlined into."""
    if (outer, inner) not in result.edges:
        result.add_edge(outer, inner, Edge(calls=max(outer_calls, 1e-9), inlined=True))
        result.node(inner).calls += outer_calls
    result.edges[outer, inner].instructions += cost


def _add_calls(
    result: CostGraph, graph: CallGraph, keys: list[FunctionKey], edge: GraphEdge, functions: SourceFunctions
) -> None:
    """Add an edge, parted by the source functions that its call sites lie in."""
    caller, callee = keys[edge.caller], keys[edge.callee]
    left_calls, left_instructions = edge.calls, edge.instructions
    for file_index, line, calls in edge.lines:
        owner = _owner(functions, graph.files[file_index], line, caller)
        if owner == caller or edge.calls <= 0:
            continue
        part = edge.instructions * calls / edge.calls
        left_calls, left_instructions = left_calls - calls, left_instructions - part
        result.add_edge(owner, callee, Edge(calls=calls, instructions=part))
        _add_inlined(result, caller, owner, graph.functions[edge.caller].calls, part)
    if left_calls > 1e-9:
        result.add_edge(caller, callee, Edge(calls=left_calls, instructions=left_instructions))


def _owner(functions: SourceFunctions, file: str, line: int, fallback: FunctionKey) -> FunctionKey:
    found = functions.at(file, line)
    if found is None or found.name == fallback[0]:
        return fallback
    return found.name, file
