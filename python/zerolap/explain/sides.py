"""Both sides of a comparison by source function, under common names, beside the lines that differ."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from zerolap.explain.attribution import SourceFunctions, cost_graph
from zerolap.explain.changed_lines import ChangedCode, CodeCosts, DifferingLines, LineCosts
from zerolap.explain.contraction import without_detours
from zerolap.explain.cost_graph import CostGraph, Edge, FunctionKey, add_all, sums
from zerolap.explain.handlers import exchanged_handlers
from zerolap.explain.inlining import inline_alike
from zerolap.explain.renames import find_renames
from zerolap.explain.stated_figures import StatedFigure
from zerolap.records import CallGraph, Changes, PerSide, SourceFunction, UnknownChanges

FEWEST_CALLS = 1e-3
"""Calls per request below which a change in their number is none."""


@dataclass(frozen=True)
class Evidence:
    """What a case's explanation is made from.

    `changes` are unknown where sources cannot be compared; `metric` is the metric that decided the case.
    `repeated_steps` are the steps of repeated stores and copies, by function: each is counted, and a processor executes
    many at once.
    """

    base: CallGraph
    head: CallGraph
    base_functions: Sequence[SourceFunction]
    head_functions: Sequence[SourceFunction]
    changes: Changes | UnknownChanges
    base_stripped: bool
    head_stripped: bool
    metric: str = "instructions_per_op"
    repeated_steps: Mapping[str, StatedFigure] = field(default_factory=dict)

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
    repeated_steps: Mapping[str, StatedFigure]

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
        contracted = without_detours(base, head)
        steps = evidence.repeated_steps
        return cls(base, head, *contracted, old, new, changed, handlers, evidence.has_lines, steps)

    def body_changed(self, key: FunctionKey) -> bool:
        """Whether lines of the function differ."""
        return self.changed.body_changed(key, self.base, self.head, self.old, self.new)

    def changed_code(self, key: FunctionKey, *, is_more: bool) -> ChangedCode | None:
        """Return what changed in a function where its lines cost more, or less."""
        inlined: dict[str, float] = {}
        for graph, sign in ((self.base, -1.0), (self.head, 1.0)):
            of_side = graph.nodes[key].inlined if key in graph.nodes else {}
            add_all(inlined, {name: sign * cost for (name, _), cost in of_side.items()})
        costs = CodeCosts(*self._line_costs, inlined)
        return self.changed.code_of(self.old.named(*key), self.new.named(*key), costs, is_more=is_more)

    @functools.cached_property
    def _line_costs(self) -> tuple[LineCosts, LineCosts]:
        return _costs_by_line(self.base), _costs_by_line(self.head)

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

    def is_executed_on_both(self, key: FunctionKey) -> bool:
        """Whether both sides execute lines of the function, also where it is inlined."""
        return self.base.body(key) is not None and self.head.body(key) is not None

    def is_called_on_both(self, key: FunctionKey) -> bool:
        """Whether both sides execute the function, not only lines of it that are inlined elsewhere."""
        return key in self.base.nodes and key in self.head.nodes

    def calls(self, key: FunctionKey) -> PerSide | None:
        """Return how often the function is called; none where it is inlined, which nobody counts."""
        if self.is_inlined(key):
            return None
        base, head = self.base.nodes.get(key), self.head.nodes.get(key)
        return PerSide(base=base.calls if base else None, head=head.calls if head else None)

    def body(self, key: FunctionKey) -> PerSide:
        """Return the instructions of the function's own lines, also where it is inlined."""
        return PerSide(base=self.base.body(key), head=self.head.body(key))

    def own(self, key: FunctionKey) -> PerSide:
        """Return the instructions of the function itself, with those of functions that one side alone inlines there."""
        old, new = (
            graph.nodes[key].inlined.keys() if key in graph.nodes else set() for graph in (self.base, self.head)
        )
        return self.sum_of([self.body(key), *(self.inlined_in(key, part) for part in sorted(old ^ new))])

    def inlined_in(self, holder: FunctionKey, key: FunctionKey) -> PerSide:
        """Return the instructions of a function's lines where it is inlined into another."""
        return PerSide(base=self.base.inlined(key).get(holder), head=self.head.inlined(key).get(holder))

    def inclusive(self, key: FunctionKey) -> PerSide:
        """Return the instructions of the function and all that it calls, with those of its lines that are inlined."""
        base, head = (_inclusive(graph, key) for graph in (self.base, self.head))
        return PerSide(base=base, head=head)

    def each_call(self, key: FunctionKey, caller: FunctionKey | None = None) -> PerSide:
        """Return what a call of the function costs with all that it calls, or a call that `caller` makes of it."""
        if caller is None:
            return self.a_call(PerSide(base=self.base.inclusive(key), head=self.head.inclusive(key)), key)
        old, new = self._edge(self.base_contracted, caller, key), self._edge(self.head_contracted, caller, key)
        return PerSide(base=_quotient(old.instructions, old.calls), head=_quotient(new.instructions, new.calls))

    def a_call(self, values: PerSide, key: FunctionKey) -> PerSide:
        """Return values per request by the calls of a function; none where it is not called, or they are not known."""
        calls = self.calls(key) or PerSide(base=None, head=None)
        return PerSide(base=_quotient(values.base, calls.base), head=_quotient(values.head, calls.head))

    @staticmethod
    def sum_of(values: Iterable[PerSide]) -> PerSide:
        """Return the sums of both sides; none on a side of which none is known."""
        every = list(values)
        base = [value.base for value in every if value.base is not None]
        head = [value.head for value in every if value.head is not None]
        return PerSide(base=sum(base) if base else None, head=sum(head) if head else None)

    def usual_callers(self, key: FunctionKey) -> list[FunctionKey]:
        """Return into which functions it is inlined, or which calls it at the highest cost."""
        holders = self.holders(key)
        if holders:
            return holders
        graph = self.head_contracted if key in self.head.nodes else self.base_contracted
        edges = graph.callers(key)
        return sorted(edges, key=lambda caller: (-edges[caller].instructions, caller))[:1]

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

    def in_place_of(self, caller: FunctionKey, callee: FunctionKey, *, is_lost: bool) -> FunctionKey | None:
        """Return the only function that a caller calls, or has inlined, where its changed lines had the lost callee.

        Of a callee that it calls now, the one that it called before.
        """
        names = self.changed.put_in_place_of(callee[0], self.new.named(*caller), is_removed=is_lost)
        graph, other = (self.head, self.base) if is_lost else (self.base, self.head)
        called = {*graph.callees(caller), *graph.nodes[caller].inlined} if caller in graph.nodes else set()
        possible = [function for function in called if function[0] in names]
        is_exchanged = len(possible) == 1 and (caller, possible[0]) not in other.edges
        return possible[0] if is_exchanged else None

    def _is_one_sided(self, caller: FunctionKey, callee: FunctionKey | None) -> bool:
        if callee is None:
            return False
        calls = self.edge_calls(caller, callee)
        return not calls.base or not calls.head


def _costs_by_line(graph: CostGraph) -> LineCosts:
    costs: dict[tuple[str, int], float] = {}
    for node in graph.nodes.values():
        add_all(costs, node.lines)
    return costs


def _inclusive(graph: CostGraph, key: FunctionKey) -> float | None:
    called, inlined = graph.inclusive(key), graph.inlined(key)
    return (called or 0.0) + sum(inlined.values()) if inlined else called


def _quotient(value: float | None, calls: float | None) -> float | None:
    return value / calls if value is not None and calls else None


def _calls_of(graph: CostGraph, caller: FunctionKey, callee: FunctionKey) -> float:
    edge = graph.edges.get((caller, callee))
    if edge is not None:
        return edge.calls
    return sum(edge.makers.get(caller, 0.0) for edge in graph.callers(callee).values())
