"""The changes between two sources, which may explain a change of cost, and the files and functions that they touch."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias

from zerolap.records.base import Record

NOT_BUILT: Final = ("tests/", "utils/", "doc/", "docs/", ".github/", "src/unit/")
DOCUMENTS: Final = frozenset({".conf", ".md", ".pdf", ".png", ".rst", ".svg", ".tcl", ".yaml", ".yml"})
DOCUMENT_NAMES: Final = frozenset(
    {".clang-format", ".codespellrc", ".gitattributes", ".gitignore", "00-RELEASENOTES", "BUGS", "COPYING", "LICENSE"}
)
COMPILED: Final = frozenset({".c", ".cc", ".cpp", ".cxx"})
NO_CODE: Final = re.compile(r"[\s{}();]*|\s*(?://|/\*|\*).*|\s*(?:else|do|break;|return;)[\s{]*")
"""Lines without code of their own: punctuation, comments, single keywords."""


def may_be_built(file: str) -> bool:
    """Whether a file may be part of what is built: it is neither a document nor a test."""
    path = PurePosixPath(file)
    return not (file.startswith(NOT_BUILT) or path.suffix in DOCUMENTS or path.name in DOCUMENT_NAMES)


def is_compiled(file: str) -> bool:
    """Whether a file holds functions that may be built: a header may declare types alone."""
    return may_be_built(file) and PurePosixPath(file).suffix in COMPILED


@dataclass(frozen=True)
class SourceFunction:
    """A definition in the source: file, name and lines."""

    file: str
    name: str
    first_line: int
    last_line: int

    @property
    def key(self) -> tuple[str, str]:
        """Name and file."""
        return self.name, self.file

    def holds(self, file: str, line: int) -> bool:
        """Whether the line lies in the definition."""
        return file == self.file and self.first_line <= line <= self.last_line


class SourceFunctions:
    """Finds the function that a line belongs to."""

    def __init__(self, functions: Sequence[SourceFunction]) -> None:
        self._by_file: dict[str, list[SourceFunction]] = {}
        self._by_name: dict[str, dict[str, SourceFunction]] = {}
        for function in sorted(functions, key=lambda function: function.first_line):
            self._by_file.setdefault(function.file, []).append(function)
            self._by_name.setdefault(function.name, {}).setdefault(function.file, function)

    @property
    def are_known(self) -> bool:
        """Whether there are any: a build without debug information has none."""
        return bool(self._by_file)

    def at(self, file: str, line: int) -> SourceFunction | None:
        """Return the definition that holds the line; none too where a macro defines several functions in it."""
        known = self._by_file.get(file, [])
        index = bisect_right(known, line, key=lambda function: function.first_line) - 1
        if index < 0 or not known[index].holds(file, line):
            return None
        if index > 0 and known[index - 1].first_line == known[index].first_line:
            return None
        return known[index]

    def owner(self, holder: tuple[str, str], file: str, line: int) -> tuple[str, str]:
        """Return whose line it is of those that `holder` executes: that of a function inlined into it, or its own."""
        known = self.named(*holder)
        if known is None or known.holds(file, line):
            return holder
        owner = self.at(file, line)
        return holder if owner is None else owner.key

    def named(self, name: str, file: str) -> SourceFunction | None:
        """Return the definition of that name in that file, or none."""
        return self._by_name.get(name, {}).get(file)

    def definitions(self, name: str) -> list[SourceFunction]:
        """Return the definitions of that name: a static function may have namesakes in other files."""
        return list(self._by_name.get(name, {}).values())


@dataclass(frozen=True)
class FunctionCode:
    """What a function does in a program: a digest of its instructions, and what they refer to, separated by spaces.

    `inlined` are the functions that are inlined into it, by name and file.
    """

    digest: str
    names: str
    inlined: frozenset[tuple[str, str]] = frozenset()


FunctionsOfBuild: TypeAlias = Callable[[Path, str], Sequence[SourceFunction] | None]
"""Returns the functions of a build in a directory by its digest, none where it is not there."""


class Hunk(Record):
    """Lines that changed: `old_lines` of the old file became `new_lines`; `text` holds the changed lines themselves.

    A side without lines starts at the line before. `heading` is the line before the hunk that git takes for the
    beginning of a function; it is empty where there is none.
    """

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    text: str
    heading: str = ""

    def lines_with(self, sign: str) -> Iterator[str]:
        """Return the lines of a side, without their sign; not as a list, of which a hunk may have millions."""
        return (line[0][1:] for line in re.finditer(rf"^{re.escape(sign)}.*", self.text, re.MULTILINE))


class FileChange(Record):
    """The hunks of one file; a name is empty on a side without the file."""

    old_file: str
    new_file: str
    hunks: list[Hunk]


class Changes(Record):
    """All changed files of a comparison, by paths relative to the source's root.

    Files `left_out` have too many changes to be read: they are listed without hunks.
    """

    files: list[FileChange]
    left_out: list[str] = []

    def lines(self) -> tuple[dict[str, list[tuple[int, bool]]], dict[str, list[tuple[int, bool]]]]:
        """Return the numbers of the lines that were removed and added, by file, and whether each has code."""
        removed: dict[str, list[tuple[int, bool]]] = {}
        added: dict[str, list[tuple[int, bool]]] = {}
        for file in self.files:
            for hunk in file.hunks:
                for of_side, name, sign, start in (
                    (removed, file.old_file, "-", hunk.old_start),
                    (added, file.new_file, "+", hunk.new_start),
                ):
                    lines = enumerate(hunk.lines_with(sign), start)
                    of_side.setdefault(name, []).extend(
                        (number, NO_CODE.fullmatch(line) is None) for number, line in lines
                    )
        return removed, added


class UnknownChanges(Record):
    """Why it is not known what differs between two sources: a sentence without its stop."""

    reason: str
