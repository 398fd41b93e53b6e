"""Functions that carry out a command in place of others: exchanged in a table, so that no line of a caller differs."""

from collections.abc import Callable

from zerolap.explain.blame import is_same_number
from zerolap.explain.cost_graph import CostGraph, FunctionKey


def exchanged_handlers(
    base: CostGraph, head: CostGraph, changed_names: Callable[[FunctionKey], set[str]]
) -> dict[FunctionKey, FunctionKey]:
    """Return by new handler the old handler: both called as often by the same function, each executed on one side only.

    `changed_names` returns the names in those lines of a function that differ: a caller whose own lines exchange the
    call is no table. Where several of a caller's callees could be meant, none is.
    """
    gone, new = base.nodes.keys() - head.nodes.keys(), head.nodes.keys() - base.nodes.keys()
    lost = _calls_to(base, gone, head)
    gained = _calls_to(head, new, base)
    handlers: dict[FunctionKey, FunctionKey] = {}
    for caller in sorted(lost.keys() & gained.keys()):
        names = changed_names(caller)
        pairs = [
            (after, before)
            for before, calls in lost[caller].items()
            for after, calls_after in gained[caller].items()
            if is_same_number(calls, calls_after) and before[0] not in names and after[0] not in names
        ]
        if len(pairs) == 1:
            handlers |= dict(pairs)
    return handlers


def _calls_to(
    graph: CostGraph, one_sided: set[FunctionKey], other: CostGraph
) -> dict[FunctionKey, dict[FunctionKey, float]]:
    """Return the calls to functions of one side only, by a caller that both sides have."""
    calls: dict[FunctionKey, dict[FunctionKey, float]] = {}
    for (caller, callee), edge in graph.edges.items():
        if callee in one_sided and caller in other.nodes and graph.nodes[callee].has_file:
            calls.setdefault(caller, {})[callee] = edge.calls
    return calls
