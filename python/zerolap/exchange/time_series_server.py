"""A Redis server with the TimeSeries module: its series are read and written, and nothing it answers is trusted."""

import socket
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from redis.connection import parse_url
from redis.exceptions import RedisError

from zerolap.exchange.collected_points import CollectedPoints, PointRefused
from zerolap.exchange.public_series import KEYS, ExportedSeries, PublicSeries, collect_public
from zerolap.records import EnvironmentMissing, UsageError
from zerolap.resp_frames import FrameBounds, FrameReader, Reply, ReplyError, ServerLost, UnreadableReply, written

SCHEMES: Final = ("redis://", "rediss://", "unix://")
URL_HINT: Final = "write redis://USER:PASSWORD@HOST:PORT, with @ / ? # % of the password as %40 %2F %3F %23 %25"
PORT: Final = 6379
CONNECT_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 60.0
TOTAL_SECONDS: Final = 3600.0
"""For all of an import or export."""
BOUNDS: Final = FrameBounds(size_bytes=32 << 20, values=1 << 20, seconds=ANSWER_SECONDS)
"""Of one reply; the samples of a series take some 30 bytes each."""
MOST_KEYS: Final = 500_000
MOST_SAMPLES: Final = 100_000
"""Of one key, the newest."""
KEYS_AT_ONCE: Final = 100
COMMANDS_AT_ONCE: Final = 200
SCANNED_AT_ONCE: Final = 1_000
MOST_SCANS: Final = 100_000
LONGEST_ERROR: Final = 200
TYPE: Final = "TSDB-TYPE"
NO_MODULE: Final = "has no TimeSeries module"


class SeriesServerFailed(EnvironmentMissing):
    """A server of time series that cannot be reached or used."""


class TimeSeriesServer:
    """A connection to a server; its methods raise `SeriesServerFailed`, which says nothing of the password."""

    def __init__(self, connection: socket.socket, name: str) -> None:
        self.name = name
        self._socket = connection
        self._frames = FrameReader(connection, bounds=BOUNDS)
        self._end = time.monotonic() + TOTAL_SECONDS

    @classmethod
    @contextmanager
    def connected(cls, url: str) -> Iterator["TimeSeriesServer"]:
        """Connect to the server of a URL, which has to have the module; raises `UsageError` for a wrong URL."""
        address = _Address.of(url)
        try:
            connection = address.connect()
        except (OSError, ValueError) as fault:
            raise SeriesServerFailed(f"cannot connect to {address.name}: {_reason(fault)}") from None
        with connection:
            server = cls(connection, address.name)
            server._prepare(address)
            yield server

    def call(self, *words: str) -> Reply:
        """Send a command and return its reply."""
        (reply,) = self.calls([words])
        if isinstance(reply, ReplyError):
            raise self._refused(words[0], reply)
        return reply

    def calls(self, commands: Sequence[Sequence[str]]) -> list[Reply]:
        """Send commands together and return their replies, of which some may be errors."""
        if time.monotonic() > self._end:
            raise SeriesServerFailed(f"{self.name} takes more than {TOTAL_SECONDS / 60:g} minutes")
        replies: list[Reply] = []
        try:
            for first in range(0, len(commands), COMMANDS_AT_ONCE):
                part = commands[first : first + COMMANDS_AT_ONCE]
                self._socket.sendall(b"".join(written([word.encode() for word in words]) for words in part))
                for _ in part:
                    frame = self._frames.next_frame()
                    if frame is None:
                        raise SeriesServerFailed(f"{self.name} has closed the connection")
                    replies.append(frame[1])
        except (ServerLost, UnreadableReply) as fault:
            raise SeriesServerFailed(f"{self.name}: {fault.message[:LONGEST_ERROR]}") from None
        except OSError as fault:
            raise SeriesServerFailed(f"{self.name}: {_reason(fault)}") from None
        return replies

    def keys(self, filters: Sequence[str]) -> list[str]:
        """Return the keys whose labels match filters such as `test_name=get`; without any, the public tool's keys."""
        if filters:
            return _texts(self.call("TS.QUERYINDEX", *filters))[:MOST_KEYS]
        found: dict[str, None] = {}
        cursor = "0"
        for _ in range(MOST_SCANS):
            reply = self.call("SCAN", cursor, "MATCH", KEYS, "COUNT", str(SCANNED_AT_ONCE), "TYPE", TYPE)
            if not isinstance(reply, list) or len(reply) != 2 or not isinstance(reply[0], bytes):
                raise SeriesServerFailed(f"{self.name} does not answer SCAN as Redis does")
            found.update(dict.fromkeys(_texts(reply[1])))
            cursor = reply[0].decode(errors="replace")
            if cursor == "0" or len(found) >= MOST_KEYS:
                break
        return list(found)[:MOST_KEYS]

    def series(self, keys: Sequence[str], points: CollectedPoints) -> Iterator[PublicSeries]:
        """Yield the series of keys with labels and samples; a key that cannot be read fails alone."""
        for first in range(0, len(keys), KEYS_AT_ONCE):
            part = keys[first : first + KEYS_AT_ONCE]
            asked = [["TS.INFO", key] for key in part]
            asked += [["TS.REVRANGE", key, "-", "+", "COUNT", str(MOST_SAMPLES)] for key in part]
            replies = self.calls(asked)
            for key, described, samples in zip(part, replies[: len(part)], replies[len(part) :], strict=True):
                with points.failing_alone():
                    yield PublicSeries(key, _labels_in(described), _samples_in(samples))

    def write(self, series: ExportedSeries) -> int:
        """Write a series and return how many samples it has; what is there of the same times is replaced.

        A key that exists keeps its labels.
        """
        commands = []
        for number, (milliseconds, value) in enumerate(sorted(series.samples.items())):
            command = ["TS.ADD", series.key, str(milliseconds), repr(value), "ON_DUPLICATE", "LAST"]
            if number == 0:
                # The first one creates the key, which later commands need not describe.
                command += ["LABELS", *(word for pair in series.labels.items() for word in pair)]
            commands.append(command)
        for reply in self.calls(commands):
            if isinstance(reply, ReplyError):
                raise self._refused("TS.ADD", reply)
        return len(commands)

    def list_members(self, key: str, members: Mapping[str, int]) -> None:
        """Add members to a list of the public tool: to a set, and to one that is sorted by the newest times."""
        scored = [word for member, newest in members.items() for word in (str(newest), member)]
        for reply in self.calls([["SADD", key, *members], ["ZADD", f"{key}:zset", "GT", *scored]]):
            if isinstance(reply, ReplyError):
                raise self._refused("SADD", reply)

    def _prepare(self, address: "_Address") -> None:
        for words in address.introduction():
            (reply,) = self.calls([words])
            if isinstance(reply, ReplyError):
                # The message may quote the user's name.
                raise SeriesServerFailed(f"{self.name} refuses {words[0]}: {_code(reply)}", hint=URL_HINT)
        # No series has this label: only whether the command exists is asked.
        (reply,) = self.calls([["TS.QUERYINDEX", "zerolap_asks=whether"]])
        if isinstance(reply, ReplyError) and "unknown command" in reply.text.lower():
            raise SeriesServerFailed(
                f"{self.name} {NO_MODULE}", hint="Redis 8 has it; older versions load redistimeseries.so"
            )
        if isinstance(reply, ReplyError):
            raise self._refused("TS.QUERYINDEX", reply)

    def _refused(self, command: str, error: ReplyError) -> SeriesServerFailed:
        return SeriesServerFailed(f"{self.name} refuses {command}: {_shown(error)}")


