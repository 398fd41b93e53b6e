"""Functions that only changed their name or place."""

from zerolap.explain.attribution import SourceFunctions
from zerolap.explain.cost_graph import CostGraph, FunctionKey

COST_TOLERANCE = 0.1
CALLS_TOLERANCE = 0.01


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
            and _close(before[key], after[other], COST_TOLERANCE)
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
    return before is None or after is None or _close(before.calls, after.calls, CALLS_TOLERANCE)


def _cost(graph: CostGraph, key: FunctionKey) -> float:
    return graph.inclusive(key) or graph.body(key) or 0.0


def _close(value: float, other: float, tolerance: float) -> bool:
    return abs(value - other) <= tolerance * max(abs(value), abs(other), 1e-9)
