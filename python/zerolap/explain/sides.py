"""Both sides of a comparison: their call graphs under common names, and each function with what both show of it.

The steps that look for reasons read `Sides.functions`. What nobody reads is not looked up.
"""

import functools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from zerolap.explain.attribution import cost_graph
from zerolap.explain.changed_lines import ChangedCode, CodeCosts, DifferingLines, LineCosts
from zerolap.explain.contraction import without_detours
from zerolap.explain.cost_graph import CostGraph, Edge, FunctionKey, add_all, sums
from zerolap.explain.inlining import inline_alike
from zerolap.explain.renames import exchanged_handlers, find_renames
from zerolap.explain.stated_figures import StatedFigure, per_call, sum_of_sides
from zerolap.records import CallGraph, Changes, PerSide, SourceFunction, SourceFunctions, UnknownChanges

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
    """The call graphs of both sides; those called contracted have no functions that only stand in between.

    `handlers` has by function the one that carried out the command in the base, which the base's graphs name alike.
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

    @property
    def change(self) -> float:
        """By how many instructions a request of the head takes more."""
        return self.head.total() - self.base.total()

    @functools.cached_property
    def functions(self) -> "Functions":
        """All functions that either side executes, also those that are inlined, or that another has replaced."""
        keys: dict[FunctionKey, None] = dict.fromkeys(self.handlers.values())
        for graph in (self.base, self.head):
            for key, node in graph.nodes.items():
                keys |= dict.fromkeys((key, *node.inlined))
            for (caller, callee), edge in graph.edges.items():
                keys |= dict.fromkeys((caller, callee, *edge.makers))
        return {key: ComparedFunction(key, self) for key in keys}

    @functools.cached_property
    def line_costs(self) -> tuple[LineCosts, LineCosts]:
        """What lines cost on both sides."""
        return _costs_by_line(self.base), _costs_by_line(self.head)

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
        calls = self.functions[callee].callers[caller].calls
        return not calls.base or not calls.head


@dataclass(frozen=True)
class ComparedCalls:
    """The calls of one function by another per request, and what each of them costs with all that it calls.

    `makers` are the functions inlined into the caller whose lines make more or fewer of the calls, with how many.
    `through` names these, and the functions in between that only one side has.
    """

    calls: PerSide
    each: PerSide
    makers: Mapping[FunctionKey, float]
    through: frozenset[str]


_NO_CALLS = ComparedCalls(PerSide(base=0.0, head=0.0), PerSide(base=None, head=None), {}, frozenset())


class ComparedFunction:
    """A function with what both sides show of it, per request."""

    def __init__(self, key: FunctionKey, sides: Sides) -> None:
        self.key = key
        self.name = key[0]
        self._sides = sides
        self._graphs = sides.base, sides.head
        self._nodes = sides.base.nodes.get(key), sides.head.nodes.get(key)
        self._definitions = sides.old.named(*key), sides.new.named(*key)

    @property
    def file(self) -> str | None:
        """Its file; none where that is not known."""
        node = self._nodes[1] or self._nodes[0]
        return self.key[1] if node is None or node.has_file else None

    # What the change has to do with it.

    @functools.cached_property
    def body_changed(self) -> bool:
        """Whether lines of the function differ."""
        return self._sides.changed.touches(self.key[1], self._nodes, self._definitions)

    @property
    def replaced(self) -> FunctionKey | None:
        """The function that carried out the command in its place, in the base."""
        return self._sides.handlers.get(self.key)

    @property
    def is_touched(self) -> bool:
        """Whether lines of the function differ, or it carries out the command instead of another."""
        return self.body_changed or self.replaced is not None

    @property
    def is_in_changes(self) -> bool | None:
        """Whether the function differs, or is called otherwise and named in a changed line; none if not known."""
        if not self._sides.changed.knows(self.key):
            return None
        is_called_otherwise = self.calls is None or self.calls.base != self.calls.head
        return self.is_touched or (self._sides.changed.mentions(self.key, self._sides.new) and is_called_otherwise)

    @functools.cached_property
    def changed_names(self) -> set[str]:
        """The names in those lines of the function that differ."""
        return self._sides.changed.names_in(*self._definitions)

    @property
    def changed_lines(self) -> list[int]:
        """The new lines that were executed in the function and differ."""
        return self._sides.changed.new_lines(self.key[1], self._nodes[1])

    def changed_code(self, *, is_more: bool) -> ChangedCode | None:
        """Return what changed in a function where its lines cost more, or less."""
        inlined: dict[str, float] = {}
        for (name, _), cost in self.inlined.items():
            inlined[name] = inlined.get(name, 0.0) + (cost.head or 0.0) - (cost.base or 0.0)
        costs = CodeCosts(*self._sides.line_costs, inlined)
        return self._sides.changed.code_of(*self._definitions, costs, is_more=is_more)

    def in_place_of(self, callee: FunctionKey, *, is_lost: bool) -> FunctionKey | None:
        """Return the function that this one calls or has inlined now in place of a lost callee, by its changed lines.

        For a new callee, return the one that it called before. Return none where several could be meant.
        """
        names = self._sides.changed.put_in_place_of(callee[0], self._definitions[1], is_removed=is_lost)
        now, before = (1, 0) if is_lost else (0, 1)
        node = self._nodes[now]
        called = set() if node is None else {*self._graphs[now].callees(self.key), *node.inlined}
        possible = [function for function in called if function[0] in names]
        is_exchanged = len(possible) == 1 and (self.key, possible[0]) not in self._graphs[before].edges
        return possible[0] if is_exchanged else None

    # Where it is.

    @property
    def is_of_library(self) -> bool:
        """Whether the function is none of the sources, on either side."""
        return self._sides.has_lines and self._definitions == (None, None)

    @property
    def is_defined_on_both(self) -> bool:
        """Whether both sources define the function."""
        return None not in self._definitions

    @property
    def is_executed_on_both(self) -> bool:
        """Whether both sides execute lines of the function, also where it is inlined."""
        return self.body.base is not None and self.body.head is not None

    @property
    def is_called_on_both(self) -> bool:
        """Whether both sides execute the function, not only lines of it that are inlined elsewhere."""
        return None not in self._nodes

    @functools.cached_property
    def _held(self) -> tuple[dict[FunctionKey, float], dict[FunctionKey, float]]:
        """What it costs on each side where it is inlined, by holder."""
        return self._graphs[0].inlined(self.key), self._graphs[1].inlined(self.key)

    @property
    def holders(self) -> list[FunctionKey]:
        """The functions into which it is inlined, the costliest first."""
        old, new = self._held
        return sorted({**old, **new}, key=lambda holder: (-max(old.get(holder, 0.0), new.get(holder, 0.0)), holder))

    # What it costs.

    @functools.cached_property
    def body(self) -> PerSide:
        """The instructions of the function's own lines, also where it is inlined."""
        return PerSide(base=self._graphs[0].body(self.key), head=self._graphs[1].body(self.key))

    @functools.cached_property
    def inlined(self) -> dict[FunctionKey, PerSide]:
        """The instructions of other functions' lines that are inlined into this one, by function."""
        old, new = (node.inlined if node is not None else {} for node in self._nodes)
        return {part: PerSide(base=old.get(part), head=new.get(part)) for part in {**old, **new}}

    @property
    def own(self) -> PerSide:
        """The instructions of the function itself, with those of functions that one side alone inlines there."""
        further = [cost for _, cost in sorted(self.inlined.items()) if cost.base is None or cost.head is None]
        return sum_of_sides([self.body, *further])

    @property
    def with_inlined(self) -> PerSide:
        """The instructions of the function itself, with all that is inlined there."""
        old, new = self._nodes
        return PerSide(base=old.instructions if old else None, head=new.instructions if new else None)

    @functools.cached_property
    def of_calls(self) -> PerSide:
        """The instructions of the calls of the function, with all that it calls."""
        return PerSide(base=self._graphs[0].inclusive(self.key), head=self._graphs[1].inclusive(self.key))

    @property
    def inclusive(self) -> PerSide:
        """The instructions of the function and all that it calls, with those of its lines that are inlined."""
        base, head = (sum(held.values()) if held else None for held in self._held)
        return sum_of_sides([self.of_calls, PerSide(base=base, head=head)])

    @property
    def each_call(self) -> PerSide:
        """What a call of the function costs with all that it calls."""
        return per_call(self.of_calls, self.calls)

    @property
    def repeated_steps(self) -> float:
        """How many more steps of repeated stores and copies it makes."""
        steps = self._sides.repeated_steps.get(self.name)
        return 0.0 if steps is None else steps.change

    # Calls.

    @functools.cached_property
    def calls(self) -> PerSide | None:
        """How often the function is called; none where it is inlined, which nobody counts."""
        if any(self._held):
            return None
        old, new = self._nodes
        return PerSide(base=old.calls if old else None, head=new.calls if new else None)

    @functools.cached_property
    def callees(self) -> dict[FunctionKey, PerSide]:
        """The instructions of the calls that it makes, by callee."""
        old, new = (graph.callees(self.key) for graph in self._graphs)
        return {
            callee: PerSide(
                base=old[callee].instructions if callee in old else 0.0,
                head=new[callee].instructions if callee in new else 0.0,
            )
            for callee in sorted(old.keys() | new.keys())
        }

    @functools.cached_property
    def _entering(self) -> tuple[dict[FunctionKey, Edge], dict[FunctionKey, Edge]]:
        """The calls of it on each side, detours included."""
        return self._sides.base_contracted.callers(self.key), self._sides.head_contracted.callers(self.key)

    @functools.cached_property
    def callers(self) -> Mapping[FunctionKey, ComparedCalls]:
        """The calls of the function by caller, also through detours, or by the inlined function whose lines make them.

        The entry of any other function has no calls.
        """
        old, new = self._entering
        before, after = _calls_by_caller(old), _calls_by_caller(new)
        calls = {
            caller: _compared(old.get(caller), new.get(caller), before.get(caller, 0.0), after.get(caller, 0.0))
            for caller in {**before, **after}
        }
        return defaultdict(lambda: _NO_CALLS, calls)

    @property
    def usual_callers(self) -> list[FunctionKey]:
        """The functions into which it is inlined, or else the caller whose calls cost most."""
        edges = self._entering[1] if self._nodes[1] is not None else self._entering[0]
        return self.holders or sorted(edges, key=lambda caller: (-edges[caller].instructions, caller))[:1]

    @property
    def costliest_caller(self) -> FunctionKey | None:
        """The caller whose calls of it cost most, in the head where it makes them there."""
        edges = self._entering[0] | self._entering[1]
        return max(edges, key=lambda caller: (edges[caller].instructions, caller), default=None)

    @property
    def added_costs(self) -> dict[FunctionKey, float]:
        """The added cost of the calls of the function by caller, at the mean number of calls."""
        return {
            caller: (made.each.head - made.each.base) * ((made.calls.base or 0.0) + (made.calls.head or 0.0)) / 2
            for caller, made in self.callers.items()
            if made.each.base is not None and made.each.head is not None
        }

    @property
    def costs_by_caller(self) -> dict[FunctionKey, float]:
        """The cost of the function on both sides together, by caller, or by the function that it is inlined into."""
        costs: dict[FunctionKey, float] = {}
        for graph, held in zip(self._graphs, self._held, strict=True):
            add_all(costs, {caller: edge.instructions for caller, edge in graph.callers(self.key).items()} | held)
        return costs


