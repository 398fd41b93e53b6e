"""What the finding on a root states: the parts that its sentence names, and what shows each of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.explain.changed_lines import ChangedCode
from zerolap.explain.roots import LEADING_SHARE, SMALLEST_SHARE, Root
from zerolap.explain.sides import ComparedFunction, Functions
from zerolap.explain.stated_figures import A_CALL, StatedFigure
from zerolap.explain.suspects import Suspect
from zerolap.records import PerSide

SMALLEST_REST = 0.01
"""What a finding states may differ from the whole root by this share without a word about it."""
REPEATED_SHARE = 0.1
"""From this share of a change on, it is reported to be steps that a processor does not execute each by itself."""
STATED_SHARE = 0.2
"""Further parts with this share of a root are stated in its sentence."""
MAX_STATED = 2
MAX_PARTS = 8
SMALL_SHARE = 0.2
"""A function whose own instructions changed by less of the change than this is not where the work is."""


@dataclass(frozen=True)
class WorkBelow:
    """A function below another, and its own instructions per request in the calls of that."""

    function: ComparedFunction
    cost: StatedFigure


@dataclass(frozen=True)
class Statement:
    """A suspect with what its sentence states beside the figure that shows it.

    Of a function's own work that is the changed `code`. Of calls, `through` names the functions in between,
    `exchanged_cost` is what the former and the new function cost a call, and `below` is where the work is.
    """

    suspect: Suspect
    repeated_steps: float
    code: ChangedCode | None = None
    through: Sequence[str] = ()
    exchanged_cost: StatedFigure | None = None
    below: WorkBelow | None = None


@dataclass(frozen=True)
class Story:
    """What is stated of a root, with the parts that are listed below its sentence.

    `stated` are the parts in the sentence itself; where `is_of_leading`, that is the leading part alone, and it is also
    what the finding is on. No parts are stated of a function that carries out the command in place of `former`, nor of
    one of a library whose calls cost more or less, which is `same_code`.
    """

    root: Root
    function: ComparedFunction
    callers: Sequence[ComparedFunction]
    listed: Sequence[Statement]
    repeated_steps: float
    stated: Sequence[Statement] = ()
    former: ComparedFunction | None = None
    below: WorkBelow | None = None
    same_code: StatedFigure | None = None
    is_of_leading: bool = False

    @property
    def carrier(self) -> ComparedFunction | None:
        """The unchanged function that carries the cost, where the finding is on a changed caller of it."""
        return self.root.leading.dearer if self.is_of_leading else None

    @property
    def left_out(self) -> float:
        """What the root comes to beyond its listed parts; nothing where none are listed."""
        listed = sum(statement.suspect.instructions for statement in self.listed)
        return self.root.instructions - listed if self.listed else 0.0

    @property
    def is_whole(self) -> bool:
        """Whether what is stated of the root comes to all of it, as far as a reader would see."""
        stated = sum(statement.suspect.share for statement in self.stated)
        return not self.stated or abs(stated / self.root.share - 1.0) <= SMALLEST_REST


def story_of(root: Root, functions: Functions) -> Story:
    """Return what is stated of a root: of its leading part where that is nearly all, else of the root's function."""
    leading, function = root.leading, root.function
    parts = [suspect for suspect in root.suspects if abs(suspect.share) >= SMALLEST_SHARE]
    listed = [statement_of(suspect, functions) for suspect in (parts[:MAX_PARTS] if len(parts) > 1 else [])]
    steps = _repeated_steps(root.suspects)
    if function is None or _is_stated_by(leading, root):
        stated = [statement_of(leading, functions)]
        return Story(root, leading.function, leading.callers, listed, steps, stated, is_of_leading=True)
    callers = [functions[caller] for caller in function.usual_callers]
    if function.replaced is not None:
        below = _work_below(function, root.instructions, functions)
        return Story(root, function, callers, listed, steps, former=functions[function.replaced], below=below)
    each_call, cost = StatedFigure.of(function.each_call, A_CALL), StatedFigure.of(function.inclusive)
    is_within = abs(root.instructions) <= max(cost.base, cost.head)
    if function.is_of_library and is_within and each_call.agrees_with(root.instructions):
        return Story(root, function, callers, listed, steps, same_code=each_call)
    further = [part for part in parts if part is not leading and part.share / root.share >= STATED_SHARE]
    stated = [statement_of(suspect, functions) for suspect in [leading, *further][:MAX_STATED]]
    return Story(root, function, callers, listed, steps, stated)


