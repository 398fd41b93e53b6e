"""Finds the function behind each part of a change: terms of `blame`, gathered by the function a reviewer would name.

The cause of a part is a function that works more itself or makes more calls. If its lines are unchanged but those of a
caller are not, the caller is the cause: it passes a longer list or a larger buffer.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from zerolap.explain.blame import NEGLIGIBLE, SAME_NUMBER, Term, is_same_number
from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.sides import ComparedFunction, Functions
from zerolap.explain.stated_figures import A_CALL, EACH_TIME, StatedFigure, per_call, sum_of_sides
from zerolap.records import PerSide

NEAREST_CALLERS = 3
"""How many calls up a changed caller is at most: functions farther up call everything."""
MOSTLY = 0.5
"""A caller is the reason if more than this part of the added cost comes in through its calls."""


@dataclass(frozen=True)
class Suspect:
    """A function that explains a part of the change: so many instructions per request, and their share of the change.

    `dearer` is the unchanged function that carries the cost, if `function` is a changed caller of it; `callers` call
    the function more or less often than before, or else call it. `stated` is the figure that shows it, `own` are the
    instructions of the function itself, if these are what changed, and `instead_of` is the function that was called in
    its place, or is now.
    """

    function: ComparedFunction
    dearer: ComparedFunction | None
    instructions: float
    share: float
    callers: Sequence[ComparedFunction]
    stated: StatedFigure
    own: PerSide | None = None
    instead_of: ComparedFunction | None = None

    @property
    def is_own(self) -> bool:
        """Whether it is the function's own instructions, rather than calls to it, that make up the most."""
        return self.own is not None

    @property
    def is_of_calls(self) -> bool:
        """Whether it is calls to the function that are made more or less often."""
        return self.own is None and self.dearer is None


@dataclass(frozen=True)
class _Group:
    """What terms are gathered by; `origin` is where they begin, of which `roots` are chosen."""

    origin: FunctionKey | None
    function: FunctionKey
    dearer: FunctionKey | None = None
    are_calls: bool = False


def find_suspects(terms: Sequence[Term], functions: Functions, total: float) -> dict[FunctionKey | None, list[Suspect]]:
    """Return who explains the change by `total`, by the function in which it begins.

    That is a function that the change touches, or a library's in which the same calls cost more or less; none for what
    begins in neither. What no figure of both sides shows is left out.
    """
    gathered = _without_moved_calls(_by_maker(terms, functions), functions)
    suspects: dict[FunctionKey | None, list[Suspect]] = {}
    for group, of_group in _grouped(gathered, functions).items():
        for origin, suspect in _suspects_of(group, of_group, functions, total):
            suspects.setdefault(origin, []).append(suspect)
    return suspects


def joint(suspects: Sequence[Suspect]) -> Suspect:
    """Return the calls of one function by several callers as one suspect; exchanged if all are with the same."""
    exchanged = {suspect.instead_of for suspect in suspects}
    callers = list(dict.fromkeys(caller for suspect in suspects for caller in suspect.callers))
    return replace(
        suspects[0],
        instructions=sum(suspect.instructions for suspect in suspects),
        share=sum(suspect.share for suspect in suspects),
        callers=callers,
        stated=StatedFigure.sum_of(suspect.stated for suspect in suspects),
        instead_of=exchanged.pop() if len(exchanged) == 1 else None,
    )


def _grouped(terms: Iterable[Term], functions: Functions, *, by_cause: bool = True) -> dict[_Group, list[Term]]:
    groups: dict[_Group, list[Term]] = {}
    for term in terms:
        groups.setdefault(_group(term, functions, by_cause=by_cause), []).append(term)
    return groups


def _suspects_of(
    group: _Group, terms: Sequence[Term], functions: Functions, total: float
) -> Iterator[tuple[FunctionKey | None, Suspect]]:
    """Return a group's suspects with their origins; without its cause where calls by that did not become dearer."""
    for part in _parted(group.function, terms, functions) if group.are_calls else [terms]:
        suspect = _suspect(group, part, functions, total)
        if suspect is not None:
            yield group.origin, suspect
        elif group.dearer is not None:
            for other, of_other in _grouped(part, functions, by_cause=False).items():
                yield from _suspects_of(other, of_other, functions, total)


