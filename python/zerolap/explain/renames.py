"""Which function of the base is which of the head: those of another name or place, and handlers that replace others."""

from collections.abc import Callable

from zerolap.explain.blame import is_same_number
from zerolap.explain.cost_graph import CostGraph, FunctionKey
from zerolap.records import SourceFunctions

COST_TOLERANCE = 0.1


def find_renames(
    base: CostGraph, head: CostGraph, old: SourceFunctions, new: SourceFunctions
) -> dict[FunctionKey, FunctionKey]:
    """Return which vanished function of the base is which new function of the head.

    First those of the same name in another file; then, in the same file, those called as often at about the same cost.
    A function that is still defined and merely not executed any more was not renamed.
    """
    executed, now = _executed(base), _executed(head)
    gone = [key for key in sorted(executed - now) if new.named(*key) is None]
    added = {key for key in now - executed if old.named(*key) is None}
    # Each is looked up among all calls: once, and not for each pair.
    before, after = {key: _cost(base, key) for key in gone}, {key: _cost(head, key) for key in added}
    renames: dict[FunctionKey, FunctionKey] = {}
    for key in gone:
        moved = [other for other in added if other[0] == key[0]]
        if len(moved) == 1:
            renames[key] = moved[0]
            added.remove(moved[0])
    for key in gone:
        if key in renames or (key in base.nodes and not base.nodes[key].has_file):
            continue
        alike = [
            other
            for other in added
            if other[1] == key[1]
            and _called_as_often(base, key, head, other)
            and abs(before[key] - after[other]) <= COST_TOLERANCE * max(before[key], after[other], 1e-9)
        ]
        if alike:
            renames[key] = min(alike, key=lambda other: (abs(after[other] - before[key]), other))
            added.remove(renames[key])
    return renames


def _executed(graph: CostGraph) -> set[FunctionKey]:
    """Return the functions that are executed, those too that are only inlined."""
    return {*graph.nodes, *(owner for node in graph.nodes.values() for owner in node.inlined)}


def _called_as_often(base: CostGraph, key: FunctionKey, head: CostGraph, other: FunctionKey) -> bool:
    """Whether both are called as often, where calls can be counted."""
    before, after = base.nodes.get(key), head.nodes.get(other)
    return before is None or after is None or is_same_number(before.calls, after.calls)


def _cost(graph: CostGraph, key: FunctionKey) -> float:
    return graph.inclusive(key) or graph.body(key) or 0.0


def exchanged_handlers(
    base: CostGraph, head: CostGraph, changed_names: Callable[[FunctionKey], set[str]]
) -> dict[FunctionKey, FunctionKey]:
    """Return by new handler the old handler: both called as often by the same function, each executed on one side only.

    Such a handler carries out a command in place of another by an entry in a table: no line of a caller differs.
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
