"""Where the work is below a function that is named for calling it: the descendant whose own instructions they are."""

from dataclasses import dataclass

from zerolap.explain.cost_graph import CostGraph, FunctionKey
from zerolap.explain.sides import Sides
from zerolap.explain.stated_figures import StatedFigure

SMALL_SHARE = 0.2
"""Of a change: with less in its own instructions, a function is not where the work is."""


@dataclass(frozen=True)
class WorkBelow:
    """A function below another, and its own instructions per request in the calls of that."""

    function: FunctionKey
    cost: StatedFigure


@dataclass(frozen=True)
class _Step:
    """A function on the way down, with the part of its calls on each side that come along that way."""

    function: FunctionKey
    base_part: float
    head_part: float


def work_below(function: FunctionKey, instructions: float, sides: Sides) -> WorkBelow | None:
    """Return where the work of a change by so many instructions is, if not in the function itself.

    The way down follows the calls whose cost changed most, to the function whose own instructions changed most on it.
    """
    step = _Step(function, 1.0, 1.0)
    if _own(step, sides).changed_by(instructions) >= SMALL_SHARE:
        return None
    passed, way = {function}, []
    while (following := _next(step, instructions, sides)) is not None and following.function not in passed:
        step = following
        passed.add(step.function)
        way.append(WorkBelow(step.function, _own(step, sides)))
    largest = max(way, key=lambda below: below.cost.changed_by(instructions), default=None)
    return largest if largest is not None and largest.cost.changed_by(instructions) >= SMALL_SHARE else None


def _next(step: _Step, instructions: float, sides: Sides) -> _Step | None:
    """Return the callee in which most of the change goes on; none where it is in no callee."""
    old, new = sides.base.callees(step.function), sides.head.callees(step.function)
    costs = {
        callee: StatedFigure(
            old[callee].instructions * step.base_part if callee in old else 0.0,
            new[callee].instructions * step.head_part if callee in new else 0.0,
        )
        for callee in sorted(old.keys() | new.keys())
    }
    callee = max(costs, key=lambda callee: costs[callee].changed_by(instructions), default=None)
    if callee is None or costs[callee].changed_by(instructions) < SMALL_SHARE:
        return None
    return _Step(
        callee,
        _part(costs[callee].base, sides.base, callee),
        _part(costs[callee].head, sides.head, callee),
    )


def _part(instructions: float, graph: CostGraph, function: FunctionKey) -> float:
    whole = graph.inclusive(function)
    return min(1.0, instructions / whole) if whole else 0.0


def _own(step: _Step, sides: Sides) -> StatedFigure:
    """Return the instructions of the function itself, with all that is inlined there."""
    old, new = sides.base.nodes.get(step.function), sides.head.nodes.get(step.function)
    return StatedFigure(
        old.instructions * step.base_part if old is not None else 0.0,
        new.instructions * step.head_part if new is not None else 0.0,
    )
