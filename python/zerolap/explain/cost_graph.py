"""A call graph by function: what each costs itself, and who calls whom at what cost."""

from dataclasses import dataclass, field, replace

FunctionKey = tuple[str, str]
"""Name and file of a source function; the object's name where the file is not known."""


@dataclass
class Node:
    """A function's own cost and the calls to it, per request; `lines` has its own instructions by file and line.

    Where it is `inlined`, nobody counted how often it is executed.
    """

    instructions: float = 0.0
    calls: float = 0.0
    lines: dict[tuple[str, int], float] = field(default_factory=dict)
    has_file: bool = True
    inlined: bool = False

    def absorb(self, other: "Node") -> None:
        """Add another's costs to this one's."""
        self.instructions += other.instructions
        self.calls += other.calls
        self.inlined = self.inlined or other.inlined
        self.add_lines(other)

    def add_lines(self, other: "Node") -> None:
        """Add another's instructions by line to this one's."""
        for place, instructions in other.lines.items():
            self.lines[place] = self.lines.get(place, 0.0) + instructions


@dataclass
class Edge:
    """Calls per request and what they cost with all that the callee calls.

    `through` names functions on the way that were made transparent. Of an `inlined` callee the calls are assumed.
    """

    calls: float = 0.0
    instructions: float = 0.0
    through: frozenset[FunctionKey] = frozenset()
    inlined: bool = False

    def absorb(self, other: "Edge") -> None:
        """Add another's costs to this one's."""
        self.calls += other.calls
        self.instructions += other.instructions
        self.through = self.through | other.through
        self.inlined = self.inlined and other.inlined


@dataclass
class CostGraph:
    """All functions and edges of one side."""

    nodes: dict[FunctionKey, Node] = field(default_factory=dict)
    edges: dict[tuple[FunctionKey, FunctionKey], Edge] = field(default_factory=dict)

    def node(self, key: FunctionKey) -> Node:
        """Return the node of that key, made if missing."""
        return self.nodes.setdefault(key, Node())

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

    def times(self, key: FunctionKey) -> float:
        """Return how often a function is called a request; once if nobody calls it."""
        return sum(edge.calls for edge in self.callers(key).values()) or 1.0

    def total(self) -> float:
        """Return the instructions of all functions."""
        return sum(node.instructions for node in self.nodes.values())

    def renamed(self, names: dict[FunctionKey, FunctionKey]) -> "CostGraph":
        """Return a copy of the graph with some functions under other keys."""
        graph = CostGraph()
        for key, node in self.nodes.items():
            graph.node(names.get(key, key)).absorb(node)
            graph.node(names.get(key, key)).has_file = node.has_file
        for (caller, callee), edge in self.edges.items():
            graph.add_edge(names.get(caller, caller), names.get(callee, callee), replace(edge))
        return graph
