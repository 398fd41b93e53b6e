"""Stands between a load generator and a server, passes requests on one by one and looks at each."""

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from zerolap.engines.probing.frames import FrameReader, Reply, ReplyError, written
from zerolap.engines.probing.samples import Sample
from zerolap.records import TrialFailed

REPLY_SECONDS = 20


@dataclass
class _Inspector:
    """A connection of its own to the server, for questions about keys."""

    connection: socket.socket
    frames: FrameReader = field(init=False)

    def __post_init__(self) -> None:
        self.frames = FrameReader(self.connection)

    def ask(self, *words: bytes) -> Reply:
        self.connection.sendall(written(list(words)))
        frame = self.frames.next_frame()
        if frame is None:
            raise TrialFailed("the server hung up")
        return frame[1]

    def sample(self, words: list[bytes]) -> tuple[list[bytes], int, float | None]:
        """Return the keys of a request, how many of them are not there, and the shortest life among the others."""
        keys = self.ask(b"COMMAND", b"GETKEYS", *words)
        if not isinstance(keys, list):
            return [], 0, None
        missing, lives = 0, []
        names = [key for key in keys if isinstance(key, bytes)]
        for key in dict.fromkeys(names):
            left_ms = self.ask(b"PTTL", key)
            if left_ms == -2:
                missing += names.count(key)
            elif isinstance(left_ms, int) and left_ms >= 0:
                lives.append(left_ms / 1000)
        return names, missing, min(lives, default=None)


class Recorder:
    """A unix socket that load generators connect to; each connection has one to the server behind it.

    Used as a context; `on_sample` is called from the threads of the connections, one at a time.
    """

    def __init__(self, path: Path, server: Path, on_sample: Callable[[Sample], None]) -> None:
        self.path, self._server, self._on_sample = path, server, on_sample
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = [self._listener]
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> "Recorder":
        self._listener.bind(str(self.path))
        self._listener.listen(1024)
        self._begin(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in list(self._sockets):
            # A thread that waits in it wakes up.
            with_shutdown(one)
            one.close()
        for thread in self._threads:
            thread.join()

    def _begin(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._sockets.append(client)
            self._begin(lambda client=client: self._serve(client))  # type: ignore[misc]

    def _serve(self, client: socket.socket) -> None:
        try:
            server, inspector = self._connected(), _Inspector(self._connected())
            requests, replies = FrameReader(client), FrameReader(server)
            while (request := requests.next_frame()) is not None:
                words = [word for word in request[1] if isinstance(word, bytes)] if isinstance(request[1], list) else []
                with self._lock:
                    keys, missing, left = inspector.sample(words)
                server.sendall(request[0])
                reply = replies.next_frame()
                if reply is None:
                    return
                with self._lock:
                    self._on_sample(Sample(words, reply[1], keys, missing, left))
                client.sendall(reply[0])
        except (OSError, TrialFailed):
            # The load generator sees its connection end, and says so.
            return
        finally:
            client.close()

    def _connected(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(REPLY_SECONDS)
        connection.connect(str(self._server))
        self._sockets.append(connection)
        return connection


def with_shutdown(one: socket.socket) -> None:
    """End both directions of a connection, also one that has ended already."""
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


__all__ = ["Recorder", "ReplyError"]
