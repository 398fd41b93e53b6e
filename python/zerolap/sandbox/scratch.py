"""Temporary directories that are removed after the work in them, also if the process is killed."""

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from zerolap.sandbox.untrusted_files import remove

REMOVING_SECONDS = 10
YOUNG_SECONDS = 60
"""A younger directory may belong to a process that has not locked it yet."""


@contextlib.contextmanager
def scratch_directory(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """Create a directory, with a name of constant length, and remove it at the end of the context.

    It is created in `parent`, by default in the system's directory for temporary files.
    """
    # The path that a process reports for its program has no links in it.
    directory = Path(tempfile.mkdtemp(prefix=prefix, dir=parent)).resolve()
    # Locked as long as this process lives: a directory whose lock is free is not in use.
    lock = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield directory
    finally:
        os.close(lock)
        remove(directory, REMOVING_SECONDS)


def remove_abandoned(prefix: str, parent: Path | None = None) -> None:
    """Remove the directories of that prefix whose process was killed, and kill the processes started in them."""
    for directory in (parent or Path(tempfile.gettempdir())).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                status = os.fstat(lock)
                # In the system's directory for temporary files others have theirs, which they remove themselves.
                if status.st_uid == os.geteuid() and time.time() - status.st_mtime > YOUNG_SECONDS:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _kill_processes_of(directory)
                    remove(directory)
            finally:
                os.close(lock)


def _kill_processes_of(directory: Path) -> None:
    """Kill the processes that were started in a directory.

    A process that is killed while it starts another leaves that one behind, as it is not tied to its parent yet.
    """
    for process in psutil.process_iter(["cmdline"]):
        if any(str(directory) in word for word in process.info["cmdline"] or ()):
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                process.kill()
