"""The protocol of connections: keeps note of what comes on them, and refuses requests that are costly to read."""

import asyncio
import re
from dataclasses import dataclass
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from zerolap.api.listening import Connections
from zerolap.api.strangers import leave_queue

LEAST_READ_BYTES: Final = 16 << 10
"""A client that reads less of an answer in `reading_seconds` is cut."""
BUFFERED_BYTES: Final = 32 << 10
"""So much of an answer waits for the kernel before the next piece is made."""
MOST_HEAD_BYTES: Final = 32 << 10
MOST_HEAD_LINES: Final = 128
END_OF_HEAD: Final = re.compile(rb"\n\r?\n")
REFUSED_AFTER_SECONDS: Final = 1.0
SMALL_CHUNK_BYTES: Final = 512
MOST_SMALL_CHUNKS: Final = 64
"""Of one body: the smallest chunk takes as long to read as one of 64 KiB."""
MOST_DROPPED_BYTES: Final = 256 << 10
"""Of a body whose request was answered before it was read."""


@dataclass
class _Head:
    """What came of the head of a request."""

    size_bytes: int = 0
    lines: int = 0

    def take(self, data: bytes) -> bool:
        """Take in what came; returns false where that is more than a head may have."""
        end = END_OF_HEAD.search(data)
        own_bytes = len(data) if end is None else end.end()
        self.size_bytes += own_bytes
        self.lines += data.count(b"\n", 0, own_bytes)
        return self.size_bytes <= MOST_HEAD_BYTES and self.lines <= MOST_HEAD_LINES


class _BoundedConnection(h11.Connection):
    """Reads no body that comes in many small chunks."""

    def __init__(self, our_role: Any, max_incomplete_event_size: int) -> None:
        super().__init__(our_role, max_incomplete_event_size)
        self._small_chunks = 0

    def next_event(self) -> Any:
        """Return what comes next; raises `RemoteProtocolError`."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._small_chunks = 0
        elif isinstance(event, h11.Data) and event.chunk_end and len(event.data) < SMALL_CHUNK_BYTES:
            self._small_chunks += 1
            if self._small_chunks > MOST_SMALL_CHUNKS:
                raise h11.RemoteProtocolError("the chunks of the body are too small")
        return event


def protocol_of(connections: Connections) -> type[H11Protocol]:
    """Return the protocol of connections that keeps note of what comes on them."""

    class NotedProtocol(H11Protocol):
        """Notes when the head of a request is complete, when its body is, and when its answer was read."""

        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self.conn = _BoundedConnection(h11.SERVER, MOST_HEAD_BYTES)

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            transport.set_write_buffer_limits(BUFFERED_BYTES)
            self._head = _Head()
            self._dropped_bytes = 0
            self._number = transport.get_extra_info("socket").fileno()
            self._is_unread = False
            self._unread_bytes = 0
            self._reading: asyncio.TimerHandle | None = None

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            if self.scope is not None:
                leave_queue(self.scope.get("state", {}))
            super().connection_lost(exc)

        def pause_writing(self) -> None:
            super().pause_writing()
            self._is_unread = True
            self._unread_bytes = self.transport.get_write_buffer_size()
            self._reading = self.loop.call_later(connections.limits.reading_seconds, self._check_pace)
            self._note()

        def resume_writing(self) -> None:
            super().resume_writing()
            self._is_unread = False
            self._stop_timer()
            self._note()

        def data_received(self, data: bytes) -> None:
            if self.conn.their_state is h11.IDLE and not self._head.take(data):
                self.send_400_response("The head of the request is too large.")
                return
            # uvicorn's annotation leaves out that there is none before the first request.
            cycle: RequestResponseCycle | None = self.cycle
            if cycle is not None and cycle.response_complete and self.conn.their_state is h11.SEND_BODY:
                self._dropped_bytes += len(data)
                if self._dropped_bytes > MOST_DROPPED_BYTES:
                    self.transport.abort()
                    return
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                self._head = _Head()
            if self.conn.their_state is h11.DONE and self.conn.trailing_data[0]:
                # The heads of requests that are sent before they can be answered are not bounded.
                self.cycle.keep_alive = False
            self._note()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._note()

        def send_400_response(self, msg: str) -> None:
            connections.refusals.count("malformed_requests")
            self.flow.pause_reading()
            # An answer at once would be followed at once by another request.
            self.loop.call_later(REFUSED_AFTER_SECONDS, self._refuse, msg)

        def _refuse(self, reason: str) -> None:
            if self.transport.is_closing():
                return
            if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                super().send_400_response(reason)
            else:
                # An answer was begun already.
                self.transport.abort()

        def _note(self) -> None:
            # uvicorn's annotation leaves out that there is none before the first request.
            cycle: RequestResponseCycle | None = self.cycle
            is_worked_on = cycle is not None and not cycle.response_complete
            has_body_left = cycle is not None and is_worked_on and cycle.more_body
            connections.note(
                self._number, is_worked_on=is_worked_on, has_body_left=has_body_left, is_unread=self._is_unread
            )

        def _check_pace(self) -> None:
            unread_bytes = self.transport.get_write_buffer_size()
            if unread_bytes > self._unread_bytes - LEAST_READ_BYTES:
                connections.refusals.count("slow_readers")
                self.transport.abort()
                return
            self._unread_bytes = unread_bytes
            self._reading = self.loop.call_later(connections.limits.reading_seconds, self._check_pace)

        def _stop_timer(self) -> None:
            if self._reading is not None:
                self._reading.cancel()

    return NotedProtocol
