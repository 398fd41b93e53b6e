"""The findings of a change: culprits first, then what only moved, then what could not be seen."""

from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.explain import text
from zerolap.explain.attribution import SourceFunction, SourceFunctions, cost_graph
from zerolap.explain.blame import Blame, Term, assign_blame
from zerolap.explain.changed_lines import ChangedLines
from zerolap.explain.contraction import without_detours
from zerolap.explain.cost_graph import CostGraph, FunctionKey
from zerolap.explain.inlining import inline_alike
from zerolap.explain.rare_costs import explain_calls, makes_system_calls
from zerolap.explain.renames import find_renames
from zerolap.records import Caller, CallGraph, Changes, Finding, PerSide

ENOUGH_SHARE = 0.6
LISTED_SHARE = 0.95
SMALLEST_SHARE = 0.02
MOVED_SHARE = 0.1
MAX_CULPRITS = 8
MAX_CALLERS = 3
IN_CHANGE_WEIGHT = 2.0


@dataclass(frozen=True)
class Evidence:
    """What a case's explanation is made from.

    `changes` is none where sources cannot be compared; `metric` is the one that decided the case.
    """

    base: CallGraph
    head: CallGraph
    base_functions: Sequence[SourceFunction]
    head_functions: Sequence[SourceFunction]
    changes: Changes | None
    base_stripped: bool
    head_stripped: bool
    metric: str = "instructions_per_op"


@dataclass(frozen=True)
class _Sides:
    """Both sides by source function under common names, and the lines that differ."""

    base: CostGraph
    head: CostGraph
    base_contracted: CostGraph
    head_contracted: CostGraph
    old: SourceFunctions
    new: SourceFunctions
    changed: ChangedLines

    def body_changed(self, key: FunctionKey) -> bool:
        return self.changed.body_changed(key, self.base, self.head, self.old, self.new)

    def calls(self, key: FunctionKey) -> PerSide:
        return PerSide(
            base=self.base.nodes[key].calls if key in self.base.nodes else None,
            head=self.head.nodes[key].calls if key in self.head.nodes else None,
        )

    def own(self, key: FunctionKey) -> PerSide:
        return PerSide(
            base=self.base.nodes[key].instructions if key in self.base.nodes else None,
            head=self.head.nodes[key].instructions if key in self.head.nodes else None,
        )

    def edge_calls(self, caller: FunctionKey, callee: FunctionKey) -> PerSide:
        old = self.base_contracted.edges.get((caller, callee))
        new = self.head_contracted.edges.get((caller, callee))
        return PerSide(base=old.calls if old else 0.0, head=new.calls if new else 0.0)

    def through(self, caller: FunctionKey, callee: FunctionKey) -> list[str]:
        edge = self.head_contracted.edges.get((caller, callee))
        return sorted(name for name, _ in edge.through) if edge else []


@dataclass(frozen=True)
class _Suspect:
    """A function with the terms that its cost goes back to."""

    key: FunctionKey
    terms: list[Term]
    share: float
    in_change: bool

    @property
    def weight(self) -> float:
        return self.share * (IN_CHANGE_WEIGHT if self.in_change else 1.0)


def explain_change(evidence: Evidence) -> list[Finding]:
    """Return the findings on a case's change of the evidence's metric, most important first."""
    if evidence.metric == "syscalls_per_op":
        return explain_calls(evidence.base, evidence.head, makes_system_calls)
    if evidence.metric == "allocations_per_op":
        return explain_calls(evidence.base, evidence.head, CallGraph.is_allocation)
    return _explain_instructions(evidence)


def _explain_instructions(evidence: Evidence) -> list[Finding]:
    sides = _sides(evidence)
    blame = assign_blame(sides.base_contracted, sides.head_contracted)
    total = sides.head.total() - sides.base.total()
    if total == 0:
        return []
    listed = _listed(_suspects(blame, sides, total))
    findings = [_culprit(suspect, sides, rank) for rank, suspect in enumerate(listed, 1)]
    explained = sum(suspect.share for suspect in listed)
    if explained < ENOUGH_SHARE:
        findings.insert(0, Finding(kind="diffuse", rank=0, text=text.diffuse(explained, total)))
    findings += _moved(blame, total, len(findings))
    return findings + _limits(evidence, len(findings))


