"""A server whose times and counts are known."""

import array
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benches.load.process import SERVER_PROCESSOR

NAME = "scripted_server"


@dataclass
class ScriptedServer:
    """A running server; its counts and times are there once it has ended."""

    port: int
    counts: dict[str, Any] = field(default_factory=dict)
    times_ns: list[tuple[int, int]] = field(default_factory=list)
    """When each request was read and when its reply was written, in order of arrival."""


def build() -> Path:
    """Build the server and return its path."""
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--package", "zerolap-load", "--example", NAME]
    subprocess.run(command, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release" / "examples" / NAME


@contextmanager
def scripted_server(program: Path, *arguments: str) -> Iterator[ScriptedServer]:
    """Start the server on its processor; end it and take its counts and times afterwards."""
    with tempfile.TemporaryDirectory() as directory:
        record = Path(directory) / "times"
        command = [str(program), "--cpu", str(SERVER_PROCESSOR), "--record", str(record), *arguments]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            server = ScriptedServer(json.loads(process.stdout.readline())["port"])
            try:
                yield server
            finally:
                process.stdin.close()
                last_line = process.stdout.readline()
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, command)
        server.counts = json.loads(last_line)
        server.times_ns = read_times(record)


def read_times(record: Path) -> list[tuple[int, int]]:
    """Read pairs of little-endian 64-bit numbers."""
    numbers = array.array("Q", record.read_bytes())
    if sys.byteorder == "big":
        numbers.byteswap()
    return list(zip(numbers[::2], numbers[1::2], strict=True))
