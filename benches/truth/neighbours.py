"""What disturbs a machine on purpose: processes beside, and a control group that loses processor time."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benches.truth.samples import Unavailable
from zerolap.host import choose_pinning, read_processors

ENDLESS = """
import os, sys
parent = os.getppid()
if len(sys.argv) > 1:
    os.sched_setaffinity(0, map(int, sys.argv[1:]))
while os.getppid() == parent:
    sum(range(1_000_000))
"""
COMING_AND_GOING = """
import os, random, sys, time
parent, chance = os.getppid(), random.Random(int(sys.argv[1]))
while os.getppid() == parent:
    end = time.monotonic() + chance.uniform(0.5, 5)
    while time.monotonic() < end:
        sum(range(100_000))
    time.sleep(chance.uniform(0.5, 5))
"""
TAKING = """
import os, random, sys, time
parent, chance = os.getppid(), random.Random(int(sys.argv[1]))
os.sched_setaffinity(0, {int(sys.argv[2])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
while os.getppid() == parent:
    seconds = chance.uniform(0.001, 0.005)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    time.sleep(2 * seconds)
"""
CPU_GROUPS = Path("/sys/fs/cgroup/cpu")
"""Where version 1 of control groups has those of processor time, apart from the ones that limit code under test."""
PERIOD_US = 10_000
QUOTA_US = 10_000
"""One processor for server, load generator and lab, which together keep one and a half busy: a third is taken away."""


@contextlib.contextmanager
def _process(program: str, *arguments: str) -> Iterator[None]:
    """Run a program of Python for the length of the context; it ends by itself when this process is gone."""
    process = subprocess.Popen([sys.executable, "-c", program, *arguments])
    try:
        yield
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def endless(count: int, processors: Sequence[int] = ()) -> Iterator[None]:
    """Keep so many processes busy, on some processors or on whichever the kernel puts them."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(_process(ENDLESS, *map(str, processors)))
        yield


@contextlib.contextmanager
def coming_and_going(seed: int) -> Iterator[None]:
    """Keep a process busy for half a second to five seconds, then idle as long, again and again."""
    with _process(COMING_AND_GOING, str(seed)):
        yield


@dataclass
class Theft:
    """How processor time is taken away: by which means, and how many processors' time, once it has ended."""

    means: str
    processors: float | None = None


@contextlib.contextmanager
def stolen_time(seed: int) -> Iterator[Theft]:
    """Take about a third of a processor away from this process and all that it starts, as a host does.

    By the quota of a control group of version 1; else by a process of real-time priority on the processor of the
    servers, for a third of the time. A quota of version 2 would not do: servers are in groups of their own there, which
    are no part of this process's. Raises `Unavailable` where neither can be done.
    """
    home = CPU_GROUPS / _own_group().lstrip("/")
    if (CPU_GROUPS / "cgroup.procs").exists() and os.access(home, os.W_OK):
        with _quota(home) as theft:
            yield theft
        return
    if os.geteuid() != 0:
        raise Unavailable("neither a control group nor a process of real-time priority can be made; hint: run as root")
    [processor, *_] = choose_pinning(read_processors()).server
    with _process(TAKING, str(seed), str(processor)):
        yield Theft("a process of real-time priority", 1 / 3)


def _own_group() -> str:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "cpu" in controllers.split(","):
            return path
    return ""


@contextlib.contextmanager
def _quota(home: Path) -> Iterator[Theft]:
    """Put this process into a new group with a quota, and back into the old one at the end."""
    group = home / f"zerolap-bench-{os.getpid()}"
    group.mkdir(exist_ok=True)
    theft = Theft(f"the quota of a control group, {QUOTA_US / PERIOD_US:g} processors")
    try:
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(QUOTA_US))
        (group / "cgroup.procs").write_text(str(os.getpid()))
        began, before = time.monotonic(), _throttled_seconds(group)
        try:
            yield theft
        finally:
            theft.processors = (_throttled_seconds(group) - before) / max(1e-9, time.monotonic() - began)
    finally:
        for process in (group / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                (home / "cgroup.procs").write_text(process)
        group.rmdir()


def _throttled_seconds(group: Path) -> float:
    """Return the time for which the group's threads had to wait, summed over processors."""
    lines = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    return int(lines["throttled_time"]) / 1e9