def _suspect(group: _Group, terms: Sequence[Term], functions: Functions, total: float) -> Suspect | None:
    """Return the suspect of a group's terms; none where no figure agrees with what they come to."""
    function, dearer = group.function, group.dearer
    blamed = dict.fromkeys(term.caller for term in _by_size(terms) if term.callee == function)
    callers = list(blamed) or functions[function].usual_callers
    own = _own(function, terms, functions) if dearer is None and _by_size(terms)[0].callee is None else None
    instructions = sum(term.instructions for term in terms)
    figures = _figures(group, own, callers, functions)
    stated = next((figure for figure in figures if figure.agrees_with(instructions)), None)
    cost = own or functions[dearer or function].inclusive
    # No more can have been added or saved than all that it costs on either side.
    if stated is None or abs(instructions) > (1 + SAME_NUMBER) * max(cost.base or 0.0, cost.head or 0.0):
        return None
    instead = _instead(function, terms, callers, stated, functions) if own is None and dearer is None else None
    return Suspect(
        function=functions[function],
        dearer=None if dearer is None else functions[dearer],
        instructions=instructions,
        share=instructions / total,
        callers=[functions[caller] for caller in callers],
        stated=stated,
        own=own,
        instead_of=None if instead is None else functions[instead],
    )


def _instead(
    function: FunctionKey,
    terms: Sequence[Term],
    callers: Sequence[FunctionKey],
    stated: StatedFigure,
    functions: Functions,
) -> FunctionKey | None:
    """Return the function that a call was exchanged with: of another cost, or inlined, which only the diff shows."""
    exchanged = next((term.instead_of for term in _by_size(terms) if term.instead_of is not None), None)
    if exchanged is not None or len(callers) != 1 or (stated.base and stated.head):
        return exchanged
    return functions[callers[0]].in_place_of(function, is_lost=not stated.head)


def _figures(
    group: _Group, own: PerSide | None, callers: Sequence[FunctionKey], functions: Functions
) -> Iterator[StatedFigure]:
    """Return the figures that may state a group's terms, the best first."""
    if group.dearer is not None:
        yield StatedFigure.of(functions[group.dearer].callers[group.function].each, A_CALL)
        yield StatedFigure.of(functions[group.dearer].each_call, A_CALL)
        return
    if own is not None:
        yield StatedFigure.of(own)
        yield StatedFigure.of(per_call(own, functions[group.function].calls), A_CALL)
        return
    calls = sum_of_sides(functions[group.function].callers[caller].calls for caller in callers)
    yield StatedFigure.of(calls)
    if len(callers) == 1:
        yield StatedFigure.of(per_call(calls, functions[callers[0]].calls), EACH_TIME)


def _own(function: FunctionKey, terms: Sequence[Term], functions: Functions) -> PerSide:
    """Return the function's own instructions, with those of functions inlined into it that are among the terms."""
    parts = {term.owner for term in terms if term.owner is not None} - {function}
    costs = functions[function].inlined
    return sum_of_sides([functions[function].body, *(costs[part] for part in sorted(parts & costs.keys()))])


def _by_size(terms: Sequence[Term]) -> list[Term]:
    return sorted(terms, key=lambda term: -abs(term.instructions))


def _without_moved_calls(terms: Sequence[Term], functions: Functions) -> list[Term]:
    """Return the terms, with calls that only moved from some callers to others at the largest: what they come to."""
    by_callee: dict[FunctionKey, list[Term]] = {}
    for term in terms:
        if term.callee is not None and _is_called_as_often(term.callee, functions):
            by_callee.setdefault(term.callee, []).append(term)
    moved = {id(term) for of_callee in by_callee.values() for term in of_callee}
    kept = [term for term in terms if id(term) not in moved]
    for of_callee in by_callee.values():
        net = sum(term.instructions for term in of_callee)
        if abs(net) > NEGLIGIBLE:
            same_direction = [term for term in of_callee if term.instructions * net > 0]
            largest = max(same_direction, key=lambda term: (abs(term.instructions), term.caller))
            kept.append(replace(largest, instructions=net))
    return kept


