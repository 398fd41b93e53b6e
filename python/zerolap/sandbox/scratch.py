"""Directories that end with the work that is done in them, also where the process that does it is killed."""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

REMOVING_SECONDS = 10
POLL_SECONDS = 0.01
YOUNG_SECONDS = 60
"""A directory of this age may have been made by a process that does not hold it yet."""


@contextlib.contextmanager
def scratch_directory(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """Make a directory, its name of the same length each time, and remove it at the end of the context.

    It lies below `parent`, by default where the system keeps temporary files.
    """
    # The path that a process reports for its program has no links in it.
    directory = Path(tempfile.mkdtemp(prefix=prefix, dir=parent)).resolve()
    # Held as long as this process lives: whoever can take the lock knows that nobody uses the directory.
    held = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield directory
    finally:
        os.close(held)
        _remove(directory)


def remove_abandoned(prefix: str, parent: Path | None = None) -> None:
    """Remove the directories of that prefix whose process was killed, and what it left running in them."""
    for directory in (parent or Path(tempfile.gettempdir())).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            held = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if time.time() - os.stat(held).st_mtime > YOUNG_SECONDS:
                    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _kill_processes_of(directory)
                    shutil.rmtree(directory, ignore_errors=True)
            finally:
                os.close(held)


def _kill_processes_of(directory: Path) -> None:
    """Kill what was started in a directory.

    Whoever is killed just as it starts a process leaves that behind: it is not yet tied to its parent's life.
    """
    for process in psutil.process_iter(["cmdline"]):
        if any(str(directory) in word for word in process.info["cmdline"] or ()):
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                process.kill()


def _remove(directory: Path) -> None:
    """Remove a directory: what a killed sandbox held may write a moment longer, and is removed again then."""
    end = time.monotonic() + REMOVING_SECONDS
    shutil.rmtree(directory, ignore_errors=True)
    while directory.exists() and time.monotonic() < end:
        time.sleep(POLL_SECONDS)
        shutil.rmtree(directory, ignore_errors=True)
