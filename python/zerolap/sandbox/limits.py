"""Limits on the resources that code under test may use, and their usage."""

import contextlib
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from zerolap.byte_counts import GIB
from zerolap.sandbox.untrusted_files import walk

BUILD_SHARE_OF_MEMORY = 0.8
SERVER_SHARE_OF_MEMORY = 0.9
SHARE_OF_FREE_DISK = 0.9
BUILD_PROCESSES = 2048
SERVER_PROCESSES = 1024
BUILD_DISK_BYTES = 8 * GIB
BUILD_SECONDS = 3600
LEAST_DISK_BYTES = GIB
SCRATCH_BYTES = GIB
BLOCK_BYTES = 512
SMALLEST_FILE_BYTES = 4096
"""Counted for an empty file, as its name and inode take space too."""


class LimitReached(Exception):
    """A process was ended because it reached the limit that the message names."""


@dataclass(frozen=True)
class Limits:
    """Limits on a confined process and its descendants together; None is no limit.

    `memory_bytes` includes files in memory; `processes` includes threads; `disk_bytes` is for all files below the
    writable directories, or for each file of a server, which is not monitored; `seconds` is elapsed time.
    """

    memory_bytes: int | None = None
    processes: int | None = None
    disk_bytes: int | None = None
    seconds: float | None = None

    @property
    def scratch_bytes(self) -> int | None:
        """The size of each temporary file system."""
        return None if self.disk_bytes is None else min(self.disk_bytes, SCRATCH_BYTES)

    def rlimits(self, *, memory: bool, processes: bool) -> list[str]:
        """Return the command prefix that sets the limits that the kernel enforces for each process.

        `memory` and `processes` select whether these are limited, which is not needed in a control group.
        """
        chosen = ["--core=0"]
        if self.disk_bytes is not None:
            chosen.append(f"--fsize={self.disk_bytes}")
        if self.seconds is not None:
            # A process may use all processors; the lab limits elapsed time, and this ends what outlives the lab.
            chosen.append(f"--cpu={max(1, round(self.seconds * (os.cpu_count() or 1)))}")
        if memory and self.memory_bytes is not None:
            chosen.append(f"--data={self.memory_bytes}")
        if processes and self.processes is not None:
            chosen.append(f"--nproc={self.processes}")
        return [] if shutil.which("prlimit") is None else ["prlimit", *chosen, "--"]


NO_LIMITS = Limits()


def build_limits(directory: Path) -> Limits:
    """Return the limits of a build in a directory."""
    return Limits(
        memory_bytes=_share_of_memory(BUILD_SHARE_OF_MEMORY),
        processes=BUILD_PROCESSES,
        disk_bytes=min(BUILD_DISK_BYTES, _share_of_free_disk(directory)),
        seconds=BUILD_SECONDS,
    )


def server_limits(directory: Path, servers: int = 1) -> Limits:
    """Return the limits of a server that writes to a directory; the lab itself limits its run time.

    So many servers share the memory, in equal parts.
    """
    return Limits(
        memory_bytes=_share_of_memory(SERVER_SHARE_OF_MEMORY / servers),
        processes=SERVER_PROCESSES,
        disk_bytes=_share_of_free_disk(directory),
    )


def used_bytes(directories: Iterable[Path], enough_bytes: int) -> int:
    """Return the disk space of all files below the directories, counted no further than to more than `enough_bytes`.

    Directories that forbid reading are made readable: what they hold takes space too.
    """
    used = 0
    for directory in directories:
        # A directory that was removed meanwhile takes no space.
        with contextlib.suppress(OSError):
            for entry in walk(directory, unlocking=True):
                used += max(SMALLEST_FILE_BYTES, entry.status.st_blocks * BLOCK_BYTES)
                if used > enough_bytes:
                    return used
    return used


def descendants(process: int) -> list[int]:
    """Return the process and its descendants that still exist."""
    known, waiting = [], [process]
    while waiting:
        known.append(waiting.pop())
        # A process that has ended meanwhile has no children.
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{known[-1]}/task").iterdir():
                waiting += [int(child) for child in (task / "children").read_text().split()]
    return known


def resident_bytes(process: int) -> int:
    """Return the resident memory of a process, shared memory included; 0 if the process is gone."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def _share_of_memory(share: float) -> int:
    return int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * share)


def _share_of_free_disk(directory: Path) -> int:
    # With less free space the disk itself is the limit, and the error is that of a full disk.
    return max(LEAST_DISK_BYTES, int(shutil.disk_usage(directory).free * SHARE_OF_FREE_DISK))
