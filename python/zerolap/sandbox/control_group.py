"""Linux control groups, which limit the memory and the number of processes of a group of processes.

Version 2 and version 1 of the interface are used as <https://docs.kernel.org/admin-guide/cgroup-v2.html> and
<https://docs.kernel.org/admin-guide/cgroup-v1/> describe them. Only memory and the number of processes are limited: a
limit of processor time would distort what is measured.
"""

import contextlib
import functools
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from zerolap.sandbox.limits import Limits

MOUNTED_AT = Path("/sys/fs/cgroup")
NAME = "zerolap"
END_SECONDS = 10
POLL_SECONDS = 0.01
TRY_SECONDS = 10
YOUNG_SECONDS = 60
"""A younger group may belong to another container whose process has not entered it; its number has no meaning here."""
# The shell enters each group itself, so that everything it starts is in them from the beginning.
ENTER = 'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 126; shift; done; shift; exec "$@"'


@dataclass(frozen=True)
class Parents:
    """The directories below which groups can be created; with version 2 both are the same."""

    version: Literal["v1", "v2"]
    memory: Path
    processes: Path


@functools.cache
def usable_parents() -> Parents | None:
    """Return where groups can be created and entered, determined by trying it; None if nowhere."""
    return next((parents for parents in _candidates() if _works(parents)), None)


class ControlGroup:
    """A group for a process and its descendants; `remove` ends them."""

    def __init__(self, parents: Parents, limits: Limits) -> None:
        """Create the group; raises `OSError` if that fails."""
        name = f"{NAME}-{os.getpid()}-{secrets.token_hex(4)}"
        self._version = parents.version
        self._memory, self._processes = parents.memory / name, parents.processes / name
        self._directories = list(dict.fromkeys([self._memory, self._processes]))
        try:
            for directory in self._directories:
                directory.mkdir()
            if limits.memory_bytes is not None:
                self._limit_memory(limits.memory_bytes)
            if limits.processes is not None:
                (self._processes / "pids.max").write_text(str(limits.processes))
        except OSError:
            self._remove_directories()
            raise

    def command(self, arguments: Sequence[str]) -> list[str]:
        """Return the command line that runs `arguments` in the group."""
        return ["/bin/sh", "-c", ENTER, "sh", *map(str, self._directories), "--", *arguments]

    def reached(self) -> Literal["memory", "processes"] | None:
        """Return the limit that was reached so far, if any."""
        memory = self._memory / ("memory.events" if self._version == "v2" else "memory.oom_control")
        if _count(memory, "oom_kill"):
            return "memory"
        return "processes" if _count(self._processes / "pids.events", "max") else None

    def kill(self) -> None:
        """Kill all processes of the group without waiting for their end."""
        with contextlib.suppress(OSError):
            (self._processes / "cgroup.kill").write_text("1")
            return
        with contextlib.suppress(OSError):
            for process in (self._processes / "cgroup.procs").read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)

    def remove(self) -> None:
        """Kill all processes of the group, wait for their end and remove it."""
        end = time.monotonic() + END_SECONDS
        while not self._remove_directories() and time.monotonic() < end:
            self.kill()
            time.sleep(POLL_SECONDS)

    def _limit_memory(self, size: int) -> None:
        if self._version == "v2":
            (self._memory / "memory.max").write_text(str(size))
            swap, swap_bytes = self._memory / "memory.swap.max", 0
        else:
            (self._memory / "memory.limit_in_bytes").write_text(str(size))
            swap, swap_bytes = self._memory / "memory.memsw.limit_in_bytes", size
        # The file does not exist if the kernel does not account for swap.
        if swap.exists():
            swap.write_text(str(swap_bytes))

    def _remove_directories(self) -> bool:
        for directory in self._directories:
            # A group with processes cannot be removed.
            with contextlib.suppress(OSError):
                directory.rmdir()
        return not any(directory.exists() for directory in self._directories)


def _candidates() -> Iterator[Parents]:
    groups = _own_groups()
    if (MOUNTED_AT / "cgroup.controllers").exists():
        for directory in _upwards(MOUNTED_AT, groups.get("", "/")):
            enabled = _words(directory / "cgroup.subtree_control")
            if {"memory", "pids"} <= enabled:
                yield Parents("v2", directory, directory)
    elif (MOUNTED_AT / "memory").is_dir() and (MOUNTED_AT / "pids").is_dir():
        memory, processes = (
            next(_upwards(MOUNTED_AT / controller, groups.get(controller, "/"))) for controller in ("memory", "pids")
        )
        yield Parents("v1", memory, processes)


def _own_groups() -> dict[str, str]:
    """Return the paths of this process's groups by controller; the controller of version 2 is empty."""
    with contextlib.suppress(OSError):
        lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
        return {controller: path for _, controllers, path in lines for controller in controllers.split(",")}
    return {}


def _upwards(root: Path, path: str) -> Iterator[Path]:
    """Yield the directories of a group and of its ancestors, as far as they are visible."""
    directory = root / path.lstrip("/")
    for candidate in (directory, *directory.parents):
        if candidate.is_relative_to(root) and candidate.is_dir():
            yield candidate


def _works(parents: Parents) -> bool:
    _remove_left_behind(parents)
    try:
        group = ControlGroup(parents, Limits(memory_bytes=1 << 30, processes=64))
    except OSError:
        return False
    try:
        trial = subprocess.run(group.command(["true"]), capture_output=True, timeout=TRY_SECONDS, check=False)
        return trial.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
    finally:
        group.remove()


def _remove_left_behind(parents: Parents) -> None:
    """Remove the empty groups that killed processes of the lab left behind."""
    for parent in {parents.memory, parents.processes}:
        for directory in parent.glob(f"{NAME}-*-*"):
            process = directory.name.split("-")[1]
            with contextlib.suppress(OSError):
                is_young = time.time() - directory.stat().st_mtime < YOUNG_SECONDS
                if not is_young and not Path(f"/proc/{process}").exists():
                    directory.rmdir()


def _words(file: Path) -> set[str]:
    try:
        return set(file.read_text().split())
    except OSError:
        return set()


def _count(file: Path, name: str) -> int:
    """Return a counter of a file whose lines are a name and a number; 0 if there is none."""
    with contextlib.suppress(OSError):
        for line in file.read_text().splitlines():
            key, _, value = line.partition(" ")
            if key == name:
                return int(value)
    return 0
