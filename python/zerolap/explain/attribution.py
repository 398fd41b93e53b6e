"""From the linker's symbols to the source's functions."""

import bisect
from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.explain.cost_graph import CostGraph, Edge, FunctionKey
from zerolap.records import CallGraph, GraphFunction


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
        self._by_name: dict[str, list[SourceFunction]] = {}
        for function in sorted(functions, key=lambda one: one.first_line):
            self._by_file.setdefault(function.file, []).append(function)
            self._by_name.setdefault(function.name, []).append(function)

    def at(self, file: str, line: int) -> SourceFunction | None:
        """Return the definition that holds the line, or none."""
        known = self._by_file.get(file, [])
        index = bisect.bisect_right(known, line, key=lambda one: one.first_line) - 1
        if index < 0 or line > known[index].last_line:
            return None
        return known[index]

    def named(self, name: str, file: str) -> SourceFunction | None:
        """Return the definition of that name in that file, or none."""
        return next((one for one in self._by_name.get(name, []) if one.file == file), None)

    def file_of(self, name: str) -> str | None:
        """Return the only file that defines a function of that name, or none."""
        files = {one.file for one in self._by_name.get(name, [])}
        return files.pop() if len(files) == 1 else None


def cost_graph(graph: CallGraph, functions: SourceFunctions) -> CostGraph:
    """Return the graph with each function under its name and the file that defines it.

    What occurs in the small window only has less than no cost a request; it is left out.
    """
    result = CostGraph()
    keys = [_key(graph, function, functions) for function in graph.functions]
    for key, function in zip(keys, graph.functions, strict=True):
        if function.instructions <= 0 or function.calls < 0:
            continue
        node = result.node(key)
        node.has_file = function.file is not None
        node.calls += function.calls
        node.instructions += function.instructions
        for file, line, instructions in function.lines:
            place = graph.files[file], line
            node.lines[place] = node.lines.get(place, 0.0) + instructions
    for edge in graph.edges:
        caller, callee = keys[edge.caller], keys[edge.callee]
        if edge.calls > 0 and edge.instructions > 0 and caller in result.nodes and callee in result.nodes:
            result.add_edge(caller, callee, Edge(edge.calls, edge.instructions))
    return result


def _key(graph: CallGraph, function: GraphFunction, functions: SourceFunctions) -> FunctionKey:
    """Return name and file; callgrind names the file of a function's first instruction, which may be inlined there."""
    if function.file is None:
        return function.name, function.object
    file = graph.files[function.file]
    if functions.named(function.name, file) is None:
        file = functions.file_of(function.name) or file
    return function.name, file
