"""A flood of requests by strangers, from one process: bounded in connections, answers and time.

`python tests/flood.py` reads the document of a `Flood` from its standard input, and prints the number of answers by
status.
"""

import contextlib
import json
import re
import selectors
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
SMALLEST_BUFFER_BYTES = 4096
MOST_CONNECTIONS, MOST_SECONDS = 2_000, 30.0
ADDRESSES = "127.0.2"
"""The first three numbers of the addresses that it comes from; all of them are those of this machine."""


@dataclass(frozen=True)
class Flood:
    """What is sent, over how many connections of how many addresses, until there were `answers` or for so long.

    `request` has one character a byte. With `is_anew`, each request has a connection of its own; with `reads` false,
    no answer is read, through a small buffer.
    """

    port: int
    request: str
    connections: int = 30
    addresses: int = 1
    seconds: float = 2.0
    answers: int = 1_000_000
    is_anew: bool = False
    reads: bool = True

    def __post_init__(self) -> None:
        if self.connections > MOST_CONNECTIONS or self.seconds > MOST_SECONDS:
            raise ValueError("a flood has its bounds")


def get(path: str, *headers: str) -> str:
    """Return a request for a path of this machine."""
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: localhost", *headers, "", ""])


@contextlib.contextmanager
def flooding(flood: Flood) -> Iterator["subprocess.Popen[str]"]:
    """Have a process of its own send a flood meanwhile; what it prints are its answers by status."""
    command = [sys.executable, str(Path(__file__).resolve())]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    try:
        with child.stdin:
            json.dump(asdict(flood), child.stdin)
        # It is closed: whoever waits for the end would flush it.
        child.stdin = None
        yield child
    finally:
        child.kill()
        child.communicate()


class _Sender:
    """A connection of the flood: sends a request as soon as the answer to the one before it was read."""

    def __init__(self, flood: Flood, number: int, waiting: selectors.BaseSelector) -> None:
        self._flood, self._waiting = flood, waiting
        self._address = f"{ADDRESSES}.{1 + number % flood.addresses}"
        self._request = flood.request.encode("latin-1")
        self._socket = self._opened()

    def _opened(self) -> socket.socket:
        connection = socket.socket()
        if not self._flood.reads:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALLEST_BUFFER_BYTES)
        connection.bind((self._address, 0))
        connection.connect(("127.0.0.1", self._flood.port))
        connection.setblocking(False)
        self._waiting.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE, self)
        self._unsent, self._read, self._length = self._request, b"", -1
        return connection

    def work(self, events: int) -> int | None:
        """Send and read what can be sent and read; returns the status of an answer that is complete."""
        try:
            if self._unsent:
                if events & selectors.EVENT_WRITE:
                    self._unsent = self._unsent[self._socket.send(self._unsent) :]
                    if not self._unsent:
                        self._waiting.modify(self._socket, selectors.EVENT_READ, self)
                return None
            if not self._flood.reads:
                self._waiting.unregister(self._socket)
                return None
            piece = self._socket.recv(1 << 20)
        except BlockingIOError:
            return None
        except OSError:
            piece = b""
        if not piece:
            self._open_again()
            return None
        return self._take(piece)

    def _take(self, piece: bytes) -> int | None:
        self._read += piece
        end = self._read.find(b"\r\n\r\n")
        if end < 0:
            return None
        length = LENGTH.search(self._read[: end + 2])
        if len(self._read) < end + 4 + (0 if length is None else int(length[1])):
            return None
        head, self._read = self._read[:end], b""
        if self._flood.is_anew or b"connection: close" in head.lower():
            self._open_again()
        else:
            self._unsent = self._request
            self._waiting.modify(self._socket, selectors.EVENT_READ | selectors.EVENT_WRITE, self)
        return int(head.split(b" ", 2)[1])

    def _open_again(self) -> None:
        self._waiting.unregister(self._socket)
        self._socket.close()
        self._socket = self._opened()


def _send(flood: Flood) -> Counter[int]:
    answers: Counter[int] = Counter()
    end = time.monotonic() + flood.seconds
    with selectors.DefaultSelector() as waiting:
        senders = [_Sender(flood, number, waiting) for number in range(flood.connections)]
        while time.monotonic() < end and answers.total() < flood.answers and senders:
            for key, events in waiting.select(0.1):
                status = key.data.work(events)
                if status is not None:
                    answers[status] += 1
    return answers


if __name__ == "__main__":
    print(json.dumps(_send(Flood(**json.load(sys.stdin)))))
