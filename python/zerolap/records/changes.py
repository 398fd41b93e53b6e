"""The changes between two sources, which may explain a change of cost."""

from zerolap.records.base import Record


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
