"""Calls that one side's compiler inlined and the other's did not, made alike.

Where one side has lines of a callee among a caller's own instructions and no call, and the other side has the call,
the callee's part in that call is taken into the caller there too: then both sides can be compared.
"""

from zerolap.explain.cost_graph import CostGraph, FunctionKey, sums

MAX_DEPTH = 6


def inline_alike(base: CostGraph, head: CostGraph) -> tuple[CostGraph, CostGraph]:
    """Return both graphs with what is inlined on one side inlined on both; calls inlined into inlined calls too."""
    for _ in range(MAX_DEPTH):
        base, base_changed = _follow(base, head)
        head, head_changed = _follow(head, base)
        if not base_changed and not head_changed:
            break
    return base, head


def _follow(graph: CostGraph, example: CostGraph) -> tuple[CostGraph, bool]:
    """Return the graph with the calls inlined that `example` has inlined."""
    wanted = [
        (caller, callee)
        for caller, callee in graph.edges
        if caller in example.nodes and (caller, callee) not in example.edges and callee in example.nodes[caller].inlined
    ]
    if not wanted:
        return graph, False
    result = graph.renamed({})
    for caller, callee in wanted:
        _take_in(result, caller, callee)
    return result, True


def _take_in(graph: CostGraph, caller: FunctionKey, callee: FunctionKey) -> None:
    """Move a callee's part in the caller's calls into the caller."""
    edge, node = graph.edges.get((caller, callee)), graph.nodes.get(callee)
    calls = sum(entering.calls for entering in graph.callers(callee).values())
    if edge is None or node is None or calls <= 0:
        return
    del graph.edges[caller, callee]
    share = edge.calls / calls
    taken, outer = node.part(share), graph.nodes[caller]
    outer.instructions += taken.instructions
    outer.lines = sums(outer.lines, taken.lines)
    outer.inlined = sums(outer.inlined, sums(taken.inlined, {callee: taken.body}))
    for target, leaving in graph.callees(callee).items():
        moved = leaving.part(share)
        moved.makers = sums(moved.makers, {callee: moved.calls - sum(moved.makers.values())})
        graph.add_edge(caller, target, moved)
        graph.edges[callee, target] = leaving.part(1 - share)
    if not graph.callers(callee):
        for target in graph.callees(callee):
            del graph.edges[callee, target]
        del graph.nodes[callee]
        return
    graph.nodes[callee] = node.part(1 - share)
