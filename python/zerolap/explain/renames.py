"""Functions that only changed their name or place."""

from zerolap.explain.attribution import SourceFunctions
from zerolap.explain.cost_graph import CostGraph, FunctionKey

COST_TOLERANCE = 0.1
CALLS_TOLERANCE = 0.01


def find_renames(
    base: CostGraph, head: CostGraph, old: SourceFunctions, new: SourceFunctions
) -> dict[FunctionKey, FunctionKey]:
    """Return which vanished function of the base is which new one of the head.

    First those of the same name in another file; then, in the same file, those called as often at about the same cost.
    A function that is still defined and merely not executed any more was not renamed.
    """
    executed, now = _executed(base), _executed(head)
    gone = [key for key in sorted(executed - now) if new.named(*key) is None]
    added = {key for key in now - executed if old.named(*key) is None}
    renames: dict[FunctionKey, FunctionKey] = {}
    for key in gone:
        moved = [other for other in added if other[0] == key[0]]
        if len(moved) == 1:
            renames[key] = moved[0]
            added.remove(moved[0])
    for key in gone:
        if key in renames or (key in base.nodes and not base.nodes[key].has_file):
            continue
        alike = [other for other in added if other[1] == key[1] and _alike(base, key, head, other)]
        if alike:
            renames[key] = min(alike, key=lambda other: (abs(_cost(head, other) - _cost(base, key)), other))
            added.remove(renames[key])
    return renames


def _executed(graph: CostGraph) -> set[FunctionKey]:
    """Return the functions that are executed, those too that are only inlined."""
    return {*graph.nodes, *(owner for node in graph.nodes.values() for owner in node.inlined)}


def _alike(base: CostGraph, key: FunctionKey, head: CostGraph, other: FunctionKey) -> bool:
    """Whether both cost about as much; and where calls can be counted, are called as often."""
    if key in base.nodes and other in head.nodes:
        calls = base.nodes[key].calls, head.nodes[other].calls
        if not _close(*calls, CALLS_TOLERANCE):
            return False
    return _close(_cost(base, key), _cost(head, other), COST_TOLERANCE)


def _cost(graph: CostGraph, key: FunctionKey) -> float:
    return graph.inclusive(key) or graph.body(key) or 0.0


def _close(one: float, other: float, tolerance: float) -> bool:
    return abs(one - other) <= tolerance * max(abs(one), abs(other), 1e-9)
