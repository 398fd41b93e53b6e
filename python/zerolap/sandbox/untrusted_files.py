"""Walks, removes and reads directories that code under test writes to, whatever they hold.

They may be nested tens of thousands of levels deep, forbid access, hold links that lead out of them, and change
meanwhile. So nothing here recurses or follows a link, and each file is reached by the descriptor of its directory, not
by its path, which may be longer than the kernel takes. Two or three descriptors are open at a time.
"""

import contextlib
import itertools
import logging
import os
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

READABLE: Final = 0o500
WRITABLE: Final = 0o700
DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
LONGEST_REMOVAL_SECONDS: Final = 600.0
"""After this time, what is left stays: a process that was not killed could write files for ever."""
POLL_SECONDS: Final = 0.01

log = logging.getLogger("zerolap.sandbox")


class FileRefused(Exception):
    """A file that is not read; the text is the reason."""


@dataclass(frozen=True)
class FileEntry:
    """A file, link or directory below a directory that is walked, valid until the next one is asked for.

    `parents` are the names of the directories above it, from the walked one down.
    """

    name: str
    status: os.stat_result
    parents: Sequence[str]

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory; a link to one is none."""
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def path(self) -> PurePosixPath:
        """Its path, relative to the walked directory."""
        return PurePosixPath(*self.parents, self.name)

    def has_path_within(self, most_bytes: int) -> bool:
        """Whether its path has no more bytes than that."""
        size = len(os.fsencode(self.name))
        for parent in self.parents:
            size += 1 + len(os.fsencode(parent))
            if size > most_bytes:
                return False
        return size <= most_bytes


@dataclass
class _Level:
    """A directory between the walked one and the current one: which it is, and what of it is still to be entered."""

    identity: tuple[int, int]
    waiting: list[str] = field(default_factory=list)


def walk(directory: Path, *, unlocking: bool = False) -> Iterator[FileEntry]:
    """Yield all that is below a directory, each directory before what it holds; what vanishes meanwhile is left out.

    With `unlocking`, directories that forbid reading are made readable; otherwise what they hold is left out. Raises
    `OSError` if the directory itself cannot be opened.
    """
    permissions = READABLE if unlocking else 0
    here = _open_directory(str(directory), None, permissions)
    top = os.dup(here)
    parents: list[str] = []
    levels = [_Level(_identity(here))]
    try:
        yield from _entries(here, parents, levels[-1].waiting)
        while True:
            if levels[-1].waiting:
                name = levels[-1].waiting.pop()
                try:
                    below = _open_directory(name, here, permissions)
                except OSError:
                    continue
                here = _replaced(here, below)
                parents.append(name)
                levels.append(_Level(_identity(here)))
                yield from _entries(here, parents, levels[-1].waiting)
            elif parents:
                parents.pop()
                levels.pop()
                here = _replaced(here, _open_parent(here, levels[-1]) or _reopen(top, parents, levels))
            else:
                return
    finally:
        os.close(here)
        os.close(top)


def _entries(directory: int, parents: Sequence[str], waiting: list[str]) -> Iterator[FileEntry]:
    """Yield what is in an open directory, and add the names of its directories to `waiting`."""
    with contextlib.suppress(OSError), os.scandir(directory) as listed:
        for listed_entry in listed:
            with contextlib.suppress(OSError):
                entry = FileEntry(listed_entry.name, listed_entry.stat(follow_symlinks=False), parents)
                if entry.is_directory:
                    waiting.append(entry.name)
                yield entry


def _open_parent(directory: int, level: _Level) -> int | None:
    """Return the directory above an open one, or none if it is another than that of the level: one was moved."""
    try:
        parent = os.open("..", DIRECTORY, dir_fd=directory)
    except OSError:
        return None
    if _identity(parent) == level.identity:
        return parent
    os.close(parent)
    return None


def _reopen(top: int, parents: list[str], levels: list[_Level]) -> int:
    """Return the directory with these parents, or the last one on the way that is where it was: the rest is cut off."""
    here = os.dup(top)
    for depth, name in enumerate(parents):
        below = None
        with contextlib.suppress(OSError):
            below = os.open(name, DIRECTORY, dir_fd=here)
        if below is None or _identity(below) != levels[depth + 1].identity:
            if below is not None:
                os.close(below)
            del parents[depth:], levels[depth + 1 :]
            break
        here = _replaced(here, below)
    return here


def _replaced(old: int, new: int) -> int:
    os.close(old)
    return new


def _identity(directory: int) -> tuple[int, int]:
    status = os.fstat(directory)
    return status.st_dev, status.st_ino


def _open_directory(name: str, parent: int | None, permissions: int) -> int:
    """Open a directory, which is given these permissions of its owner first where it lacks them."""
    try:
        directory = os.open(name, DIRECTORY, dir_fd=parent)
    except PermissionError:
        if not permissions:
            raise
        _permit(name, parent, permissions)
        directory = os.open(name, DIRECTORY, dir_fd=parent)
    mode = os.fstat(directory).st_mode
    if mode & permissions != permissions:
        # Of a directory of another user: what follows fails by itself.
        with contextlib.suppress(OSError):
            os.fchmod(directory, stat.S_IMODE(mode) | permissions)
    return directory


def _permit(name: str, parent: int | None, permissions: int) -> None:
    """Give the owner of a directory, which cannot be opened, permissions; no link of that name is followed."""
    place = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    try:
        os.chmod(f"/proc/self/fd/{place}", permissions)
    finally:
        os.close(place)


def remove(path: Path, patience_seconds: float = 0.0) -> None:
    """Remove a file, a link, or a directory with all that is in it.

    It never raises `OSError`: what cannot be removed is logged. Tries again for `patience_seconds`, as processes that
    were just killed may still write for a moment.
    """
    end = time.monotonic() + patience_seconds
    while (fault := _Removal().of(path)) is not None and time.monotonic() < end:
        time.sleep(POLL_SECONDS)
    if fault is not None:
        log.warning("%s cannot be removed: %s", path, fault.strerror)


class _Faults:
    """A context that suppresses errors of the operating system, and keeps the first."""

    def __init__(self) -> None:
        self.first: OSError | None = None

    def __enter__(self) -> None:
        """Enter the context."""

    def __exit__(self, kind: object, fault: BaseException | None, trace: object) -> bool:
        # Others may remove the same.
        if isinstance(fault, OSError) and not isinstance(fault, FileNotFoundError):
            self.first = self.first or fault
        return isinstance(fault, OSError)


class _Removal:
    """The removal of a directory, with the first error of it.

    Entries of nested directories are moved up to the first one, and removed there: this takes neither recursion nor a
    list of names, however deep and wide the tree is.
    """

    def __init__(self) -> None:
        self._faults = _Faults()
        self._end = time.monotonic() + LONGEST_REMOVAL_SECONDS
        token = secrets.token_hex(8)
        self._names = (f".{token}-{number}" for number in itertools.count())

    def of(self, path: Path) -> OSError | None:
        """Remove what has that path, and return the error if it is still there."""
        with contextlib.suppress(FileNotFoundError):
            try:
                if stat.S_ISDIR(path.lstat().st_mode):
                    self._empty(str(path))
                    path.rmdir()
                else:
                    path.unlink()
            except FileNotFoundError:
                raise
            except OSError as fault:
                return self._faults.first or fault
        return None

    def _empty(self, path: str) -> None:
        top = _open_directory(path, None, WRITABLE)
        try:
            # What is moved up may come in the listing that is under way, or in the next.
            while self._pass(top):
                pass
        finally:
            os.close(top)

    def _pass(self, top: int) -> bool:
        """Remove what is in the directory, and return whether anything was removed or moved up."""
        has_changed = False
        for entry in self._listed(top):
            if entry.is_dir(follow_symlinks=False):
                has_changed |= self._flatten(entry.name, top)
            else:
                has_changed |= self._unlink(entry.name, top)
        return has_changed

    def _flatten(self, name: str, top: int) -> bool:
        """Remove a directory after its files are removed, and its directories are moved up."""
        has_changed = False
        with self._faults:
            has_changed = self._clear(name, top)
        with self._faults:
            os.rmdir(name, dir_fd=top)
            return True
        return has_changed

    def _clear(self, name: str, top: int) -> bool:
        has_changed = False
        directory = _open_directory(name, top, WRITABLE)
        try:
            for entry in self._listed(directory):
                if entry.is_dir(follow_symlinks=False):
                    has_changed |= self._move_up(entry.name, directory, top)
                else:
                    has_changed |= self._unlink(entry.name, directory)
        finally:
            os.close(directory)
        return has_changed

    def _move_up(self, name: str, directory: int, top: int) -> bool:
        with self._faults:
            # Its entry `..` changes, which takes a permission to write to it.
            os.close(_open_directory(name, directory, WRITABLE))
            os.rename(name, next(self._names), src_dir_fd=directory, dst_dir_fd=top)
            return True
        return False

    def _unlink(self, name: str, directory: int) -> bool:
        with self._faults:
            os.unlink(name, dir_fd=directory)
            return True
        return False

    def _listed(self, directory: int) -> "Iterator[os.DirEntry[str]]":
        with self._faults, os.scandir(directory) as entries:
            for entry in entries:
                if time.monotonic() > self._end:
                    raise TimeoutError(0, f"it was not removed in {LONGEST_REMOVAL_SECONDS:g} s")
                yield entry


def read_file(path: Path, most_bytes: int) -> bytes:
    """Return the content of a regular file.

    Raises `FileRefused` for one that is not there, for a link or anything else that is no regular file, and for one
    with more than `most_bytes`.
    """
    try:
        # Without waiting: opening a pipe would, for a writer.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as fault:
        reason = "is missing" if isinstance(fault, FileNotFoundError) else f"cannot be opened: {fault.strerror}"
        raise FileRefused(f"`{path.name}` {reason}") from fault
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise FileRefused(f"`{path.name}` is not a regular file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            # It may grow while it is read.
            content = file.read(most_bytes + 1)
    finally:
        os.close(handle)
    if len(content) > most_bytes:
        raise FileRefused(f"`{path.name}` has more than {most_bytes >> 20:,} MiB")
    return content


def is_regular_file(path: Path) -> bool:
    """Whether there is a file, and not a link, which could lead to a file that was not built."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False
