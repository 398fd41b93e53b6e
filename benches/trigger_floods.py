"""How long the holder of a token waits for a page while strangers flood the lab."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
from flood import Flood, flooding
from free_ports import free_port
from stored_comparison import stored_token
from test_floods import FLOODS

from benches.figures import Figure
from zerolap.demonstration import fill_with_made_up_data
from zerolap.store import Store

SECONDS: Final = 4.0
SHAPES: Final = ((30, 1), (124, 4))
"""Connections and their addresses: as many as an address, and strangers together, may have under way."""
PAUSE_SECONDS: Final = 0.02
PATIENCE_SECONDS: Final = 120.0
PROGRAM: Final = "from zerolap.cli import main; main()"
PAGE: Final = "/api/v1/pages/overview"
SETTINGS: Final = """
[limits]
requests_per_minute_per_token = 1_000_000
[github]
webhook_secret_file = "secret"
"""


def wait_figure(directory: Path) -> Figure:
    """Flood a lab with made-up data in each way, and return the longest wait of a holder."""
    directory.mkdir()
    waits_s = {}
    with Store.open(str(directory / "store")) as store:
        fill_with_made_up_data(store)
        token = stored_token(store, "holder", "read")
    with _served(directory) as port:
        waits_s["no flood"] = _longest_wait_s(port, token)
        for name, request in FLOODS.items():
            for connections, addresses in SHAPES:
                flood = Flood(port, request, connections, addresses, 2 * SECONDS)
                with flooding(flood):
                    waits_s[f"{name}, {connections} connections of {addresses}"] = _longest_wait_s(port, token)
    worst = max(waits_s, key=lambda name: waits_s[name])
    notes = [f"the longest beside {worst}", f"without a flood {waits_s['no flood']:.3f} s"]
    samples = [[name, round(wait, 4)] for name, wait in waits_s.items()]
    return Figure(waits_s[worst], "s", samples, len(samples), notes=notes)


def _longest_wait_s(port: int, token: str) -> float:
    longest, end = 0.0, time.monotonic() + SECONDS
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False, headers=headers) as client:
        while time.monotonic() < end:
            began = time.perf_counter()
            client.get(f"http://127.0.0.1:{port}{PAGE}").raise_for_status()
            longest = max(longest, time.perf_counter() - began)
            time.sleep(PAUSE_SECONDS)
    return longest


@contextlib.contextmanager
def _served(directory: Path) -> Iterator[int]:
    """Serve the store of a directory in a process of its own; yields its port."""
    (directory / "secret").write_text("s" * 32)
    (directory / "secret").chmod(0o600)
    (directory / "triggers.toml").write_text(SETTINGS)
    port = free_port()
    command = [sys.executable, "-c", PROGRAM, "serve", "--store", "store", "--triggers", "triggers.toml"]
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen([*command, "--listen", f"127.0.0.1:{port}"], stderr=log, cwd=directory)
        try:
            _wait_for(process, port)
            yield port
        finally:
            process.terminate()
            process.wait()


def _wait_for(process: "subprocess.Popen[bytes]", port: int) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False).status_code == httpx.codes.OK:
                return
        time.sleep(0.1)
    raise SystemExit("zerolap serve does not answer")
