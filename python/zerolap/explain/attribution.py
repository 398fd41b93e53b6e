"""From the linker's symbols to the source's functions.

A symbol's instructions carry the file and line they were compiled from, also where the compiler inlined a function.
Each line belongs to the function that defines it, so a `static inline` of a header has a cost of its own, whichever
symbols hold its code. The calls that stand in its lines are its calls.
"""

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zerolap.explain.cost_graph import CostGraph, Edge, FunctionKey, Node
from zerolap.records import CallGraph, GraphEdge, GraphFunction


@dataclass(frozen=True)
class SourceFunction:
    """A definition in the source: file, name and lines."""

    file: str
    name: str
    first_line: int
    last_line: int

    @property
    def key(self) -> FunctionKey:
        """Name and file."""
        return self.name, self.file

    def holds(self, file: str, line: int) -> bool:
        """Whether the line lies in the definition."""
        return file == self.file and self.first_line <= line <= self.last_line


class SourceFunctions:
    """Finds the function that a line belongs to."""

    def __init__(self, functions: Sequence[SourceFunction]) -> None:
        self._by_file: dict[str, list[SourceFunction]] = {}
        self._by_name: dict[str, dict[str, SourceFunction]] = {}
        for function in sorted(functions, key=lambda one: one.first_line):
            self._by_file.setdefault(function.file, []).append(function)
            self._by_name.setdefault(function.name, {}).setdefault(function.file, function)

    def at(self, file: str, line: int) -> SourceFunction | None:
        """Return the definition that holds the line; none too where a macro defines several functions in it."""
        known = self._by_file.get(file, [])
        index = bisect.bisect_right(known, line, key=lambda one: one.first_line) - 1
        if index < 0 or not known[index].holds(file, line):
            return None
        if index > 0 and known[index - 1].first_line == known[index].first_line:
            return None
        return known[index]

    def named(self, name: str, file: str) -> SourceFunction | None:
        """Return the definition of that name in that file, or none."""
        return self._by_name.get(name, {}).get(file)

    def definitions(self, name: str) -> list[SourceFunction]:
        """Return the definitions of that name: a static function may have namesakes in other files."""
        return list(self._by_name.get(name, {}).values())


def cost_graph(graph: CallGraph, functions: SourceFunctions) -> CostGraph:
    """Return the graph by function of the source, each under its name and the file that defines it.

    What occurs in the small window only has less than no cost a request; it is left out.
    """
    result = CostGraph()
    keys = [_key(graph, function, functions) for function in graph.functions]
    owners = _Owners(graph, functions)
    inlined: dict[tuple[FunctionKey, FunctionKey], float] = {}
    for key, function in zip(keys, graph.functions, strict=True):
        if function.instructions <= 0 or function.calls < 0:
            continue
        node = result.node(key)
        node.has_file = function.file is not None
        node.calls += function.calls
        for owner, instructions in _by_owner(key, function, owners, result).items():
            inlined[key, owner] = inlined.get((key, owner), 0.0) + instructions
    for edge in graph.edges:
        caller, callee = keys[edge.caller], keys[edge.callee]
        if edge.calls > 0 and edge.instructions > 0 and caller in result.nodes and callee in result.nodes:
            for owner, part in _calls_by_owner(caller, edge, owners).items():
                result.add_edge(owner, callee, Edge(edge.calls * part, edge.instructions * part))
                if owner != caller:
                    result.node(owner)
                    inlined[caller, owner] = inlined.get((caller, owner), 0.0) + edge.instructions * part
    for (caller, owner), instructions in inlined.items():
        _add_inlined(result, caller, owner, instructions)
    return result


class _Owners:
    """Whose a line is."""

    def __init__(self, graph: CallGraph, functions: SourceFunctions) -> None:
        self._files = graph.files
        self._functions = functions

    def of(self, holder: FunctionKey, file: int, line: int) -> FunctionKey:
        """Return the function that defines a line among the instructions of `holder`; itself where that is unknown."""
        known = self._functions.named(*holder)
        place = self._files[file], line
        if known is None or known.holds(*place):
            return holder
        owner = self._functions.at(*place)
        return holder if owner is None else owner.key

    def place(self, file: int, line: int) -> tuple[str, int]:
        return self._files[file], line


def _by_owner(
    holder: FunctionKey, function: GraphFunction, owners: _Owners, result: CostGraph
) -> dict[FunctionKey, float]:
    """Add a symbol's own instructions to the functions whose lines they are; return what is of others than `holder`."""
    by_owner: dict[FunctionKey, Node] = {}
    for file, line, instructions in function.lines:
        part = by_owner.setdefault(owners.of(holder, file, line), Node())
        part.instructions += instructions
        place = owners.place(file, line)
        part.lines[place] = part.lines.get(place, 0.0) + instructions
    by_owner.setdefault(holder, Node())
    foreign = {owner: part for owner, part in by_owner.items() if owner != holder and part.instructions > 0}
    own = result.node(holder)
    own.instructions += function.instructions - sum(part.instructions for part in foreign.values())
    own.add_lines(by_owner[holder])
    for owner, part in foreign.items():
        node = result.node(owner)
        node.instructions += part.instructions
        node.add_lines(part)
    return {owner: part.instructions for owner, part in foreign.items()}


def _calls_by_owner(caller: FunctionKey, edge: GraphEdge, owners: _Owners) -> dict[FunctionKey, float]:
    """Return the part of an edge's calls that each function makes in whose lines they stand."""
    parts: dict[FunctionKey, float] = {}
    for file, line, calls in edge.lines:
        if calls > 0:
            owner = owners.of(caller, file, line)
            parts[owner] = parts.get(owner, 0.0) + calls / edge.calls
    foreign = {owner: part for owner, part in parts.items() if owner != caller}
    whole = sum(foreign.values())
    if whole >= 1.0:
        return {owner: part / whole for owner, part in foreign.items()}
    return {**foreign, caller: 1.0 - whole}


def _add_inlined(graph: CostGraph, caller: FunctionKey, owner: FunctionKey, instructions: float) -> None:
    """Add what an inlined function costs within its caller: as often as the caller is called, as far as one can see."""
    node = graph.node(owner)
    known = graph.edges.get((caller, owner))
    if known is not None:
        # Some of the caller's calls are inlined, others are not: how many is not known.
        known.instructions += instructions
        return
    graph.add_edge(caller, owner, Edge(graph.nodes[caller].calls or 1.0, instructions, inlined=True))
    node.inlined = True


def _key(graph: CallGraph, function: GraphFunction, functions: SourceFunctions) -> FunctionKey:
    """Return name and file; callgrind names the file of a function's first instruction, which may be inlined there."""
    if function.file is None:
        return function.name, function.object
    file = graph.files[function.file]
    definitions = functions.definitions(function.name) if function.lines else []
    if not definitions:
        return function.name, file
    return max(definitions, key=lambda one: (_cost_within(one, graph, function.lines), one.file == file)).key


def _cost_within(definition: SourceFunction, graph: CallGraph, lines: Iterable[tuple[int, int, float]]) -> float:
    return sum(instructions for file, line, instructions in lines if definition.holds(graph.files[file], line))
