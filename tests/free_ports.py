"""Ports of this machine for servers that are started later."""

import random
import socket
from pathlib import Path

OF_CONNECTIONS = Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST, HIGHEST = 10_000, 65_535


def free_port() -> int:
    """Return a port on which nobody listens.

    Connections take their own ports from a range of the kernel's, at any moment. It is none of these.
    """
    below = int(OF_CONNECTIONS.read_text().split()[0])
    ports = range(LOWEST, below) if below > LOWEST else range(LOWEST, HIGHEST)
    while True:
        port = random.SystemRandom().choice(ports)
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return port
