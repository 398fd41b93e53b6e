"""Which functions the compared change touches."""

import re
from dataclasses import dataclass

from zerolap.explain.attribution import SourceFunctions
from zerolap.explain.cost_graph import CostGraph, FunctionKey
from zerolap.records import Changes, FileChange, Hunk, SourceFunction, UnknownChanges

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class _ChangedPlace:
    """Lines that differ in one place, by file and range of each side, and the names in those removed and added."""

    old_file: str
    old_lines: range
    new_file: str
    new_lines: range
    removed: frozenset[str]
    added: frozenset[str]


class DifferingLines:
    """The lines that differ, as seen from each side, and the names that stand in them."""

    def __init__(self, changes: Changes | UnknownChanges) -> None:
        self.known = isinstance(changes, Changes)
        files = changes.files if isinstance(changes, Changes) else []
        self._left_out = {_shown(file) for file in changes.left_out} if isinstance(changes, Changes) else set()
        self._places = [_place(file, hunk) for file in files for hunk in file.hunks]
        self._old: dict[str, list[range]] = {}
        self._new: dict[str, list[range]] = {}
        for place in self._places:
            self._old.setdefault(place.old_file, []).append(place.old_lines)
            self._new.setdefault(place.new_file, []).append(place.new_lines)

    def knows(self, key: FunctionKey) -> bool:
        """Whether the lines that differ in the file of a function were read."""
        return self.known and key[1] not in self._left_out

    def mentions(self, key: FunctionKey, functions: SourceFunctions) -> bool:
        """Whether a changed line holds the function's name, in a file where that means no other function."""
        name, file = key
        return any(
            place.new_file == file or functions.named(name, place.new_file) is None
            for place in self._places
            if name in place.removed or name in place.added
        )

    def exchanges(self, removed: str, added: str, of: SourceFunction | None) -> bool:
        """Whether in one place of a function, as the head has it, one name was removed and the other added."""
        return of is not None and any(
            removed in place.removed
            and added in place.added
            and place.new_file == of.file
            and _lies_in(place.new_lines, _body(of))
            for place in self._places
        )

    def names_in(self, old: SourceFunction | None, new: SourceFunction | None) -> set[str]:
        """Return the names in the lines that differ of a function, by its definition on each side."""
        names: set[str] = set()
        for place in self._places:
            is_in_old = old is not None and place.old_file == old.file and _lies_in(place.old_lines, _body(old))
            is_in_new = new is not None and place.new_file == new.file and _lies_in(place.new_lines, _body(new))
            if is_in_old or is_in_new:
                names |= place.removed | place.added
        return names

    def body_changed(
        self, key: FunctionKey, base: CostGraph, head: CostGraph, old: SourceFunctions, new: SourceFunctions
    ) -> bool:
        """Whether a changed line lies inside the function, on either side."""
        return self._touches(self._old, key, base, old) or self._touches(self._new, key, head, new)

    @staticmethod
    def _touches(
        changed: dict[str, list[range]], key: FunctionKey, graph: CostGraph, functions: SourceFunctions
    ) -> bool:
        name, file = key
        ranges = changed.get(file, [])
        definition = functions.named(name, file)
        if definition is not None:
            return any(_lies_in(changed, _body(definition)) for changed in ranges)
        node = graph.nodes.get(key)
        return node is not None and any(
            line in _near(changed) for place, line in node.lines if place == file for changed in ranges
        )

    def lines_in(self, key: FunctionKey, graph: CostGraph) -> list[int]:
        """Return the new lines that were executed in a function and differ."""
        node = graph.nodes.get(key)
        ranges = self._new.get(key[1], [])
        if node is None:
            return []
        return sorted(
            line for file, line in node.lines if file == key[1] and any(line in _near(changed) for changed in ranges)
        )


def _shown(file: str) -> str:
    """Return a file's name as call graphs show it."""
    return file.removeprefix("src/")


def _lines(start: int, count: int) -> range:
    """Return the lines of a hunk's side; of a side without lines, none behind the line that it names."""
    return range(start, start + count) if count else range(start + 1, start + 1)


def _body(definition: SourceFunction) -> range:
    return range(definition.first_line, definition.last_line + 1)


def _lies_in(lines: range, body: range) -> bool:
    """Whether changed lines touch a body; lines put before or behind it do not."""
    if not lines:
        return body.start < lines.start < body.stop
    return lines.start < body.stop and body.start < lines.stop


def _near(lines: range) -> range:
    """Return the lines themselves; where there are none, the two between which others were put."""
    return lines or range(lines.start - 1, lines.start + 1)


def _place(file: FileChange, hunk: Hunk) -> _ChangedPlace:
    return _ChangedPlace(
        old_file=_shown(file.old_file),
        old_lines=_lines(hunk.old_start, hunk.old_lines),
        new_file=_shown(file.new_file),
        new_lines=_lines(hunk.new_start, hunk.new_lines),
        removed=_names(hunk, "-"),
        added=_names(hunk, "+"),
    )


def _names(hunk: Hunk, sign: str) -> frozenset[str]:
    # Not by a list of all lines, of which a hunk may have millions.
    lines = re.finditer(rf"^{re.escape(sign)}.*", hunk.text, re.MULTILINE)
    return frozenset(name for line in lines for name in IDENTIFIER.findall(line[0]))
