"""The command line as a user meets it: a process, its two outputs, its exit code."""

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import preloaded
from machine import CHECKS_OF_THE_MACHINE
from reason_checks import check_document
from waiting import PATIENCE_SECONDS, command_lines, wait_until

HELD_PROGRAM = Path(__file__).with_name("held_program.py")
PROGRAM = [sys.executable, "-c", 'import sys; sys.argv[0] = "zerolap"; from zerolap.cli import main; main()']


@dataclass(frozen=True)
class Ended:
    """How a run of the program ended."""

    code: int
    out: str
    err: str

    def document(self) -> Any:
        """Return standard output, which must be one JSON document; the reasons in it must be true."""
        document = json.loads(self.out)
        check_document(document)
        return document

    def is_measured_or_too_busy(self) -> None:
        """Assert that something was measured, or that this machine is too busy for that, which is the reason given."""
        reason = re.search(r"all cases are invalid by ([^;\n]*)", self.err)
        is_too_busy = self.code == 3 and reason is not None and {*reason[1].split(", ")} <= CHECKS_OF_THE_MACHINE
        assert self.code == 0 or is_too_busy, self

    def fails_with(self, code: int, *parts: str) -> None:
        """Assert the exit code, one message without a traceback, and what the message holds."""
        assert self.code == code, self
        assert "Traceback" not in self.err, self.err
        assert [line.startswith("error: ") for line in self.err.splitlines()].count(True) == 1, self.err
        for part in parts:
            assert part in self.err, self.err


class Zerolap:
    """Runs the program in a directory of its own; its trials are below `trials`."""

    def __init__(self, directory: Path, store: Path | None = None) -> None:
        self.directory = directory
        self.trials = directory / "t"
        self.trials.mkdir(exist_ok=True)
        self.store = store or directory / "store"

    def __call__(self, *arguments: str | Path, environment: Mapping[str, str] | None = None) -> Ended:
        if "PYTHONPATH" in (environment or {}):
            # Plugins are found when Python starts.
            child = self.start(*arguments, environment=environment)
            out, err = child.communicate()
            return Ended(child.returncode, out, err)
        return Ended(*preloaded.call(list(map(str, arguments)), self.directory, self._environment(environment)))

    @contextlib.contextmanager
    def running(self, *arguments: str | Path) -> Iterator[None]:
        """Run the program in the context, and ask it to end afterwards."""
        process: queue.Queue[int] = queue.Queue()
        with ThreadPoolExecutor(1) as waiting:
            ended = waiting.submit(
                preloaded.call, list(map(str, arguments)), self.directory, self._environment(None), process.put
            )
            number = process.get(timeout=PATIENCE_SECONDS)
            try:
                yield
            finally:
                if not ended.done():
                    os.kill(number, signal.SIGTERM)
                ended.result(PATIENCE_SECONDS)

    def start(self, *arguments: str | Path, environment: Mapping[str, str] | None = None) -> "subprocess.Popen[str]":
        return self._start([*PROGRAM, *map(str, arguments)], environment)

    def start_held(
        self, trials: int, *arguments: str | Path, environment: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[str]":
        """Start the program, which counts so many trials and then stays in the midst of its work."""
        return self._start([sys.executable, str(HELD_PROGRAM), str(trials), *map(str, arguments)], environment)

    def _start(self, command: Sequence[str], environment: Mapping[str, str] | None) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            command,
            cwd=self.directory,
            env=self._environment(environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _environment(self, added: Mapping[str, str] | None) -> dict[str, str]:
        return {**os.environ, "TMPDIR": str(self.trials), "COLUMNS": "200", **(added or {})}

    def processes(self) -> list[str]:
        """Return the command lines of all processes that belong to trials or builds of this directory."""
        below = (str(self.trials), str(self.store))
        return [line for line in command_lines().values() if any(path in line for path in below)]

    def leaves_nothing(self) -> None:
        """Assert that neither a process nor a trial's directory is left."""
        self.wait_for_no_process()
        assert list(self.trials.iterdir()) == []

    def wait_for_no_process(self) -> None:
        wait_until(lambda: not self.processes())


def stop(child: "subprocess.Popen[str]", number: signal.Signals) -> Ended:
    """Send a signal to the program alone and return how it ended."""
    child.send_signal(number)
    out, err = child.communicate(timeout=PATIENCE_SECONDS)
    return Ended(child.returncode, out, err)


def path_without(directory: Path, *names: str) -> dict[str, str]:
    """Return an environment whose PATH has all of this machine's programs but these."""
    directory.mkdir()
    for place in ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"):
        for program in Path(place).glob("*"):
            link = directory / program.name
            if program.name not in names and not link.is_symlink():
                link.symlink_to(program)
    return {"PATH": str(directory)}
