"""The findings of a change: culprits first, then what only moved, then what could not be seen."""

from collections.abc import Sequence

from zerolap.explain import text
from zerolap.explain.blame import Blame, assign_blame
from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.rare_costs import explain_calls, makes_system_calls, reads_clock
from zerolap.explain.roots import Root, find_roots
from zerolap.explain.sides import FEWEST_CALLS, Evidence, Sides
from zerolap.explain.suspects import Suspect, find_suspects
from zerolap.records import Caller, CallGraph, Carrier, Finding, Part, PerSide, UnknownChanges

ENOUGH_SHARE = 0.6
LISTED_SHARE = 0.95
SMALLEST_SHARE = 0.02
SMALLEST_OPPOSED = 0.1
"""Share of the change from which an opposite part is listed: a compiler may cause less by arranging code otherwise."""
MOVED_SHARE = 0.1
LEADING_SHARE = 0.75
"""Of all that a root consists of, without regard to sign: with so much in one part, the finding is on that part. In the
clearest of cases, a call made twice, what it is called with and what takes the result change too."""
STATED_SHARE = 0.2
"""Part of a root from which a part is stated in its sentence."""
MAX_STATED = 2
MAX_CULPRITS = 8
MOST_FUNCTIONS, MOST_CALLS = 3_000, 10_000
"""Of a side: what of so many changed is found within minutes. Requests execute some hundreds of functions."""
MAX_CALLERS = 3
MAX_PARTS = 8


def explain_change(evidence: Evidence) -> list[Finding]:
    """Return the findings on a case's change of the evidence's metric, most important first."""
    if evidence.metric == "syscalls_per_op":
        return explain_calls(evidence.base, evidence.head, makes_system_calls)
    if evidence.metric == "allocations_per_op":
        return explain_calls(evidence.base, evidence.head, CallGraph.is_allocation)
    if evidence.metric == "clock_readings_per_op":
        return explain_calls(evidence.base, evidence.head, reads_clock)
    findings = _explain_instructions(evidence)
    return [_of_ticks(finding) for finding in findings] if evidence.metric == "instructions_per_tick" else findings


def _explain_instructions(evidence: Evidence) -> list[Finding]:
    if _is_too_large(evidence.base) or _is_too_large(evidence.head):
        return [Finding(kind="limits", rank=1, text=text.TOO_MANY_FUNCTIONS)]
    sides = Sides.of(evidence)
    total = sides.head.total() - sides.base.total()
    if total == 0:
        return []
    blame = assign_blame(sides.base_contracted, sides.head_contracted, sides.exchanged)
    listed = _listed(find_roots(find_suspects(blame.terms, sides, total), sides))
    findings = [_culprit(root, sides, rank) for rank, root in enumerate(listed, 1)]
    explained = sum(root.share for root in listed)
    if explained < ENOUGH_SHARE:
        findings.insert(0, Finding(kind="diffuse", rank=0, text=text.diffuse(explained, total)))
    findings += _moved(blame, total, len(findings))
    return findings + _limits(evidence, len(findings))


def _is_too_large(graph: CallGraph) -> bool:
    return len(graph.functions) > MOST_FUNCTIONS or len(graph.edges) > MOST_CALLS


def _of_ticks(finding: Finding) -> Finding:
    """Return a finding on what the server's timers execute: its figures, which are of a tick, are in its text alone."""
    per_request = {"instructions_per_op", "self_instructions_per_op", "calls_per_op", "carrier"}
    parts = [part.model_copy(update={"calls_per_op": None, "text": text.of_ticks(part.text)}) for part in finding.parts]
    unknown: dict[str, object] = dict.fromkeys(per_request)
    stated = {"text": text.of_ticks(finding.text), "callers": [], "parts": parts}
    return finding.model_copy(update=unknown | stated)


def _listed(roots: Sequence[Root]) -> list[Root]:
    """Return those that make up nearly all of the change, and those that act against it."""
    whole = sum(root.share for root in roots if root.share > 0)
    listed: list[Root] = []
    explained = 0.0
    for root in roots:
        smallest = SMALLEST_SHARE if root.share > 0 else SMALLEST_OPPOSED
        is_rest = root.share > 0 and explained >= LISTED_SHARE * whole
        if abs(root.share) >= smallest and not is_rest:
            listed.append(root)
            explained += root.share
    return listed[:MAX_CULPRITS]


def _culprit(root: Root, sides: Sides, rank: int) -> Finding:
    """Return the finding on a root: on its leading part where that is nearly all, else on the root's function."""
    leading = root.leading
    parts = [suspect for suspect in root.suspects if abs(suspect.share) >= SMALLEST_SHARE]
    listed = [_part(suspect, sides) for suspect in parts[:MAX_PARTS]] if len(parts) > 1 else []
    if root.function is None or _is_stated_by(leading, root, sides):
        callers = _callers(leading, sides)
        sentence = text.sentence(_clause(leading, callers, sides), _effect(root), is_whole=not listed)
        finding = _finding(leading.function, callers, sides).model_copy(update={"carrier": _carrier(leading, sides)})
    else:
        callers = _usual_callers(root.function, sides)
        finding, sentence = _finding(root.function, callers, sides), _story(root.function, root, parts, sides)
    return finding.model_copy(update={"rank": rank, "share_of_change": root.share, "text": sentence, "parts": listed})


