"""From the linker's symbols to the source's functions.

A symbol's instructions carry the file and line they were compiled from, also where the compiler inlined a function.
Each line belongs to the function that defines it, so a `static inline` of a header has a cost of its own, whichever
symbols hold its code. Calls belong to the symbol, with the functions in whose lines they stand: a function that is
inlined into several others makes other calls in each.
"""

from collections.abc import Iterable, Sequence

from zerolap.explain.cost_graph import CostGraph, Edge, FunctionKey, add_all
from zerolap.records import CallGraph, GraphFunction, SourceFunction, SourceFunctions


def cost_graph(graph: CallGraph, functions: SourceFunctions) -> CostGraph:
    """Return the graph by function of the source, each under its name and the file that defines it.

    What occurs in the small window only has less than no cost a request; it is left out.
    """
    result = CostGraph()
    keys = function_keys(graph, functions)
    for key, function in zip(keys, graph.functions, strict=True):
        if function.instructions <= 0 or function.calls < 0:
            continue
        node = result.node(key)
        node.has_file = function.file is not None
        node.calls += function.calls
        node.instructions += function.instructions
        add_all(node.lines, {(graph.files[file], line): cost for file, line, cost in function.lines})
        add_all(node.inlined, _parts(key, function.lines, graph.files, functions))
    for edge in graph.edges:
        caller, callee = keys[edge.caller], keys[edge.callee]
        if edge.calls > 0 and edge.instructions > 0 and caller in result.nodes and callee in result.nodes:
            makers = _parts(caller, edge.lines, graph.files, functions)
            result.add_edge(caller, callee, Edge(edge.calls, edge.instructions, makers=makers))
    return result


def _parts(
    holder: FunctionKey, lines: Iterable[tuple[int, int, float]], files: Sequence[str], functions: SourceFunctions
) -> dict[FunctionKey, float]:
    """Return the costs or calls of `holder` that stand in lines of other functions, by function."""
    parts: dict[FunctionKey, float] = {}
    for file, line, value in lines:
        owner = functions.owner(holder, files[file], line)
        if owner != holder:
            parts[owner] = parts.get(owner, 0.0) + value
    return {owner: value for owner, value in parts.items() if value > 0}


def function_keys(graph: CallGraph, functions: SourceFunctions) -> list[FunctionKey]:
    """Return name and file of each function of the graph, in its order."""
    return [_key(graph, function, functions) for function in graph.functions]


def _key(graph: CallGraph, function: GraphFunction, functions: SourceFunctions) -> FunctionKey:
    """Return name and file; callgrind names the file of a function's first instruction, which may be inlined there."""
    if function.file is None:
        return function.name, function.object
    file = graph.files[function.file]
    definitions = functions.definitions(function.name) if function.lines else []
    if not definitions:
        return function.name, file
    return max(
        definitions, key=lambda definition: (_cost_within(definition, graph, function.lines), definition.file == file)
    ).key


def _cost_within(definition: SourceFunction, graph: CallGraph, lines: Iterable[tuple[int, int, float]]) -> float:
    return sum(instructions for file, line, instructions in lines if definition.holds(graph.files[file], line))
