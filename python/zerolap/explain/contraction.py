"""Functions that only one side has, made transparent where they stand in the way.

A change that replaces `format()` by `reply_with_format()`, which calls `format()`, is described best by the calls of
`format()` before and after. What such a new or removed function calls is therefore counted as its callers' calls; its
own instructions stay with it. The same holds where the work moved to another caller: a removed function and a new
function that both mostly call the same functions, or a new function that mostly makes calls which another function made
and makes no longer. A new function that does neither is left whole: it is itself what was added.
"""

from collections.abc import Set as AbstractSet

from zerolap.explain.cost_graph import CostGraph, Edge, FunctionKey

MOSTLY = 0.5
"""A one-sided function is a detour if this part of its cost is in calls that the other side makes too."""


def without_detours(base: CostGraph, head: CostGraph) -> tuple[CostGraph, CostGraph]:
    """Return both graphs with the one-sided functions made transparent that stand in the way."""
    gone, new = base.nodes.keys() - head.nodes.keys(), head.nodes.keys() - base.nodes.keys()
    detours = _between_the_same(base, gone, head, new)
    detours |= _with_the_same_callees(base, gone, head, new) | _with_the_same_callees(head, new, base, gone)
    return _contracted(base, gone & detours), _contracted(head, new & detours)


def _between_the_same(
    base: CostGraph, gone: AbstractSet[FunctionKey], head: CostGraph, new: AbstractSet[FunctionKey]
) -> set[FunctionKey]:
    """Return the functions that stand between two functions of which one leads to the other on both sides."""
    base_whole, head_whole = _contracted(base, gone), _contracted(head, new)
    detours: set[FunctionKey] = set()
    for pair in base_whole.edges.keys() & head_whole.edges.keys():
        detours |= base_whole.edges[pair].through | head_whole.edges[pair].through
    return detours


def _with_the_same_callees(
    graph: CostGraph, one_sided: AbstractSet[FunctionKey], other: CostGraph, other_one_sided: AbstractSet[FunctionKey]
) -> set[FunctionKey]:
    """Return the one-sided functions whose cost is mostly in calls that the other side's functions alone make."""
    made: dict[FunctionKey, float] = {}
    for (caller, callee), edge in other.edges.items():
        if caller in other_one_sided or (caller, callee) not in graph.edges:
            made[callee] = made.get(callee, 0.0) + edge.instructions
    found: set[FunctionKey] = set()
    while True:
        contracted = _contracted(graph, found)
        further = {key for key in one_sided - found if _mostly_made(contracted, key, made)}
        if not further:
            return found
        found |= further


def _mostly_made(graph: CostGraph, key: FunctionKey, made: dict[FunctionKey, float]) -> bool:
    shared = sum(min(edge.instructions, made.get(callee, 0.0)) for callee, edge in graph.callees(key).items())
    return shared >= MOSTLY * (graph.inclusive(key) or 0.0) > 0


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