def _is_stated_by(leading: Suspect, root: Root, sides: Sides) -> bool:
    """Whether the sentence on the leading part states nearly all that there is to the root."""
    if root.function is None or root.function in sides.handlers or sides.is_of_library(root.function):
        return False
    return abs(leading.share) >= LEADING_SHARE * sum(abs(suspect.share) for suspect in root.suspects)


def _story(key: FunctionKey, root: Root, parts: Sequence[Suspect], sides: Sides) -> str:
    """Return the sentence on a root: what took its place or got other data, else its largest parts."""
    function, effect = _named(key, sides), _effect(root)
    if key in sides.handlers:
        return text.sentence(text.handler(function, _named(sides.handlers[key], sides)), effect)
    if sides.is_of_library(key):
        clause = text.same_code(function, _each_call(key, sides), sides.calls(key), more=effect.instructions > 0)
        return text.sentence(clause, effect)
    further = [part for part in parts if part is not root.leading and part.share / root.share >= STATED_SHARE]
    stated = [root.leading, *further][:MAX_STATED]
    clauses = [_clause(suspect, _callers(suspect, sides), sides) for suspect in stated]
    is_whole = abs(sum(suspect.share for suspect in stated) / root.share - 1.0) <= 1.0 - LISTED_SHARE
    return text.below(function, clauses, effect, is_whole=is_whole)


def _part(suspect: Suspect, sides: Sides) -> Part:
    key = suspect.function
    effect = text.Effect(suspect.instructions, suspect.share)
    return Part(
        function=key[0],
        file=_named(key, sides).file,
        instructions_changed_per_op=suspect.instructions,
        share_of_change=suspect.share,
        calls_per_op=_figures(sides.calls(key)),
        text=text.sentence(_clause(suspect, _callers(suspect, sides), sides), effect),
    )


def _finding(key: FunctionKey, callers: Sequence[FunctionKey], sides: Sides) -> Finding:
    """Return what is known of a function, with no text."""
    return Finding(
        kind="culprit",
        rank=0,
        function=key[0],
        file=_named(key, sides).file,
        lines=sides.changed.lines_in(key, sides.head) or None,
        instructions_per_op=_figures(sides.inclusive(key)),
        self_instructions_per_op=_figures(sides.body(key)),
        calls_per_op=_figures(sides.calls(key)),
        in_diff=sides.is_in_changes(key),
        replaces=sides.handlers[key][0] if key in sides.handlers else None,
        callers=[
            Caller(function=caller[0], file=caller[1], calls_per_op=calls, in_diff=sides.body_changed(caller))
            for caller in callers[:MAX_CALLERS]
            if max((calls := sides.edge_calls(caller, key)).base or 0.0, calls.head or 0.0) >= FEWEST_CALLS
        ],
        text="",
    )


def _callers(suspect: Suspect, sides: Sides) -> list[FunctionKey]:
    """Return who calls the function more or less often than before, or else who calls it."""
    key = suspect.function
    blamed = list(dict.fromkeys(term.caller for term in suspect.largest if term.callee == key))
    return blamed or _usual_callers(key, sides)


def _usual_callers(key: FunctionKey, sides: Sides) -> list[FunctionKey]:
    """Return into which functions it is inlined, or which calls it at the highest cost."""
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


def _figures(values: PerSide | None) -> PerSide | None:
    """Return the values of both sides, what is too little to be written as none."""
    if values is None:
        return None
    base, head = (
        0.0 if value is not None and abs(value) < text.LEAST_NUMBER else value for value in (values.base, values.head)
    )
    return PerSide(base=base, head=head)


def _effect(root: Root) -> text.Effect:
    return text.Effect(root.instructions, root.share)


def _clause(suspect: Suspect, callers: Sequence[FunctionKey], sides: Sides) -> text.Clause:
    more = suspect.instructions > 0
    function = _named(suspect.function, sides)
    if suspect.dearer is not None:
        carrier = _named(suspect.dearer, sides)
        return text.dearer(function, carrier, _each_call(suspect.dearer, sides), more=more)
    if not suspect.is_own:
        instead = next((term.instead_of for term in suspect.largest if term.instead_of is not None), None)
        return text.called(
            [_named(caller, sides) for caller in callers],
            function,
            _sum([sides.edge_calls(caller, suspect.function) for caller in callers]),
            sorted(set().union(*(sides.through(caller, suspect.function) for caller in callers))),
            None if instead is None else _named(instead, sides),
        )
    parts = {term.owner for term in suspect.terms if term.owner is not None} - {suspect.function}
    held = [sides.inlined_in(suspect.function, part) for part in parts]
    holders = [name for name, _ in sides.holders(suspect.function)]
    return text.own(function, _sum([sides.body(suspect.function), *held]), holders, more=more)


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
    for key, instructions in sorted(blame.cancelled.items(), key=lambda item: -item[1]):
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
    if isinstance(evidence.changes, UnknownChanges):
        notes.append(text.unknown_changes(evidence.changes.reason))
    elif evidence.changes.left_out:
        notes.append(text.changes_left_out(evidence.changes.left_out))
    return [Finding(kind="limits", rank=count + index, text=note) for index, note in enumerate(notes, 1)]
