"""The connection between the two machines of a trial, over which nobody else can order, answer, replay or alter.

The load host opens it. Both sides prove that they know a secret, which is never sent, and every line carries a code
(HMAC-SHA256) over its direction, its number and its text. Nothing is encrypted.
"""

import contextlib
import socket
from collections.abc import Iterator
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["server", "load"]
"""The side of a channel: the machine of the servers, or the one of the load."""


class Channel:
    """A connected, authenticated channel of lines; used by one thread for sending and one for receiving.

    The current `Cancellation` of the thread that opens it closes it when it is cancelled; errors are `Interrupted` then.
    """

    def __init__(self, connection: socket.socket, secret: str, role: Role, seconds: float) -> None:
        """Agree with the other side over a connected socket, which belongs to the channel from then on.

        Raises `EnvironmentMissing` if the other side does not know the secret, or does not answer in `seconds`.
        """
        raise NotImplementedError

    @property
    def own_address(self) -> str:
        """The IP address of this machine, as the other side reaches it."""
        raise NotImplementedError

    @property
    def peer_address(self) -> str:
        """The IP address of the other machine."""
        raise NotImplementedError

    def send(self, line: bytes) -> None:
        """Send a line without its end; raises `EnvironmentMissing` if the other side is lost."""
        raise NotImplementedError

    def receive(self, seconds: float | None = None) -> bytes:
        """Return the next line; raises `EnvironmentMissing` if none comes in time or the other side is lost."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the connection; may be called several times."""
        raise NotImplementedError


class Listening:
    """A port that waits for the load host."""

    @property
    def address(self) -> str:
        """Host and port, such as `192.0.2.1:40123` or `[2001:db8::1]:40123`."""
        raise NotImplementedError

    def accept(self, secret: str, seconds: float) -> Channel:
        """Wait for a load host that knows the secret, and refuse all others.

        Raises `EnvironmentMissing` if none comes in `seconds`.
        """
        raise NotImplementedError


@contextlib.contextmanager
def listen_for_load_host(bind_address: str) -> Iterator[Listening]:
    """Listen on an IP address of this machine, on a free port unless one is given (`HOST:PORT`), until the context ends.

    Channels stay open. Raises `EnvironmentMissing` if the address cannot be listened on.
    """
    raise NotImplementedError
    yield


def connect_to_server_host(address: str, secret: str, seconds: float) -> Channel:
    """Connect to a machine that listens at `HOST:PORT`, repeatedly while nobody does.

    Raises `EnvironmentMissing` if that fails for `seconds`, or if the other side does not know the secret.
    """
    raise NotImplementedError
