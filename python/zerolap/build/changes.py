"""The difference between two sources, from git."""

import itertools
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from zerolap.build.archive import unpack_source
from zerolap.build.source import run_git
from zerolap.records import ArchiveSource, Changes, FileChange, Hunk, RevisionSource, Source, TreeSource
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
COMPARING_PREFIX = "zerolap-comparing-"


def changes_between(base: Source, head: Source, archives: Blobs | None = None) -> Changes | None:
    """Return the changes between two revisions of a repository, two trees, or two archived trees.

    `archives` hold the files of archived ones. None if the sources cannot be compared.
    """
    if isinstance(base, RevisionSource) and isinstance(head, RevisionSource):
        if base.repository != head.repository:
            return None
        done = run_git(base.repository, "diff", *DIFF_OPTIONS, base.commit, head.commit)
        return parse_diff(done.stdout) if done.returncode == 0 else None
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
    command = ["git", "diff", "--no-index", *DIFF_OPTIONS, str(base), str(head)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, cwd="/")
    except FileNotFoundError:
        return None
    return parse_diff(done.stdout, strip=(str(base).lstrip("/") + "/", str(head).lstrip("/") + "/"))


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
