"""Where the work is below a function that is named for calling it: the descendant whose own instructions they are."""

from dataclasses import dataclass

from zerolap.explain.sides import ComparedFunction, Functions
from zerolap.explain.stated_figures import StatedFigure
from zerolap.records import PerSide

SMALL_SHARE = 0.2
"""A function whose own instructions changed by less of the change than this is not where the work is."""


@dataclass(frozen=True)
class WorkBelow:
    """A function below another, and its own instructions per request in the calls of that."""

    function: ComparedFunction
    cost: StatedFigure


@dataclass(frozen=True)
class _Step:
    """A function on the way down, with the part of its calls on each side that come along that way."""

    function: ComparedFunction
    base_part: float
    head_part: float

    @property
    def own(self) -> StatedFigure:
        """The instructions of the function itself on this way, with all that is inlined there."""
        return self.part_of(self.function.with_inlined)

    def part_of(self, cost: PerSide) -> StatedFigure:
        """Return the part of a cost of the function that is on this way."""
        return StatedFigure((cost.base or 0.0) * self.base_part, (cost.head or 0.0) * self.head_part)


def work_below(function: ComparedFunction, instructions: float, functions: Functions) -> WorkBelow | None:
    """Return where the work of a change by so many instructions is, if not in the function itself.

    The way down follows the calls whose cost changed most, to the function whose own instructions changed most on it.
    """
    step = _Step(function, 1.0, 1.0)
    if step.own.changed_by(instructions) >= SMALL_SHARE:
        return None
    passed, way = {function}, []
    while (following := _next(step, instructions, functions)) is not None and following.function not in passed:
        step = following
        passed.add(step.function)
        way.append(WorkBelow(step.function, step.own))
    largest = max(way, key=lambda below: below.cost.changed_by(instructions), default=None)
    return largest if largest is not None and largest.cost.changed_by(instructions) >= SMALL_SHARE else None


def _next(step: _Step, instructions: float, functions: Functions) -> _Step | None:
    """Return the callee in which most of the change goes on; none where it is in no callee."""
    costs = {callee: step.part_of(cost) for callee, cost in step.function.callees.items()}
    callee = max(costs, key=lambda callee: costs[callee].changed_by(instructions), default=None)
    if callee is None or costs[callee].changed_by(instructions) < SMALL_SHARE:
        return None
    whole = functions[callee].of_calls
    return _Step(functions[callee], _part(costs[callee].base, whole.base), _part(costs[callee].head, whole.head))


def _part(instructions: float, whole: float | None) -> float:
    return min(1.0, instructions / whole) if whole else 0.0