Functions: TypeAlias = dict[FunctionKey, ComparedFunction]
"""Functions of both sides by name and file."""


def _compared(old: Edge | None, new: Edge | None, before: float, after: float) -> ComparedCalls:
    """Return calls of both sides; of a caller that is inlined, there is no edge."""
    old, new = old or Edge(), new or Edge()
    changes = sums(new.makers, {maker: -calls for maker, calls in old.makers.items()})
    makers = {maker: calls for maker, calls in changes.items() if abs(calls) > FEWEST_CALLS}
    return ComparedCalls(
        calls=PerSide(base=before, head=after),
        each=per_call(PerSide(base=old.instructions, head=new.instructions), PerSide(base=old.calls, head=new.calls)),
        makers=makers,
        through=frozenset(name for name, _ in old.through | new.through | makers.keys()),
    )


def _calls_by_caller(entering: Mapping[FunctionKey, Edge]) -> dict[FunctionKey, float]:
    """Return how often a function is called, by caller, or by the inlined function whose lines make the calls."""
    calls: dict[FunctionKey, float] = {}
    for edge in entering.values():
        add_all(calls, edge.makers)
    return calls | {caller: edge.calls for caller, edge in entering.items()}


def _costs_by_line(graph: CostGraph) -> LineCosts:
    costs: dict[tuple[str, int], float] = {}
    for node in graph.nodes.values():
        add_all(costs, node.lines)
    return costs
