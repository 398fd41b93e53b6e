"""The difference between two sources, from git."""

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from zerolap.build.archive import unpack_source
from zerolap.build.bounded_git import WITHOUT_PROGRAMS, GitStopped, read_git
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
from zerolap.sandbox import remove_abandoned, scratch_directory
from zerolap.store import BlobDamaged, Blobs

NUMBER = r"([0-9]{1,9})"
HUNK_HEADER = re.compile(rf"@@ -{NUMBER}(?:,{NUMBER})? \+{NUMBER}(?:,{NUMBER})? @@ ?(.*)")
DIFF_OPTIONS = (
    "-M",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--unified=0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
MOST_DIFF_BYTES = 16 << 20
"""What is read of a difference takes a hundred times as much memory, if it has only short lines."""
DIFF_SECONDS = 60.0
COMPARING_PREFIX = "zerolap-comparing-"


def changes_between(base: Source, head: Source, archives: Blobs | None = None) -> Changes | None:
    """Return the changes between two revisions of a repository, two trees, or two archived trees.

    `archives` hold the files of archived ones. None if the sources cannot be compared, or differ in too much.
    """
    if isinstance(base, RevisionSource) and isinstance(head, RevisionSource):
        if base.repository != head.repository:
            return None
        # Neither a NUL byte nor an attribute of the repository hides a change. Trees may hold programs as well.
        options = ["--text", *DIFF_OPTIONS]
        return _parsed(["-C", str(base.repository), "diff", *options, base.commit, head.commit], (0,))
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
        trees = []
        for side, source in (("base", base), ("head", head)):
            tree = directory / side
            tree.mkdir()
            try:
                unpack_source(source, archives, tree)
            except BlobDamaged:
                return None
            trees.append(tree)
        return _between_trees(*trees)


def _between_trees(base: Path, head: Path) -> Changes | None:
    strip = (str(base).lstrip("/") + "/", str(head).lstrip("/") + "/")
    return _parsed(["-C", "/", "diff", "--no-index", *DIFF_OPTIONS, str(base), str(head)], (0, 1), strip)


def _parsed(arguments: Sequence[str], codes: tuple[int, ...], strip: tuple[str, str] = ("", "")) -> Changes | None:
    """Return the changes that git shows; none if it ends otherwise than with these exit codes, or shows too much."""
    try:
        shown = read_git([*WITHOUT_PROGRAMS, *arguments], MOST_DIFF_BYTES, DIFF_SECONDS)
    except (EnvironmentMissing, GitStopped):
        return None
    return parse_diff(shown.output.decode(errors="replace"), strip) if shown.code in codes else None


def parse_diff(text: str, strip: tuple[str, str] = ("", "")) -> Changes:
    """Return the changes in a unified diff without context lines; the prefixes `strip` are removed from file names.

    The lines of a hunk are counted by its header: whatever a source holds, none of its lines is read as a header.
    """
    files: list[FileChange] = []
    file = FileChange(old_file="", new_file="", hunks=[])
    lines = iter(text.split("\n"))
    for line in lines:
        if line.startswith("diff --git "):
            file = FileChange(old_file="", new_file="", hunks=[])
        elif line.startswith("--- "):
            file = file.model_copy(update={"old_file": _file_name(line[4:], "a/", strip[0])})
        elif line.startswith("+++ "):
            file = file.model_copy(update={"new_file": _file_name(line[4:], "b/", strip[1])})
        elif header := HUNK_HEADER.fullmatch(line):
            if not file.hunks:
                files.append(file)
            file.hunks.append(_hunk(header, lines))
    return Changes(files=files)


def _hunk(header: re.Match[str], lines: Iterator[str]) -> Hunk:
    """Return the hunk with that header, whose lines come next."""
    *places, heading = header.groups()
    old_start, old_lines, new_start, new_lines = (int(place or 1) for place in places)
    # What git says of a line in between, such as that no end of line follows it, begins with a backslash.
    changed = (line for line in lines if not line.startswith("\\"))
    return Hunk(
        old_start=old_start,
        old_lines=old_lines,
        new_start=new_start,
        new_lines=new_lines,
        text="\n".join(itertools.islice(changed, old_lines + new_lines)),
        heading=heading,
    )


def _file_name(name: str, prefix: str, strip: str) -> str:
    name = name.split("\t", maxsplit=1)[0].strip('"')
    if name == "/dev/null":
        return ""
    return name.removeprefix(prefix).removeprefix(strip)
