"""Calls that one side's compiler inlined and the other's did not, made alike.

Debug information names the function of each inlined line, not how often it is executed, nor through which functions it
was inlined. Both are taken from the other side, if the call can be seen there.
"""

from zerolap.explain.cost_graph import CostGraph, Edge, FunctionKey

MAX_DEPTH = 6


def call_alike(base: CostGraph, head: CostGraph) -> tuple[CostGraph, CostGraph]:
    """Return both graphs with inlined functions called by the same callers and as often as on the other side."""
    base, head = base.renamed({}), head.renamed({})
    for graph, example in ((base, head), (head, base)):
        for _ in range(MAX_DEPTH):
            if not _nested_alike(graph, example):
                break
    for _ in range(MAX_DEPTH):
        _called_as_often(base, head)
        _called_as_often(head, base)
    return base, head


def _nested_alike(graph: CostGraph, example: CostGraph) -> bool:
    """Let inlined functions be called by those inlined beside them that call them in `example`; whether any was."""
    inlined = [pair for pair, edge in graph.edges.items() if edge.inlined and pair not in example.edges]
    moved = False
    for caller, callee in inlined:
        between = [
            other
            for other, edge in graph.callees(caller).items()
            if edge.inlined
            and other != callee
            and (other, callee) in example.edges
            and (caller, other) in example.edges
        ]
        if between:
            _put_between(graph, caller, min(between), callee)
            moved = True
    return moved


def _put_between(graph: CostGraph, caller: FunctionKey, between: FunctionKey, callee: FunctionKey) -> None:
    edge = graph.edges.pop((caller, callee))
    graph.add_edge(between, callee, Edge(edge.calls, edge.instructions, edge.through, inlined=True))
    graph.edges[caller, between].instructions += edge.instructions


def _called_as_often(graph: CostGraph, example: CostGraph) -> None:
    """Let each call of a caller make as many inlined calls as it makes in `example`; one where it makes none there."""
    for (caller, callee), edge in graph.edges.items():
        if edge.inlined:
            seen = example.edges.get((caller, callee))
            each = seen.calls / example.times(caller) if seen is not None and not seen.inlined else 1.0
            edge.calls = each * graph.times(caller)
