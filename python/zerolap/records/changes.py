"""The changes between two sources, which may explain a change of cost."""

from zerolap.records.base import Record


class Hunk(Record):
    """Lines that changed: `old_lines` of the old file became `new_lines`; `text` holds the changed lines themselves."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    text: str


class FileChange(Record):
    """The hunks of one file; a name is empty on a side without the file."""

    old_file: str
    new_file: str
    hunks: list[Hunk]


class Changes(Record):
    """All changed files of a comparison, by paths relative to the source's root."""

    files: list[FileChange]
