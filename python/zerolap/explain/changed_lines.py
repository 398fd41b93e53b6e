"""Which functions the compared change touches."""

import re

from zerolap.explain.attribution import SourceFunctions
from zerolap.explain.cost_graph import CostGraph, FunctionKey
from zerolap.records import Changes, Hunk

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


class ChangedLines:
    """The lines that differ, as seen from each side, and the names that stand in them."""

    def __init__(self, changes: Changes | None) -> None:
        self.known = changes is not None
        self._old: dict[str, list[range]] = {}
        self._new: dict[str, list[range]] = {}
        self._names: set[str] = set()
        for file in changes.files if changes else []:
            for hunk in file.hunks:
                self._old.setdefault(_shown(file.old_file), []).append(_lines(hunk.old_start, hunk.old_lines))
                self._new.setdefault(_shown(file.new_file), []).append(_lines(hunk.new_start, hunk.new_lines))
                self._names |= _names(hunk)

    def mentions(self, key: FunctionKey) -> bool:
        """Whether a changed line holds the function's name."""
        return key[0] in self._names

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
            body = range(definition.first_line, definition.last_line + 1)
            return any(one.start < body.stop and body.start < one.stop for one in ranges)
        node = graph.nodes.get(key)
        return node is not None and any(line in one for place, line in node.lines if place == file for one in ranges)

    def lines_in(self, key: FunctionKey, graph: CostGraph) -> list[int]:
        """Return the new lines that were executed in a function and differ."""
        node = graph.nodes.get(key)
        ranges = self._new.get(key[1], [])
        if node is None:
            return []
        return sorted(line for file, line in node.lines if file == key[1] and any(line in one for one in ranges))


def _shown(file: str) -> str:
    """Return a file's name as call graphs show it."""
    return file.removeprefix("src/")


def _lines(start: int, count: int) -> range:
    """Return the lines of a hunk's side; of a side without lines, those between which the others were put."""
    return range(start, start + count) if count else range(start, start + 2)


def _names(hunk: Hunk) -> set[str]:
    return set(IDENTIFIER.findall(hunk.text))
