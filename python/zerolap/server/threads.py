"""CPU time of a server's threads by role, from the scheduler's nanoseconds."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from zerolap.records import EnvironmentMissing, TrialFailed

IO_THREAD_NAMES = ("io_thd", "io-thd")
"""What Redis and Valkey call their I/O threads; the rest beside the main thread works in the background."""


@dataclass(frozen=True)
class CpuTimes:
    """Nanoseconds on a processor since the threads began, by role."""

    main_ns: int
    io_ns: int
    background_ns: int

    @property
    def total_ns(self) -> int:
        """All threads together."""
        return self.main_ns + self.io_ns + self.background_ns

    def __sub__(self, earlier: "CpuTimes") -> "CpuTimes":
        return CpuTimes(
            self.main_ns - earlier.main_ns,
            self.io_ns - earlier.io_ns,
            self.background_ns - earlier.background_ns,
        )


def descendants(process: int) -> list[int]:
    """Return the process and all below it, as far as they are still there."""
    found, waiting = [], [process]
    while waiting:
        found.append(waiting.pop())
        # What ends meanwhile has nothing below it.
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{found[-1]}/task").iterdir():
                waiting += [int(child) for child in (task / "children").read_text().split()]
    return found


def find_server(parent: int, program: str) -> int:
    """Return the process that runs `program` among the descendants of `parent`, which may be it itself.

    A sandbox stands between the lab and the server. Raises `TrialFailed` if there is none.
    """
    for process in descendants(parent):
        with contextlib.suppress(OSError):
            if str(Path(f"/proc/{process}/exe").readlink()) == program:
                return process
    raise TrialFailed("the server's process is not to be found below the one that started it")


def is_running(process: int) -> bool:
    """Whether the process runs a program: one that has ended has none, also while nobody has waited for it."""
    try:
        Path(f"/proc/{process}/exe").readlink()
    except OSError:
        return False
    return True


def is_asleep(process: int) -> bool:
    """Whether all threads wait for something; raises `TrialFailed` if the process is gone."""
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
    except (FileNotFoundError, ProcessLookupError) as gone:
        raise TrialFailed("the server's process is gone") from gone
    return not any(_runs(task) for task in tasks)


def _runs(task: Path) -> bool:
    try:
        stat = (task / "stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
    # The name, in parentheses, may hold anything.
    return stat[stat.rindex(b")") + 2 : stat.rindex(b")") + 3] == b"R"


def read_cpu_times(process: int) -> CpuTimes:
    """Return what the threads of a process have used; raises `TrialFailed` if it is gone."""
    main_ns = io_ns = background_ns = 0
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        main_ns = _used_ns(Path(f"/proc/{process}/task/{process}"))
    except (FileNotFoundError, ProcessLookupError) as gone:
        raise TrialFailed("the server's process is gone") from gone
    for task in tasks:
        # Threads come and go while the process lives.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if int(task.name) == process:
                continue
            used_ns = _used_ns(task)
            if (task / "comm").read_text().startswith(IO_THREAD_NAMES):
                io_ns += used_ns
            else:
                background_ns += used_ns
    return CpuTimes(main_ns, io_ns, background_ns)


def _used_ns(task: Path) -> int:
    try:
        return int((task / "schedstat").read_text().split()[0])
    except FileNotFoundError as missing:
        if not task.exists():
            raise
        raise EnvironmentMissing(
            "the kernel does not tell how long threads run: /proc/PID/schedstat is missing",
            hint="a kernel with CONFIG_SCHED_INFO has it",
        ) from missing
