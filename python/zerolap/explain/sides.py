"""Both sides of a comparison by source function, under common names, beside the lines that differ."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.explain.attribution import SourceFunctions, cost_graph
from zerolap.explain.changed_lines import DifferingLines
from zerolap.explain.contraction import without_detours
from zerolap.explain.cost_graph import CostGraph, Edge, FunctionKey, sums
from zerolap.explain.handlers import exchanged_handlers
from zerolap.explain.inlining import inline_alike
from zerolap.explain.renames import find_renames
from zerolap.records import CallGraph, Changes, PerSide, SourceFunction, UnknownChanges

FEWEST_CALLS = 1e-3
"""Calls per request below which a change in their number is none."""


@dataclass(frozen=True)
class Evidence:
    """What a case's explanation is made from.

    `changes` are unknown where sources cannot be compared; `metric` is the metric that decided the case.
    """

    base: CallGraph
    head: CallGraph
    base_functions: Sequence[SourceFunction]
    head_functions: Sequence[SourceFunction]
    changes: Changes | UnknownChanges
    base_stripped: bool
    head_stripped: bool
    metric: str = "instructions_per_op"

    @property
    def has_lines(self) -> bool:
        """Whether both sides name the function of each line."""
        return bool(self.base_functions and self.head_functions)


@dataclass(frozen=True)
class Sides:
    """Both sides' functions; `base` and `head` as they are, the contracted ones without detours.

    `handlers` has by function that which carried out the command in the base; the base's graphs name that alike.
    """

    base: CostGraph
    head: CostGraph
    base_contracted: CostGraph
    head_contracted: CostGraph
    old: SourceFunctions
    new: SourceFunctions
    changed: DifferingLines
    handlers: dict[FunctionKey, FunctionKey]
    has_lines: bool

    @classmethod
    def of(cls, evidence: Evidence) -> "Sides":
        """Return the sides of the evidence's graphs."""
        old, new = SourceFunctions(evidence.base_functions), SourceFunctions(evidence.head_functions)
        base, head = cost_graph(evidence.base, old), cost_graph(evidence.head, new)
        base, head = inline_alike(base, head)
        base, head = inline_alike(base.renamed(find_renames(base, head, old, new)), head)
        changed = DifferingLines(evidence.changes)
        handlers: dict[FunctionKey, FunctionKey] = {}
        if changed.known and evidence.has_lines:
            handlers = exchanged_handlers(
                base, head, lambda caller: changed.names_in(old.named(*caller), new.named(*caller))
            )
            base = base.renamed({before: after for after, before in handlers.items()})
        return cls(base, head, *without_detours(base, head), old, new, changed, handlers, evidence.has_lines)

    def body_changed(self, key: FunctionKey) -> bool:
        """Whether lines of the function differ."""
        return self.changed.body_changed(key, self.base, self.head, self.old, self.new)

    def is_touched(self, key: FunctionKey) -> bool:
        """Whether lines of the function differ, or it carries out the command instead of another."""
        return self.body_changed(key) or key in self.handlers

    def is_of_library(self, key: FunctionKey) -> bool:
        """Whether the function is none of the sources, on either side."""
        return self.has_lines and self.old.named(*key) is None and self.new.named(*key) is None

    def changed_names(self, key: FunctionKey) -> set[str]:
        """Return the names in those lines of the function that differ."""
        return self.changed.names_in(self.old.named(*key), self.new.named(*key))

    def is_in_changes(self, key: FunctionKey) -> bool | None:
        """Whether the function differs, or is called otherwise and named in a changed line; none if not known."""
        if not self.changed.knows(key):
            return None
        calls = self.calls(key)
        is_called_otherwise = calls is None or calls.base != calls.head
        return self.is_touched(key) or (self.changed.mentions(key, self.new) and is_called_otherwise)

    def is_inlined(self, key: FunctionKey) -> bool:
        """Whether either side has inlined the function somewhere."""
        return bool(self.base.inlined(key) or self.head.inlined(key))

    def holders(self, key: FunctionKey) -> list[FunctionKey]:
        """Return the functions into which it is inlined, the costliest first."""
        old, new = self.base.inlined(key), self.head.inlined(key)
        return sorted({**old, **new}, key=lambda holder: (-max(old.get(holder, 0.0), new.get(holder, 0.0)), holder))

    def is_defined_on_both(self, key: FunctionKey) -> bool:
        """Whether both sources define the function."""
        return self.old.named(*key) is not None and self.new.named(*key) is not None

    def calls(self, key: FunctionKey) -> PerSide | None:
        """Return how often the function is called; none where it is inlined, which nobody counts."""
        if self.is_inlined(key):
            return None
        base, head = self.base.nodes.get(key), self.head.nodes.get(key)
        return PerSide(base=base.calls if base else None, head=head.calls if head else None)

    def body(self, key: FunctionKey) -> PerSide:
        """Return the instructions of the function's own lines, also where it is inlined."""
        return PerSide(base=self.base.body(key), head=self.head.body(key))

    def inlined_in(self, holder: FunctionKey, key: FunctionKey) -> PerSide:
        """Return the instructions of a function's lines where it is inlined into another."""
        return PerSide(base=self.base.inlined(key).get(holder), head=self.head.inlined(key).get(holder))

    def inclusive(self, key: FunctionKey) -> PerSide:
        """Return the instructions of the function and all that it calls; those of its lines if it is only inlined."""
        base, head = (graph.inclusive(key) or graph.body(key) for graph in (self.base, self.head))
        return PerSide(base=base, head=head)

    def edge_calls(self, caller: FunctionKey, callee: FunctionKey) -> PerSide:
        """Return the calls of one function by another, detours included; of an inlined caller, those in its lines."""
        old, new = self.base_contracted, self.head_contracted
        return PerSide(base=_calls_of(old, caller, callee), head=_calls_of(new, caller, callee))

    @functools.cached_property
    def costliest_callers(self) -> dict[FunctionKey, FunctionKey]:
        """By function the caller whose calls of it cost most, in the head where it makes them there."""
        callers: dict[FunctionKey, tuple[float, FunctionKey]] = {}
        for (caller, callee), edge in (self.base_contracted.edges | self.head_contracted.edges).items():
            callers[callee] = max(callers.get(callee, (edge.instructions, caller)), (edge.instructions, caller))
        return {callee: caller for callee, (_, caller) in callers.items()}

    def makers(self, caller: FunctionKey, callee: FunctionKey) -> dict[FunctionKey, float]:
        """Return by how much the calls changed that stand in lines of functions inlined into the caller."""
        old, new = self._edge(self.base_contracted, caller, callee), self._edge(self.head_contracted, caller, callee)
        changes = sums(new.makers, {maker: -calls for maker, calls in old.makers.items()})
        return {maker: calls for maker, calls in changes.items() if abs(calls) > FEWEST_CALLS}

    def through(self, caller: FunctionKey, callee: FunctionKey) -> set[str]:
        """Return the functions between the two that only one side has there, or that are inlined into the caller."""
        edges = [self._edge(graph, caller, callee) for graph in (self.base_contracted, self.head_contracted)]
        return {name for edge in edges for name, _ in edge.through} | {name for name, _ in self.makers(caller, callee)}

    @staticmethod
    def _edge(graph: CostGraph, caller: FunctionKey, callee: FunctionKey) -> Edge:
        return graph.edges.get((caller, callee)) or Edge()

    def exchanged(self, caller: FunctionKey, lost: FunctionKey | None, gained: FunctionKey | None) -> bool:
        """Whether a caller makes the calls to `gained` in place of those to `lost`; none stands for its own lines.

        The changed lines show it. Without them, one has to be called on the one side only, the other on the other.
        """
        if lost is None or gained is None:
            return not self.has_lines and self._is_one_sided(caller, lost or gained)
        if not self.changed.known:
            return self._is_one_sided(caller, lost) and self._is_one_sided(caller, gained)
        return self.changed.exchanges(lost[0], gained[0], self.new.named(*caller))

    def _is_one_sided(self, caller: FunctionKey, callee: FunctionKey | None) -> bool:
        if callee is None:
            return False
        calls = self.edge_calls(caller, callee)
        return not calls.base or not calls.head


def _calls_of(graph: CostGraph, caller: FunctionKey, callee: FunctionKey) -> float:
    edge = graph.edges.get((caller, callee))
    if edge is not None:
        return edge.calls
    return sum(edge.makers.get(caller, 0.0) for edge in graph.callers(callee).values())
