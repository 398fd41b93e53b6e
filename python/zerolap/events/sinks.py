"""Writes events to their destinations: a file with lines of JSON, and a stream of a Redis server.

Each destination has its own queue: one that cannot be reached delays neither the other nor the conductor.
"""

import asyncio
import contextlib
import errno
import os
import re
import stat
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

import structlog
from pydantic import SecretStr
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError

from zerolap.errors import UsageError
from zerolap.events.lab_event import LabEvent, event_json, lost_event

MOST_WAITING: Final = 10_000
"""The events that wait for a destination that cannot be reached; about 10 MB."""
AT_ONCE: Final = 500
RETRY_SECONDS: Final = 1.0
STOP_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 5.0
"""The time limit for connecting to a Redis server, and for its answer."""
FILE_MODE: Final = 0o644
URL_HINT: Final = "write redis://USER:PASSWORD@HOST:PORT, with @ / ? # % of the password as %40 %2F %3F %23 %25"

_ERROR_CODE: Final = re.compile(r"[A-Z]{3,30}\b")

log = structlog.get_logger("zerolap.events")


@dataclass(frozen=True)
class EventLine:
    """An event as it is sent: its name and id, and all of it as a line of JSON, without the end of the line."""

    event: str
    id: str
    json: str

    @classmethod
    def of(cls, event: LabEvent) -> "EventLine":
        """Return an event as it is sent."""
        return cls(event.event, event.id, event_json(event))


class EventDestinations(Protocol):
    """The settings of destinations: a file, and a stream of a Redis server, whose URL may be secret."""

    @property
    def file(self) -> Path | None:
        """The file that lines are appended to."""

    @property
    def redis(self) -> str | None:
        """The URL of the Redis server."""

    @property
    def redis_url(self) -> SecretStr | None:
        """The URL if it contains a password."""

    @property
    def stream(self) -> str:
        """The key of the stream."""

    @property
    def maxlen(self) -> int:
        """The approximate number of entries that are kept in the stream."""


@dataclass(frozen=True)
class SendResult:
    """How many events a destination has taken, from the first on; `trouble` is the reason if not all."""

    count: int
    trouble: str = ""


class Destination(Protocol):
    """Takes events; `name` is its name in the log."""

    name: str

    async def take(self, lines: Sequence[EventLine]) -> SendResult:
        """Take events in their order."""
        ...

    async def close(self) -> None:
        """Close files and connections."""
        ...


class EventSink:
    """Sends events to the destinations in the settings, if there are any.

    Up to `most_waiting` events wait for each. Events that come while the queue is full are lost; an event `lost` with
    their number is sent when the destination takes events again.
    """

    def __init__(self, settings: EventDestinations, most_waiting: int = MOST_WAITING) -> None:
        destinations: list[Destination] = []
        if settings.file is not None:
            destinations.append(EventFile(settings.file))
        url = settings.redis if settings.redis_url is None else settings.redis_url.get_secret_value()
        if url is not None:
            destinations.append(EventStream(url, settings.stream, settings.maxlen))
        self._deliveries = [_DeliveryQueue(destination, most_waiting) for destination in destinations]

    def emit(self, event: LabEvent) -> None:
        """Add an event to the queues, without waiting; to be called in the event loop."""
        if self._deliveries:
            line = EventLine.of(event)
            for delivery in self._deliveries:
                delivery.add(line)

    async def run(self) -> None:
        """Send until cancelled; then send waiting events for up to `STOP_SECONDS`."""
        works = {asyncio.create_task(delivery.run()) for delivery in self._deliveries}
        stopping = asyncio.get_running_loop().create_future()
        try:
            # `wait` does not cancel the deliveries, which could leave half a line.
            done, _ = await asyncio.wait({*works, stopping}, return_when=asyncio.FIRST_COMPLETED)
            for work in done:
                await work
        finally:
            for delivery in self._deliveries:
                delivery.stop()
            if works:
                _, unfinished = await asyncio.wait(works, timeout=STOP_SECONDS)
                for work in unfinished:
                    work.cancel()
            for delivery in self._deliveries:
                await delivery.close()


class _DeliveryQueue:
    def __init__(self, destination: Destination, most_waiting: int) -> None:
        self._destination = destination
        self._most_waiting = most_waiting
        self._waiting: deque[EventLine] = deque()
        self._lost = 0
        self._lost_since = 0.0
        self._trouble = ""
        self._grew = asyncio.Event()
        self._stopping = asyncio.Event()

    def add(self, line: EventLine) -> None:
        """Add a line to the queue; it is lost if the queue is full."""
        if len(self._waiting) < self._most_waiting:
            self._waiting.append(line)
            self._grew.set()
            return
        if not self._lost:
            self._lost_since = time.time()
            log.error("events are lost", destination=self._destination.name, waiting=len(self._waiting))
        self._lost += 1

    async def run(self) -> None:
        """Give waiting events to the destination until `stop`."""
        while not self._stopping.is_set() or self._waiting:
            if not self._waiting:
                self._grew.clear()
                await self._grew.wait()
                continue
            taken = await self._destination.take(list(islice(self._waiting, AT_ONCE)))
            self._forget(taken.count)
            self._note(taken.trouble)
            if taken.trouble:
                if self._stopping.is_set():
                    return
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(RETRY_SECONDS):
                        await self._stopping.wait()

    def stop(self) -> None:
        """Have `run` end when the destination has taken the waiting events, or cannot take them."""
        self._stopping.set()
        self._grew.set()

    async def close(self) -> None:
        """Close the destination."""
        if self._waiting:
            lost = len(self._waiting) + self._lost
            log.error("events are not sent", destination=self._destination.name, events=lost, trouble=self._trouble)
        await self._destination.close()

    def _forget(self, count: int) -> None:
        for _ in range(count):
            self._waiting.popleft()
        if count and self._lost:
            # The queue was full since then, so this is the place of the lost events.
            log.error("events were lost", destination=self._destination.name, events=self._lost)
            self._waiting.append(EventLine.of(lost_event(self._lost, self._lost_since)))
            self._lost = 0

    def _note(self, trouble: str) -> None:
        if trouble and trouble != self._trouble:
            log.error("events wait", destination=self._destination.name, trouble=trouble)
        elif self._trouble and not trouble:
            log.info("events are sent again", destination=self._destination.name)
        self._trouble = trouble


