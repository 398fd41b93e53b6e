"""Functions that only one side has, made transparent where they stand in the way.

A change that replaces `format()` by `reply_with_format()`, which calls `format()`, is understood by what `format()` is
called now and before. What such a new or removed function calls is therefore counted as its callers' calls; its own
instructions stay with it. A new function whose caller did not call any of the same functions before is left whole: it
is itself what was added.
"""

from collections.abc import Set as AbstractSet

from zerolap.explain.cost_graph import CostGraph, Edge, FunctionKey


def without_detours(base: CostGraph, head: CostGraph) -> tuple[CostGraph, CostGraph]:
    """Return both graphs with the one-sided functions made transparent that stand between the same two functions."""
    gone, new = base.nodes.keys() - head.nodes.keys(), head.nodes.keys() - base.nodes.keys()
    base_whole, head_whole = _contracted(base, gone), _contracted(head, new)
    detours: set[FunctionKey] = set()
    for pair in base_whole.edges.keys() & head_whole.edges.keys():
        detours |= base_whole.edges[pair].through | head_whole.edges[pair].through
    return _contracted(base, gone & detours), _contracted(head, new & detours)


def _contracted(graph: CostGraph, transparent: AbstractSet[FunctionKey]) -> CostGraph:
    result = graph.renamed({})
    for key in sorted(transparent):
        entering = result.callers(key)
        calls = sum(edge.calls for edge in entering.values())
        if calls <= 0:
            continue
        leaving = result.callees(key)
        for callee in leaving:
            del result.edges[key, callee]
        for caller, entry in entering.items():
            part = entry.calls / calls
            for callee, edge in leaving.items():
                through = entry.through | edge.through | {key}
                result.add_edge(caller, callee, Edge(edge.calls * part, edge.instructions * part, through))
                entry.instructions = max(0.0, entry.instructions - edge.instructions * part)
    return result
