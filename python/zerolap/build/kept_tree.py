"""The tree of a build with all that make left in it: a later build of nearly the same source makes only what changed.

What make left is taken from the tree of a build that is trusted before the later one is: its base. A file that make may
take for up to date although it is not makes a wrong build. So a tree is continued only where a few files of C below
`src` changed, which make's own notes of dependencies name; any other build is made from nothing.
"""

import contextlib
import hashlib
import os
import re
import shutil
import stat
from pathlib import Path

from pydantic import ValidationError

from zerolap.records import BuildSpec, Record
from zerolap.sandbox import FileRefused, read_file, walk

TREE, SOURCES = "tree", "sources.json"
LARGEST_TREE_BYTES = 512 << 20
LONGEST_PATH_BYTES = 256
LARGEST_FILE_BYTES = 16 << 20
MADE_AGAIN = re.compile(r"src/.+\.[ch]")
DEPENDENCIES_OF_ALL = "Makefile.dep"
"""The notes of all objects in one file, which make does not write again. Redis has had it up to 7.0."""
INCLUDES = re.compile(rb"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)


class SourceFile(Record):
    """A file of a source, as it was before the build: a digest of its content or of where it links to."""

    digest: str
    mode: int
    modified_ns: int


class Sources(Record):
    """The files of a source by their paths; `made_by` identifies variant, recipe and tools of the build."""

    made_by: str
    files: dict[str, SourceFile]

    @classmethod
    def of(cls, tree: Path, spec: BuildSpec) -> "Sources":
        """Return the files of a tree that is built by a specification."""
        files = {}
        for entry in walk(tree):
            if not entry.is_directory:
                path = tree / entry.path
                is_link = stat.S_ISLNK(entry.status.st_mode)
                content = os.fsencode(path.readlink()) if is_link else path.read_bytes()
                files[str(entry.path)] = SourceFile(
                    digest=hashlib.sha256(content).hexdigest(),
                    mode=entry.status.st_mode,
                    modified_ns=entry.status.st_mtime_ns,
                )
        return cls(made_by=spec.model_copy(update={"content": ""}).digest, files=files)

    def changed(self, later: "Sources") -> list[str] | None:
        """Return the paths of files with other content in a later source.

        None where files came, went or changed their kind, or where it is built in another way.
        """
        if self.made_by != later.made_by or self.files.keys() != later.files.keys():
            return None
        if any(file.mode != later.files[path].mode for path, file in self.files.items()):
            return None
        return [path for path, file in self.files.items() if file.digest != later.files[path].digest]


class KeptTree:
    """The tree that a build has left in its directory."""

    def __init__(self, build_directory: Path) -> None:
        self._tree = build_directory / TREE
        self._sources = build_directory / SOURCES

    def continue_in(self, tree: Path, sources: Sources) -> bool:
        """Add what make left to another tree, which has only its sources; return whether make can go on there.

        If not, the other tree is as it was. Files that did not change are as old there as they were for the first make.
        """
        try:
            before = Sources.model_validate_json(self._sources.read_text())
        except (OSError, ValidationError):
            return False
        changed = before.changed(sources)
        if not changed or not all(MADE_AGAIN.fullmatch(path) for path in changed):
            return False
        if not self._knows_what_depends_on(changed, tree):
            return False
        for path, file in before.files.items():
            if path not in changed:
                os.utime(tree / path, ns=(file.modified_ns, file.modified_ns), follow_symlinks=False)
        for path in changed:
            os.utime(tree / path)
        self._copy_made(tree, before)
        return True

    def _knows_what_depends_on(self, changed: list[str], tree: Path) -> bool:
        notes, is_of_all = self._dependencies()
        for path in changed:
            name = re.escape(Path(path).name.encode())
            if not re.search(rb"(?:^|[\s/])" + name + rb"(?:[\s:\\]|$)", notes):
                return False
            # Such notes stay as they are: they would miss what the file includes now, or a header makes others include.
            if is_of_all and (path.endswith(".h") or self._includes(self._tree / path) != self._includes(tree / path)):
                return False
        return True

    def _dependencies(self) -> tuple[bytes, bool]:
        """Return make's notes of what objects depend on, and whether they are those of all in one file."""
        texts = [self._read(path) for path in sorted((self._tree / "src").rglob("*.d"))]
        if texts:
            return b"\n".join(texts), False
        return self._read(self._tree / "src" / DEPENDENCIES_OF_ALL), True

    @staticmethod
    def _read(path: Path) -> bytes:
        # The build could have put anything there.
        try:
            return read_file(path, LARGEST_FILE_BYTES)
        except FileRefused:
            return b""

    def _includes(self, path: Path) -> list[bytes]:
        return INCLUDES.findall(self._read(path))

    def _copy_made(self, tree: Path, sources: Sources) -> None:
        """Copy the regular files that are not of the source, with their times."""
        for entry in walk(self._tree):
            made, target = stat.S_ISREG(entry.status.st_mode), tree / entry.path
            if not made or not entry.has_path_within(LONGEST_PATH_BYTES) or str(entry.path) in sources.files:
                continue
            # The build may have put a directory in place of a link, which leads out of the other tree.
            if not Path(os.path.realpath(target.parent)).is_relative_to(os.path.realpath(tree)):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            # Another process may just be removing an old tree; make then finds out what is missing.
            with contextlib.suppress(FileNotFoundError, PermissionError):
                shutil.copy2(self._tree / entry.path, target, follow_symlinks=False)


def keep_tree(tree: Path, sources: Sources, build_directory: Path) -> None:
    """Move a tree to the directory of its build, unless it is larger or deeper than the trees of servers are."""
    left_bytes = LARGEST_TREE_BYTES
    for entry in walk(tree):
        left_bytes -= entry.status.st_size
        is_usual = stat.S_IFMT(entry.status.st_mode) in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
        if left_bytes < 0 or not is_usual or not entry.has_path_within(LONGEST_PATH_BYTES):
            return
    tree.rename(build_directory / TREE)
    (build_directory / SOURCES).write_text(sources.model_dump_json())