class EventFile:
    """Appends lines to a file; creates a new file after it was moved away.

    Raises `UsageError` if the directory does not exist.
    """

    def __init__(self, path: Path) -> None:
        if not path.parent.is_dir():
            raise UsageError(f"there is no directory {path.parent}", hint="make it, or change `file` of [events]")
        self.name = str(path)
        self._path = path
        self._descriptor: int | None = None

    async def take(self, lines: Sequence[EventLine]) -> SendResult:
        """Append lines, one write for each."""
        return await asyncio.to_thread(self._append, lines)

    async def close(self) -> None:
        """Close the file."""
        self._close()

    def _append(self, lines: Sequence[EventLine]) -> SendResult:
        count = 0
        try:
            descriptor = self._opened()
            for line in lines:
                _write_all(descriptor, f"{line.json}\n".encode("ascii"))
                count += 1
        except OSError as fault:
            self._close()
            return SendResult(count, f"it cannot be written to: {fault.strerror}")
        return SendResult(count)

    def _opened(self) -> int:
        if self._descriptor is not None and self._is_in_place(self._descriptor):
            return self._descriptor
        self._close()
        # Opening a pipe without a reader would block.
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
        descriptor = self._descriptor = os.open(self._path, flags, FILE_MODE)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        if status.st_size and os.pread(descriptor, 1, status.st_size - 1) != b"\n":
            # The last line is incomplete: the disk was full, or the machine lost its power.
            _write_all(descriptor, b"\n")
        return descriptor

    def _is_in_place(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class EventStream:
    """Adds entries with the fields `event`, `id` and `json` to a stream, which is kept to about `maxlen` of them.

    If the answer is lost, the entry is added again. Raises `UsageError` if the URL is not that of a Redis server.
    """

    def __init__(self, url: str, stream: str, maxlen: int) -> None:
        self.name = f"stream {stream} of {_address(url)}"
        self._stream = stream
        self._maxlen = maxlen
        try:
            self._client = Redis.from_url(
                url,
                socket_connect_timeout=ANSWER_SECONDS,
                socket_timeout=ANSWER_SECONDS,
                retry=Retry(NoBackoff(), 0),
            )
            # This fails for options that do not exist.
            self._client.connection_pool.make_connection()  # type: ignore[no-untyped-call]
        except (ValueError, TypeError, RedisError):
            # The message may quote the URL, and the password in it.
            raise UsageError("the URL of the Redis server for events is not valid", hint=URL_HINT) from None

    async def take(self, lines: Sequence[EventLine]) -> SendResult:
        """Add an entry for each line."""
        pipeline = self._client.pipeline(transaction=False)
        for line in lines:
            fields: dict[str | bytes, str] = {"event": line.event, "id": line.id, "json": line.json}
            pipeline.xadd(self._stream, fields, maxlen=self._maxlen, approximate=True)  # type: ignore[arg-type]
        try:
            replies = await pipeline.execute(raise_on_error=False)
        except (RedisError, OSError) as fault:
            return SendResult(0, _trouble(fault))
        for count, reply in enumerate(replies):
            if isinstance(reply, Exception):
                return SendResult(count, _trouble(reply))
        return SendResult(len(lines))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _write_all(descriptor: int, content: bytes) -> None:
    """Write a line by one call; if only a part fits on the disk, the second call raises the reason."""
    while content:
        content = content[os.write(descriptor, content) :]


def _address(url: str) -> str:
    """Return the host and port, or the path, of a URL, without anything secret in it; raises `UsageError`."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
        parts = urlsplit("")
    # A password that is not percent-encoded would be read as host and port.
    is_ambiguous = "@" in parts.path + parts.query or "#" in url
    is_url = parts.path.startswith("/") if parts.scheme == "unix" else parts.scheme in ("redis", "rediss") and host
    if is_ambiguous or not is_url:
        raise UsageError("the URL of the Redis server for events is not valid", hint=URL_HINT)
    return parts.path if parts.scheme == "unix" else f"{host}:{port or 6379}"


def _trouble(fault: Exception) -> str:
    """Return the reason without the message of the server, which may quote the password."""
    if isinstance(fault.__cause__, OSError) and fault.__cause__.strerror:
        return fault.__cause__.strerror
    code = _ERROR_CODE.match(str(fault)) if isinstance(fault, ResponseError) else None
    return type(fault).__name__ if code is None else f"{type(fault).__name__}: {code[0]}"
