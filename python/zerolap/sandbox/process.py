"""Processes of the lab: each has an owner and is stopped in any case."""

import contextlib
import os
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from zerolap.byte_counts import shown_bytes
from zerolap.records import EnvironmentMissing
from zerolap.sandbox.cancellation import Cancellation, current_cancellation
from zerolap.sandbox.confinement import Confinement, Network, available, open_command, require_sandbox, tied_command
from zerolap.sandbox.control_group import ControlGroup, usable_parents
from zerolap.sandbox.limits import NO_LIMITS, LimitReached, Limits, descendants, resident_bytes, used_bytes
from zerolap.sandbox.system_calls import system_call_filter

STOP_SECONDS = 10
WATCH_SECONDS = 0.25
WATCHING_SHARE = 0.05
"""Of the time, for looking at limits: in the source of a kernel, counting the disk space takes a second."""
TAIL_BYTES = 65536
LAST_WORDS = {
    "memory": re.compile(r"[Cc]annot allocate memory|memory exhausted|out of memory|bad_alloc|MemoryError"),
    "processes": re.compile(
        r"[Cc]annot fork|fork: .*Resource temporarily unavailable|Resource temporarily unavailable"
    ),
    "disk": re.compile(r"File too large|File size limit exceeded|No space left on device|Disk quota exceeded"),
}
"""What programs print when a per-process limit of the kernel makes them fail; nothing else shows which limit."""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Process:
    """A child process in its own session; leaving the context kills it and everything it started.

    Once its owner is cancelled, errors that result from the kill are raised as `Interrupted`.
    """

    def __init__(
        self, child: "subprocess.Popen[bytes]", output: Path | None, owner: Cancellation, bounds: "ProcessBounds"
    ) -> None:
        self._child = child
        self._owner = owner
        self._bounds = bounds
        self.output = output

    @property
    def number(self) -> int:
        """The process id of the child."""
        return self._child.pid

    @property
    def stdin(self) -> IO[bytes] | None:
        """The child's standard input if it is a pipe."""
        return self._child.stdin

    @property
    def stdout(self) -> IO[bytes] | None:
        """The child's standard output if it is a pipe."""
        return self._child.stdout

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while the child runs."""
        return self._child.poll()

    def wait(self, seconds: float | None = None) -> int:
        """Wait for the end; raises `subprocess.TimeoutExpired`, or `Interrupted` when its owner is cancelled."""
        code = self._child.wait(seconds if seconds is None else self._await_end(seconds))
        self._owner.require_going_on()
        return code

    def _await_end(self, seconds: float) -> float | None:
        """Wait for the end no longer than that, and notice it at once: the standard library looks every 50 ms.

        Return how long the library may wait then. That is without limit after the end, where another thread may be
        reading the exit code, and as long as this was to wait where the kernel has no descriptors of processes.
        """
        if self._child.returncode is not None:
            return None
        try:
            ended = os.pidfd_open(self._child.pid)
        except OSError:
            return seconds
        try:
            waiting = select.poll()
            waiting.register(ended, select.POLLIN)
            return None if waiting.poll(seconds * 1000) else 0.0
        finally:
            os.close(ended)

    def wait_within_limits(self) -> int:
        """Wait for the end, and kill the process if it exceeds its limits.

        Raises `LimitReached` with the limit, also if the process failed because of it; `Interrupted` as `wait`.
        """
        seconds = self._bounds.limits.seconds
        end = None if seconds is None else time.monotonic() + seconds
        looked_seconds = 0.0
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self.wait(max(WATCH_SECONDS, looked_seconds / WATCHING_SHARE))
                if code != 0 and (reached := self.reached_limit()) is not None:
                    raise LimitReached(reached)
                return code
            began = time.monotonic()
            reached = self._bounds.exceeded(self.number)
            looked_seconds = time.monotonic() - began
            if reached is None and end is not None and time.monotonic() > end:
                reached = f"its limit of {seconds:g} s"
            if reached is not None:
                self.kill()
                raise LimitReached(reached)

    def reached_limit(self) -> str | None:
        """Return the limit that the process is known to have reached, such as `its limit of 2 GiB of memory`."""
        return self._bounds.reached(self.output_tail())

    def kill(self) -> None:
        """Kill the session and its control group without waiting for their end."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            self._child.kill()
        if self._bounds.group is not None:
            self._bounds.group.kill()

    def stop(self) -> None:
        """Kill the session and wait for its end."""
        self.kill()
        self._child.wait(STOP_SECONDS)
        if self._bounds.group is not None:
            self._bounds.group.remove()
        for stream in (self._child.stdin, self._child.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self._owner.disown(self)

    def output_tail(self, lines: int = 30) -> str:
        """Return the last lines of the output file."""
        if self.output is None or not self.output.exists():
            return ""
        with self.output.open("rb") as file:
            file.seek(max(0, self.output.stat().st_size - TAIL_BYTES))
            text = file.read().decode(errors="replace")
        return "\n".join(COLOURS.sub("", text).rstrip().splitlines()[-lines:])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        # Results and failures of a killed process are not results and failures of the work.
        if self._owner.is_cancelled and (fault is None or isinstance(fault, Exception)):
            raise self._owner.error() from fault


@dataclass(frozen=True)
class ProcessBounds:
    """The limits of a process, the control group that enforces some of them, and its writable directories."""

    limits: Limits = NO_LIMITS
    group: ControlGroup | None = None
    writable: Sequence[Path] = ()

    def exceeded(self, process: int) -> str | None:
        """Return the limit that the process and its descendants have reached together so far, if any."""
        reached: str | None = None if self.group is None else self.group.reached()
        limits = self.limits
        if self.group is None:
            reached = self._exceeded_by(descendants(process))
        if limits.disk_bytes is not None and used_bytes(self.writable, limits.disk_bytes) > limits.disk_bytes:
            reached = "disk"
        return None if reached is None else self._named(reached)

    def reached(self, output: str) -> str | None:
        """Return the limit that a failed process reached, if any; `output` is the end of its output."""
        reached: str | None = None if self.group is None else self.group.reached()
        if reached is None:
            reached = next((limit for limit, words in LAST_WORDS.items() if words.search(output)), None)
        return None if reached is None else self._named(reached)

    def _exceeded_by(self, processes: Sequence[int]) -> str | None:
        """Return the limit that processes without a control group exceed together, if any."""
        limits = self.limits
        if limits.processes is not None and len(processes) > limits.processes:
            return "processes"
        if limits.memory_bytes is not None and sum(map(resident_bytes, processes)) > limits.memory_bytes:
            return "memory"
        return None

    def _named(self, limit: str) -> str | None:
        limits = self.limits
        match limit:
            case "memory" if limits.memory_bytes is not None:
                return f"its limit of {shown_bytes(limits.memory_bytes)} of memory"
            case "processes" if limits.processes is not None:
                return f"its limit of {limits.processes} processes"
            case "disk" if limits.disk_bytes is not None:
                return f"its limit of {shown_bytes(limits.disk_bytes)} of disk space"
        return None


def launch(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    output: Path | None = None,
    confinement: Confinement | None = None,
    network: Network | None = None,
    piped: bool = False,
) -> Process:
    """Start a process, confined if `confinement` is given and a sandbox is available; in any case it ends with the lab.

    Standard error and, unless `piped`, standard output are written to the file `output`. `network` is the network to
    enter for a process that is not confined. The calling thread's current `Cancellation` owns the process. Raises
    `EnvironmentMissing` if the program does not exist or must not run without a sandbox, `Interrupted` once the owner
    is cancelled.
    """
    if confinement is not None:
        require_sandbox(confinement.policy, f"`{Path(arguments[0]).name}`")
    owner = current_cancellation()
    with contextlib.ExitStack() as opened:
        sink: int | IO[bytes] = opened.enter_context(output.open("ab")) if output else subprocess.DEVNULL
        is_sandboxed = confinement is not None and available() is None
        listening = None if confinement is None else confinement.listening
        chosen = system_call_filter(opens_connections=listening is None)
        filter_ = opened.enter_context(chosen) if is_sandboxed else None

        def start() -> Process:
            bounds = _bounds(confinement)
            command, variables = _command(arguments, environment, confinement, network, bounds, filter_)
            try:
                child = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
                    stdout=subprocess.PIPE if piped else sink,
                    stderr=sink,
                    env=variables,
                    cwd=None if confinement is None or is_sandboxed else confinement.directory,
                    start_new_session=True,
                    pass_fds=[descriptor for descriptor in (filter_, listening) if descriptor is not None],
                )
            except OSError as fault:
                if bounds.group is not None:
                    bounds.group.remove()
                if isinstance(fault, FileNotFoundError):
                    raise _no_such_program(command[0]) from fault
                raise
            return Process(child, output, owner, bounds)

        return owner.own(start)


