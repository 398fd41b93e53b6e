"""The findings of a change: culprits first, then what only moved, then what could not be seen."""

from collections.abc import Sequence

from zerolap.explain import text
from zerolap.explain.blame import Blame, assign_blame
from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.rare_costs import explain_allocations, explain_calls, makes_system_calls, reads_clock
from zerolap.explain.roots import LEADING_SHARE, Root, find_roots
from zerolap.explain.sides import FEWEST_CALLS, Evidence, Sides
from zerolap.explain.stated_figures import A_CALL, LEAST_NUMBER, StatedFigure
from zerolap.explain.suspects import Suspect, find_suspects
from zerolap.explain.work_below import work_below
from zerolap.records import Caller, CallGraph, Carrier, Finding, Part, PerSide, UnknownChanges

ENOUGH_SHARE = 0.6
LISTED_SHARE = 0.95
SMALLEST_SHARE = 0.02
SMALLEST_OPPOSED = 0.1
"""Share of the change from which an opposite part is listed: a compiler may cause less by arranging code otherwise."""
SMALLEST_REST = 0.01
"""Of a root, by which it differs from what is stated of it at most without a word."""
MOVED_SHARE = 0.1
REPEATED_SHARE = 0.1
"""Of a change: from so much on it is reported to be steps that a processor does not execute each by itself."""
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
        return explain_allocations(evidence.base, evidence.head)
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
    return findings + _limits(evidence, total, len(findings))


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
    listed = parts[:MAX_PARTS] if len(parts) > 1 else []
    effect = text.Effect(root.instructions, root.share, _left_out(root, listed), _repeated_steps(root.suspects, sides))
    if root.function is None or _is_stated_by(leading, root, sides):
        sentence = text.sentence(_clause(leading, sides), effect, is_whole=_is_whole(root, [leading]))
        finding = _finding(leading.function, leading.callers, root, sides)
        finding = finding.model_copy(update={"carrier": _carrier(leading, sides)})
    else:
        finding = _finding(root.function, sides.usual_callers(root.function), root, sides)
        sentence = _story(root.function, root, parts, effect, sides)
    stated = {"text": sentence, "parts": [_part(suspect, sides) for suspect in listed]}
    return finding.model_copy(update={"rank": rank, "share_of_change": root.share} | stated)


def _repeated_steps(suspects: Sequence[Suspect], sides: Sides) -> float:
    """Return the steps of repeated stores and copies in the functions that work more or less themselves."""
    functions = {suspect.function for suspect in suspects if suspect.own is not None}
    functions |= {
        function
        for suspect in suspects
        if suspect.own is None and not sides.is_called_on_both(function := suspect.dearer or suspect.function)
    }
    instructions = sum(suspect.instructions for suspect in suspects)
    steps = sum(sides.repeated_steps[name].change for name, _ in functions if name in sides.repeated_steps)
    return steps if steps * instructions > 0 and abs(steps) >= REPEATED_SHARE * abs(instructions) else 0.0


def _left_out(root: Root, listed: Sequence[Suspect]) -> float:
    """Return what a root comes to beyond its listed parts; nothing where none are listed."""
    return root.instructions - sum(suspect.instructions for suspect in listed) if listed else 0.0


def _is_whole(root: Root, stated: Sequence[Suspect]) -> bool:
    """Whether what is stated of a root comes to all of it, as far as a reader would see."""
    return abs(sum(suspect.share for suspect in stated) / root.share - 1.0) <= SMALLEST_REST


def _is_stated_by(leading: Suspect, root: Root, sides: Sides) -> bool:
    """Whether the sentence on the leading part states nearly all that there is to the root."""
    if root.function is None or root.function in sides.handlers or sides.is_of_library(root.function):
        return False
    return abs(leading.share) >= LEADING_SHARE * sum(abs(suspect.share) for suspect in root.suspects)


def _story(key: FunctionKey, root: Root, parts: Sequence[Suspect], effect: text.Effect, sides: Sides) -> str:
    """Return the sentence on a root: what took its place or got other data, else its largest parts."""
    function = _named(key, sides)
    if key in sides.handlers:
        clause = text.handler(function, _named(sides.handlers[key], sides))
        return text.sentence(_with_work_below(clause, key, root.instructions, sides), effect)
    each_call, cost = StatedFigure.of(sides.each_call(key), A_CALL), StatedFigure.of(sides.inclusive(key))
    is_within = abs(root.instructions) <= max(cost.base, cost.head)
    if sides.is_of_library(key) and is_within and each_call.agrees_with(root.instructions):
        clause = text.same_code(function, each_call, sides.calls(key))
        return text.sentence(clause, effect)
    further = [part for part in parts if part is not root.leading and part.share / root.share >= STATED_SHARE]
    stated = [root.leading, *further][:MAX_STATED]
    clauses = [_clause(suspect, sides) for suspect in stated]
    return text.below(function, clauses, effect, is_whole=_is_whole(root, stated))


