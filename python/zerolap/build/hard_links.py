"""Files that two builds have in common are on the disk once: neither is written to after it was kept."""

import contextlib
import filecmp
import os
import stat
from pathlib import Path
from typing import Final

from zerolap.sandbox import scratch_directory, walk

LINKING_PREFIX: Final = "l-"
LONGEST_PATH_BYTES: Final = 256
LIBRARY: Final = ".a"
SMALLEST_BYTES: Final = 4096
"""Smaller files are not worth a comparison."""


def hard_link_files(directory: Path, other: Path, *, of_equal_age: bool) -> None:
    """Replace the files below a directory that are equal to those of another one by links to these.

    Make decides by their age: files of trees are shared only `of_equal_age`. Libraries are shared of any age: one that
    seems older than what it was made of is made again, which is right too. A file that cannot be shared, as
    where the file system has no links or another process removes the other directory, stays as it is.
    """
    root = os.path.realpath(other)
    with contextlib.suppress(OSError), scratch_directory(LINKING_PREFIX, directory.parent) as scratch:
        for entry in walk(directory):
            status, others = entry.status, other / entry.path
            is_shareable = stat.S_ISREG(status.st_mode) and status.st_size >= SMALLEST_BYTES
            # A build may have left a link in place of a directory.
            is_below = Path(os.path.realpath(others.parent)).is_relative_to(root)
            if is_shareable and entry.has_path_within(LONGEST_PATH_BYTES) and is_below:
                is_library = entry.name.endswith(LIBRARY)
                with contextlib.suppress(OSError):
                    link = scratch / "link"
                    _link(directory / entry.path, others, link, of_equal_age=of_equal_age and not is_library)


def hard_link_file(path: Path, other: Path) -> None:
    """Replace a file by a link to another one that is equal to it, if there is one."""
    with contextlib.suppress(OSError), scratch_directory(LINKING_PREFIX, path.parent) as scratch:
        _link(path, other, scratch / "link", of_equal_age=False)


def _link(path: Path, other: Path, link: Path, *, of_equal_age: bool) -> None:
    own, others = path.lstat(), other.lstat()
    alike = (own.st_mode, own.st_size) == (others.st_mode, others.st_size) and own.st_ino != others.st_ino
    if of_equal_age and own.st_mtime_ns != others.st_mtime_ns:
        return
    if alike and filecmp.cmp(path, other, shallow=False):
        os.link(other, link, follow_symlinks=False)
        link.replace(path)
