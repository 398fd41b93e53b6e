"""Where a change begins: functions that the diff touches, each with the effects below it.

A commit often changes a function and functions that it calls. These form a tree: a touched function belongs to the
touched caller with most of its cost, if lines that differ there name it, or if only one side defines it. The root is
the deepest function of a tree that still explains nearly all of the tree's change.

Suspects with one cause are one root: calls of one function by functions of one file; functions that make objects and
those that release as many; and work at memory that begins in no touched function.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zerolap.explain.allocations import MAKES, RELEASES, works_at_memory
from zerolap.explain.blame import is_same_number
from zerolap.explain.cost_graph import FunctionKey, is_named
from zerolap.explain.sides import ComparedFunction, Functions
from zerolap.explain.suspects import MOSTLY, Suspect, joint

LEADING_SHARE = 0.75
"""If one part has this share of all that a root consists of, regardless of sign, the finding is on that part. Even in
a clear case such as a call made twice, the arguments and the use of the result change too."""
NEARLY_ALL = 0.8
"""A function further down has to explain this part of a tree's change to be its root."""
LISTED_SHARE = 0.95
SMALLEST_SHARE = 0.02
SMALLEST_OPPOSED = 0.1
"""An opposite part from this share of the change on is listed: compilers that arrange code otherwise cause less."""
MAX_LISTED = 8


@dataclass(frozen=True)
class Root:
    """A function in which a part of the change begins, and what it consists of, the largest first.

    `function` is none for a suspect that stands for itself, or with others that have the same cause. `joint` are the
    calls of one function by several.
    """

    function: ComparedFunction | None
    suspects: Sequence[Suspect]
    joint: Suspect | None = None

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
        """The largest of those that act in the direction of the whole; what is made leads what releases it again."""
        if self.joint is not None:
            return self.joint
        same_direction = [suspect for suspect in self.suspects if suspect.share * self.share >= 0]
        largest = max(same_direction, key=lambda suspect: abs(suspect.share))
        makers = [suspect for suspect in same_direction if _is_made_for(largest, suspect)]
        return max(makers, key=lambda suspect: abs(suspect.share), default=largest)


def _is_made_for(release: Suspect, other: Suspect) -> bool:
    """Whether a part is the making of what another part releases: as many calls more or fewer of both."""
    if release.is_of_calls and other.is_of_calls and is_named(release.function.key, RELEASES):
        released, made = abs(release.stated.change), abs(other.stated.change)
        makes = is_named(other.function.key, MAKES) and not is_named(other.function.key, RELEASES)
        return makes and is_same_number(released, made)
    return False


def find_roots(suspects: Mapping[FunctionKey | None, Sequence[Suspect]], functions: Functions) -> list[Root]:
    """Return the roots of the suspects by origin: the larger the share the earlier, then those that act against it."""
    roots = [Root(None, [suspect]) for suspect in suspects.get(None, [])]
    by_origin = {origin: of_origin for origin, of_origin in suspects.items() if origin is not None}
    gathered: dict[FunctionKey, list[Suspect]] = {}
    for origin, root in _Trees(by_origin, functions).roots().items():
        gathered.setdefault(root, []).extend(by_origin[origin])
    roots += [Root(functions[function], _by_size(of_root)) for function, of_root in gathered.items()]
    roots = _with_joint_calls(_with_joint_memory(_with_releases(roots)))
    return sorted(roots, key=lambda root: (root.share < 0, -abs(root.share), root.leading.function.key))


def largest_roots(roots: Sequence[Root]) -> list[Root]:
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
    return listed[:MAX_LISTED]


def _with_releases(roots: Sequence[Root]) -> list[Root]:
    """Return the roots, each that releases as often what another makes as one with that."""
    joined = list(roots)
    for root in roots:
        makers = [
            other
            for other in joined
            if other is not root
            and other.function is not None
            and other.share * root.share > 0
            and any(_is_made_for(root.leading, suspect) for suspect in other.suspects)
        ]
        if makers and any(other is root for other in joined):
            maker = max(makers, key=lambda other: abs(other.share))
            joined = [other for other in joined if other is not root and other is not maker]
            joined.append(Root(maker.function, _by_size([*maker.suspects, *root.suspects])))
    return joined


def _with_joint_memory(roots: Sequence[Root]) -> list[Root]:
    """Return the roots, those that are work at memory and nothing else as one for each direction."""
    of_memory: dict[bool, list[Root]] = {}
    others: list[Root] = []
    for root in roots:
        is_memory = root.function is None and works_at_memory(root.leading.function.name)
        (of_memory.setdefault(root.share > 0, []) if is_memory else others).append(root)
    return others + [
        Root(None, _by_size([suspect for root in same_direction for suspect in root.suspects]))
        for same_direction in of_memory.values()
    ]


def _with_joint_calls(roots: Sequence[Root]) -> list[Root]:
    """Return the roots, those as one that are hardly more than calls of the same function by functions of one file."""
    by_calls: dict[_CallsOfFile | None, list[Root]] = {}
    for root in roots:
        by_calls.setdefault(_calls_of_file(root), []).append(root)
    joined = list(by_calls.pop(None, []))
    for same_calls in by_calls.values():
        suspects = _by_size([suspect for root in same_calls for suspect in root.suspects])
        calls = joint([root.leading for root in same_calls])
        joined += same_calls if len(same_calls) == 1 else [Root(None, suspects, calls)]
    return joined


@dataclass(frozen=True)
class _CallsOfFile:
    """Calls of a function by functions of one file, made more or less often."""

    callee: FunctionKey
    file: str
    is_more: bool


def _calls_of_file(root: Root) -> _CallsOfFile | None:
    """Return what a root's leading calls are of, and the file they are made in; none where these are not most of it."""
    leading = root.leading
    files = {caller.key[1] for caller in leading.callers}
    is_most = abs(leading.share) >= LEADING_SHARE * sum(abs(suspect.share) for suspect in root.suspects)
    if not leading.is_of_calls or leading.stated.unit is not None or len(files) != 1 or not is_most:
        return None
    return _CallsOfFile(leading.function.key, files.pop(), root.share > 0)


def _by_size(suspects: Sequence[Suspect]) -> list[Suspect]:
    return sorted(suspects, key=lambda suspect: (-abs(suspect.share), suspect.function.key))


class _Trees:
    """Origins below those that they belong to, with the change that begins at each and below it."""

    def __init__(self, suspects: Mapping[FunctionKey, Sequence[Suspect]], functions: Functions) -> None:
        self._origins = suspects.keys()
        self._parents = _parents(list(suspects), functions)
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


def _parents(origins: Sequence[FunctionKey], functions: Functions) -> dict[FunctionKey, FunctionKey | None]:
    """Return the touched caller that each origin belongs to, and that of each of these; none at the top."""
    parents: dict[FunctionKey, FunctionKey | None] = {}
    for origin in origins:
        function: FunctionKey | None = origin
        passed: set[FunctionKey] = set()
        while function is not None and function not in parents:
            passed.add(function)
            parent = _parent(function, functions)
            parents[function] = parent if parent not in passed else None
            function = parents[function]
    return parents


def _parent(function: FunctionKey, functions: Functions) -> FunctionKey | None:
    known = functions[function]
    if not known.is_touched or known.replaced is not None:
        return None
    callers = known.costs_by_caller
    caller = max(callers, key=lambda key: (callers[key], key), default=None)
    if caller is None or callers[caller] <= MOSTLY * sum(callers.values()) or not functions[caller].is_touched:
        return None
    return caller if not known.is_defined_on_both or known.name in functions[caller].changed_names else None
