"""The socket of `zerolap serve`, which holds its own against connections that are many, slow or silent."""

import asyncio
import errno
import os
import resource
import socket
import time
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from zerolap.api.refusals import Refusals
from zerolap.records import EnvironmentMissing
from zerolap.triggers.webhooks import network_of

HEAD_SECONDS: Final = 15.0
"""How long a connection may take for the handshake of TLS and the head of a request."""
BODY_SECONDS: Final = 30.0
"""How long an incomplete body may pause."""
READING_SECONDS: Final = 30.0
UNSENT_BYTES: Final = 32 << 10
"""So much of an answer waits in the kernel to be sent: what it has sent already is in the memory of the client."""
MOST_CONNECTIONS: Final = 4096
MOST_PER_ADDRESS: Final = 1024
MOST_DESCRIPTORS: Final = 65_536
"""The limit is not raised further: programs that close all possible descriptors at their start get slow."""
ACCEPTED_AT_ONCE: Final = 64
"""The event loop accepts so many connections before it closes those that made room for them."""
MOST_ENDING: Final = 2 * ACCEPTED_AT_ONCE
LEAST_CONNECTIONS: Final = 16
CLOSE_SLOW_SECONDS: Final = 1.0
BACKLOG: Final = 2048
TCP_NOTSENT_LOWAT: Final = 25
"""Of Linux; the standard library has no name for it."""
ABSENT: Final = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})
"""Errors of an address that this machine does not have."""

PeerAddress: TypeAlias = Any
"""What `accept` returns: it depends on the family of the socket."""


