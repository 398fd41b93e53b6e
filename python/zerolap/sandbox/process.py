"""Processes of the lab: each has an owner, each is stopped whatever happens."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from zerolap.records import EnvironmentMissing, Interrupted
from zerolap.sandbox.cancellation import Cancellation, current_cancellation
from zerolap.sandbox.confinement import Confinement, available, open_command

STOP_SECONDS = 10
TAIL_BYTES = 65536
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Process:
    """A child in a session of its own; leaving the context kills it and everything it started.

    Once its owner is cancelled, whatever failed because the process was killed is raised as `Interrupted`.
    """

    def __init__(self, child: "subprocess.Popen[bytes]", output: Path | None, owner: Cancellation) -> None:
        self._child = child
        self._owner = owner
        self.output = output

    @property
    def number(self) -> int:
        """The system's number of the process that was started."""
        return self._child.pid

    @property
    def stdin(self) -> IO[bytes] | None:
        """The child's standard input where it was asked for."""
        return self._child.stdin

    @property
    def stdout(self) -> IO[bytes] | None:
        """The child's standard output where it was asked for."""
        return self._child.stdout

    @property
    def returncode(self) -> int | None:
        """The exit code, or none while it runs; negative for a signal."""
        return self._child.poll()

    def wait(self, seconds: float | None = None) -> int:
        """Wait for the end; raises `subprocess.TimeoutExpired`, or `Interrupted` when its owner is cancelled."""
        code = self._child.wait(seconds)
        self._owner.require_going_on()
        return code

    def kill(self) -> None:
        """Kill the session without waiting for its end."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            self._child.kill()

    def stop(self) -> None:
        """Kill the session and wait for its end."""
        self.kill()
        self._child.wait(STOP_SECONDS)
        for stream in (self._child.stdin, self._child.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self._owner.disown(self)

    def output_tail(self, lines: int = 30) -> str:
        """Return the last lines that it wrote to its output file."""
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
        # Neither a result nor a failure of something that was killed on the way is one of the work itself.
        if self._owner.is_cancelled and (fault is None or isinstance(fault, Exception)):
            raise Interrupted("interrupted") from fault


def launch(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    output: Path | None = None,
    confinement: Confinement | None = None,
    directory: Path | None = None,
    piped: bool = False,
) -> Process:
    """Start a process: confined if `confinement` is given and this machine can, else only tied to the lab's life.

    `output` is the file that takes standard error and, unless `piped`, standard output. The calling thread's current
    `Cancellation` owns the process. Raises `EnvironmentMissing` if the program does not exist, `Interrupted` once the
    owner is cancelled.
    """
    command, variables = list(arguments), dict(environment)
    if confinement is not None and available() is None:
        command, variables = confinement.command(arguments, environment), {"PATH": os.environ.get("PATH", "")}
    else:
        if shutil.which(command[0], path=variables.get("PATH")) is None:
            raise EnvironmentMissing(f"`{command[0]}` cannot be started: there is no such program")
        command = open_command(arguments)
        directory = confinement.directory if confinement is not None else directory
    with contextlib.ExitStack() as files:
        sink: int | IO[bytes] = files.enter_context(output.open("ab")) if output else subprocess.DEVNULL
        owner = current_cancellation()

        def start() -> Process:
            try:
                child = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
                    stdout=subprocess.PIPE if piped else sink,
                    stderr=sink,
                    env=variables,
                    cwd=directory,
                    start_new_session=True,
                )
            except FileNotFoundError as missing:
                raise EnvironmentMissing(f"`{command[0]}` cannot be started: {missing.strerror}") from missing
            return Process(child, output, owner)

        return owner.own(start)
