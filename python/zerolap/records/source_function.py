"""A function of a build, as its debug information states it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


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
    """What a function does in a program: a digest of its instructions, and the names of what they refer to."""

    digest: str
    names: tuple[str, ...]


FunctionsOfBuild: TypeAlias = Callable[[Path, str], Sequence[SourceFunction] | None]
"""Returns the functions of a build in a directory by its digest, none where it is not there."""
