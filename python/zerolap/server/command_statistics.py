"""The INFO commandstats of a server that somebody else runs, which is asked once and changed in nothing."""

import socket
from typing import Final

from zerolap.records import EnvironmentMissing, TrialFailed, UsageError
from zerolap.resp_frames import FrameBounds, FrameReader, ReplyError, written
from zerolap.server.connection import shown_error
from zerolap.server.server_login import ServerLogin

TCP: Final = "tcp://"
UNIX: Final = "unix://"
ANSWER_SECONDS: Final = 10.0
BOUNDS: Final = FrameBounds(size_bytes=1 << 20, values=16, seconds=ANSWER_SECONDS)


def is_endpoint(text: str) -> bool:
    """Whether a text is the address of a server: `tcp://host:port` or `unix:///path`."""
    return text.startswith((TCP, UNIX))


def read_command_statistics(endpoint: str, login: ServerLogin | None = None) -> str:
    """Return the text of a server's INFO commandstats, after a `login` where one is given.

    Raises `UsageError` for what is no endpoint, `EnvironmentMissing` for a server that does not answer with a text.
    """
    hint = "save the text of INFO commandstats to a file, and give that"
    try:
        with _connected(endpoint) as connection:
            frames = FrameReader(connection, bounds=BOUNDS)
            frame = None
            first = [] if login is None else [login.command]
            for command in [*first, ["INFO", "commandstats"]]:
                connection.sendall(written([word.encode(errors="surrogateescape") for word in command]))
                frame = frames.next_frame()
                if frame is None or isinstance(frame[1], ReplyError):
                    break
    except OSError as fault:
        raise EnvironmentMissing(f"`{endpoint}` cannot be reached: {fault}", hint=hint) from fault
    except TrialFailed as fault:
        raise EnvironmentMissing(f"`{endpoint}`: {fault.message}", hint=hint) from fault
    reply = None if frame is None else frame[1]
    if isinstance(reply, bytes):
        return reply.decode(errors="replace")
    reason = shown_error(reply) if isinstance(reply, ReplyError) else "it sent no text"
    if reason.startswith(("NOAUTH", "WRONGPASS", "NOPERM")):
        hint = "give its password with --password-file FILE, and the user with --username NAME"
    raise EnvironmentMissing(f"`{endpoint}` does not answer INFO commandstats: {reason}", hint=hint)


def _connected(endpoint: str) -> socket.socket:
    if not endpoint.startswith(UNIX):
        return socket.create_connection(_address(endpoint), timeout=ANSWER_SECONDS)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(ANSWER_SECONDS)
    try:
        connection.connect(endpoint.removeprefix(UNIX))
    except OSError:
        connection.close()
        raise
    return connection


def _address(endpoint: str) -> tuple[str, int]:
    host, _, port = endpoint.removeprefix(TCP).rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 1 << 16):
        raise UsageError(f"`{endpoint}` is no address of a server", hint="write tcp://HOST:PORT or unix:///PATH")
    return host.removeprefix("[").removesuffix("]"), int(port)
