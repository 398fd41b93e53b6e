"""The findings of a change: culprits first, then what only moved, then what could not be seen."""

from collections.abc import Sequence

from zerolap.explain import text
from zerolap.explain.blame import Blame, assign_blame
from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.rare_costs import explain_calls, makes_system_calls, reads_clock
from zerolap.explain.sides import Evidence, Sides
from zerolap.explain.suspects import Suspect, find_suspects
from zerolap.records import Caller, CallGraph, Carrier, Finding, PerSide

ENOUGH_SHARE = 0.6
LISTED_SHARE = 0.95
SMALLEST_SHARE = 0.02
SMALLEST_OPPOSED = 0.1
"""Share of the change from which an opposite one is listed: a compiler may cause less by arranging code otherwise."""
MOVED_SHARE = 0.1
MAX_CULPRITS = 8
MAX_CALLERS = 3


def explain_change(evidence: Evidence) -> list[Finding]:
    """Return the findings on a case's change of the evidence's metric, most important first."""
    if evidence.metric == "syscalls_per_op":
        return explain_calls(evidence.base, evidence.head, makes_system_calls)
    if evidence.metric == "allocations_per_op":
        return explain_calls(evidence.base, evidence.head, CallGraph.is_allocation)
    if evidence.metric == "clock_readings_per_op":
        return explain_calls(evidence.base, evidence.head, reads_clock)
    if evidence.metric == "instructions_per_tick":
        return [Finding(kind="limits", rank=1, text=text.IN_TIMERS)]
    return _explain_instructions(evidence)


def _explain_instructions(evidence: Evidence) -> list[Finding]:
    sides = Sides.of(evidence)
    total = sides.head.total() - sides.base.total()
    if total == 0:
        return []
    blame = assign_blame(sides.base_contracted, sides.head_contracted, sides.exchanged)
    listed = _listed(find_suspects(blame.terms, sides, total))
    findings = [_culprit(suspect, sides, rank) for rank, suspect in enumerate(listed, 1)]
    explained = sum(suspect.share for suspect in listed)
    if explained < ENOUGH_SHARE:
        findings.insert(0, Finding(kind="diffuse", rank=0, text=text.diffuse(explained, total)))
    findings += _moved(blame, total, len(findings))
    return findings + _limits(evidence, len(findings))


def _listed(suspects: Sequence[Suspect]) -> list[Suspect]:
    """Return those that make up nearly all of the change, and those that act against it."""
    whole = sum(suspect.share for suspect in suspects if suspect.share > 0)
    listed: list[Suspect] = []
    explained = 0.0
    for suspect in suspects:
        smallest = SMALLEST_SHARE if suspect.share > 0 else SMALLEST_OPPOSED
        is_rest = suspect.share > 0 and explained >= LISTED_SHARE * whole
        if abs(suspect.share) >= smallest and not is_rest:
            listed.append(suspect)
            explained += suspect.share
    return listed[:MAX_CULPRITS]


def _culprit(suspect: Suspect, sides: Sides, rank: int) -> Finding:
    key = suspect.function
    callers = _callers(suspect, sides)
    return Finding(
        kind="culprit",
        rank=rank,
        function=key[0],
        file=_named(key, sides).file,
        lines=sides.changed.lines_in(key, sides.head) or None,
        instructions_per_op=sides.inclusive(key),
        self_instructions_per_op=sides.body(key),
        calls_per_op=sides.calls(key),
        share_of_change=suspect.share,
        in_diff=sides.is_in_changes(key),
        carrier=_carrier(suspect, sides),
        callers=[
            Caller(
                function=caller[0],
                file=caller[1],
                calls_per_op=sides.edge_calls(caller, key),
                in_diff=sides.body_changed(caller),
            )
            for caller in callers[:MAX_CALLERS]
        ],
        text=_text(suspect, callers, sides),
    )


