"""A function of a build, as its debug information states it."""

from dataclasses import dataclass


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
