"""The findings of a change: culprits first, then what only moved, then what could not be seen."""

from collections.abc import Mapping, Sequence

from zerolap.explain.blame import assign_blame
from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.explanation_limits import TOO_MANY_FUNCTIONS, is_too_large, limits_of
from zerolap.explain.rare_costs import explain_allocations, explain_calls, makes_system_calls, reads_clock
from zerolap.explain.roots import Root, find_roots, largest_roots
from zerolap.explain.sides import FEWEST_CALLS, ComparedFunction, Evidence, Sides
from zerolap.explain.stated_figures import LEAST_NUMBER
from zerolap.explain.statements import Statement, Story, story_of
from zerolap.explain.suspects import find_suspects
from zerolap.explain.text import PER_REQUEST, PER_TICK, Sentences
from zerolap.records import CallCounts, Caller, Carrier, Finding, Part, PerSide

ENOUGH_SHARE = 0.6
MOVED_SHARE = 0.1
MAX_CALLERS = 3
MAX_MOVED = 3
TICK = "instructions_per_tick"


def explain_change(evidence: Evidence) -> list[Finding]:
    """Return the findings on a case's change of the evidence's metric, most important first."""
    if evidence.metric == "syscalls_per_op":
        return explain_calls(evidence.base, evidence.head, makes_system_calls)
    if evidence.metric == "allocations_per_op":
        return explain_allocations(evidence.base, evidence.head)
    if evidence.metric == "clock_readings_per_op":
        return explain_calls(evidence.base, evidence.head, reads_clock)
    if is_too_large(evidence.base) or is_too_large(evidence.head):
        return [Finding(kind="limits", rank=1, text=TOO_MANY_FUNCTIONS)]
    sides = Sides.of(evidence)
    if sides.change == 0:
        return []
    blame = assign_blame(sides.base_contracted, sides.head_contracted, sides.exchanged)
    suspects = find_suspects(blame.terms, sides.functions, sides.change)
    roots = largest_roots(find_roots(suspects, sides.functions))
    stories = [story_of(root, sides.functions) for root in roots]
    is_of_ticks = evidence.metric == TICK
    sentences = Sentences(PER_TICK if is_of_ticks else PER_REQUEST)
    findings = [
        *_diffuse(roots, sides.change, sentences),
        *(_culprit(story, sentences) for story in stories),
        *_moved(blame.cancelled, sides.change, sentences),
        *(Finding(kind="limits", rank=0, text=limit) for limit in limits_of(evidence, sides.change, sentences)),
    ]
    # Figures of findings are of a request. What a tick takes is in the text alone.
    findings = [_without_figures(finding) for finding in findings] if is_of_ticks else findings
    return [finding.model_copy(update={"rank": rank}) for rank, finding in enumerate(findings, 1)]


def with_calls_of_inlined(findings: Sequence[Finding], base: CallCounts, head: CallCounts) -> list[Finding]:
    """Return the findings, those on inlined functions with their calls in the count build of each side."""
    return [_with_calls(finding, base, head) for finding in findings]


def _with_calls(finding: Finding, base: CallCounts, head: CallCounts) -> Finding:
    if finding.kind != "culprit" or finding.function is None or finding.file is None:
        return finding
    if finding.calls_per_op is not None or finding.carrier is not None:
        return finding
    before, after = (counts.calls_to(finding.function, finding.file) for counts in (base, head))
    if before is None and after is None:
        return finding
    calls = PerSide(base=before, head=after)
    text = f"{finding.text} {Sentences().called_without_inlining(calls)}"
    return finding.model_copy(update={"calls_without_inlining_per_op": calls, "text": text})


def _diffuse(roots: Sequence[Root], change: float, sentences: Sentences) -> list[Finding]:
    """Return the finding that the roots do not explain enough of the change."""
    explained = sum(root.share for root in roots)
    if explained >= ENOUGH_SHARE:
        return []
    return [Finding(kind="diffuse", rank=0, text=sentences.diffuse(explained, change))]


def _moved(cancelled: Mapping[FunctionKey, float], change: float, sentences: Sentences) -> list[Finding]:
    """Return the findings on replaced calls, with the cost that is the same before and after."""
    largest = sorted(cancelled.items(), key=lambda item: -item[1])[:MAX_MOVED]
    return [
        Finding(kind="moved", rank=0, function=name, file=file, text=sentences.moved(name, instructions))
        for (name, file), instructions in largest
        if instructions >= MOVED_SHARE * abs(change)
    ]


def _culprit(story: Story, sentences: Sentences) -> Finding:
    """Return the finding on a root; the own instructions of its function are those that the root's parts state."""
    function, carrier = story.function, story.carrier
    own = (part.own for part in story.root.suspects if part.function is function and part.own is not None)
    return Finding(
        kind="culprit",
        rank=0,
        function=function.name,
        file=function.file,
        lines=function.changed_lines or None,
        instructions_per_op=_figures(function.inclusive),
        self_instructions_per_op=_figures(next(own, function.own)),
        calls_per_op=_figures(function.calls),
        share_of_change=story.root.share,
        in_diff=function.is_in_changes,
        replaces=None if function.replaced is None else function.replaced[0],
        callers=_callers(story),
        carrier=None if carrier is None else _carrier(carrier),
        parts=[_part(statement, sentences) for statement in story.listed],
        text=sentences.culprit(story),
    )


def _callers(story: Story) -> list[Caller]:
    """Return the callers of a root's function that do call it, with how often."""
    return [
        Caller(function=caller.name, file=caller.key[1], calls_per_op=calls, in_diff=caller.body_changed)
        for caller in story.callers[:MAX_CALLERS]
        if max((calls := story.function.callers[caller.key].calls).base or 0.0, calls.head or 0.0) >= FEWEST_CALLS
    ]


def _carrier(function: ComparedFunction) -> Carrier:
    name, file = function.key
    return Carrier(function=name, file=file, calls_per_op=function.calls, instructions_per_op=function.inclusive)


def _part(statement: Statement, sentences: Sentences) -> Part:
    suspect = statement.suspect
    return Part(
        function=suspect.function.name,
        file=suspect.function.file,
        instructions_changed_per_op=suspect.instructions,
        share_of_change=suspect.share,
        calls_per_op=_figures(suspect.function.calls),
        text=sentences.part(statement),
    )


def _figures(values: PerSide | None) -> PerSide | None:
    """Return the values of both sides, what is too little to be written as none."""
    if values is None:
        return None
    base, head = (
        0.0 if value is not None and abs(value) < LEAST_NUMBER else value for value in (values.base, values.head)
    )
    return PerSide(base=base, head=head)


def _without_figures(finding: Finding) -> Finding:
    figures = ("instructions_per_op", "self_instructions_per_op", "calls_per_op", "carrier")
    parts = [part.model_copy(update={"calls_per_op": None}) for part in finding.parts]
    return finding.model_copy(update=dict.fromkeys(figures) | {"callers": [], "parts": parts})
