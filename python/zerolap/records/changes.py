"""The changes between two sources, which may explain a change of cost, and the files and functions that they touch."""

from collections.abc import Callable, Sequence
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


@dataclass(frozen=True)
class FunctionCode:
    """What a function does in a program: a digest of its instructions, and what they refer to, separated by spaces."""

    digest: str
    names: str


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


class UnknownChanges(Record):
    """Why it is not known what differs between two sources: a sentence without its stop."""

    reason: str
