"""Many commands sent together; of the replies only errors are read.

The replies to a data set's setup may take hundreds of megabytes, so they are not decoded.
"""

import secrets
import socket
import time
from collections.abc import Sequence
from pathlib import Path

from zerolap.resp_frames import FrameReader, ReplyError, ServerLost, UnreadableReply, written
from zerolap.sandbox import is_readable
from zerolap.server.connection import shown_error
from zerolap.server.server_login import ServerLogin

CHUNK_BYTES = 1 << 20
MOST_BYTES = 512 << 20
"""Of all replies to the commands that are sent together."""
ERROR_MARKS = (b"\r\n-", b"\r\n!")
"""Where an error reply may begin; values can hold the same bytes, so a match only means that replies are parsed."""
PAUSE_SECONDS = 0.2
"""Of silence after an error reply, until the replies are counted: it may be to the last command."""
LAST_LINE_BYTES = 4096
"""Of what was received last, in which the last line is looked for."""


def send_batch(
    path: Path, commands: Sequence[Sequence[str | bytes]], seconds: float, login: ServerLogin | None = None
) -> tuple[int, str] | None:
    """Send commands over a unix socket and wait for all replies; return the first error with its command's index.

    The connection logs in first where a `login` is given.

    Raises `ServerLost` if the server sends nothing for `seconds`, takes ten times as long in all, or hangs up, and
    `UnreadableReply` for what is not RESP, or longer than `MOST_BYTES`.
    """
    mark = secrets.token_hex(16).encode()
    first = [] if login is None else [login.command]
    words = [[word.encode() if isinstance(word, str) else word for word in command] for command in [*first, *commands]]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        try:
            connection.connect(str(path))
            # A server continues to read while its replies are still unread.
            connection.sendall(b"".join(written(command) for command in [*words, [b"ECHO", mark]]))
            end = b"$%d\r\n%s\r\n" % (len(mark), mark)
            replies = _replies(connection, end, len(words) + 1, time.monotonic() + 10 * seconds)
        except OSError as fault:
            raise ServerLost(f"the server was lost: {fault}") from fault
    error = _first_error(replies) if _may_hold_errors(replies) else None
    if error is None or error[0] == len(words):
        return None
    # Where the login is refused, so is the first command.
    return max(0, error[0] - len(first)), error[1]


def _replies(connection: socket.socket, end: bytes, count: int, deadline: float) -> list[bytes]:
    """Return the received chunks up to and including the last of `count` replies: `end`, or the refusal of ECHO."""
    chunks: list[bytes] = []
    tail, received = b"", 0
    while not tail.endswith(end):
        ends_with_error = tail.endswith(b"\r\n") and tail[:-2].rpartition(b"\r\n")[2].startswith(b"-")
        if ends_with_error and not is_readable(connection.fileno(), PAUSE_SECONDS) and _count_replies(chunks) == count:
            break
        chunk = connection.recv(CHUNK_BYTES)
        if not chunk:
            raise ConnectionError("it hung up")
        if time.monotonic() > deadline:
            raise TimeoutError("its replies take too long")
        received += len(chunk)
        if received > MOST_BYTES:
            raise UnreadableReply(f"the server's replies have more than {MOST_BYTES:,} bytes")
        chunks.append(chunk)
        tail = (tail + chunk)[-LAST_LINE_BYTES:]
    return chunks


def _count_replies(chunks: Sequence[bytes]) -> int | None:
    """Return how many replies there are, or None if the last one is not whole."""
    frames = FrameReader(None, b"".join(chunks))
    count = 0
    try:
        while frames.next_frame() is not None:
            count += 1
    except ServerLost:
        return None
    return count


def _may_hold_errors(chunks: Sequence[bytes]) -> bool:
    seam = b"\r\n"
    for chunk in chunks:
        joined = seam + chunk[:4]
        if any(mark in joined or mark in chunk for mark in ERROR_MARKS):
            return True
        seam = chunk[-4:]
    return False


def _first_error(chunks: Sequence[bytes]) -> tuple[int, str] | None:
    frames = FrameReader(None, b"".join(chunks))
    index = 0
    while (frame := frames.next_frame()) is not None:
        if isinstance(frame[1], ReplyError):
            return index, shown_error(frame[1])
        index += 1
    return None
