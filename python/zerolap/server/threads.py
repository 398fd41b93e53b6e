"""CPU time of a server's threads by role, from the scheduler's nanoseconds."""

import contextlib
import operator
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path

from zerolap.records import EnvironmentMissing, TrialFailed

CPU_CLOCK = 2
"""CPUCLOCK_SCHED of Linux: the CPU time that the scheduler counts."""
FIELDS_OF_CHILDREN = (16, 17)
"""User and system time of children, in /proc/PID/stat."""
IO_THREAD_NAMES = (b"io_thd", b"io-thd")
"""Name prefixes of the I/O threads in Redis and Valkey; other threads but the main one are background threads."""


@dataclass(frozen=True)
class CpuTimes:
    """Nanoseconds on a processor since the threads started, by role.

    `main_waited_ns` is for how long the main thread could have run, but did not get a processor.
    """

    main_ns: int
    io_ns: int
    background_ns: int
    main_waited_ns: int = 0

    @property
    def total_ns(self) -> int:
        """All threads together."""
        return self.main_ns + self.io_ns + self.background_ns

    def __add__(self, other: "CpuTimes") -> "CpuTimes":
        return CpuTimes(*map(operator.add, astuple(self), astuple(other)))

    def __sub__(self, earlier: "CpuTimes") -> "CpuTimes":
        return CpuTimes(*map(operator.sub, astuple(self), astuple(earlier)))


def is_asleep(process: int) -> bool:
    """Whether no thread is runnable; raises `TrialFailed` if the process is gone."""
    return not any(_runs(process, thread) for thread in _threads(process))


def count_sockets(process: int) -> int:
    """Return the number of a process's open sockets; 0 if the process is gone or the kernel does not show them."""
    sockets = 0
    with contextlib.suppress(OSError):
        for file in os.listdir(f"/proc/{process}/fd"):
            # It may be closed meanwhile.
            with contextlib.suppress(OSError):
                sockets += os.readlink(f"/proc/{process}/fd/{file}").startswith("socket:")
    return sockets


def _runs(process: int, thread: str) -> bool:
    try:
        stat = _read(f"/proc/{process}/task/{thread}/stat")
    except (FileNotFoundError, ProcessLookupError):
        return False
    # The name, in parentheses, may hold anything.
    return stat[stat.rindex(b")") + 2 : stat.rindex(b")") + 3] == b"R"


def read_cpu_times(process: int) -> CpuTimes:
    """Return the CPU time of a process's threads by role; raises `TrialFailed` if the process is gone."""
    io_ns = background_ns = 0
    try:
        main_ns, main_waited_ns = _had_and_waited_ns(process, str(process))
    except (FileNotFoundError, ProcessLookupError) as gone:
        raise TrialFailed("the server's process is gone") from gone
    for thread in _threads(process):
        if thread == str(process):
            continue
        # Threads come and go while the process lives.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            used_ns, _ = _had_and_waited_ns(process, thread)
            if _read(f"/proc/{process}/task/{thread}/comm").startswith(IO_THREAD_NAMES):
                io_ns += used_ns
            else:
                background_ns += used_ns
    return CpuTimes(main_ns, io_ns, background_ns, main_waited_ns)


def read_total_ns(process: int) -> int:
    """Return the CPU time in nanoseconds of a process: all threads, ended ones included, and waited-for children.

    That of the children is accurate to a hundredth of a second. Raises `TrialFailed` if the process is gone.
    """
    try:
        # The id of another process's CPU clock, computed as in clock_getcpuclockid(3).
        process_ns = time.clock_gettime_ns((~process << 3) | CPU_CLOCK)
        stat = _read(f"/proc/{process}/stat")
    except OSError as gone:
        raise TrialFailed("the server's process is gone") from gone
    # The name, in parentheses, may hold anything; what follows it begins with the third field of proc(5).
    fields = stat[stat.rindex(b")") + 2 :].split()
    ticks = sum(int(fields[number - 3]) for number in FIELDS_OF_CHILDREN)
    return process_ns + ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def read_demands_ns(process: int) -> dict[int, int]:
    """Return the nanoseconds that each thread has run or waited to run; raises `TrialFailed` if the process is gone."""
    return {int(thread): sum(map(int, text.split()[:2])) for thread, text in _of_threads(process, "schedstat")}


def demand_since(before: Mapping[int, int], after: Mapping[int, int]) -> dict[int, int]:
    """Return the nanoseconds that were added to each thread between two readings."""
    return {thread: demand_ns - before.get(thread, 0) for thread, demand_ns in after.items()}


def thread_names(process: int) -> dict[int, str]:
    """Return the names of a process's threads, which it chooses itself; raises `TrialFailed` if the process is gone."""
    names = _of_threads(process, "comm")
    return {int(thread): name.decode(errors="replace").rstrip("\n") for thread, name in names}


def _of_threads(process: int, file: str) -> Iterator[tuple[str, bytes]]:
    for thread in _threads(process):
        # Threads come and go while the process lives.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            yield thread, _read(f"/proc/{process}/task/{thread}/{file}")


def _threads(process: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{process}/task")
    except (FileNotFoundError, ProcessLookupError) as gone:
        raise TrialFailed("the server's process is gone") from gone


def _had_and_waited_ns(process: int, thread: str) -> tuple[int, int]:
    """Return for how long a thread was on a processor, and for how long it waited for one while it could have run."""
    try:
        had_ns, waited_ns, _ = map(int, _read(f"/proc/{process}/task/{thread}/schedstat").split())
        return had_ns, waited_ns
    except FileNotFoundError as missing:
        if not Path(f"/proc/{process}/task/{thread}").exists():
            raise
        raise EnvironmentMissing(
            "the kernel does not report the CPU time of threads: /proc/PID/schedstat is missing",
            hint="use a kernel with CONFIG_SCHED_INFO",
        ) from missing


def _read(path: str) -> bytes:
    """Return a small file of /proc; called hundreds of times a second, so without the overhead of Python's files."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 4096)
    finally:
        os.close(file)
