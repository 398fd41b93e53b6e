"""RESP frames on a stream: the bytes of each, and its value as far as a probe needs it."""

import math
import re
import socket
import time
from dataclasses import dataclass
from typing import TypeAlias

from zerolap.records import TrialFailed

Reply: TypeAlias = "bytes | int | ReplyError | list[Reply] | None"

LONGEST_LINE_BYTES = 1024 * 1024
RECEIVED_BYTES = 1 << 16
DEEPEST = 100
_LINES = b"+-:_#,("
_BULKS = b"$=!"
_NUMBER = re.compile(rb"[+-]?[0-9]{1,20}")
_BULK_ERROR, _ATTRIBUTES = b"!|"
_AGGREGATES = {ord("*"): 1, ord("~"): 1, ord(">"): 1, ord("%"): 2}


@dataclass(frozen=True)
class ReplyError:
    """An error reply: its text as the server wrote it."""

    text: str

    @property
    def code(self) -> str:
        """The first word, such as `WRONGTYPE`."""
        return self.text.split(" ", 1)[0]


class ServerLost(TrialFailed):
    """The connection to a server cannot be made, was closed, or is silent."""


class UnreadableReply(TrialFailed):
    """A server sent what is not RESP, or more than is read."""


@dataclass(frozen=True)
class FrameBounds:
    """What is read of one frame at most: bytes, values in it, and seconds until its last byte has arrived.

    Each wait for bytes is limited by the timeout of the socket.
    """

    size_bytes: int = 512 << 20
    values: int = 4 << 20
    seconds: float = math.inf


class FrameReader:
    """Reads whole frames from a connection.

    Raises `UnreadableReply` for invalid RESP and beyond the bounds, `ServerLost` for a lost connection.
    """

    def __init__(
        self, connection: socket.socket | None, received: bytes = b"", bounds: FrameBounds | None = None
    ) -> None:
        """Read `received` first, then from the connection, if there is one."""
        self._connection = connection
        self._bounds = bounds or FrameBounds()
        self._buffer = bytearray(received)
        self._at = 0
        self._values = 0
        self._end = math.inf

    def next_frame(self) -> tuple[bytes, Reply] | None:
        """Return the next frame, its bytes and its value; None if the peer closed the connection between frames."""
        self._at = self._values = 0
        self._end = time.monotonic() + self._bounds.seconds
        try:
            value = self._value(0)
        except EOFError:
            if self._buffer:
                raise ServerLost("a connection ended in the middle of a message") from None
            return None
        raw = bytes(self._buffer[: self._at])
        del self._buffer[: self._at]
        return raw, value

    def _value(self, depth: int) -> Reply:
        line = self._line()
        kind, rest = line[0], line[1:]
        self._values += 1
        if self._values > self._bounds.values:
            raise UnreadableReply(f"a message has more than {self._bounds.values:,} values")
        if depth > DEEPEST:
            raise UnreadableReply(f"a message is nested more than {DEEPEST} deep")
        if kind in _LINES:
            return _of_line(kind, rest)
        if kind in _BULKS:
            data = self._bulk(_number(rest))
            return ReplyError(data.decode(errors="replace")) if kind == _BULK_ERROR and data is not None else data
        if kind == _ATTRIBUTES:
            # Attributes precede the value that they describe.
            for _ in range(2 * _number(rest)):
                self._value(depth + 1)
            return self._value(depth + 1)
        if kind in _AGGREGATES:
            count = _number(rest) * _AGGREGATES[kind]
            return None if count < 0 else [self._value(depth + 1) for _ in range(count)]
        raise UnreadableReply(f"a message starts with {line[:20]!r}, which is not RESP")

    def _bulk(self, length: int) -> bytes | None:
        if length < 0:
            return None
        if length > self._bounds.size_bytes:
            raise UnreadableReply(f"a message has a value of {length:,} bytes; {self._bounds.size_bytes:,} are read")
        self._fill(self._at + length + 2)
        data = bytes(self._buffer[self._at : self._at + length])
        self._at += length + 2
        return data

    def _line(self) -> bytes:
        while (end := self._buffer.find(b"\r\n", self._at)) < 0:
            if len(self._buffer) - self._at > LONGEST_LINE_BYTES:
                raise UnreadableReply(f"a line of more than {LONGEST_LINE_BYTES} bytes, which is not RESP")
            self._receive()
        line = bytes(self._buffer[self._at : end])
        self._at = end + 2
        if not line:
            raise UnreadableReply("an empty line where a message should begin")
        return line

    def _fill(self, size: int) -> None:
        while len(self._buffer) < size:
            self._receive()

    def _receive(self) -> None:
        if self._connection is None:
            raise EOFError
        try:
            data = self._connection.recv(RECEIVED_BYTES)
        except OSError as fault:
            raise ServerLost(f"the connection was lost: {fault}") from fault
        if not data:
            raise EOFError
        self._buffer += data
        if len(self._buffer) > self._bounds.size_bytes + RECEIVED_BYTES:
            raise UnreadableReply(f"a message has more than {self._bounds.size_bytes:,} bytes")
        if time.monotonic() > self._end:
            raise UnreadableReply(f"a message has not ended after {self._bounds.seconds:g} s")


def _of_line(kind: int, rest: bytes) -> Reply:
    if kind == ord("-"):
        return ReplyError(rest.decode(errors="replace"))
    if kind == ord(":"):
        return _number(rest)
    if kind == ord("#"):
        return int(rest == b"t")
    return None if kind == ord("_") else rest


def _number(text: bytes) -> int:
    if not _NUMBER.fullmatch(text):
        raise UnreadableReply(f"{text[:20]!r} is not a number of RESP")
    return int(text)


def written(words: list[bytes]) -> bytes:
    """Return the RESP encoding of a request."""
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
