"""Which functions the compared change touches."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from zerolap.explain.cost_graph import CostNode, FunctionKey
from zerolap.records import NO_CODE, Changes, FileChange, Hunk, SourceFunction, SourceFunctions, UnknownChanges

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
LONGEST_CODE = 72
MOST_LINES = 400
"""No more lines of a location are examined: larger locations were written anew."""
MOST_PAIRED = 2
"""The most lines of a location whose added lines are taken to replace its removed lines."""
LineCosts = Mapping[tuple[str, int], float]
"""The instructions of each line, by file and number."""


@dataclass(frozen=True)
class ChangedCode:
    """A line as it was and as it is; empty where it is new, or gone."""

    removed: str
    added: str


@dataclass(frozen=True)
class _ChangedLocation:
    """Lines that differ in one location, by file and range of each side, and the names in those removed and added.

    `hunk` has the lines themselves.
    """

    old_file: str
    old_lines: range
    new_file: str
    new_lines: range
    removed: frozenset[str]
    added: frozenset[str]
    hunk: Hunk

    def added_cost(self, costs: "CodeCosts") -> float:
        """Return by how much its lines cost more, with functions inlined there that only one side names in them."""
        inlined = sum(costs.inlined.get(name, 0.0) for name in self.removed ^ self.added)
        after = sum(costs.head.get((self.new_file, line), 0.0) for line in self.new_lines[:MOST_LINES])
        return inlined + after - self.base_cost(costs)

    def base_cost(self, costs: "CodeCosts") -> float:
        return sum(costs.base.get((self.old_file, line), 0.0) for line in self.old_lines[:MOST_LINES])

    def code(self, costs: "CodeCosts", *, is_more: bool) -> ChangedCode | None:
        """Return its costliest lines; of a large location that which was added or removed. None if no line has code."""
        removed = _costliest(self.hunk.lines_with("-"), self.old_file, self.old_lines, costs.base)
        added = _costliest(self.hunk.lines_with("+"), self.new_file, self.new_lines, costs.head)
        if max(len(self.old_lines), len(self.new_lines)) > MOST_PAIRED and removed and added:
            removed, added = ("", added) if is_more else (removed, "")
        return ChangedCode(removed, added) if removed or added else None


@dataclass(frozen=True)
class CodeCosts:
    """What lines cost on both sides, and how much more the functions do that are inlined into one of them, by name."""

    base: LineCosts
    head: LineCosts
    inlined: Mapping[str, float]


class DifferingLines:
    """The lines that differ, as seen from each side, and the names that stand in them."""

    def __init__(self, changes: Changes | UnknownChanges) -> None:
        self.known = isinstance(changes, Changes)
        files = changes.files if isinstance(changes, Changes) else []
        self._left_out = {_shown(file) for file in changes.left_out} if isinstance(changes, Changes) else set()
        self._locations = [_location(file, hunk) for file in files for hunk in file.hunks]
        self._old: dict[str, list[range]] = {}
        self._new: dict[str, list[range]] = {}
        for location in self._locations:
            self._old.setdefault(location.old_file, []).append(location.old_lines)
            self._new.setdefault(location.new_file, []).append(location.new_lines)

    def knows(self, key: FunctionKey) -> bool:
        """Whether the lines that differ in the file of a function were read."""
        return self.known and key[1] not in self._left_out

    def mentions(self, key: FunctionKey, functions: SourceFunctions) -> bool:
        """Whether a changed line holds the function's name, in a file where that means no other function."""
        name, file = key
        return any(
            location.new_file == file or functions.named(name, location.new_file) is None
            for location in self._locations
            if name in location.removed or name in location.added
        )

    def exchanges(self, removed: str, added: str, of: SourceFunction | None) -> bool:
        """Whether in one location of a function, as the head has it, one name was removed and the other added."""
        return any(removed in location.removed and added in location.added for location in self._locations_in(None, of))

    def put_in_place_of(self, name: str, of: SourceFunction | None, *, is_removed: bool) -> set[str]:
        """Return the names in lines of a function, as the head has it, that are new where a name was removed.

        If it is the name that is new, those that were removed there.
        """
        names: set[str] = set()
        for location in self._locations_in(None, of):
            before, after = (location.removed, location.added) if is_removed else (location.added, location.removed)
            if name in before - after:
                names |= after - before
        return names

    def code_of(
        self, old: SourceFunction | None, new: SourceFunction | None, costs: CodeCosts, *, is_more: bool
    ) -> ChangedCode | None:
        """Return what changed in a function where its lines cost more, or less; none where costs do not show it.

        Of a function that differs in one location, it is that location.
        """
        locations = [location for location in self._locations_in(old, new) if not _is_head_of(location, old, new)]
        sign = 1 if is_more else -1
        ranked = sorted(
            locations, key=lambda location: (-sign * location.added_cost(costs), -location.base_cost(costs))
        )
        if not ranked or (len(ranked) > 1 and sign * ranked[0].added_cost(costs) <= 0):
            return None
        return ranked[0].code(costs, is_more=is_more)

    def _locations_in(self, old: SourceFunction | None, new: SourceFunction | None) -> list[_ChangedLocation]:
        return [
            location
            for location in self._locations
            if _lies_in_function(location.old_file, location.old_lines, old)
            or _lies_in_function(location.new_file, location.new_lines, new)
        ]

    def names_in(self, old: SourceFunction | None, new: SourceFunction | None) -> set[str]:
        """Return the names in the lines that differ of a function, by its definition on each side."""
        return {name for location in self._locations_in(old, new) for name in location.removed | location.added}

    def touches(
        self,
        file: str,
        nodes: tuple[CostNode | None, CostNode | None],
        definitions: tuple[SourceFunction | None, SourceFunction | None],
    ) -> bool:
        """Whether a changed line lies inside a function, on either side: its definition, or else its executed lines."""
        return any(
            any(_lies_in_function(file, lines, definition) for lines in changed.get(file, []))
            if definition is not None
            else bool(_executed_lines(file, node, changed))
            for changed, node, definition in zip((self._old, self._new), nodes, definitions, strict=True)
        )

    def new_lines(self, file: str, node: CostNode | None) -> list[int]:
        """Return the new lines that were executed in a function and differ."""
        return _executed_lines(file, node, self._new)


