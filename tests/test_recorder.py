"""How single requests are looked at: what comes over a connection, what a reply holds, and who stands in between."""

import contextlib
import socket
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from waiting import PATIENCE_SECONDS

from zerolap.engines.probing.recorder import Recorder
from zerolap.engines.probing.samples import CommandSamples, KeySample, Sample, shown
from zerolap.records import TrialFailed
from zerolap.resp_frames import FrameReader, Reply, ReplyError, written

# Frames

FRAMES: list[tuple[bytes, Reply]] = [
    (b"+OK\r\n", b"OK"),
    (b"-ERR no such\r\n", ReplyError("ERR no such")),
    (b":-5\r\n", -5),
    (b":+5\r\n", 5),
    (b"$3\r\na\r\n\r\n", b"a\r\n"),
    (b"$0\r\n\r\n", b""),
    (b"$-1\r\n", None),
    (b"*-1\r\n", None),
    (b"*0\r\n", []),
    (b"*3\r\n:1\r\n*1\r\n$-1\r\n+a\r\n", [1, [None], b"a"]),
    (b"_\r\n", None),
    (b"#t\r\n", 1),
    (b"#f\r\n", 0),
    (b",1.5\r\n", b"1.5"),
    (b",inf\r\n", b"inf"),
    (b"(12345678901234567890123\r\n", b"12345678901234567890123"),
    (b"=7\r\ntxt:a\r\n\r\n", b"txt:a\r\n"),
    (b"!5\r\nERR a\r\n", ReplyError("ERR a")),
    (b"~2\r\n:1\r\n:2\r\n", [1, 2]),
    (b">2\r\n+invalidate\r\n_\r\n", [b"invalidate", None]),
    (b"%2\r\n+a\r\n:1\r\n+b\r\n*0\r\n", [b"a", 1, b"b", []]),
    (b"|1\r\n+ttl\r\n:9\r\n:1\r\n", 1),
    (b"*1\r\n|1\r\n+ttl\r\n:9\r\n+a\r\n", [b"a"]),
]


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    left, right = socket.socketpair()
    right.settimeout(PATIENCE_SECONDS)
    with left, right:
        yield left, right


class TestFrames:
    @pytest.mark.parametrize(("raw", "value"), FRAMES, ids=[repr(raw)[2:-1] for raw, _ in FRAMES])
    def test_each_kind_split_anywhere(
        self, ends: tuple[socket.socket, socket.socket], raw: bytes, value: Reply
    ) -> None:
        left, right = ends
        reader = FrameReader(right)
        for split in range(len(raw) + 1):
            parts = threading.Thread(target=lambda split=split: [left.sendall(raw[:split]), left.sendall(raw[split:])])
            parts.start()
            assert reader.next_frame() == (raw, value)
            parts.join()

    def test_all_together_byte_by_byte(self, ends: tuple[socket.socket, socket.socket]) -> None:
        left, right = ends
        whole = b"".join(raw for raw, _ in FRAMES)
        sender = threading.Thread(target=lambda: [left.sendall(whole[at : at + 1]) for at in range(len(whole))])
        sender.start()
        reader = FrameReader(right)
        assert [reader.next_frame() for _ in FRAMES] == FRAMES
        sender.join()
        left.close()
        assert reader.next_frame() is None

    @pytest.mark.parametrize(
        "raw",
        [
            *(b"HTTP/1.1 400\r\n", b"\r\n", b"$x\r\n", b"$?\r\n", b"*?\r\n", b":one\r\n", b":\r\n", b"$1_0\r\n"),
            *(b"*" + b"9" * 5000 + b"\r\n", b"$999999999999\r\n", b"*1\r\n" * 200, b"\xff\xfe\r\n"),
            b"+" + b"a" * 2_000_000,
        ],
        ids=lambda raw: repr(raw[:12]),
    )
    def test_what_is_no_frame(self, ends: tuple[socket.socket, socket.socket], raw: bytes) -> None:
        left, right = ends
        sender = threading.Thread(target=lambda: _send(left, raw))
        sender.start()
        with pytest.raises(TrialFailed):
            FrameReader(right).next_frame()
        right.close()
        sender.join()

    @pytest.mark.parametrize("raw", [b"*2\r\n:1\r\n", b"$5\r\nab", b"+O", b"$5\r", b"|1\r\n+a\r\n:1\r\n"])
    def test_the_other_side_hangs_up_in_the_middle(self, ends: tuple[socket.socket, socket.socket], raw: bytes) -> None:
        left, right = ends
        left.sendall(raw)
        left.close()
        with pytest.raises(TrialFailed, match="in the middle"):
            FrameReader(right).next_frame()

    def test_nothing_comes(self, ends: tuple[socket.socket, socket.socket]) -> None:
        _, right = ends
        right.settimeout(0.01)
        with pytest.raises(TrialFailed, match="lost"):
            FrameReader(right).next_frame()


def _send(connection: socket.socket, raw: bytes) -> None:
    try:
        connection.sendall(raw)
    except OSError:
        return


# Samples


def sample(reply: Reply, keys: int = 0, missing: int = 0, left: float | None = None) -> Sample:
    answer = "nothing" if reply is None else "found"
    return Sample([b"get", b"k"], reply, answer, KeySample([b"k"] * keys, tuple(range(missing)), left))


@pytest.mark.parametrize(
    ("answer", "keys", "missing", "nothing"),
    [
        *(("nothing", 1, 0, True), ("nothing", 0, 0, True), ("found", 1, 1, False), ("unclear", 1, 1, False)),
        *(("no_member", 1, 1, True), ("no_member", 1, 0, False), ("no_member", 0, 0, False)),
        *(("empty_value", 2, 1, False), ("empty_value", 2, 2, True), ("no_look_up", 1, 1, False)),
    ],
)
def test_a_reply_with_two_meanings_is_a_miss_if_its_keys_are_missing(
    answer: str, keys: int, missing: int, nothing: bool
) -> None:
    of_keys = KeySample([b"k"] * keys, tuple(range(missing)))
    assert Sample([b"getbit", b"k", b"1"], 0, answer, of_keys).found_nothing is nothing


