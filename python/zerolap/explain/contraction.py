"""Functions that only one side has, made transparent.

A change that replaces `format()` by `reply_with_format()`, which calls `format()`, is understood by what `format()` is
called now and before. What a new or removed function calls is therefore counted as its callers' calls; its own
instructions stay with it.
"""

from collections.abc import Set as AbstractSet

from zerolap.explain.cost_graph import CostGraph, Edge, FunctionKey


def without_one_sided(base: CostGraph, head: CostGraph) -> tuple[CostGraph, CostGraph]:
    """Return both graphs with the functions that the other side does not have made transparent."""
    return _contracted(base, base.nodes.keys() - head.nodes.keys()), _contracted(
        head, head.nodes.keys() - base.nodes.keys()
    )


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
                through = entry.through | edge.through | {key[0]}
                result.add_edge(caller, callee, Edge(edge.calls * part, edge.instructions * part, through=through))
                entry.instructions -= edge.instructions * part
    return result
