"""Processes of the tests' own that keep processors busy."""

import contextlib
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
from waiting import wait_until

ENDLESS = "while True: pass"
"""For a Python that does nothing but compute."""


@contextlib.contextmanager
def busy_processes(number: int, command: Sequence[str | Path]) -> Iterator[None]:
    """Start so many processes of a program that does not end, and go on once each has used a processor."""
    processes = [subprocess.Popen(command) for _ in range(number)]
    try:
        wait_until(lambda: all(psutil.Process(process.pid).cpu_times().user > 0 for process in processes))
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()
