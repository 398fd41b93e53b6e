"""Where unix sockets are: in the directory of their server, or in a short one where that has too long a path.

The kernel takes at most 107 bytes of a path (unix(7)), and some servers cut off longer ones without a word. Directories
for temporary files can be that deep, as those of jobs of continuous integration are.
"""

import contextlib
import fcntl
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from zerolap.errors import EnvironmentMissing
from zerolap.sandbox.scratch import remove_abandoned
from zerolap.sandbox.untrusted_files import remove

LONGEST_SOCKET_PATH_BYTES: Final = 107
SHORT_DIRECTORIES: Final = ("/tmp", "/var/tmp", "/dev/shm")
PREFIX: Final = "s-"
DIGITS: Final = 16


def socket_path(directory: Path, name: str = "socket") -> Path:
    """Return the path of a directory's socket, which `prepared_socket` makes room for.

    Raises `EnvironmentMissing` where that of the directory is too long, and no short one can be made.
    """
    path = directory / name
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH_BYTES:
        return path
    return short_directory() / f"{PREFIX}{hashlib.sha256(os.fsencode(directory)).hexdigest()[:DIGITS]}" / name


def short_directory() -> Path:
    """Return a directory of this user alone with a short path; raises `EnvironmentMissing` where there is none."""
    for parent in SHORT_DIRECTORIES:
        directory = Path(parent, f"zerolap-{os.geteuid()}")
        with contextlib.suppress(OSError):
            directory.mkdir(mode=0o700, exist_ok=True)
            status = directory.lstat()
            if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077:
                return directory
    raise EnvironmentMissing(
        f"the sockets of servers have too long paths in `{tempfile.gettempdir()}`, and none of"
        f" {', '.join(SHORT_DIRECTORIES)} can be used instead",
        hint="set TMPDIR to a directory with a shorter path, such as TMPDIR=/tmp",
    )


@contextlib.contextmanager
def prepared_socket(directory: Path, name: str = "socket") -> Iterator[Path]:
    """Yield the path of a directory's socket, with a directory of its own for it where that is needed."""
    path = socket_path(directory, name)
    if path.parent == directory:
        yield path
        return
    remove_abandoned(PREFIX, path.parent.parent)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    # Locked as long as this process lives: see scratch.py.
    lock = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield path
    finally:
        os.close(lock)
        remove(path.parent)
