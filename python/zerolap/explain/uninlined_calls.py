"""A call graph as if no function were inlined: the calls of a count build, at the costs of the server's build.

The server's build makes no calls of the functions that its compiler has inlined: their instructions are among those of
other functions. A count build of the same source makes these calls, but what it costs is not what the server costs.
Here each instruction is that of the server's build and belongs to the function in whose lines it stands, and calls are
made as often as in the count build, whose instructions are not even recorded.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from typing import TypeAlias

from zerolap.explain.attribution import function_keys
from zerolap.explain.blame import is_same_number
from zerolap.explain.call_index import CallIndex, Line
from zerolap.explain.cost_graph import FunctionKey
from zerolap.records import CallCounts, CalledFunction, CallGraph, GraphEdge, GraphFunction, SourceFunctions

_Pair: TypeAlias = tuple[FunctionKey, FunctionKey]
"""A caller and a callee."""


@dataclass
class _Work:
    """What a function executes itself, by line as far as lines are known."""

    file: str | None
    object: str
    instructions: float = 0.0
    syscalls: float = 0.0
    lines: dict[Line, float] = field(default_factory=dict)

    def add(self, line: Line, instructions: float) -> None:
        self.instructions += instructions
        self.lines[line] = self.lines.get(line, 0.0) + instructions


@dataclass
class _Edge:
    """Calls by line with what they cost, which is 0 until it is known."""

    calls: float = 0.0
    instructions: float = 0.0
    syscalls: float = 0.0
    lines: dict[Line, float] = field(default_factory=dict)

    def add(self, files: Sequence[str], calls: float, lines: Iterable[tuple[int, int, float]]) -> None:
        self.calls += calls
        for file, line, number in lines:
            place = files[file], line
            self.lines[place] = self.lines.get(place, 0.0) + number


def uninlined_index(graph: CallGraph, functions: SourceFunctions, counts: CallCounts) -> CallIndex:
    """Return a call graph with the calls of a count build of the same source, for looking things up.

    Calls that both builds make equally often cost what was counted of them, all others the mean of the calls of their
    callee.
    """
    counted = _counted_edges(counts, functions)
    called = {callee for _, callee in counted}
    works = _works(graph, functions, called)
    of_count_build = set()
    for function in counts.functions:
        key = _counted_key(counts, function, functions)
        of_count_build.add(key)
        works.setdefault(key, _Work(None if function.file is None else key[1], function.object))
    edges = _together(_executed_edges(graph, functions), counted, of_count_build)
    index = CallIndex(_graph_of(works, edges, graph), functions)
    _estimate_costs(index)
    return index


def _counted_key(counts: CallCounts, function: CalledFunction, functions: SourceFunctions) -> FunctionKey:
    """Return name and file: a function's first instruction may be that of another function, which is always inlined."""
    if function.file is None:
        return function.name, function.object
    definitions = functions.definitions(function.name)
    return definitions[0].key if len(definitions) == 1 else (function.name, counts.files[function.file])


def _counted_edges(counts: CallCounts, functions: SourceFunctions) -> dict[_Pair, _Edge]:
    keys = [_counted_key(counts, function, functions) for function in counts.functions]
    edges: dict[_Pair, _Edge] = {}
    for calls in counts.calls:
        # What occurs in the small window only is made less often than never.
        if calls.calls > 0:
            edge = edges.setdefault((keys[calls.caller], keys[calls.callee]), _Edge())
            edge.add(counts.files, calls.calls, calls.lines)
    return edges


def _executed_edges(graph: CallGraph, functions: SourceFunctions) -> dict[_Pair, _Edge]:
    keys = function_keys(graph, functions)
    edges: dict[_Pair, _Edge] = {}
    for calls in graph.edges:
        if calls.calls > 0 and calls.instructions >= 0:
            edge = edges.setdefault((keys[calls.caller], keys[calls.callee]), _Edge())
            edge.add(graph.files, calls.calls, calls.lines)
            edge.instructions += calls.instructions
            edge.syscalls += calls.syscalls
    return edges


def _works(graph: CallGraph, functions: SourceFunctions, called: Collection[FunctionKey]) -> dict[FunctionKey, _Work]:
    """Return what each function executes itself, wherever it is inlined, of those that are `called` somewhere."""
    works: dict[FunctionKey, _Work] = {}
    for key, function in zip(function_keys(graph, functions), graph.functions, strict=True):
        work = works.setdefault(key, _Work(None if function.file is None else key[1], function.object))
        unplaced = function.instructions
        for file, line, instructions in function.lines:
            place = graph.files[file], line
            owner = functions.owner(key, *place)
            holder = works.setdefault(owner, _Work(owner[1], function.object)) if owner in called else work
            holder.add(place, instructions)
            unplaced -= instructions
        work.instructions += unplaced
        work.syscalls += function.syscalls
    return works


def _together(
    executed: Mapping[_Pair, _Edge], counted: Mapping[_Pair, _Edge], of_count_build: AbstractSet[FunctionKey]
) -> dict[_Pair, _Edge]:
    """Return the calls of the count build, and those of functions that only the server's build has.

    A call by a function that both builds have, but that only the server's build makes so, is that of a function that is
    inlined there: the count build has it at that function.
    """
    edges = {pair: edge for pair, edge in executed.items() if not of_count_build >= {*pair}}
    for pair, edge in counted.items():
        known = executed.get(pair)
        edges[pair] = known if known is not None and is_same_number(known.calls, edge.calls) else edge
    return edges


def _graph_of(works: Mapping[FunctionKey, _Work], edges: Mapping[_Pair, _Edge], whole: CallGraph) -> CallGraph:
    """Return all of it as a call graph with the totals of `whole`."""
    files: dict[str, int] = {}

    def number(file: str) -> int:
        return files.setdefault(file, len(files))

    def lines(by_line: Mapping[Line, float]) -> list[tuple[int, int, float]]:
        return [(number(file), line, value) for (file, line), value in by_line.items()]

    entered: dict[FunctionKey, float] = {}
    for (_, callee), edge in edges.items():
        entered[callee] = entered.get(callee, 0.0) + edge.calls
    places = {key: place for place, key in enumerate(works)}
    functions = [
        GraphFunction(
            name=key[0],
            file=None if work.file is None else number(work.file),
            object=work.object,
            instructions=work.instructions,
            syscalls=work.syscalls,
            calls=entered.get(key, 0.0),
            lines=lines(work.lines),
        )
        for key, work in works.items()
    ]
    graph_edges = [
        GraphEdge(
            caller=places[caller],
            callee=places[callee],
            calls=edge.calls,
            instructions=edge.instructions,
            syscalls=edge.syscalls,
            lines=lines(edge.lines),
        )
        for (caller, callee), edge in edges.items()
    ]
    return whole.model_copy(update={"files": list(files), "functions": functions, "edges": graph_edges})


def _estimate_costs(index: CallIndex) -> None:
    """Give calls whose cost was not counted the mean cost of a call of their callee, with all that it calls."""
    # Callees first: what a function costs follows from what it calls.
    for key in reversed(index.order):
        entered = index.calls_to[key]
        onward = sum(calls.instructions for calls in index.callees.get(key, {}).values() if index.goes_down(calls))
        for calls in index.callers.get(key, {}).values():
            if calls.instructions <= 0 and entered > 0:
                calls.instructions = calls.calls * (index.own(key) + onward) / entered
