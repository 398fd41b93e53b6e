"""Calls that one side's compiler inlined and the other's did not, made alike.

Where one side has lines of a callee among a caller's own instructions and no call, and the other side has the call,
the callee's part in that call is taken into the caller there too: then both sides can be compared.
"""

from zerolap.explain.attribution import SourceFunctions
from zerolap.explain.cost_graph import CostGraph, Edge, FunctionKey

MAX_DEPTH = 6


def inline_alike(
    base: CostGraph, head: CostGraph, old: SourceFunctions, new: SourceFunctions
) -> tuple[CostGraph, CostGraph]:
    """Return both graphs with what is inlined on one side inlined on both; calls inlined into inlined calls too."""
    for _ in range(MAX_DEPTH):
        base, base_changed = _follow(base, head, new)
        head, head_changed = _follow(head, base, old)
        if not base_changed and not head_changed:
            break
    return base, head


def _follow(graph: CostGraph, example: CostGraph, functions: SourceFunctions) -> tuple[CostGraph, bool]:
    """Return the graph with the calls inlined that `example` has inlined."""
    wanted = [
        (caller, callee)
        for caller, callee in graph.edges
        if caller in example.nodes
        and (caller, callee) not in example.edges
        and callee[0] in _inlined_names(example, caller, functions)
    ]
    if not wanted:
        return graph, False
    result = graph.renamed({})
    for caller, callee in wanted:
        _take_in(result, caller, callee)
    return result, True


def _inlined_names(graph: CostGraph, key: FunctionKey, functions: SourceFunctions) -> set[str]:
    """Return the functions whose lines are among a function's own instructions."""
    owners = {functions.at(file, line) for file, line in graph.nodes[key].lines}
    return {owner.name for owner in owners if owner is not None} - {key[0]}


def _take_in(graph: CostGraph, caller: FunctionKey, callee: FunctionKey) -> None:
    """Move a callee's part in the caller's calls into the caller."""
    edge, node = graph.edges.get((caller, callee)), graph.nodes.get(callee)
    calls = sum(entering.calls for entering in graph.callers(callee).values())
    if edge is None or node is None or calls <= 0:
        return
    del graph.edges[caller, callee]
    part = edge.calls / calls
    outer = graph.nodes[caller]
    outer.instructions += node.instructions * part
    for place, instructions in node.lines.items():
        outer.lines[place] = outer.lines.get(place, 0.0) + instructions * part
    for target, leaving in graph.callees(callee).items():
        moved = Edge(leaving.calls * part, leaving.instructions * part, leaving.through)
        graph.add_edge(caller, target, moved)
        graph.edges[callee, target] = Edge(
            leaving.calls * (1 - part), leaving.instructions * (1 - part), leaving.through
        )
    if not graph.callers(callee):
        for target in graph.callees(callee):
            del graph.edges[callee, target]
        del graph.nodes[callee]
        return
    node.instructions *= 1 - part
    node.calls -= edge.calls
    node.lines = {place: instructions * (1 - part) for place, instructions in node.lines.items()}