def _callers(suspect: Suspect, sides: Sides) -> list[FunctionKey]:
    """Return who calls the function more or less often than before; else into which it is inlined, or who calls it."""
    key = suspect.function
    blamed = list(dict.fromkeys(term.caller for term in suspect.largest if term.callee == key))
    if blamed:
        return blamed
    holders = sides.holders(key)
    if holders:
        return holders
    graph = sides.head_contracted if key in sides.head.nodes else sides.base_contracted
    edges = graph.callers(key)
    return sorted(edges, key=lambda caller: (-edges[caller].instructions, caller))[:1]


def _carrier(suspect: Suspect, sides: Sides) -> Carrier | None:
    key = suspect.dearer
    if key is None:
        return None
    return Carrier(
        function=key[0], file=key[1], calls_per_op=sides.calls(key), instructions_per_op=sides.inclusive(key)
    )


def _text(suspect: Suspect, callers: Sequence[FunctionKey], sides: Sides) -> str:
    effect = text.Effect(suspect.instructions, suspect.share)
    function = _named(suspect.function, sides)
    if suspect.dearer is not None:
        return text.dearer(function, _named(suspect.dearer, sides), _each_call(suspect.dearer, sides), effect)
    if not suspect.is_own:
        instead = next((term.instead_of for term in suspect.largest if term.instead_of is not None), None)
        return text.called(
            [_named(caller, sides) for caller in callers],
            function,
            _sum([sides.edge_calls(caller, suspect.function) for caller in callers]),
            sorted(set().union(*(sides.through(caller, suspect.function) for caller in callers))),
            None if instead is None else _named(instead, sides),
            effect,
        )
    parts = {term.owner for term in suspect.terms if term.owner is not None} - {suspect.function}
    held = [sides.inlined_in(suspect.function, part) for part in parts]
    holders = [name for name, _ in sides.holders(suspect.function)]
    return text.own(function, _sum([sides.body(suspect.function), *held]), holders, effect)


def _named(key: FunctionKey, sides: Sides) -> text.NamedFunction:
    node = sides.head.nodes.get(key) or sides.base.nodes.get(key)
    return text.NamedFunction(key[0], key[1] if node is None or node.has_file else None, sides.body_changed(key))


def _each_call(key: FunctionKey, sides: Sides) -> PerSide:
    """Return what a call of the function costs with all that it calls."""
    cost, calls = sides.inclusive(key), sides.calls(key) or PerSide(base=None, head=None)
    return PerSide(base=(cost.base or 0.0) / (calls.base or 1.0), head=(cost.head or 0.0) / (calls.head or 1.0))


def _sum(values: Sequence[PerSide]) -> PerSide:
    return PerSide(base=sum(value.base or 0.0 for value in values), head=sum(value.head or 0.0 for value in values))


def _moved(blame: Blame, total: float, count: int) -> list[Finding]:
    """Return the finding on replaced calls, with the cost that is the same before and after."""
    findings: list[Finding] = []
    for key, instructions in sorted(blame.cancelled.items(), key=lambda one: -one[1]):
        if instructions < MOVED_SHARE * abs(total):
            break
        findings.append(
            Finding(
                kind="moved",
                rank=count + len(findings) + 1,
                function=key[0],
                file=key[1],
                text=text.moved(key[0], instructions),
            )
        )
    return findings[:MAX_CALLERS]


def _limits(evidence: Evidence, count: int) -> list[Finding]:
    """Return what these builds or sources cannot show."""
    notes = []
    sides = [
        side for side, stripped in (("base", evidence.base_stripped), ("head", evidence.head_stripped)) if stripped
    ]
    if sides:
        notes.append(text.stripped(sides))
    elif not evidence.has_lines:
        notes.append(text.no_debug_information())
    if evidence.changes is None:
        notes.append(text.no_changes())
    return [Finding(kind="limits", rank=count + index, text=note) for index, note in enumerate(notes, 1)]
