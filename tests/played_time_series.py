"""A played Redis server with the TimeSeries module: it speaks RESP2 on a socket, and keeps what it is sent.

Keys, labels, duplicate policies and errors are those of the module, as far as the lab uses them:
`test_time_series_module.py` compares both where the module is installed.
"""

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from zerolap.resp_frames import FrameReader, ServerLost

NO_KEY = ValueError("ERR TSDB: the key does not exist")


@dataclass
class PlayedKey:
    """A time series."""

    labels: dict[str, str] = field(default_factory=dict)
    samples: dict[int, float] = field(default_factory=dict)


@dataclass
class PlayedTimeSeries:
    """What the server has; `password` is asked for where it is not empty."""

    port: int = 0
    password: str = ""
    keys: dict[str, PlayedKey] = field(default_factory=dict)
    sets: dict[str, set[str]] = field(default_factory=dict)
    sorted_sets: dict[str, dict[str, float]] = field(default_factory=dict)
    commands: list[list[str]] = field(default_factory=list)
    answers: dict[str, bytes] = field(default_factory=dict)
    """What is answered to commands instead of what they mean."""
    hangs_up_after: str = ""
    """The command after whose answer the connection is closed."""

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}" if self.password else f"redis://127.0.0.1:{self.port}"

    @classmethod
    @contextmanager
    def running(cls) -> Iterator["PlayedTimeSeries"]:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            server = cls(port=listening.getsockname()[1])
            thread = threading.Thread(target=server._accept, args=[listening])
            thread.start()
            try:
                yield server
            finally:
                listening.shutdown(socket.SHUT_RDWR)
                thread.join()

    def _accept(self, listening: socket.socket) -> None:
        threads = []
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                break
            threads.append(threading.Thread(target=self._serve, args=[connection]))
            threads[-1].start()
        for thread in threads:
            thread.join()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            frames = FrameReader(connection)
            is_admitted = not self.password
            try:
                while (frame := frames.next_frame()) is not None:
                    assert isinstance(frame[1], list)
                    words = [word.decode() for word in frame[1] if isinstance(word, bytes)]
                    self.commands.append(words)
                    if words[0] == "AUTH":
                        is_admitted = words[-1] == self.password
                        answer = b"+OK\r\n" if is_admitted else b"-WRONGPASS invalid username-password pair\r\n"
                    elif not is_admitted:
                        answer = b"-NOAUTH Authentication required.\r\n"
                    elif words[0] in self.answers:
                        answer = self.answers[words[0]]
                    else:
                        answer = self._answer(words)
                    connection.sendall(answer)
                    if words[0] == self.hangs_up_after:
                        return
            except (ServerLost, OSError):
                return

    def _answer(self, words: list[str]) -> bytes:
        commands: dict[str, Callable[[list[str]], object]] = {
            "SCAN": self._scan,
            "TS.QUERYINDEX": self._query,
            "TS.INFO": self._info,
            "TS.REVRANGE": self._range,
            "TS.ADD": self._add,
            "SADD": self._sadd,
            "ZADD": self._zadd,
        }
        if words[0] not in commands:
            return f"-ERR unknown command '{words[0]}'\r\n".encode()
        return _encoded(commands[words[0]](words[1:]))

    def _scan(self, words: list[str]) -> object:
        assert words[1] == "MATCH"
        assert words[-2:] == ["TYPE", "TSDB-TYPE"]
        return ["0", [key for key in self.keys if fnmatchcase(key, words[2])]]

    def _query(self, words: list[str]) -> object:
        pairs = [word.partition("=")[::2] for word in words]
        if not all("=" in word for word in words):
            return ValueError("ERR TSDB: failed parsing labels")
        if not all(name and value for name, value in pairs):
            return ValueError("ERR TSDB: please provide at least one matcher")
        return [
            key for key, series in self.keys.items() if all(series.labels.get(name) == value for name, value in pairs)
        ]

    def _info(self, words: list[str]) -> object:
        if len(words) != 1:
            return _wrong_arity("TS.INFO")
        series = self.keys.get(words[0])
        if series is None:
            return NO_KEY
        return ["totalSamples", len(series.samples), "labels", [list(pair) for pair in series.labels.items()]]

    def _range(self, words: list[str]) -> object:
        if len(words) < 3:
            return _wrong_arity("TS.REVRANGE")
        series = self.keys.get(words[0])
        if series is None:
            return NO_KEY
        assert words[1:4] == ["-", "+", "COUNT"]
        newest = sorted(series.samples.items(), reverse=True)[: int(words[4])]
        # Values are simple strings.
        return [[time, float(value)] for time, value in newest]

    def _add(self, words: list[str]) -> object:
        if len(words) < 3:
            return _wrong_arity("TS.ADD")
        key, time, value, *options = words
        refused = _refused_sample(time, value)
        if refused is not None:
            return refused
        if key not in self.keys:
            # All that follows the word is labels; the module reads them only where it makes a key.
            labels = options[options.index("LABELS") + 1 :] if "LABELS" in options else []
            if not all(labels) or any(character in text for text in labels[1::2] for character in "(),"):
                return ValueError("ERR TSDB: Couldn't parse LABELS")
            self.keys[key] = PlayedKey(dict(zip(labels[::2], labels[1::2], strict=False)))
        if int(time) in self.keys[key].samples and options[:2] != ["ON_DUPLICATE", "LAST"]:
            return ValueError(
                "ERR TSDB: Error at upsert, update is not supported when DUPLICATE_POLICY is set to BLOCK mode"
            )
        self.keys[key].samples[int(time)] = float(value)
        return int(time)

    def _sadd(self, words: list[str]) -> object:
        self.sets.setdefault(words[0], set()).update(words[1:])
        return len(words) - 1

    def _zadd(self, words: list[str]) -> object:
        key, option, *rest = words
        assert option == "GT"
        scores = self.sorted_sets.setdefault(key, {})
        for score, member in zip(rest[::2], rest[1::2], strict=True):
            scores[member] = max(float(score), scores.get(member, float(score)))
        return len(rest) // 2


def _refused_sample(time: str, value: str) -> ValueError | None:
    if re.fullmatch(r"-\d+", time, re.ASCII):
        return ValueError("ERR TSDB: invalid timestamp, must be a nonnegative integer")
    if not re.fullmatch(r"\d+", time, re.ASCII):
        return ValueError("ERR TSDB: invalid timestamp")
    if not re.fullmatch(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?", value, re.ASCII):
        return ValueError("ERR TSDB: invalid value")
    return None


def _wrong_arity(command: str) -> ValueError:
    return ValueError(f"ERR wrong number of arguments for '{command.lower()}' command")


def _encoded(value: object) -> bytes:
    if isinstance(value, ValueError):
        return f"-{value}\r\n".encode()
    if isinstance(value, list):
        return b"*%d\r\n" % len(value) + b"".join(map(_encoded, value))
    if isinstance(value, int):
        return b":%d\r\n" % value
    if isinstance(value, float):
        return f"+{value!r}\r\n".encode()
    data = str(value).encode()
    return b"$%d\r\n%s\r\n" % (len(data), data)
