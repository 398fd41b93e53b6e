"""Both sides of a comparison by source function, under common names, beside the lines that differ."""

from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.explain.attribution import SourceFunction, SourceFunctions, cost_graph
from zerolap.explain.changed_lines import ChangedLines
from zerolap.explain.contraction import without_detours
from zerolap.explain.cost_graph import CostGraph, FunctionKey
from zerolap.explain.inlining import call_alike
from zerolap.explain.renames import find_renames
from zerolap.records import CallGraph, Changes, PerSide


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

    @property
    def has_lines(self) -> bool:
        """Whether both sides name the function of each line."""
        return bool(self.base_functions and self.head_functions)


@dataclass(frozen=True)
class Sides:
    """Both sides' functions; `base` and `head` as they are, the contracted ones without detours."""

    base: CostGraph
    head: CostGraph
    base_contracted: CostGraph
    head_contracted: CostGraph
    old: SourceFunctions
    new: SourceFunctions
    changed: ChangedLines
    has_lines: bool

    @classmethod
    def of(cls, evidence: Evidence) -> "Sides":
        """Return the sides of the evidence's graphs."""
        old, new = SourceFunctions(evidence.base_functions), SourceFunctions(evidence.head_functions)
        base, head = cost_graph(evidence.base, old), cost_graph(evidence.head, new)
        base, head = call_alike(base.renamed(find_renames(base, head, old, new)), head)
        changed = ChangedLines(evidence.changes)
        return cls(base, head, *without_detours(base, head), old, new, changed, evidence.has_lines)

    def body_changed(self, key: FunctionKey) -> bool:
        """Whether lines of the function differ."""
        return self.changed.body_changed(key, self.base, self.head, self.old, self.new)

    def changed_names(self, key: FunctionKey) -> set[str]:
        """Return the names in those lines of the function that differ."""
        return self.changed.names_in(self.old.named(*key), self.new.named(*key))

    def is_in_changes(self, key: FunctionKey) -> bool | None:
        """Whether the function differs, or is called otherwise and named in a changed line; none if not known."""
        if not self.changed.known:
            return None
        calls = self.calls(key)
        is_called_otherwise = calls is None or calls.base != calls.head
        return self.body_changed(key) or (self.changed.mentions(key, self.new) and is_called_otherwise)

    def is_inlined(self, key: FunctionKey) -> bool:
        """Whether either side has inlined the function somewhere."""
        return any(key in graph.nodes and graph.nodes[key].inlined for graph in (self.base, self.head))

    def calls(self, key: FunctionKey) -> PerSide | None:
        """Return how often the function is called; none where it is inlined, which nobody counts."""
        if self.is_inlined(key):
            return None
        base, head = self.base.nodes.get(key), self.head.nodes.get(key)
        return PerSide(base=base.calls if base else None, head=head.calls if head else None)

    def own(self, key: FunctionKey) -> PerSide:
        """Return the function's own instructions."""
        base, head = self.base.nodes.get(key), self.head.nodes.get(key)
        return PerSide(base=base.instructions if base else None, head=head.instructions if head else None)

    def inclusive(self, key: FunctionKey) -> PerSide:
        """Return the instructions of the function and all that it calls."""
        return PerSide(base=self.base.inclusive(key), head=self.head.inclusive(key))

    def edge_calls(self, caller: FunctionKey, callee: FunctionKey) -> PerSide:
        """Return the calls of one function by another, detours included."""
        old = self.base_contracted.edges.get((caller, callee))
        new = self.head_contracted.edges.get((caller, callee))
        return PerSide(base=old.calls if old else 0.0, head=new.calls if new else 0.0)

    def is_inlined_in(self, caller: FunctionKey, callee: FunctionKey) -> bool:
        """Whether either side has inlined the one function into the other."""
        return any(
            edge.inlined for graph in (self.base, self.head) if (edge := graph.edges.get((caller, callee))) is not None
        )

    def within(self, caller: FunctionKey, callee: FunctionKey) -> PerSide:
        """Return the instructions of a function and all that it calls, within its calls by the other."""
        base, head = self.base.edges.get((caller, callee)), self.head.edges.get((caller, callee))
        return PerSide(base=base.instructions if base else 0.0, head=head.instructions if head else 0.0)

    def holders(self, key: FunctionKey) -> list[FunctionKey]:
        """Return the functions into which it is inlined, the costliest first."""
        costs: dict[FunctionKey, float] = {}
        for graph in (self.base, self.head):
            for caller, edge in graph.callers(key).items():
                if edge.inlined:
                    costs[caller] = max(costs.get(caller, 0.0), edge.instructions)
        return sorted(costs, key=lambda caller: (-costs[caller], caller))

    def through(self, caller: FunctionKey, callee: FunctionKey) -> set[str]:
        """Return the functions that only one side has between the two."""
        edges = [graph.edges.get((caller, callee)) for graph in (self.base_contracted, self.head_contracted)]
        return {name for edge in edges if edge is not None for name, _ in edge.through}

    def exchanged(self, caller: FunctionKey, lost: FunctionKey | None, gained: FunctionKey | None) -> bool:
        """Whether a caller makes the calls to `gained` in place of those to `lost`; none stands for its own lines.

        The changed lines show it. Without them, one has to be called on the one side only, the other on the other.
        """
        if lost is None or gained is None:
            return not self.has_lines and self._is_one_sided(caller, lost or gained)
        if not self.changed.known:
            return self._is_one_sided(caller, lost) and self._is_one_sided(caller, gained)
        removed = {lost[0], *self.through(caller, lost)}
        added = {gained[0], *self.through(caller, gained)}
        body = self.new.named(*caller)
        return any(self.changed.exchanges(name, added, body) for name in removed)

    def _is_one_sided(self, caller: FunctionKey, callee: FunctionKey | None) -> bool:
        if callee is None:
            return False
        calls = self.edge_calls(caller, callee)
        return not calls.base or not calls.head
