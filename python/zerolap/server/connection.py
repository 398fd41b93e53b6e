"""A connection on which the lab sends commands to a server: what comes back is read with bounds, and typed."""

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from zerolap.records import TrialFailed
from zerolap.resp_frames import FrameBounds, FrameReader, Reply, ReplyError, ServerLost, UnreadableReply, written
from zerolap.sandbox import is_readable
from zerolap.server.server_login import ServerLogin

REPLY_SECONDS: Final = 60
LONGEST_ERROR: Final = 1000
"""Characters of an error that are shown."""
MOST_DIGITS: Final = 18
"""Of a number that a server reports as text."""
REPLY_BOUNDS: Final = FrameBounds(size_bytes=16 << 20, values=1 << 20, seconds=REPLY_SECONDS)
"""The longest replies that the lab asks for, those to COMMAND and CONFIG GET, take some hundred kilobytes."""


class CommandRefused(TrialFailed):
    """A server answered a command with an error; the message is what the server wrote."""


class CommandConnection:
    """A connection to a unix socket or a port, which is opened by the first command and again after a failure.

    Its methods raise `ServerLost` if the server cannot be reached, hangs up or does not answer, and `UnreadableReply`
    for what is not RESP, or is longer than any reply that the lab asks for.
    """

    def __init__(
        self, address: Path | tuple[str, int], login: ServerLogin | None = None, bounds: FrameBounds = REPLY_BOUNDS
    ) -> None:
        self._address = address
        self._login = login
        self._bounds = bounds
        self._socket: socket.socket | None = None
        self._frames = FrameReader(None)

    def call(self, *words: str | bytes) -> Reply:
        """Send a command and return its reply; raises `CommandRefused` for an error."""
        if self._socket is not None and is_readable(self._socket.fileno(), 0):
            # The server has closed it, as it does with idle ones where it has such a setting.
            self.close()
        self.send(written([word.encode() if isinstance(word, str) else word for word in words]))
        return self.reply()

    def send(self, encoded: bytes) -> None:
        """Send encoded commands, whose replies are then to be read."""
        try:
            if self._socket is None:
                self._connect()
            if self._socket is not None:
                self._socket.sendall(encoded)
        except OSError as fault:
            self.close()
            raise ServerLost(f"the connection was lost: {fault}") from fault

    def reply(self) -> Reply:
        """Return the next reply; raises `CommandRefused` for an error."""
        try:
            frame = self._frames.next_frame()
        except (ServerLost, UnreadableReply):
            self.close()
            raise
        if frame is None:
            self.close()
            raise ServerLost("it closed the connection")
        if isinstance(frame[1], ReplyError):
            raise CommandRefused(shown_error(frame[1]))
        return frame[1]

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    def _connect(self) -> None:
        if isinstance(self._address, Path):
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._socket.settimeout(self._bounds.seconds)
            self._socket.connect(str(self._address))
        else:
            self._socket = socket.create_connection(self._address, timeout=self._bounds.seconds)
        self._frames = FrameReader(self._socket, bounds=self._bounds)
        if self._login is not None:
            self._socket.sendall(written([word.encode(errors="surrogateescape") for word in self._login.command]))
            try:
                self.reply()
            except CommandRefused as refused:
                self.close()
                raise CommandRefused(f"the server refused the password: {refused.message}") from None


def shown_error(error: ReplyError) -> str:
    """Return the text of an error, without the rest of one that is long."""
    return error.text if len(error.text) <= LONGEST_ERROR else f"{error.text[:LONGEST_ERROR]} …"


def info_fields(reply: Reply) -> dict[str, str]:
    """Return the fields of a reply to INFO by name; none for a reply of another type."""
    lines = reply.decode(errors="replace").splitlines() if isinstance(reply, bytes) else []
    return {name: value for name, colon, value in (line.partition(":") for line in lines) if colon}


def parts_of(field: str) -> dict[str, str]:
    """Return the parts of a field of INFO that has several, as in `calls=1,usec=2`."""
    return {name: value for name, equals, value in (part.partition("=") for part in field.split(",")) if equals}


def number_in(fields: Mapping[str, str], name: str) -> int | None:
    """Return a whole number among fields of INFO; none if there is none of that name."""
    text = fields.get(name, "")
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS else None
