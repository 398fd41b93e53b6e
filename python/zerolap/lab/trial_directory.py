"""A place for a trial's files that is gone when the trial is."""

import contextlib
import errno
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from zerolap.records import EnvironmentMissing

REMOVING_SECONDS = 10
POLL_SECONDS = 0.01


@contextlib.contextmanager
def trial_directory() -> Iterator[Path]:
    """Make a directory, its name of the same length each time, and remove it at the end of the context.

    Raises `EnvironmentMissing` where what is done in it runs out of space.
    """
    # What a process says of its program has no links in it.
    directory = Path(tempfile.mkdtemp(prefix="zerolap-")).resolve()
    try:
        yield directory
    except OSError as fault:
        if fault.errno == errno.ENOSPC:
            raise disk_full(fault) from fault
        raise
    finally:
        _remove(directory)


def _remove(directory: Path) -> None:
    """Remove a directory: what a killed sandbox held may write a moment longer, and is removed again then."""
    end = time.monotonic() + REMOVING_SECONDS
    shutil.rmtree(directory, ignore_errors=True)
    while directory.exists() and time.monotonic() < end:
        time.sleep(POLL_SECONDS)
        shutil.rmtree(directory, ignore_errors=True)


def disk_full(fault: OSError) -> EnvironmentMissing:
    """Return the error for a disk without space."""
    return EnvironmentMissing(
        f"no space left on the disk of `{fault.filename2 or fault.filename or tempfile.gettempdir()}`",
        hint="free some, or set TMPDIR to a directory on another disk",
    )