def _is_head_of(location: _ChangedLocation, old: SourceFunction | None, new: SourceFunction | None) -> bool:
    """Whether a location is no more than the line with the function's name and parameters."""
    lines = [(old, location.old_lines), (new, location.new_lines)]
    return all(side is not None and of_side == range(side.first_line, side.first_line + 1) for side, of_side in lines)


def _costliest(lines: Iterable[str], file: str, numbers: range, costs: LineCosts) -> str:
    """Return the line of a side that costs most, the first of those that cost the same; empty where none has code."""
    code = [
        (costs.get((file, number), 0.0), line)
        for number, line in zip(numbers[:MOST_LINES], lines, strict=False)
        if NO_CODE.fullmatch(line) is None
    ]
    return _quotable(max(code, key=lambda line: line[0])[1]) if code else ""


def _quotable(line: str) -> str:
    """Return a line of code as a sentence may quote it: in one line of printable characters, not too long."""
    shown = " ".join("".join(char if char.isprintable() else " " for char in line[: 2 * LONGEST_CODE]).split())
    shown = shown.replace("`", "'")
    return shown if len(shown) <= LONGEST_CODE else f"{shown[: LONGEST_CODE - 1].rstrip()}…"


def _shown(file: str) -> str:
    """Return a file's name as call graphs show it."""
    return file.removeprefix("src/")


def _lines(start: int, count: int) -> range:
    """Return the lines of a hunk's side; of a side without lines, none behind the line that it names."""
    return range(start, start + count) if count else range(start + 1, start + 1)


def _executed_lines(file: str, node: CostNode | None, changed: Mapping[str, Sequence[range]]) -> list[int]:
    """Return the executed lines of a function in its own file that differ, or between which others were put."""
    own = [] if node is None else [line for of, line in node.lines if of == file]
    return sorted(line for line in own if any(line in _near(lines) for lines in changed.get(file, ())))


def _lies_in_function(file: str, lines: range, definition: SourceFunction | None) -> bool:
    """Whether changed lines touch a function; lines put before or behind it do not."""
    if definition is None or file != definition.file:
        return False
    body = range(definition.first_line, definition.last_line + 1)
    if not lines:
        return body.start < lines.start < body.stop
    return lines.start < body.stop and body.start < lines.stop


def _near(lines: range) -> range:
    """Return the lines themselves; where there are none, the two between which others were put."""
    return lines or range(lines.start - 1, lines.start + 1)


def _location(file: FileChange, hunk: Hunk) -> _ChangedLocation:
    return _ChangedLocation(
        old_file=_shown(file.old_file),
        old_lines=_lines(hunk.old_start, hunk.old_lines),
        new_file=_shown(file.new_file),
        new_lines=_lines(hunk.new_start, hunk.new_lines),
        removed=_names(hunk, "-"),
        added=_names(hunk, "+"),
        hunk=hunk,
    )


def _names(hunk: Hunk, sign: str) -> frozenset[str]:
    return frozenset(name for line in hunk.lines_with(sign) for name in IDENTIFIER.findall(line))
