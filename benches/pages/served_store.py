"""`zerolap serve` in a process of its own, over a store in either database."""

import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
from free_ports import free_port

START_SECONDS: Final = 120.0
PROGRAM: Final = "from zerolap.cli import main; main()"


@contextlib.contextmanager
def served_store(location: str) -> Iterator[str]:
    """Serve a store, readable without a token; yields its URL."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-c", PROGRAM, "serve", "--store", location, "--public-reports"]
    with tempfile.TemporaryDirectory() as directory, Path(directory, "log").open("wb") as log:
        process = subprocess.Popen([*command, "--listen", f"127.0.0.1:{port}"], stderr=log, cwd=directory)
        try:
            _wait(process, url)
            yield url
        finally:
            process.terminate()
            process.wait()


def _wait(process: "subprocess.Popen[bytes]", url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{url}/api/v1/pages/platforms", trust_env=False).status_code == httpx.codes.OK:
                return
        time.sleep(0.1)
    raise RuntimeError("zerolap serve does not answer")
