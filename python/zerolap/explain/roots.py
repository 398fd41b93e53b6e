"""Where a change begins: functions that the diff touches, each with all that follows from it below.

A commit often changes a function and those that it calls. They form a tree: a touched function belongs to the touched
caller that makes most of its calls and names it in lines that differ, or is the only caller to have it. The root is the
deepest function of a tree that still explains nearly all of the tree's change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zerolap.explain.cost_graph import CostGraph, FunctionKey, sums
from zerolap.explain.sides import Sides
from zerolap.explain.suspects import MOSTLY, Suspect

NEARLY_ALL = 0.8
"""Part of a tree's change that a function further down must explain to be its root."""


@dataclass(frozen=True)
class Root:
    """A function in which a part of the change begins, and what it consists of, the largest first.

    `function` is none for a suspect that stands for itself.
    """

    function: FunctionKey | None
    suspects: Sequence[Suspect]

    @property
    def instructions(self) -> float:
        """By how much all of it changed the cost of a request."""
        return sum(suspect.instructions for suspect in self.suspects)

    @property
    def share(self) -> float:
        """Its part of the whole change; negative for what acts against the change."""
        return sum(suspect.share for suspect in self.suspects)

    @property
    def leading(self) -> Suspect:
        """The largest of those that act in the direction of the whole."""
        return max(self.suspects, key=lambda suspect: suspect.share if self.share >= 0 else -suspect.share)


def find_roots(suspects: Mapping[FunctionKey | None, Sequence[Suspect]], sides: Sides) -> list[Root]:
    """Return the roots of the suspects by origin: the larger the share the earlier, then those that act against it."""
    roots = [Root(None, [suspect]) for suspect in suspects.get(None, [])]
    by_origin = {origin: of_origin for origin, of_origin in suspects.items() if origin is not None}
    gathered: dict[FunctionKey, list[Suspect]] = {}
    for origin, root in _Trees(by_origin, sides).roots().items():
        gathered.setdefault(root, []).extend(by_origin[origin])
    roots += [Root(function, _by_size(of_root)) for function, of_root in gathered.items()]
    return sorted(roots, key=lambda root: (root.share < 0, -abs(root.share), root.leading.function))


def _by_size(suspects: Sequence[Suspect]) -> list[Suspect]:
    return sorted(suspects, key=lambda suspect: (-abs(suspect.share), suspect.function))


class _Trees:
    """Origins below those that they belong to, with the change that begins at each and below it."""

    def __init__(self, suspects: Mapping[FunctionKey, Sequence[Suspect]], sides: Sides) -> None:
        self._origins = suspects.keys()
        self._parents = _parents(list(suspects), sides)
        self._children: dict[FunctionKey, list[FunctionKey]] = {}
        self._changes = dict.fromkeys(self._parents, 0.0)
        for function, parent in self._parents.items():
            if parent is not None:
                self._children.setdefault(parent, []).append(function)
        for origin, of_origin in suspects.items():
            change = sum(suspect.instructions for suspect in of_origin)
            for function in self._upward(origin):
                self._changes[function] += change

    def roots(self) -> dict[FunctionKey, FunctionKey]:
        """Return the root of each origin: of what a tree's root does not explain, the function at the top."""
        roots: dict[FunctionKey, FunctionKey] = {}
        for origin in self._origins:
            path = self._upward(origin)
            root = self._root_below(path[-1])
            roots[origin] = root if root in path else path[-1]
        return roots

    def _upward(self, function: FunctionKey) -> list[FunctionKey]:
        path = [function]
        while (parent := self._parents[path[-1]]) is not None:
            path.append(parent)
        return path

    def _root_below(self, function: FunctionKey) -> FunctionKey:
        while True:
            whole = self._changes[function]
            explaining = [
                child
                for child in self._children.get(function, [])
                if self._changes[child] / (whole or 1.0) >= NEARLY_ALL
            ]
            if not explaining:
                return function
            function = max(explaining, key=lambda child: (abs(self._changes[child]), child))


def _parents(origins: Sequence[FunctionKey], sides: Sides) -> dict[FunctionKey, FunctionKey | None]:
    """Return the touched caller that each origin belongs to, and that of each of these; none at the top."""
    parents: dict[FunctionKey, FunctionKey | None] = {}
    for origin in origins:
        function: FunctionKey | None = origin
        passed: set[FunctionKey] = set()
        while function is not None and function not in parents:
            passed.add(function)
            parent = _parent(function, sides)
            parents[function] = parent if parent not in passed else None
            function = parents[function]
    return parents


def _parent(function: FunctionKey, sides: Sides) -> FunctionKey | None:
    if not sides.is_touched(function) or function in sides.handlers:
        return None
    callers: dict[FunctionKey, float] = {}
    for graph in (sides.base, sides.head):
        callers = sums(callers, _costs_by_caller(function, graph))
    caller = max(callers, key=lambda key: (callers[key], key), default=None)
    if caller is None or callers[caller] <= MOSTLY * sum(callers.values()) or not sides.is_touched(caller):
        return None
    is_one_sided = not sides.is_defined_on_both(function)
    return caller if is_one_sided or function[0] in sides.changed_names(caller) else None


def _costs_by_caller(function: FunctionKey, graph: CostGraph) -> dict[FunctionKey, float]:
    """Return what a function costs by who calls it, or holds it where it is inlined."""
    return {caller: edge.instructions for caller, edge in graph.callers(function).items()} | graph.inlined(function)