def test_samples_are_counted() -> None:
    counted = CommandSamples("GET", writes=False)
    assert (counted.error_share, counted.nothing_share, counted.missing_share) == (0, 0, 0)
    counted.add(sample(ReplyError("ERR a")))
    counted.add(sample([b"a", [ReplyError("ERR b")]]))
    counted.add(sample(None, 1, 1))
    counted.add(sample(b"a", 1, 0, 30.0))
    counted.add(sample(b"a", 1, 0, 20.0))
    counted.add(sample(b"a", 0))
    assert (counted.requests, dict(counted.errors)) == (6, {"ERR a": 1, "ERR b": 1})
    assert counted.error_share == pytest.approx(2 / 6)
    assert counted.nothing_share == pytest.approx(1 / 4)
    assert counted.missing_share == pytest.approx(1 / 3)
    assert counted.shortest_life_seconds == 20.0
    assert counted.example_of_nothing == "get k"


def test_long_requests_are_shown_in_short() -> None:
    assert shown([b"SET", b"\xff", b"a" * 500]) == f"SET \\xff {'a' * 68}..."


# The recorder


class FakeServer:
    """A server on a unix socket whose replies to words are given; unknown ones end the connection."""

    def __init__(self, path: Path, replies: Mapping[bytes, bytes]) -> None:
        self.path, self._replies = path, replies
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        try:
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()
        except OSError:
            return

    def _serve(self, client: socket.socket) -> None:
        frames = FrameReader(client)
        with client:
            while (frame := frames.next_frame()) is not None:
                assert isinstance(frame[1], list)
                words = [word for word in frame[1] if isinstance(word, bytes)]
                reply = self._replies.get(words[0])
                if reply is None:
                    return
                client.sendall(reply)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


PUSH = b">2\r\n+invalidate\r\n*1\r\n+k\r\n"
REPLIES = {
    b"COMMAND": b"-ERR The command has no key arguments\r\n",
    b"GET": PUSH + b"$1\r\na\r\n",
    b"SUBSCRIBE": b">3\r\n+subscribe\r\n+a\r\n:1\r\n>3\r\n+subscribe\r\n+b\r\n:2\r\n",
    b"PING": b"+PONG\r\n",
}


class TestRecorder:
    @pytest.fixture
    def server(self, tmp_path: Path) -> Iterator[FakeServer]:
        server = FakeServer(tmp_path / "server", REPLIES)
        yield server
        server.close()

    def ask(self, recorder: Recorder, *requests: list[bytes]) -> bytes:
        """Send requests at once, and return all that comes until the other side is silent or hangs up."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(PATIENCE_SECONDS)
            client.connect(str(recorder.path))
            found = b""
            # What hangs up before it has read all resets the connection.
            with contextlib.suppress(ConnectionError):
                client.sendall(b"".join(map(written, requests)))
                client.shutdown(socket.SHUT_WR)
                while data := client.recv(65536):
                    found += data
            return found

    def test_what_is_pushed_is_no_reply(self, server: FakeServer, tmp_path: Path) -> None:
        samples: list[Sample] = []
        with Recorder(tmp_path / "recorder", server.path, samples.append) as recorder:
            found = self.ask(recorder, [b"GET", b"k"], [b"SUBSCRIBE", b"a", b"b"], [b"PING"], [b"GET", b"k"])
        assert found == REPLIES[b"GET"] + REPLIES[b"SUBSCRIBE"] + REPLIES[b"PING"] + REPLIES[b"GET"]
        assert [(one.words[0], one.reply) for one in samples] == [
            (b"GET", b"a"),
            (b"SUBSCRIBE", [b"subscribe", b"b", 2]),
            (b"PING", b"PONG"),
            (b"GET", b"a"),
        ]
        assert all(one.keys == [] for one in samples)

    def test_a_server_that_hangs_up(self, server: FakeServer, tmp_path: Path) -> None:
        samples: list[Sample] = []
        with Recorder(tmp_path / "recorder", server.path, samples.append) as recorder:
            assert self.ask(recorder, [b"PING"], [b"QUIT"], [b"PING"]) == b"+PONG\r\n"
            assert recorder.unanswered() == [[b"QUIT"]]
        assert len(samples) == 1

    def test_a_server_that_is_gone(self, tmp_path: Path) -> None:
        with Recorder(tmp_path / "recorder", tmp_path / "nothing", lambda _: None) as recorder:
            assert self.ask(recorder, [b"PING"]) == b""

    def test_nothing_is_left_while_clients_stay(self, server: FakeServer, tmp_path: Path) -> None:
        with Recorder(tmp_path / "recorder", server.path, lambda _: None) as recorder:
            clients = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(20)]
            for client in clients:
                client.connect(str(recorder.path))
            clients[0].sendall(written([b"PING"]))
            assert clients[0].recv(100) == b"+PONG\r\n"
        threads = [thread for thread in recorder._threads if thread.is_alive()]
        assert threads == []
        assert all(one.fileno() == -1 for one in recorder._sockets)
        for client in clients:
            client.close()

    def test_a_path_that_is_too_long(self, tmp_path: Path) -> None:
        with (
            pytest.raises(TrialFailed, match="cannot be listened on"),
            Recorder(tmp_path / ("a" * 200), tmp_path / "server", lambda _: None),
        ):
            pass