@dataclass(frozen=True)
class ConnectionLimits:
    """How many connections there may be, in all and of one address, and how slow they may be."""

    total: int = MOST_CONNECTIONS
    per_address: int = MOST_PER_ADDRESS
    head_seconds: float = HEAD_SECONDS
    body_seconds: float = BODY_SECONDS
    reading_seconds: float = READING_SECONDS

    @classmethod
    def of_process(cls) -> "ConnectionLimits":
        """Return limits within this process's number of open files, which is raised as far as it may be.

        Half of them is left for files, the database and the bus.
        """
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        highest = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
        if soft != resource.RLIM_INFINITY and soft < highest:
            resource.setrlimit(resource.RLIMIT_NOFILE, (highest, hard))
        total = max(LEAST_CONNECTIONS, min(MOST_CONNECTIONS, highest // 2 - MOST_ENDING))
        return cls(total=total, per_address=min(MOST_PER_ADDRESS, total // 2))


@dataclass
class _Connection:
    """An open connection: `waiting_since` is none while a request is worked on, `body_since` unless a body is due."""

    socket: "_AcceptedSocket"
    network: str
    waiting_since: float | None
    body_since: float | None = None


@dataclass
class Connections:
    """The open connections of a listener, by the descriptors of their sockets; used in one event loop.

    Where there are too many, the oldest that has sent no request makes room, without any the oldest whose answer waits
    to be read: who sends a request is always answered.
    """

    limits: ConnectionLimits
    refusals: Refusals
    _open: dict[int, _Connection] = field(default_factory=dict)
    _waiting: dict[str, dict[int, None]] = field(default_factory=dict)
    _unread: dict[str, dict[int, None]] = field(default_factory=dict)
    _by_network: dict[str, int] = field(default_factory=dict)
    _ending: int = 0

    def admit(self, accepted: "_AcceptedSocket", network: str) -> bool:
        """Take in a connection; returns false where there are too many, which are worked on or not closed yet."""
        if self._ending >= MOST_ENDING:
            self.refusals.count("connections")
            return False
        if self._by_network.get(network, 0) >= self.limits.per_address and not self._make_room(network):
            self.refusals.count("connections_of_an_address")
            return False
        if len(self._open) >= self.limits.total and not self._make_room_anywhere():
            self.refusals.count("connections")
            return False
        number = accepted.fileno()
        self._open[number] = _Connection(accepted, network, time.monotonic())
        _put(self._waiting, network, number)
        self._by_network[network] = self._by_network.get(network, 0) + 1
        return True

    def closed(self, number: int) -> None:
        """Forget a connection."""
        connection = self._open.pop(number, None)
        if connection is None:
            return
        _take_out(self._waiting, connection.network, number)
        _take_out(self._unread, connection.network, number)
        self._by_network[connection.network] -= 1
        if not self._by_network[connection.network]:
            del self._by_network[connection.network]

    def ended(self) -> None:
        """Note that the descriptor of a connection is closed that was too many or too slow."""
        self._ending -= 1

    def note(self, number: int, *, is_worked_on: bool, has_body_left: bool, is_unread: bool) -> None:
        """Note that something came on a connection, or that a request of it was answered, or the answer read."""
        connection = self._open.get(number)
        if connection is None:
            return
        now = time.monotonic()
        connection.body_since = now if is_worked_on and has_body_left else None
        # An answer is complete for uvicorn once it is in the buffer, which a slow client reads for long.
        is_busy = is_worked_on or is_unread
        if is_busy and connection.waiting_since is not None:
            connection.waiting_since = None
            _take_out(self._waiting, connection.network, number)
        elif not is_busy and connection.waiting_since is None:
            connection.waiting_since = now
            _put(self._waiting, connection.network, number)
        if is_unread and not is_worked_on:
            _put(self._unread, connection.network, number)
        else:
            _take_out(self._unread, connection.network, number)

    async def close_slow_always(self) -> None:
        """Close connections that are too slow, until cancelled."""
        while True:
            await asyncio.sleep(CLOSE_SLOW_SECONDS)
            self.close_slow()

    def close_slow(self) -> None:
        """Close connections that are too slow."""
        now = time.monotonic()
        for number, connection in list(self._open.items()):
            since = connection.waiting_since
            if since is not None and now - since > self.limits.head_seconds:
                self._end(number, "slow_heads")
            elif connection.body_since is not None and now - connection.body_since > self.limits.body_seconds:
                self._end(number, "slow_bodies")

    def _make_room(self, network: str) -> bool:
        for queue in (self._waiting, self._unread):
            if network in queue:
                self._end(next(iter(queue[network])), "connections_of_an_address")
                return True
        return False

    def _make_room_anywhere(self) -> bool:
        """Close the oldest of the address that has most of those that may be closed."""
        for queue in (self._waiting, self._unread):
            if queue:
                network = max(queue, key=lambda address: len(queue[address]))
                self._end(next(iter(queue[network])), "connections")
                return True
        return False

    def _end(self, number: int, cause: str) -> None:
        """Have a connection closed: the event loop reads its end."""
        self.refusals.count(cause)
        connection = self._open[number]
        self.closed(number)
        self._ending += 1
        connection.socket.end()


def _put(queue: dict[str, dict[int, None]], network: str, number: int) -> None:
    queue.setdefault(network, {})[number] = None


def _take_out(queue: dict[str, dict[int, None]], network: str, number: int) -> None:
    of_network = queue.get(network)
    if of_network is not None:
        of_network.pop(number, None)
        if not of_network:
            del queue[network]


class _AcceptedSocket(socket.socket):
    """A connection that reports its end."""

    connections: Connections | None = None
    is_ending: bool = False

    def end(self) -> None:
        """End both directions; the descriptor is closed by its owner."""
        self.is_ending = True
        try:
            self.shutdown(socket.SHUT_RDWR)
        except OSError:
            # The other side was first.
            return

    def close(self) -> None:
        """Close the descriptor."""
        if self.connections is not None and self.fileno() >= 0:
            if self.is_ending:
                self.connections.ended()
            else:
                self.connections.closed(self.fileno())
        super().close()


class Listener(socket.socket):
    """A listening socket that accepts as many connections as there may be."""

    connections: Connections

    def listen(self, backlog: int = BACKLOG, /) -> None:
        """Listen with a long queue: the event loop gives the number that it accepts at once."""
        super().listen(max(backlog, BACKLOG))

    @classmethod
    def all_at(cls, host: str, port: int, connections: Connections) -> "list[Listener]":
        """Return sockets that listen at all addresses of a host, those that this machine does not have left out.

        Raises `EnvironmentMissing` where an address is taken, or none can be had.
        """
        listeners, absent = list[Listener](), OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            for family, address in dict.fromkeys((family, address) for family, _, _, _, address in found):
                try:
                    listeners.append(cls._at(family, address, connections))
                except OSError as fault:
                    if fault.errno not in ABSENT:
                        raise
                    absent = fault
            if not listeners:
                raise absent
        except OSError as fault:
            for listener in listeners:
                listener.close()
            shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            raise EnvironmentMissing(
                f"cannot listen at {shown}: {fault.strerror}", hint="give another address: --listen"
            ) from fault
        return listeners

    @classmethod
    def _at(cls, family: int, address: PeerAddress, connections: Connections) -> "Listener":
        # With its protocol named, asyncio has answers sent at once and not after the client's acknowledgement.
        listener = cls(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                # Otherwise `[::]` takes the port of `0.0.0.0` too, and both cannot be given.
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            # The connections that it accepts have it too. A smaller buffer would slow down those far away.
            listener.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT_BYTES)
            listener.bind(address)
            listener.listen()
        except OSError:
            listener.close()
            raise
        listener.setblocking(False)
        listener.connections = connections
        return listener

    def accept(self) -> tuple[socket.socket, PeerAddress]:
        """Return the next connection; those that are too many are closed."""
        while True:
            descriptor, address = self._accept()  # type: ignore[attr-defined]
            accepted = _AcceptedSocket(self.family, self.type, self.proto, fileno=descriptor)
            if self.connections.admit(accepted, network_of(str(address[0]))):
                accepted.connections = self.connections
                return accepted, address
            accepted.close()
