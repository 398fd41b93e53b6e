"""The difference between two sources, from git."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Final

from zerolap.build.archive import unpack_what_differs
from zerolap.build.git import PREFIX, GitStopped, beginning_of, fault_in, running_git
from zerolap.records import (
    ArchiveSource,
    Changes,
    EnvironmentMissing,
    FileChange,
    Hunk,
    RevisionSource,
    Source,
    TreeSource,
    UnknownChanges,
    UsageError,
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
LONGEST_LINE_BYTES: Final = 1 << 16
"""Of a line outside of hunks; what is longer is read in pieces."""
LONGEST_HEADING = 200
DIFF_SECONDS = 60.0
COMPARING_PREFIX = "zerolap-comparing-"
CODE: Final = frozenset({".c", ".cc", ".cpp", ".cxx", ".def", ".h", ".hh", ".hpp", ".inc", ".inl", ".ipp", ".s", ".S"})
SERVER: Final = "src/"
NO_COMMON_KIND: Final = "The sources are not both revisions of one repository or trees"


@dataclass
class DiffLimits:
    """How much of a diff is kept: of a file, of all files that are needed first, and of the others.

    Each hunk takes some 2 KB of memory, however short it is: with all limits, changes take up to 150 MB.
    """

    file_bytes: int = 4 << 20
    file_hunks: int = 10_000
    first_bytes: int = 16 << 20
    first_hunks: int = 30_000
    other_bytes: int = 2 << 20
    other_hunks: int = 5_000


@dataclass
class _Left:
    """What is left of a limit."""

    size_bytes: int
    hunks: int


@dataclass
class DiffReader:
    """What is read of a diff: `needed` are the files that matter most, by names without `src/`; else those of code.

    `strip` are prefixes that are removed from the file names of both sides.
    """

    needed: Collection[str] = ()
    strip: tuple[str, str] = ("", "")
    limits: DiffLimits = field(default_factory=DiffLimits)

    def is_first(self, change: FileChange) -> bool:
        """Whether a file is one of those that matter most."""
        names = [name for name in (change.old_file, change.new_file) if name]
        if self.needed:
            return any(name.removeprefix(SERVER) in self.needed for name in names)
        return any(PurePosixPath(name).suffix in CODE for name in names)


def changes_between(
    base: Source, head: Source, archives: Blobs | None = None, needed: Collection[str] = ()
) -> Changes | UnknownChanges:
    """Return the changes between two revisions of a repository, two trees, or two archived trees.

    `archives` hold the files of archived ones. Of very many changes those of the files `needed`, named without `src/`,
    are read first, by default those of code. What cannot be compared has the reason.
    """
    reader = DiffReader(needed)
    if isinstance(base, RevisionSource) and isinstance(head, RevisionSource):
        if base.repository != head.repository:
            return UnknownChanges(reason=NO_COMMON_KIND)
        # By settings for scripts, not by those for people, such as the order of files.
        command = ["-C", str(base.repository), "diff-tree", "-r", "-p", AS_TEXT, *DIFF_OPTIONS]
        return _read([*command, base.commit, head.commit], (0,), reader)
    if isinstance(base, TreeSource) and isinstance(head, TreeSource):
        return _between_trees(base.path, head.path, reader)
    if isinstance(base, ArchiveSource) and isinstance(head, ArchiveSource) and archives is not None:
        return _between_archives(base, head, archives, reader)
    return UnknownChanges(reason=NO_COMMON_KIND)


def _between_archives(
    base: ArchiveSource, head: ArchiveSource, archives: Blobs, reader: DiffReader
) -> Changes | UnknownChanges:
    if (base.form, head.form) != ("tree", "tree"):
        return UnknownChanges(reason=NO_COMMON_KIND)
    remove_abandoned(COMPARING_PREFIX)
    with scratch_directory(COMPARING_PREFIX) as directory:
        trees = [directory / side for side in ("base", "head")]
        for tree in trees:
            tree.mkdir()
        try:
            unpack_what_differs([base, head], archives, trees)
        except BlobDamaged as damaged:
            return UnknownChanges(reason=f"The sources are not in the store any more ({damaged.message})")
        except UsageError as refused:
            return UnknownChanges(reason=f"The sources cannot be unpacked ({refused.message})")
        # Attributes in a tree can make git convert files, or hide their changes.
        for tree in trees:
            for path in [entry.path for entry in walk(tree) if entry.name == ATTRIBUTES]:
                remove(tree / path)
        return _between_trees(trees[0], trees[1], reader, AS_TEXT)


def _between_trees(base: Path, head: Path, reader: DiffReader, *options: str) -> Changes | UnknownChanges:
    reader.strip = (str(base).lstrip("/") + "/", str(head).lstrip("/") + "/")
    command = ["-C", "/", "diff", "--no-index", *options, *DIFF_OPTIONS, str(base), str(head)]
    return _read(command, (0, 1), reader)


def _read(arguments: Sequence[str], codes: tuple[int, ...], reader: DiffReader) -> Changes | UnknownChanges:
    """Return the changes that git shows, or why there are none if it ends otherwise than with these exit codes."""
    remove_abandoned(PREFIX)
    try:
        with scratch_directory(PREFIX) as scratch:
            errors = scratch / "errors"
            with running_git(arguments, DIFF_SECONDS, errors) as (git, diff):
                changes = parse_diff(diff, reader)
                code = git.wait()
                errors_text = beginning_of(errors)
            if code in codes:
                return changes
            return UnknownChanges(reason=f"Git cannot show the changes of the sources ({fault_in(errors_text)})")
    except GitStopped as stopped:
        return UnknownChanges(reason=f"The sources differ in more than can be read ({stopped.message})")
    except EnvironmentMissing as missing:
        return UnknownChanges(reason=f"The changes of the sources cannot be read ({missing.message})")


def parse_diff(diff: IO[bytes], reader: DiffReader | None = None) -> Changes:
    """Return the changes in a unified diff without context lines, as far as they are within the limits.

    The lines of a hunk are counted by its header: whatever a source holds, none of its lines is read as a header.
    """
    reader = reader or DiffReader()
    limits = reader.limits
    left = {
        True: _Left(limits.first_bytes, limits.first_hunks),
        False: _Left(limits.other_bytes, limits.other_hunks),
    }
    files: list[FileChange] = []
    left_out: list[FileChange] = []
    file, of_file = FileChange(old_file="", new_file="", hunks=[]), _Left(limits.file_bytes, limits.file_hunks)
    lines = _Lines(diff)
    while (content := lines.next()) is not None:
        if not content.startswith((b"diff --git ", b"--- ", b"+++ ", b"@@ ")):
            continue
        line = content.decode(errors="replace")
        if line.startswith("diff --git "):
            file = FileChange(old_file="", new_file="", hunks=[])
            of_file = _Left(limits.file_bytes, limits.file_hunks)
        elif line.startswith("--- "):
            file = file.model_copy(update={"old_file": _file_name(line[4:], "a/", reader.strip[0])})
        elif line.startswith("+++ "):
            file = file.model_copy(update={"new_file": _file_name(line[4:], "b/", reader.strip[1])})
        elif header := HUNK_HEADER.fullmatch(line):
            of_kind = left[reader.is_first(file)]
            if not files or files[-1] is not file:
                files.append(file)
            hunk = _hunk(header, lines, min(of_file.size_bytes, of_kind.size_bytes))
            if hunk is None or min(of_file.hunks, of_kind.hunks) == 0:
                # It is left out as a whole: a part of its changes would pass for all.
                of_file.size_bytes = 0
                of_kind.size_bytes += sum(len(kept.text) for kept in file.hunks)
                of_kind.hunks += len(file.hunks)
                file.hunks.clear()
                if not left_out or left_out[-1] is not file:
                    left_out.append(file)
                continue
            for limit in (of_file, of_kind):
                limit.size_bytes -= len(hunk.text)
                limit.hunks -= 1
            file.hunks.append(hunk)
    return Changes(files=files, left_out=[each.new_file or each.old_file for each in left_out if reader.is_first(each)])


class _Lines:
    """The lines of a diff, which is never held as a whole."""

    def __init__(self, diff: IO[bytes]) -> None:
        self._diff = diff

    def next(self) -> bytes | None:
        """Return the next line, of a long one the beginning, or none at the end."""
        line = self._taken()
        self._skip_rest(line)
        return line.removesuffix(b"\n") if line else None

    def take(self, count: int, most_bytes: int) -> bytes | None:
        """Return so many lines together, without what git adds to them, such as that no end of line follows one.

        None if they are longer than `most_bytes`: they are read and not kept.
        """
        parts: list[bytes] = []
        size_bytes = 0
        while count:
            line = self._taken()
            if not line:
                break
            if line.startswith(b"\\"):
                self._skip_rest(line)
                continue
            count -= 1
            while True:
                size_bytes += len(line)
                if size_bytes > most_bytes:
                    parts.clear()
                else:
                    parts.append(line)
                if line.endswith(b"\n"):
                    break
                line = self._taken()
                if not line:
                    break
        return None if size_bytes > most_bytes else b"".join(parts).removesuffix(b"\n")

    def _taken(self) -> bytes:
        return self._diff.readline(LONGEST_LINE_BYTES)

    def _skip_rest(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = self._taken()


def _hunk(header: re.Match[str], lines: _Lines, most_bytes: int) -> Hunk | None:
    """Return the hunk with that header, whose lines come next; none if it is too long."""
    *places, heading = header.groups()
    old_start, old_lines, new_start, new_lines = (int(place or 1) for place in places)
    text = lines.take(old_lines + new_lines, most_bytes)
    if text is None:
        return None
    return Hunk(
        old_start=old_start,
        old_lines=old_lines,
        new_start=new_start,
        new_lines=new_lines,
        text=text.decode(errors="replace"),
        heading=heading[:LONGEST_HEADING],
    )


def _file_name(name: str, prefix: str, strip: str) -> str:
    name = name.split("\t", maxsplit=1)[0].strip('"')
    if name == "/dev/null":
        return ""
    return name.removeprefix(prefix).removeprefix(strip)
