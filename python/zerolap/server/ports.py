"""Unused ports of the loopback."""

import random
import socket

from zerolap.records import EnvironmentMissing

ADDRESS = "127.0.0.1"
BUS_OFFSET = 10000
"""What servers add to a port for the cluster bus; older versions cannot be configured otherwise."""
PORTS = range(10000, 20000)
"""The cluster buses stay below 32768, where the system's ports for outgoing connections begin."""
TRIES = 1000

_random = random.SystemRandom()


def free_port(*, with_bus: bool = False) -> int:
    """Return a free port; with `with_bus` the port of its cluster bus is free too.

    Another process may take it before it is used. Raises `EnvironmentMissing` if no free port is found.
    """
    for _ in range(TRIES):
        port = _random.choice(PORTS)
        if _is_free(port) and (not with_bus or _is_free(port + BUS_OFFSET)):
            return port
    raise EnvironmentMissing(f"no free port between {PORTS.start} and {PORTS.stop} was found on {ADDRESS}")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((ADDRESS, port))
        except OSError:
            return False
    return True
