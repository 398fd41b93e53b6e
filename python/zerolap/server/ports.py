"""Ports of the loopback that nobody uses."""

import random
import socket

from zerolap.records import EnvironmentMissing

ADDRESS = "127.0.0.1"
BUS_OFFSET = 10000
"""What the servers add to a port for the cluster bus; only later ones can be told another."""
PORTS = range(10000, 20000)
"""Their buses end below 32768, where the system begins to hand out ports for outgoing connections."""
TRIES = 1000

_chance = random.SystemRandom()


def free_port(*, with_bus: bool = False) -> int:
    """Return a port that nobody listens on, nor on its cluster bus where one is needed.

    Another process may take it before it is used. Raises `EnvironmentMissing` if there is none to be found.
    """
    for _ in range(TRIES):
        port = _chance.choice(PORTS)
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
