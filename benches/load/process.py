"""Runs a program on one processor, and what that took."""

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

SERVER_PROCESSOR = 0
CLIENT_PROCESSOR = 1
MEMORY_LOOK_SECONDS = 0.001


@dataclass(frozen=True)
class Finished:
    """A program that has ended well."""

    output: str
    cpu_seconds: float
    """User and system time."""
    seconds: float


def pinned(processor: int, command: list[str]) -> list[str]:
    """Return the command line that runs a command on one processor."""
    return ["taskset", "--cpu-list", str(processor), *command]


def run_client(command: list[str]) -> Finished:
    """Run to the end on the clients' processor; raises `subprocess.CalledProcessError` if it fails."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        began = time.monotonic()
        process = subprocess.Popen(pinned(CLIENT_PROCESSOR, command), stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        if process.returncode != 0:
            errors.seek(0)
            raise subprocess.CalledProcessError(process.returncode, command, output.read(), errors.read())
        return Finished(output.read(), usage.ru_utime + usage.ru_stime, seconds)


def peak_memory_mib(command: list[str]) -> float:
    """Run to the end on the clients' processor and return the peak of its resident memory.

    It is looked up again and again while the program runs. The `ru_maxrss` of `wait4` would not do: it also counts what
    the process held before it became the program, which is this interpreter's memory.
    """
    peak_kib = 0
    process = subprocess.Popen(pinned(CLIENT_PROCESSOR, command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    status = Path(f"/proc/{process.pid}/status")
    program = Path(command[0]).name[:15]
    while process.poll() is None:
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        if fields["Name"].strip() == program and "VmHWM" in fields:
            peak_kib = int(fields["VmHWM"].split()[0])
        time.sleep(MEMORY_LOOK_SECONDS)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return peak_kib / 1024