def _is_called_as_often(function: FunctionKey, functions: Functions) -> bool:
    calls = functions[function].calls
    return calls is not None and is_same_number(calls.base or 0.0, calls.head or 0.0)


def _parted(function: FunctionKey, terms: Sequence[Term], functions: Functions) -> list[list[Term]]:
    """Return the calls that are made more often and those made less often apart, unless they only moved elsewhere."""
    if _is_called_as_often(function, functions):
        return [list(terms)]
    more = [term for term in terms if term.instructions > 0]
    less = [term for term in terms if term.instructions < 0]
    return [part for part in (more, less) if part]


def _by_maker(terms: Sequence[Term], functions: Functions) -> list[Term]:
    """Return the terms, with the functions responsible for the calls as callers."""
    return [
        term if term.callee is None else replace(term, caller=_maker(term.caller, term.callee, functions))
        for term in terms
    ]


def _maker(caller: FunctionKey, callee: FunctionKey, functions: Functions) -> FunctionKey:
    """Return the function inlined into the caller in whose lines the calls stand, or the caller if that was changed.

    A function that only one side executes does not make its calls more or less often.
    """
    makers = functions[callee].callers[caller].makers
    makers = {maker: calls for maker, calls in makers.items() if functions[maker].is_executed_on_both}
    largest = max(makers, key=lambda maker: (abs(makers[maker]), maker), default=caller)
    return largest if not functions[caller].body_changed or _is_itself_changed(largest, caller, functions) else caller


def _group(term: Term, functions: Functions, *, by_cause: bool) -> _Group:
    actor = term.caller
    if term.owner is not None and _is_itself_changed(term.owner, actor, functions):
        return _Group(term.owner, term.owner)
    carrier = term.callee or actor
    are_calls = term.callee is not None
    if functions[actor].is_touched:
        return _Group(actor, carrier, are_calls=are_calls)
    if functions[carrier].body_changed:
        return _Group(carrier, carrier, are_calls=are_calls)
    entered = library_entry(actor, functions)
    cause = _changed_caller(entered or actor, term.instructions > 0, functions) if by_cause else None
    if cause is not None:
        return _Group(cause, cause, entered or actor)
    if term.owner is not None:
        return _Group(None, term.owner)
    return _Group(entered, carrier, are_calls=are_calls)


def library_entry(function: FunctionKey, functions: Functions) -> FunctionKey | None:
    """Return through which function of a library it is mostly reached from the sources; none for theirs."""
    if not functions[function].is_of_library:
        return None
    passed = {function}
    while True:
        caller = functions[function].costliest_caller
        if caller is None or caller in passed or not functions[caller].is_of_library:
            return function
        passed.add(caller)
        function = caller


def _is_itself_changed(owner: FunctionKey, holder: FunctionKey, functions: Functions) -> bool:
    """Whether an inlined function changed, rather than the function that holds it.

    Compilers guess whose line an instruction is, and lines that move into a new function cost the same as before. So an
    inlined function counts as a part of its changed holder, unless its own definition was changed. A function that only
    one side executes did not change itself: its holder has it now, or no longer.
    """
    if not functions[holder].body_changed:
        return functions[owner].body_changed
    inlined = functions[owner]
    return inlined.body_changed and inlined.is_defined_on_both and inlined.is_executed_on_both


def _changed_caller(function: FunctionKey, dearer: bool, functions: Functions) -> FunctionKey | None:
    """Return the nearest changed function on the path of calls through which most of the added or saved cost came.

    A function that is not a direct caller is a cause only if its changed lines name the next function of the path.
    """
    seen, direct = {function}, function
    for _ in range(NEAREST_CALLERS):
        added = {
            caller: cost if dearer else -cost
            for caller, cost in functions[function].added_costs.items()
            if (cost > 0) == dearer and caller not in seen
        }
        whole = sum(added.values())
        changed = {
            caller: cost
            for caller, cost in added.items()
            if functions[caller].is_touched and (function == direct or function[0] in functions[caller].changed_names)
        }
        if sum(changed.values()) > MOSTLY * whole:
            return max(changed, key=lambda caller: (changed[caller], caller))
        function = max(added, key=lambda caller: (added[caller], caller), default=function)
        if function in seen or added[function] <= MOSTLY * whole:
            return None
        seen.add(function)
    return None