def _is_stated_by(leading: Suspect, root: Root) -> bool:
    """Whether the sentence on the leading part states nearly all that there is to the root."""
    if root.function is None or root.function.replaced is not None or root.function.is_of_library:
        return False
    return abs(leading.share) >= LEADING_SHARE * sum(abs(suspect.share) for suspect in root.suspects)


def statement_of(suspect: Suspect, functions: Functions) -> Statement:
    """Return what is stated of a suspect."""
    steps, function, instructions = _repeated_steps([suspect]), suspect.function, suspect.instructions
    if suspect.dearer is not None:
        return Statement(suspect, steps, below=_work_below(suspect.dearer, instructions, functions))
    if suspect.is_own:
        return Statement(suspect, steps, code=function.changed_code(is_more=instructions > 0))
    through = sorted(set().union(*(function.callers[caller.key].through for caller in suspect.callers)))
    below = None if function.is_called_on_both else _work_below(function, instructions, functions)
    return Statement(suspect, steps, through=through, exchanged_cost=_exchanged_cost(suspect), below=below)


def _exchanged_cost(suspect: Suspect) -> StatedFigure | None:
    """Return what both functions of an exchanged call cost a call, where that is the reason."""
    if suspect.instead_of is None:
        return None
    functions = suspect.instead_of, suspect.function
    before, after = functions if suspect.stated.is_more else functions[::-1]
    old, new = before.each_call.base, after.each_call.head
    each_call = StatedFigure.of(PerSide(base=old, head=new), A_CALL)
    return each_call if old is not None and new is not None and each_call.agrees_with(suspect.instructions) else None


def _repeated_steps(suspects: Sequence[Suspect]) -> float:
    """Return the steps of repeated stores and copies in the functions that work more or less themselves."""
    functions = {suspect.function for suspect in suspects if suspect.own is not None}
    functions |= {
        function
        for suspect in suspects
        if suspect.own is None and not (function := suspect.dearer or suspect.function).is_called_on_both
    }
    instructions = sum(suspect.instructions for suspect in suspects)
    steps = sum(function.repeated_steps for function in functions)
    return steps if steps * instructions > 0 and abs(steps) >= REPEATED_SHARE * abs(instructions) else 0.0


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
        return StatedFigure((cost.base or 0.0) * self.base_part, (cost.head or 0.0) * self.head_part)


def _work_below(function: ComparedFunction, instructions: float, functions: Functions) -> WorkBelow | None:
    """Return where the work of a change by so many instructions is, if not in the function itself.

    The way down follows the calls whose cost changed most, to the function whose own instructions changed most on it.
    """
    step = _Step(function, 1.0, 1.0)
    if step.own.changed_by(instructions) >= SMALL_SHARE:
        return None
    passed, way = {function}, []
    while (following := _next_step(step, instructions, functions)) is not None and following.function not in passed:
        step = following
        passed.add(step.function)
        way.append(WorkBelow(step.function, step.own))
    largest = max(way, key=lambda below: below.cost.changed_by(instructions), default=None)
    return largest if largest is not None and largest.cost.changed_by(instructions) >= SMALL_SHARE else None


def _next_step(step: _Step, instructions: float, functions: Functions) -> _Step | None:
    """Return the callee in which most of the change goes on; none where it is in no callee."""
    costs = {callee: step.part_of(cost) for callee, cost in step.function.callees.items()}
    callee = max(costs, key=lambda callee: costs[callee].changed_by(instructions), default=None)
    if callee is None or costs[callee].changed_by(instructions) < SMALL_SHARE:
        return None
    whole = functions[callee].of_calls
    return _Step(
        functions[callee],
        _part_of_calls(costs[callee].base, whole.base),
        _part_of_calls(costs[callee].head, whole.head),
    )


def _part_of_calls(instructions: float, whole: float | None) -> float:
    return min(1.0, instructions / whole) if whole else 0.0