def _bounds(confinement: Confinement | None) -> ProcessBounds:
    if confinement is None:
        return ProcessBounds()
    limits, parents = confinement.limits, usable_parents()
    group = None
    if parents is not None and (limits.memory_bytes is not None or limits.processes is not None):
        # If the group cannot be created, the limits of each process still apply.
        with contextlib.suppress(OSError):
            group = ControlGroup(parents, limits)
    return ProcessBounds(limits, group, confinement.writable)


def _command(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    confinement: Confinement | None,
    network: Network | None,
    bounds: ProcessBounds,
    filter_: int | None,
) -> tuple[list[str], dict[str, str]]:
    """Return the command line that starts a process within its bounds, and the variables for it.

    `filter_` is the descriptor of the filter of system calls, or none without a sandbox.
    """
    if shutil.which(arguments[0], path=environment.get("PATH")) is None and filter_ is None:
        raise _no_such_program(arguments[0])
    if confinement is None:
        command = open_command(arguments)
        return tied_command(command if network is None else network.command(command)), dict(environment)
    ungrouped = bounds.group is None
    # The kernel counts all processes of a user, which are only those of the sandbox in its namespace.
    rlimits = bounds.limits.rlimits(memory=ungrouped, processes=ungrouped and filter_ is not None)
    if filter_ is not None:
        command = confinement.command([*rlimits, *arguments], environment, filter_)
        variables = {"PATH": os.environ.get("PATH", "")}
    else:
        command, variables = open_command([*rlimits, *arguments]), dict(environment)
    if confinement.network is not None:
        command = confinement.network.command(command)
    grouped = command if bounds.group is None else bounds.group.command(command)
    return tied_command(grouped, is_confined=True), variables


def _no_such_program(name: str) -> EnvironmentMissing:
    return EnvironmentMissing(f"`{name}` cannot be started: there is no such program")


def is_readable(stream: IO[bytes] | int, seconds: float) -> bool:
    """Wait until there is something to read, or the end; returns false if neither comes in that time."""
    # `select.select` takes no descriptor above 1023.
    poll = select.poll()
    poll.register(stream, select.POLLIN)
    return bool(poll.poll(max(0.0, seconds) * 1000))
