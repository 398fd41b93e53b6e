"""Ports of this machine for servers that are started later."""

import contextlib
import os
import random
import socket
from collections.abc import Iterator
from pathlib import Path

OF_CONNECTIONS = Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST, HIGHEST = 10_000, 65_535
ABOVE_SERVERS = 30_000
"""Below are those that the lab chooses for servers under test and their cluster buses."""
ENOUGH = 200
"""For each process of the tests."""
_returned: set[int] = set()


def free_port() -> int:
    """Return a port on which nobody listens, another one each time, which no other process of the same tests returns.

    Connections take their own ports from a range of the kernel's, at any moment. It is none of these.
    """
    below = int(OF_CONNECTIONS.read_text().split()[0])
    process, processes = _process_of_tests()
    ranges = range(ABOVE_SERVERS, below), range(LOWEST, below), range(LOWEST, HIGHEST)
    ports = next((ports for ports in ranges if len(ports) >= ENOUGH * processes), ranges[-1])
    while True:
        port = random.SystemRandom().choice([port for port in ports[process::processes] if port not in _returned])
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
        _returned.add(port)
        return port


def _process_of_tests() -> tuple[int, int]:
    """Return which of how many processes of pytest-xdist this is."""
    process, processes = os.environ.get("PYTEST_XDIST_WORKER", "gw0"), os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")
    return int(process.removeprefix("gw")), int(processes)


@contextlib.contextmanager
def bound_port(address: str) -> Iterator[int]:
    """Yield a port of an address on which nobody listens, and nobody can: connections to it are refused."""
    with socket.socket() as bound:
        bound.bind((address, 0))
        yield bound.getsockname()[1]