def _sides(evidence: Evidence) -> _Sides:
    old, new = SourceFunctions(evidence.base_functions), SourceFunctions(evidence.head_functions)
    base, head = inline_alike(cost_graph(evidence.base, old), cost_graph(evidence.head, new), old, new)
    base, head = inline_alike(base.renamed(find_renames(base, head)), head, old, new)
    base_contracted, head_contracted = without_detours(base, head)
    return _Sides(base, head, base_contracted, head_contracted, old, new, ChangedLines(evidence.changes))


def _suspects(blame: Blame, sides: _Sides, total: float) -> list[_Suspect]:
    """Group the terms by the function whose cost they explain: the callee of a call, else the function itself."""
    groups: dict[FunctionKey, list[Term]] = {}
    for term in blame.terms:
        groups.setdefault(term.callee or term.caller, []).append(term)
    suspects = []
    for key, terms in groups.items():
        if key not in sides.base.nodes and key not in sides.head.nodes:
            continue
        share = sum(term.instructions for term in terms) / total
        in_change = sides.body_changed(key) or any(sides.body_changed(term.caller) for term in _largest(terms))
        suspects.append(_Suspect(key, terms, share, in_change))
    return sorted(suspects, key=lambda suspect: (-suspect.weight, suspect.key))


def _largest(terms: list[Term]) -> list[Term]:
    """Return the terms that make up the most of a group, at most as many as callers are shown."""
    return sorted(terms, key=lambda term: -abs(term.instructions))[:MAX_CALLERS]


def _listed(suspects: list[_Suspect]) -> list[_Suspect]:
    listed: list[_Suspect] = []
    for suspect in suspects:
        if len(listed) == MAX_CULPRITS or sum(one.share for one in listed) >= LISTED_SHARE:
            break
        if suspect.share >= SMALLEST_SHARE:
            listed.append(suspect)
    return listed


def _culprit(suspect: _Suspect, sides: _Sides, rank: int) -> Finding:
    key = suspect.key
    node = sides.head.nodes.get(key) or sides.base.nodes[key]
    calls = sides.calls(key)
    in_diff = None
    if sides.changed.known:
        in_diff = sides.body_changed(key) or (sides.changed.mentions(key) and calls.base != calls.head)
    callers = _callers(suspect, sides)
    own = any(term.callee is None for term in _largest(suspect.terms)[:1])
    file = key[1] if node.has_file else None
    inclusive = PerSide(base=sides.base.inclusive(key), head=sides.head.inclusive(key))
    return Finding(
        kind="culprit",
        rank=rank,
        function=key[0],
        file=file,
        lines=sides.changed.lines_in(key, sides.head) or None,
        instructions_per_op=inclusive,
        self_instructions_per_op=sides.own(key),
        calls_per_op=calls,
        share_of_change=suspect.share,
        in_diff=in_diff,
        callers=callers,
        text=text.culprit(
            text.Culprit(
                function=key[0],
                file=file,
                changed_here=sides.body_changed(key),
                own=own,
                calls=calls,
                instructions=sides.own(key) if own else inclusive,
                share=suspect.share,
                caller=callers[0] if callers else None,
                through=sides.through((callers[0].function, callers[0].file or ""), key) if callers else [],
            )
        ),
    )


def _callers(suspect: _Suspect, sides: _Sides) -> list[Caller]:
    """Return who calls the function more or less often than before; else who calls it most."""
    blamed = [term.caller for term in _largest(suspect.terms) if term.callee is not None]
    if not blamed:
        graph = sides.head_contracted if suspect.key in sides.head.nodes else sides.base_contracted
        edges = graph.callers(suspect.key)
        blamed = sorted(edges, key=lambda caller: -edges[caller].instructions)[:1]
    return [
        Caller(
            function=caller[0],
            file=caller[1],
            calls_per_op=sides.edge_calls(caller, suspect.key),
            in_diff=sides.body_changed(caller),
        )
        for caller in blamed
    ]


def _moved(blame: Blame, total: float, count: int) -> list[Finding]:
    """Return what was set off: cost that left one place in a function and came back in another."""
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
    elif not evidence.base_functions or not evidence.head_functions:
        notes.append(text.no_debug_information())
    if evidence.changes is None:
        notes.append(text.no_changes())
    return [Finding(kind="limits", rank=count + index, text=note) for index, note in enumerate(notes, 1)]