def _part(suspect: Suspect, sides: Sides) -> Part:
    key = suspect.function
    effect = text.Effect(suspect.instructions, suspect.share, repeated_steps=_repeated_steps([suspect], sides))
    return Part(
        function=key[0],
        file=_named(key, sides).file,
        instructions_changed_per_op=suspect.instructions,
        share_of_change=suspect.share,
        calls_per_op=_figures(sides.calls(key)),
        text=text.sentence(_clause(suspect, sides), effect),
    )


def _finding(key: FunctionKey, callers: Sequence[FunctionKey], root: Root, sides: Sides) -> Finding:
    """Return what is known of a function, with no text; its own instructions are those that the root's parts state."""
    own = next((part.own for part in root.suspects if part.function == key and part.own is not None), sides.own(key))
    return Finding(
        kind="culprit",
        rank=0,
        function=key[0],
        file=_named(key, sides).file,
        lines=sides.changed.lines_in(key, sides.head) or None,
        instructions_per_op=_figures(sides.inclusive(key)),
        self_instructions_per_op=_figures(own),
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
        0.0 if value is not None and abs(value) < LEAST_NUMBER else value for value in (values.base, values.head)
    )
    return PerSide(base=base, head=head)


def _with_costs(clause: text.Clause, suspect: Suspect, instead: FunctionKey, sides: Sides) -> text.Clause:
    """Return the clause on an exchanged call with what both functions cost a call, where that is the reason."""
    before, after = (instead, suspect.function) if suspect.stated.is_more else (suspect.function, instead)
    old, new = sides.each_call(before).base, sides.each_call(after).head
    each_call = StatedFigure.of(PerSide(base=old, head=new), A_CALL)
    is_known = old is not None and new is not None and each_call.agrees_with(suspect.instructions)
    return text.at_cost_of(clause, each_call) if is_known else clause


def _with_work_below(clause: text.Clause, key: FunctionKey, instructions: float, sides: Sides) -> text.Clause:
    below = work_below(key, instructions, sides)
    return clause if below is None else text.below_which(clause, _named(below.function, sides), below.cost)


def _clause(suspect: Suspect, sides: Sides) -> text.Clause:
    function = _named(suspect.function, sides)
    if suspect.dearer is not None:
        clause = text.dearer(function, _named(suspect.dearer, sides), suspect.stated)
        return _with_work_below(clause, suspect.dearer, suspect.instructions, sides)
    if not suspect.is_own:
        callers, instead = suspect.callers, suspect.instead_of
        clause = text.called(
            [_named(caller, sides) for caller in callers],
            function,
            suspect.stated,
            sorted(set().union(*(sides.through(caller, suspect.function) for caller in callers))),
            None if instead is None else _named(instead, sides),
        )
        if instead is not None:
            clause = _with_costs(clause, suspect, instead, sides)
        if sides.is_called_on_both(suspect.function):
            return clause
        return _with_work_below(clause, suspect.function, suspect.instructions, sides)
    holders = [name for name, _ in sides.holders(suspect.function)]
    code = sides.changed_code(suspect.function, is_more=suspect.instructions > 0)
    return text.own(function, suspect.stated, sides.calls(suspect.function), holders, code)


def _named(key: FunctionKey, sides: Sides) -> text.NamedFunction:
    node = sides.head.nodes.get(key) or sides.base.nodes.get(key)
    return text.NamedFunction(key[0], key[1] if node is None or node.has_file else None, sides.body_changed(key))


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


def _limits(evidence: Evidence, total: float, count: int) -> list[Finding]:
    """Return what these builds or sources cannot show, and what counts overstate."""
    notes = []
    steps = evidence.repeated_steps
    changed = {name: figure for name, figure in steps.items() if figure.changed_by(total) >= SMALLEST_SHARE}
    if sum(figure.changed_by(total) for figure in steps.values()) >= REPEATED_SHARE:
        # Many functions with a small part each are a large part together.
        named = changed or steps
        functions = sorted(named, key=lambda name: -abs(named[name].change))
        notes.append(text.repeated_steps(StatedFigure.sum_of(named.values()), functions))
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
