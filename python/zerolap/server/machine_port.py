"""A port of the machine's network, for a server that has no network itself.

The lab listens on the port and the server inherits the socket, which a preloaded library (`crates/listen`) puts in the
place of the one that the server binds.
"""

import contextlib
import fcntl
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zerolap.records import EnvironmentMissing
from zerolap.resp_frames import written

BACKLOG = 511
LEAST_DESCRIPTOR = 100
DESCRIPTOR_DIGITS = 4
"""Of the descriptor's number: the start of a server's stack depends on the length of its environment."""


@dataclass(frozen=True)
class MachinePort:
    """A listening socket: its IP address and port, the descriptor, and the library that hands it to the server."""

    address: str
    number: int
    descriptor: int
    library: Path

    @property
    def settings(self) -> dict[str, str]:
        """The server's settings, by which it binds one socket to the port."""
        return {"bind": self.address, "port": str(self.number), "protected-mode": "no"}

    @property
    def environment(self) -> dict[str, str]:
        """The variables that the library reads."""
        return {
            "LD_PRELOAD": str(self.library),
            "ZEROLAP_LISTEN_PORT": str(self.number),
            "ZEROLAP_LISTEN_DESCRIPTOR": str(self.descriptor).zfill(DESCRIPTOR_DIGITS),
        }

    def silence(self, seconds: float) -> str | None:
        """Return why no server answers on the port within `seconds`, or none if one does."""
        try:
            with socket.create_connection((self.address, self.number), seconds) as connection:
                connection.sendall(written([b"PING"]))
                return None if connection.recv(1) else "it closes them"
        except OSError as fault:
            return str(fault)


@contextlib.contextmanager
def open_port(address: str, library: Path) -> Iterator[MachinePort]:
    """Listen on a free port of an IP address of this machine until the context ends; servers keep what they inherited.

    Raises `EnvironmentMissing` if this machine cannot listen there.
    """
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            address, 0, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
        )[0]
        with socket.socket(family, kind, protocol) as listening:
            listening.bind(place)
            listening.listen(BACKLOG)
            descriptor = fcntl.fcntl(listening, fcntl.F_DUPFD_CLOEXEC, LEAST_DESCRIPTOR)
            port: int = listening.getsockname()[1]
    except OSError as fault:
        raise EnvironmentMissing(f"this machine cannot listen on the address `{address}`: {fault}") from fault
    with socket.socket(fileno=descriptor):
        yield MachinePort(address, port, descriptor, library)