@dataclass(frozen=True)
class _Address:
    name: str
    options: Mapping[str, Any]
    is_encrypted: bool

    @classmethod
    def of(cls, url: str) -> "_Address":
        try:
            options = parse_url(url)  # type: ignore[no-untyped-call]
        except (ValueError, TypeError, RedisError):
            options = {}
        path, host = options.get("path"), options.get("host")
        is_complete = bool(path) if url.startswith("unix://") else bool(host) and "@" not in str(host)
        if not url.startswith(SCHEMES) or not is_complete:
            # The message does not quote the URL, as a password may be in it.
            raise UsageError("the URL of the server of time series is not valid", hint=URL_HINT)
        name = str(path) if path else f"{host}:{options.get('port', PORT)}"
        return cls(name, options, url.startswith("rediss://"))

    def connect(self) -> socket.socket:
        if "path" in self.options:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.settimeout(CONNECT_SECONDS)
            connection.connect(str(self.options["path"]))
        else:
            host, port = str(self.options["host"]), int(self.options.get("port", PORT))
            connection = socket.create_connection((host, port), CONNECT_SECONDS)
            if self.is_encrypted:
                connection = ssl.create_default_context().wrap_socket(connection, server_hostname=host)
        connection.settimeout(ANSWER_SECONDS)
        return connection

    def introduction(self) -> list[list[str]]:
        """Return the commands with which a connection begins."""
        words = [self.options[name] for name in ("username", "password") if self.options.get(name)]
        commands = [["AUTH", *words]] if self.options.get("password") else []
        database = self.options.get("db")
        return [*commands, ["SELECT", str(database)]] if database else commands


def read_server(url: str, filters: Sequence[str], points: CollectedPoints) -> None:
    """Read the series of a server; raises `UsageError` for a wrong URL, `SeriesServerFailed`."""
    with TimeSeriesServer.connected(url) as server:
        keys = server.keys(filters)
        if len(keys) >= MOST_KEYS:
            points.note(f"only {MOST_KEYS:,} keys were read: --filter selects")
        collect_public(server.series(keys, points), points)


def source_of(url: str) -> str:
    """Return the name of a server without what is secret in its URL; raises `UsageError`."""
    return _Address.of(url).name


def _texts(reply: Reply) -> list[str]:
    values = reply if isinstance(reply, list) else []
    return [value.decode() for value in values if isinstance(value, bytes) and _is_text(value)]


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _labels_in(reply: Reply) -> dict[str, str]:
    """Return the labels in a reply to TS.INFO; raises `PointRefused`."""
    if not isinstance(reply, list):
        raise PointRefused("a key cannot be read as a time series")
    fields = dict(zip(map(_word, reply[::2]), reply[1::2], strict=False))
    labels = fields.get("labels")
    pairs = [pair for pair in labels if isinstance(pair, list) and len(pair) == 2] if isinstance(labels, list) else []
    return {name: text for name, text in ((_word(pair[0]), _word(pair[1])) for pair in pairs) if name and text}


def _samples_in(reply: Reply) -> tuple[tuple[object, object], ...]:
    if not isinstance(reply, list):
        raise PointRefused("a key cannot be read as a time series")
    return tuple(
        (sample[0], _word(sample[1])) if isinstance(sample, list) and len(sample) == 2 else (None, None)
        for sample in reply
    )


def _word(value: Reply) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else ""


def _shown(error: ReplyError) -> str:
    """Return the text of an error without what would steer a terminal."""
    return "".join(character if character.isprintable() else " " for character in error.text[:LONGEST_ERROR])


def _code(error: ReplyError) -> str:
    return "".join(character for character in error.code[:30] if character.isascii() and character.isalpha())


def _reason(fault: OSError | ValueError) -> str:
    return (fault.strerror if isinstance(fault, OSError) else None) or type(fault).__name__
