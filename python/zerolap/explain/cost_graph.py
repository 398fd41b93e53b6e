"""A call graph by function: what each costs itself, and who calls whom at what cost."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

FunctionKey = tuple[str, str]
"""The name and file of a source function; the name of its object where the file is not known."""
LONGEST_NAME: Final = 200
"""Names of functions and files are cut to this length to be shown or matched: code under test chooses them."""
_Key = TypeVar("_Key")


def is_named(key: FunctionKey, *patterns: re.Pattern[str]) -> bool:
    """Whether one of the patterns stands for all of a function's name."""
    return any(pattern.fullmatch(key[0]) for pattern in patterns)


def sums(these: Mapping[_Key, float], others: Mapping[_Key, float]) -> dict[_Key, float]:
    """Return both together, values of one key added up."""
    return {key: these.get(key, 0.0) + others.get(key, 0.0) for key in {**these, **others}}


def add_all(sum_of: dict[_Key, float], others: Mapping[_Key, float]) -> None:
    """Add values to those of the same keys, in place: what is added up many times is not copied each time."""
    for key, value in others.items():
        sum_of[key] = sum_of.get(key, 0.0) + value


@dataclass
class CostNode:
    """A function's own cost and the calls to it, per request; `lines` has its own instructions by file and line.

    `inlined` are those of its own instructions that belong to other functions, by function.
    """

    instructions: float = 0.0
    calls: float = 0.0
    lines: dict[tuple[str, int], float] = field(default_factory=dict)
    inlined: dict[FunctionKey, float] = field(default_factory=dict)
    has_file: bool = True

    @property
    def body(self) -> float:
        """Its own instructions without those of other functions."""
        return self.instructions - sum(self.inlined.values())

    def absorb(self, other: "CostNode") -> None:
        """Add another's costs to its own."""
        self.instructions += other.instructions
        self.calls += other.calls
        self.lines = sums(self.lines, other.lines)
        self.inlined = sums(self.inlined, other.inlined)

    def part(self, share: float) -> "CostNode":
        """Return so much of its cost."""
        return CostNode(
            instructions=self.instructions * share,
            calls=self.calls * share,
            lines={place: cost * share for place, cost in self.lines.items()},
            inlined={owner: cost * share for owner, cost in self.inlined.items()},
            has_file=self.has_file,
        )


@dataclass
class Edge:
    """Calls per request and what they cost with all that the callee calls.

    `through` names functions on the way that were made transparent. `makers` are those calls that stand in lines of
    functions inlined into the caller, by function.
    """

    calls: float = 0.0
    instructions: float = 0.0
    through: frozenset[FunctionKey] = frozenset()
    makers: dict[FunctionKey, float] = field(default_factory=dict)

    def absorb(self, other: "Edge") -> None:
        """Add another's costs to its own."""
        self.calls += other.calls
        self.instructions += other.instructions
        self.through = self.through | other.through
        self.makers = sums(self.makers, other.makers)

    def part(self, share: float) -> "Edge":
        """Return so much of the calls."""
        makers = {maker: calls * share for maker, calls in self.makers.items()}
        return Edge(self.calls * share, self.instructions * share, self.through, makers)


@dataclass
class CostGraph:
    """All functions and edges of one side."""

    nodes: dict[FunctionKey, CostNode] = field(default_factory=dict)
    edges: dict[tuple[FunctionKey, FunctionKey], Edge] = field(default_factory=dict)

    def node(self, key: FunctionKey) -> CostNode:
        """Return the node of that key, made if missing."""
        return self.nodes.setdefault(key, CostNode())

    def add_edge(self, caller: FunctionKey, callee: FunctionKey, edge: Edge) -> None:
        """Add calls; a function's calls to itself are part of its own cost."""
        if caller == callee:
            return
        known = self.edges.get((caller, callee))
        if known is None:
            self.edges[caller, callee] = edge
        else:
            known.absorb(edge)

    def callees(self, key: FunctionKey) -> dict[FunctionKey, Edge]:
        """Return the edges that leave a function."""
        return {callee: edge for (caller, callee), edge in self.edges.items() if caller == key}

    def callers(self, key: FunctionKey) -> dict[FunctionKey, Edge]:
        """Return the edges that enter a function."""
        return {caller: edge for (caller, callee), edge in self.edges.items() if callee == key}

    def inclusive(self, key: FunctionKey) -> float | None:
        """Return the cost of a function with all that it calls; none if it does not occur."""
        if key not in self.nodes:
            return None
        entering = self.callers(key)
        if entering:
            return sum(edge.instructions for edge in entering.values())
        return self.nodes[key].instructions + sum(edge.instructions for edge in self.callees(key).values())

    def inlined(self, key: FunctionKey) -> dict[FunctionKey, float]:
        """Return what a function costs where it is inlined, by the function that holds it."""
        return {holder: node.inlined[key] for holder, node in self.nodes.items() if key in node.inlined}

    def body(self, key: FunctionKey) -> float | None:
        """Return the cost of a function's own lines, wherever they are executed; none if they are not."""
        node, inlined = self.nodes.get(key), self.inlined(key)
        return None if node is None and not inlined else (node.body if node else 0.0) + sum(inlined.values())

    def total(self) -> float:
        """Return the instructions of all functions."""
        return sum(node.instructions for node in self.nodes.values())

    def renamed(self, names: dict[FunctionKey, FunctionKey]) -> "CostGraph":
        """Return a copy of the graph with some functions under other keys."""
        graph = CostGraph()
        for key, node in self.nodes.items():
            inlined = {names.get(owner, owner): cost for owner, cost in node.inlined.items()}
            graph.node(names.get(key, key)).absorb(replace(node, inlined=inlined))
            graph.node(names.get(key, key)).has_file = node.has_file
        for (caller, callee), edge in self.edges.items():
            makers = {names.get(maker, maker): calls for maker, calls in edge.makers.items()}
            graph.add_edge(names.get(caller, caller), names.get(callee, callee), replace(edge, makers=makers))
        return graph
