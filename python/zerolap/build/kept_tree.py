"""The tree of a build with all that make left in it: a later build of nearly the same source makes only what changed.

What make left is taken from the tree of a build that is trusted before the later one is: its base. A file that make may
take for up to date although it is not makes a wrong build. So a tree is continued only where nothing but the content of
some `.c` files below `src` changed, and make knows what depends on them; any other build is made from nothing.
"""

import contextlib
import hashlib
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from zerolap.records import BuildSpec, Record
from zerolap.sandbox import FileEntry, FileRefused, read_file, remove, used_bytes, walk

TREE, SOURCES = "tree", "sources.json"
LARGEST_TREE_BYTES = 512 << 20
LONGEST_PATH_BYTES = 256
LARGEST_FILE_BYTES = 16 << 20
MOST_NOTES_BYTES = 16 << 20
"""Of a server they are half a megabyte."""
MADE_AGAIN = re.compile(r"src/.+\.c")
"""Headers are not among them: bundled libraries may include those of `src`, and make does not look at that."""
NOTES_OF_ALL = "Makefile.dep"
"""The notes of all objects in one file, which make writes anew where it is missing (Redis up to 7)."""
READS_NOTES_OF_ALL = re.compile(rb"^-?include Makefile\.dep$", re.MULTILINE)
NOT_TAKEN_OVER = frozenset({NOTES_OF_ALL, "GNUmakefile", "makefile", "Makefile"})
SYSTEM_FILES = ("/var/lib/dpkg/status", "/var/lib/rpm", "/lib/apk/db/installed", "/usr/include", "/usr/local/include")
"""What changes when libraries of the system do, whose headers make does not note."""


class SourceFile(Record):
    """A file of a source, as it was before the build: a digest of its content or of where it links to."""

    digest: str
    mode: int
    modified_ns: int


class Sources(Record):
    """The files of a source by their paths; `made_by` identifies variant, recipe, tools and system of the build."""

    made_by: str
    files: dict[str, SourceFile]

    @classmethod
    def of(cls, tree: Path, spec: BuildSpec) -> "Sources":
        """Return the files of a tree that is built by a specification."""
        files = {}
        for entry in walk(tree):
            if not entry.is_directory:
                path = tree / entry.path
                files[str(entry.path)] = SourceFile(
                    digest=_digest(path, is_link=stat.S_ISLNK(entry.status.st_mode)),
                    mode=entry.status.st_mode,
                    modified_ns=entry.status.st_mtime_ns,
                )
        made_by = f"{spec.model_copy(update={'content': ''}).digest} {_system()}"
        return cls(made_by=made_by, files=files)

    def changed(self, later: "Sources") -> list[str] | None:
        """Return the paths of files with other content in a later source.

        None where files came, went or changed their kind, or where it is built in another way.
        """
        if self.made_by != later.made_by or self.files.keys() != later.files.keys():
            return None
        if any(file.mode != later.files[path].mode for path, file in self.files.items()):
            return None
        return [path for path, file in self.files.items() if file.digest != later.files[path].digest]


def _digest(path: Path, *, is_link: bool) -> str:
    if is_link:
        return hashlib.sha256(os.fsencode(path.readlink())).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _system() -> str:
    """Return what identifies the libraries of the system: when they were changed last."""
    changed_ns = {}
    for name in SYSTEM_FILES:
        with contextlib.suppress(OSError):
            changed_ns[name] = Path(name).stat().st_mtime_ns
    return hashlib.sha256(repr(changed_ns).encode()).hexdigest()


