"""A proxy between a load generator and a server: forwards requests one by one and examines each."""

import contextlib
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from zerolap import _core
from zerolap.engines.probing.samples import KeySample, Sample, shown
from zerolap.records import TrialFailed
from zerolap.resp_frames import FrameBounds, FrameReader, Reply, ReplyError, written
from zerolap.server import ServerLogin

REPLY_SECONDS = 20
REPLY_BOUNDS = FrameBounds(seconds=REPLY_SECONDS)
SUBSCRIBING = frozenset({b"SUBSCRIBE", b"PSUBSCRIBE", b"SSUBSCRIBE", b"UNSUBSCRIBE", b"PUNSUBSCRIBE", b"SUNSUBSCRIBE"})


@dataclass
class _Inspector:
    """A separate connection to the server, for questions about keys."""

    connection: socket.socket
    asks_encodings: bool
    frames: FrameReader = field(init=False)

    def __post_init__(self) -> None:
        self.frames = FrameReader(self.connection, bounds=REPLY_BOUNDS)

    def ask(self, *words: bytes) -> Reply:
        self.connection.sendall(written(list(words)))
        frame = self.frames.next_frame()
        if frame is None:
            raise TrialFailed("the server hung up")
        return frame[1]

    def sample(self, words: list[bytes]) -> KeySample:
        """Return what is known of the keys of a request."""
        keys = self.ask(b"COMMAND", b"GETKEYS", *words)
        if not isinstance(keys, list):
            return KeySample()
        encodings: set[str] = set()
        missing: set[bytes] = set()
        lives = []
        names = [key for key in keys if isinstance(key, bytes)]
        for key in dict.fromkeys(names):
            left_ms = self.ask(b"PTTL", key)
            if left_ms == -2:
                missing.add(key)
            elif isinstance(left_ms, int) and left_ms >= 0:
                lives.append(left_ms / 1000)
            encoding = self.ask(b"OBJECT", b"ENCODING", key) if self.asks_encodings else None
            if isinstance(encoding, bytes):
                encodings.add(encoding.decode(errors="replace"))
        places = tuple(place for place, name in enumerate(names) if name in missing)
        return KeySample(names, places, min(lives, default=None), frozenset(encodings))


class Recorder:
    """A unix socket that load generators connect to; every client connection gets its own server connection.

    A context manager; `on_sample` is called from the threads of the connections, one at a time.
    """

    def __init__(
        self,
        path: Path,
        server: Path,
        on_sample: Callable[[Sample], None],
        login: ServerLogin | None = None,
        *,
        asks_encodings: bool = False,
    ) -> None:
        self.path, self._server, self._on_sample = path, server, on_sample
        self._asks_encodings = asks_encodings
        self._login = login
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._lock = threading.Lock()
        self._gate = threading.Lock()
        self._has_ended = False
        self._sockets: list[socket.socket] = [self._listener]
        self._threads: list[threading.Thread] = []
        self._waiting: dict[socket.socket, list[bytes]] = {}

    def unanswered(self) -> list[list[bytes]]:
        """Return the requests without a reply."""
        with self._gate:
            return list(self._waiting.values())

    def __enter__(self) -> "Recorder":
        try:
            self._listener.bind(str(self.path))
            self._listener.listen(1024)
        except OSError as fault:
            self._listener.close()
            raise TrialFailed(f"`{self.path}` cannot be listened on: {fault}") from fault
        self._begin(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._gate:
            self._has_ended = True
        for connection in self._sockets:
            # Wakes up a thread that waits on the connection, which may be closed already.
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        for thread in self._threads:
            thread.join()

    def _begin(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _held(self, connection: socket.socket) -> socket.socket:
        """Register a socket that closes with the recorder; raises `TrialFailed` if the recorder has ended meanwhile."""
        with self._gate:
            if not self._has_ended:
                self._sockets.append(connection)
                return connection
        connection.close()
        raise TrialFailed("the recorder has ended")

    def _accept(self) -> None:
        while True:
            try:
                client = self._held(self._listener.accept()[0])
            except (OSError, TrialFailed):
                return
            self._begin(lambda client=client: self._serve(client))  # type: ignore[misc]

    def _serve(self, client: socket.socket) -> None:
        try:
            with client, self._connected() as server, self._connected() as asking:
                self._pass_on(client, server, _Inspector(asking, self._asks_encodings))
        except (OSError, TrialFailed):
            # The load generator reports the lost connection.
            return

    def _pass_on(self, client: socket.socket, server: socket.socket, inspector: _Inspector) -> None:
        requests, replies = FrameReader(client), FrameReader(server, bounds=REPLY_BOUNDS)
        while (request := requests.next_frame()) is not None:
            words = [word for word in request[1] if isinstance(word, bytes)] if isinstance(request[1], list) else []
            with self._lock:
                keys = inspector.sample(words)
            with self._gate:
                self._waiting[client] = words
            server.sendall(request[0])
            # One reply, or for a subscription one a channel.
            for _ in range(max(1, len(words) - 1) if _verb(words) in SUBSCRIBING else 1):
                raw, reply = _reply(replies, client, words)
                client.sendall(raw)
            with self._gate:
                del self._waiting[client]
            with self._lock:
                self._on_sample(Sample(words, reply, _outcome(words, raw), keys))

    def _connected(self) -> socket.socket:
        connection = self._held(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        connection.settimeout(REPLY_SECONDS)
        connection.connect(str(self._server))
        if self._login is not None:
            connection.sendall(written([word.encode() for word in self._login.command]))
            frame = FrameReader(connection, bounds=REPLY_BOUNDS).next_frame()
            if frame is None or isinstance(frame[1], ReplyError):
                raise TrialFailed("the server refused the lab's password")
        return connection


def _reply(replies: FrameReader, client: socket.socket, words: list[bytes]) -> tuple[bytes, Reply]:
    """Return the next reply, and forward pushes that precede it; subscriptions are answered by a push.

    Raises `TrialFailed` if the server hangs up.
    """
    while (frame := replies.next_frame()) is not None:
        if not frame[0].startswith(b">") or _verb(words) in SUBSCRIBING:
            return frame
        client.sendall(frame[0])
    raise TrialFailed("the server hung up")


def _outcome(words: list[bytes], raw: bytes) -> str:
    """Return what a reply shows; raises `TrialFailed` for one that the load generator cannot read."""
    try:
        return _core.answer_of(words, raw)
    except ValueError as fault:
        raise TrialFailed(f"the reply to `{shown(words)}` cannot be read: {fault}") from fault


def _verb(words: list[bytes]) -> bytes:
    return words[0].upper() if words else b""
