"""The difference between two sources, from git."""

import re
from collections.abc import Sequence
from pathlib import Path

from zerolap.build.archive import unpack_what_differs
from zerolap.build.git import read_git
from zerolap.records import (
    ArchiveSource,
    Changes,
    EnvironmentMissing,
    FileChange,
    Hunk,
    RevisionSource,
    Source,
    TreeSource,
)
from zerolap.sandbox import remove, remove_abandoned, scratch_directory, walk
from zerolap.store import BlobDamaged, Blobs

NUMBER = r"([0-9]{1,9})"
HUNK_HEADER = re.compile(rf"@@ -{NUMBER}(?:,{NUMBER})? \+{NUMBER}(?:,{NUMBER})? @@ ?(.*)")
AS_TEXT = "--text"
"""Neither a NUL byte nor an attribute hides a change. Trees of the user's may hold programs as well."""
ATTRIBUTES = ".gitattributes"
DIFF_OPTIONS = (
    "-M",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--unified=0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
MOST_DIFF_BYTES = 12 << 20
MOST_HUNKS = 20_000
"""Each takes some 2 KB of memory, however short it is: with both limits, changes take up to 150 MB."""
LONGEST_HEADING = 200
DIFF_SECONDS = 60.0
COMPARING_PREFIX = "zerolap-comparing-"


def changes_between(base: Source, head: Source, archives: Blobs | None = None) -> Changes | None:
    """Return the changes between two revisions of a repository, two trees, or two archived trees.

    `archives` hold the files of archived ones. None if the sources cannot be compared, or differ in too much.
    """
    if isinstance(base, RevisionSource) and isinstance(head, RevisionSource):
        if base.repository != head.repository:
            return None
        # By settings for scripts, not by those for people, such as the order of files.
        command = ["-C", str(base.repository), "diff-tree", "-r", "-p", AS_TEXT, *DIFF_OPTIONS]
        return _parsed([*command, base.commit, head.commit], (0,))
    if isinstance(base, TreeSource) and isinstance(head, TreeSource):
        return _between_trees(base.path, head.path)
    if isinstance(base, ArchiveSource) and isinstance(head, ArchiveSource) and archives is not None:
        return _between_archives(base, head, archives)
    return None


def _between_archives(base: ArchiveSource, head: ArchiveSource, archives: Blobs) -> Changes | None:
    if (base.form, head.form) != ("tree", "tree"):
        return None
    remove_abandoned(COMPARING_PREFIX)
    with scratch_directory(COMPARING_PREFIX) as directory:
        trees = [directory / side for side in ("base", "head")]
        for tree in trees:
            tree.mkdir()
        try:
            unpack_what_differs([base, head], archives, trees)
        except BlobDamaged:
            return None
        # Attributes in a tree can make git convert files, or hide their changes.
        for tree in trees:
            for path in [entry.path for entry in walk(tree) if entry.name == ATTRIBUTES]:
                remove(tree / path)
        return _between_trees(trees[0], trees[1], AS_TEXT)


def _between_trees(base: Path, head: Path, *options: str) -> Changes | None:
    strip = (str(base).lstrip("/") + "/", str(head).lstrip("/") + "/")
    command = ["-C", "/", "diff", "--no-index", *options, *DIFF_OPTIONS, str(base), str(head)]
    return _parsed(command, (0, 1), strip)


def _parsed(arguments: Sequence[str], codes: tuple[int, ...], strip: tuple[str, str] = ("", "")) -> Changes | None:
    """Return the changes that git shows; none if it ends otherwise than with these exit codes, or shows too much."""
    try:
        shown = read_git(arguments, MOST_DIFF_BYTES, DIFF_SECONDS)
    except EnvironmentMissing:
        return None
    return parse_diff(shown.output, strip) if shown.code in codes else None


def parse_diff(diff: bytes, strip: tuple[str, str] = ("", "")) -> Changes | None:
    """Return the changes in a unified diff without context lines, or none if it has more than `MOST_HUNKS` hunks.

    The prefixes `strip` are removed from file names. The lines of a hunk are counted by its header: whatever a source
    holds, none of its lines is read as a header.
    """
    files: list[FileChange] = []
    file = FileChange(old_file="", new_file="", hunks=[])
    hunks = 0
    lines = _Lines(diff)
    while (content := lines.next()) is not None:
        if not content.startswith((b"diff --git ", b"--- ", b"+++ ", b"@@ ")):
            continue
        line = content.decode(errors="replace")
        if line.startswith("diff --git "):
            file = FileChange(old_file="", new_file="", hunks=[])
        elif line.startswith("--- "):
            file = file.model_copy(update={"old_file": _file_name(line[4:], "a/", strip[0])})
        elif line.startswith("+++ "):
            file = file.model_copy(update={"new_file": _file_name(line[4:], "b/", strip[1])})
        elif header := HUNK_HEADER.fullmatch(line):
            hunks += 1
            if hunks > MOST_HUNKS:
                return None
            if not file.hunks:
                files.append(file)
            file.hunks.append(_hunk(header, lines))
    return Changes(files=files)


class _Lines:
    """The lines of a diff, one at a time: a list of all would take many times as much memory as the diff."""

    def __init__(self, diff: bytes) -> None:
        self._diff = diff
        self._at = 0

    def next(self) -> bytes | None:
        """Return the next line, or none at the end."""
        if self._at >= len(self._diff):
            return None
        begin, self._at = self._at, self._end_of_line()
        return self._diff[begin : self._at].removesuffix(b"\n")

    def take(self, count: int) -> bytes:
        """Return so many lines together, without what git adds to them, such as that no end of line follows one."""
        parts, begin = [], self._at
        while count and self._at < len(self._diff):
            if self._diff.startswith(b"\\", self._at):
                parts.append(self._diff[begin : self._at])
                self._at = begin = self._end_of_line()
            else:
                self._at = self._end_of_line()
                count -= 1
        return b"".join([*parts, self._diff[begin : self._at]]).removesuffix(b"\n")

    def _end_of_line(self) -> int:
        end = self._diff.find(b"\n", self._at)
        return len(self._diff) if end < 0 else end + 1


def _hunk(header: re.Match[str], lines: _Lines) -> Hunk:
    """Return the hunk with that header, whose lines come next."""
    *places, heading = header.groups()
    old_start, old_lines, new_start, new_lines = (int(place or 1) for place in places)
    return Hunk(
        old_start=old_start,
        old_lines=old_lines,
        new_start=new_start,
        new_lines=new_lines,
        text=lines.take(old_lines + new_lines).decode(errors="replace"),
        heading=heading[:LONGEST_HEADING],
    )


def _file_name(name: str, prefix: str, strip: str) -> str:
    name = name.split("\t", maxsplit=1)[0].strip('"')
    if name == "/dev/null":
        return ""
    return name.removeprefix(prefix).removeprefix(strip)