class KeptTree:
    """The tree that a build has left in its directory."""

    def __init__(self, build_directory: Path) -> None:
        self._tree = build_directory / TREE
        self._sources = build_directory / SOURCES

    def continue_in(self, tree: Path, sources: Sources, program: Path) -> bool:
        """Add what make left to another tree, which has only its sources; return whether make can go on there.

        If not, the other tree is as it was. Files that did not change are as old there as they were for the first make.
        `program` is left out: make links it again. Raises `OSError` where that cannot be done, as where another process
        removes the kept tree meanwhile, and `FileRefused` for odd notes; the other tree is of no use then.
        """
        try:
            before = Sources.model_validate_json(self._sources.read_text())
        except (OSError, ValidationError):
            return False
        changed = before.changed(sources)
        if not changed or not all(
            MADE_AGAIN.fullmatch(path) and stat.S_ISREG(sources.files[path].mode) for path in changed
        ):
            return False
        notes = self._notes_about(changed, before)
        if notes is None or not self._is_of_the_past():
            return False
        identity = self._tree.stat().st_ino
        for path, file in before.files.items():
            if path not in changed:
                os.utime(tree / path, ns=(file.modified_ns, file.modified_ns), follow_symlinks=False)
        for path in changed:
            os.utime(tree / path, follow_symlinks=False)
        for entry in self._made(before):
            if entry.path != PurePosixPath(program) and entry.name not in NOT_TAKEN_OVER:
                self._copy(entry, tree)
        if self._tree.stat().st_ino != identity:
            raise FileNotFoundError(f"{self._tree} was replaced")
        notes_of_all = tree / "src" / NOTES_OF_ALL
        if notes and not os.path.lexists(notes_of_all):
            # They name the same, and take make seconds to write.
            with notes_of_all.open("xb") as written:
                written.write(notes)
        return True

    def _is_of_the_past(self) -> bool:
        """Whether all files are older than what is written now: they are newer where a clock was put back."""
        now_ns = time.time_ns()
        return all(entry.status.st_mtime_ns < now_ns for entry in walk(self._tree))

    def _notes_about(self, changed: list[str], before: Sources) -> bytes | None:
        """Return the notes of all objects, each of which has its own, if they name the changed files.

        Nothing where make writes notes of all objects anew; none where it does not know what depends on the files.
        """
        objects: set[str] = set()
        notes: set[str] = set()
        named: set[str] = set()
        texts: list[bytes] = []
        left_bytes = MOST_NOTES_BYTES
        for entry in self._made(before):
            path = str(entry.path)
            if path.startswith("src/") and path.endswith(".o"):
                objects.add(path.removesuffix(".o"))
            elif path.startswith("src/") and path.endswith(".d"):
                notes.add(path.removesuffix(".d"))
                left_bytes -= entry.status.st_size
                if left_bytes < 0:
                    return None
                texts.append(read_file(self._tree / entry.path, LARGEST_FILE_BYTES))
                words = re.split(rb"[\s:\\]+", texts[-1])
                # Relative to where make was, which is above the object.
                for directory in {"src", os.path.dirname(path)}:
                    named |= {os.path.normpath(os.path.join(directory, os.fsdecode(word))) for word in words if word}
        if notes:
            return b"\n".join(texts) if objects <= notes and named.issuperset(changed) else None
        try:
            makefile = read_file(self._tree / "src" / "Makefile", LARGEST_FILE_BYTES)
        except FileRefused:
            return None
        return b"" if READS_NOTES_OF_ALL.search(makefile) else None

    def _made(self, before: Sources) -> Iterator[FileEntry]:
        """Yield the regular files that are not of the source."""
        for entry in walk(self._tree):
            if stat.S_ISREG(entry.status.st_mode) and str(entry.path) not in before.files:
                yield entry

    def _copy(self, entry: FileEntry, tree: Path) -> None:
        target = tree / entry.path
        # The build may have put a directory in place of a link, which leads out of the other tree.
        if Path(os.path.realpath(target.parent)).is_relative_to(os.path.realpath(tree)):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self._tree / entry.path, target, follow_symlinks=False)


@dataclass(frozen=True)
class BuiltTree:
    """A tree after its build: the files of its source, the program, and what that was linked from, if it is known.

    The paths are relative to the tree.
    """

    tree: Path
    sources: Sources
    program: PurePosixPath
    linked: frozenset[str] | None

    def drop_needless(self) -> None:
        """Remove what no later build needs: the program, which is linked again, and objects of bundled libraries.

        Make of servers looks at the libraries, which hold them. Objects that the program is linked from stay.
        """
        remove(self.tree / self.program)
        if self.linked is None:
            return
        needless = [
            entry.path
            for entry in walk(self.tree)
            if stat.S_ISREG(entry.status.st_mode)
            and str(entry.path).endswith(".o")
            and not str(entry.path).startswith("src/")
            and str(entry.path) not in self.linked
            and str(entry.path) not in self.sources.files
        ]
        for path in needless:
            remove(self.tree / path)


def keep_tree(built: BuiltTree, build_directory: Path) -> None:
    """Move a tree to the directory of its build, unless it is larger or deeper than the trees of servers are."""
    built.drop_needless()
    tree, sources = built.tree, built.sources
    if used_bytes([tree], LARGEST_TREE_BYTES) > LARGEST_TREE_BYTES:
        return
    usual = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
    if all(
        stat.S_IFMT(entry.status.st_mode) in usual and entry.has_path_within(LONGEST_PATH_BYTES) for entry in walk(tree)
    ):
        # The build may have made it unmovable; a tree that is not kept costs time and no more.
        with contextlib.suppress(OSError):
            tree.rename(build_directory / TREE)
            (build_directory / SOURCES).write_text(sources.model_dump_json())
