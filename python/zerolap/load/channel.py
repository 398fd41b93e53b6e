"""The connection between the two machines of a trial, over which nobody else can order, answer, replay or alter.

The load host opens it. Both sides prove that they know a secret, which is never sent, and every line carries a code
(HMAC-SHA256) over its number and its text, with a key for each direction of this connection. Nothing is encrypted.
"""

import contextlib
import hmac
import ipaddress
import secrets
import select
import socket
import time
from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias, TypeVar

from pydantic import Field, ValidationError

from zerolap.records import EnvironmentMissing, Interrupted, UsageError
from zerolap.records.base import Record
from zerolap.sandbox import current_cancellation

Role: TypeAlias = Literal["server", "load"]
"""The side of a channel: the machine of the servers, or the one of the load."""

PROTOCOL = "zerolap-load/1"
LEAST_SECRET_BYTES = 16
LONGEST_LINE_BYTES = 16 << 20
LONGEST_GREETING_BYTES = 4096
CHUNK_BYTES = 1 << 16
GREETING_SECONDS = 10.0
"""For a stranger who says nothing; others wait for so long."""
SEND_SECONDS = 60.0
RETRY_SECONDS = 0.2
SILENT_SECONDS, PROBES_EVERY_SECONDS, PROBES = 5, 5, 3
"""A machine that is cut off is noticed after twenty seconds."""

HexDigest: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Loss: TypeAlias = EnvironmentMissing | Interrupted
"""Of the other side: `Interrupted` where this one has ended the connection itself."""
OTHER_SIDE: dict[Role, str] = {"server": "the load host", "load": "the machine of the servers"}


class ChannelClosed(EnvironmentMissing):
    """The other side has closed the connection, or cannot be reached any more."""


class _Greeting(Record):
    """What the load host says first."""

    protocol: str
    nonce: HexDigest


class _Welcome(Record):
    """The answer of the machine of the servers, which proves that it knows the secret."""

    protocol: str
    nonce: HexDigest
    proof: HexDigest


class _Proof(Record):
    """The load host's proof."""

    proof: HexDigest


GreetingT = TypeVar("GreetingT", bound=Record)


class _Code:
    """The codes of the lines of one direction, which are numbered from 0."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._number = 0

    def of_next(self, line: bytes) -> bytes:
        """Return the code of the next line."""
        code = _hmac(self._key, self._number.to_bytes(8, "big"), line).hex().encode()
        self._number += 1
        return code


class Channel:
    """A connected, authenticated channel of lines; used by one thread for sending and one for receiving.

    `own_address` is the IP address of this machine, as the other side reaches it, `peer_address` that of the other
    machine. The current `Cancellation` of the thread that opens it ends the connection when it is cancelled; errors are
    `Interrupted` then.
    """

    def __init__(self, connection: socket.socket, secret: str, role: Role, seconds: float = GREETING_SECONDS) -> None:
        """Agree with the other side over a connected socket, which belongs to the channel from then on.

        Raises `EnvironmentMissing` if the other side does not know the secret, or does not answer in `seconds`,
        `UsageError` for a secret that is too short.
        """
        key = _key(secret)
        self._connection = connection
        self._role: Role = role
        self._received = bytearray()
        self._loss: EnvironmentMissing | None = None
        self._owner = current_cancellation()
        try:
            self._owner.own(lambda: self)
            self.own_address, self.peer_address = self._configure()
            end = time.monotonic() + seconds
            session = self._invite(key, end) if role == "server" else self._join(key, end)
        except BaseException:
            self.close()
            raise
        to_load, to_server = _Code(_hmac(session, b"to load")), _Code(_hmac(session, b"to server"))
        self._sent, self._expected = (to_load, to_server) if role == "server" else (to_server, to_load)

    def send(self, line: bytes) -> None:
        """Send a line without its end; raises `EnvironmentMissing` if the other side is lost."""
        self._send(self._sent.of_next(line) + b" " + line + b"\n")

    def receive(self, seconds: float | None = None) -> bytes:
        """Return the next line, without its end.

        Raises `ChannelClosed` if the other side is lost, `EnvironmentMissing` also if no line comes in time, or one
        that is not from the other side or not the next one.
        """
        end = None if seconds is None else time.monotonic() + seconds
        code, _, line = self._line(LONGEST_LINE_BYTES, end).partition(b" ")
        if not hmac.compare_digest(code, self._expected.of_next(line)):
            raise self.lost("a line was altered, repeated or left out on its way")
        return line

    def lost(self, reason: str, kind: type[EnvironmentMissing] = EnvironmentMissing) -> Loss:
        """End the connection, and return the error for that: later ones have the same reason."""
        self.kill()
        if self._owner.is_cancelled:
            return Interrupted("interrupted")
        if self._loss is None:
            self._loss = kind(f"{OTHER_SIDE[self._role]} was lost: {reason}")
        return self._loss

    def close(self) -> None:
        """Close the connection; may be called several times."""
        self.kill()
        self._owner.disown(self)
        self._connection.close()

    def kill(self) -> None:
        """End the connection: a thread that waits for it goes on."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def stop(self) -> None:
        """End the connection, as a cancellation does; whoever uses it closes it."""
        self.kill()

    def _configure(self) -> tuple[str, str]:
        """Set up the connection, and return the addresses of its ends."""
        try:
            _configure(self._connection)
            return _address(self._connection.getsockname()), _address(self._connection.getpeername())
        except OSError as fault:
            raise self.lost(str(fault), ChannelClosed) from fault

    def _invite(self, key: bytes, end: float) -> bytes:
        """Agree as the side of the servers; return the key of the session."""
        greeting = self._greeting(_Greeting, end)
        if greeting.protocol != PROTOCOL:
            raise self.lost(f"it speaks `{greeting.protocol[:40]}` and not `{PROTOCOL}`")
        own = secrets.token_hex(32)
        nonces = (greeting.nonce.encode(), own.encode())
        welcome = _Welcome(protocol=PROTOCOL, nonce=own, proof=_hmac(key, b"server", *nonces).hex())
        self._send(welcome.model_dump_json().encode() + b"\n")
        self._require_proof(self._greeting(_Proof, end).proof, _hmac(key, b"load", *nonces))
        return _hmac(key, b"session", *nonces)

    def _join(self, key: bytes, end: float) -> bytes:
        """Agree as the side of the load; return the key of the session."""
        own = secrets.token_hex(32)
        self._send(_Greeting(protocol=PROTOCOL, nonce=own).model_dump_json().encode() + b"\n")
        welcome = self._greeting(_Welcome, end)
        if welcome.protocol != PROTOCOL:
            raise self.lost(f"it speaks `{welcome.protocol[:40]}` and not `{PROTOCOL}`")
        nonces = (own.encode(), welcome.nonce.encode())
        self._require_proof(welcome.proof, _hmac(key, b"server", *nonces))
        self._send(_Proof(proof=_hmac(key, b"load", *nonces).hex()).model_dump_json().encode() + b"\n")
        return _hmac(key, b"session", *nonces)

    def _require_proof(self, given: str, expected: bytes) -> None:
        if not hmac.compare_digest(given, expected.hex()):
            raise self.lost("it does not know the secret")

    def _greeting(self, kind: type[GreetingT], end: float) -> GreetingT:
        try:
            return kind.model_validate_json(self._line(LONGEST_GREETING_BYTES, end))
        except ValidationError as wrong:
            raise self.lost("it does not introduce itself") from wrong

    def _line(self, most_bytes: int, end: float | None) -> bytes:
        searched = 0
        while (length := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            if searched > most_bytes:
                raise self.lost(f"it sent a line of more than {most_bytes} bytes")
            self._wait(select.POLLIN, end)
            try:
                data = self._connection.recv(CHUNK_BYTES)
            except BlockingIOError:
                continue
            except OSError as fault:
                raise self.lost(str(fault), ChannelClosed) from fault
            if not data:
                raise self.lost("it has closed the connection", ChannelClosed)
            self._received += data
        line = bytes(self._received[:length])
        del self._received[: length + 1]
        return line

    def _send(self, data: bytes) -> None:
        left, end = memoryview(data), time.monotonic() + SEND_SECONDS
        while left:
            self._wait(select.POLLOUT, end)
            try:
                left = left[self._connection.send(left) :]
            except BlockingIOError:
                continue
            except OSError as fault:
                raise self.lost(str(fault), ChannelClosed) from fault

    def _wait(self, event: int, end: float | None) -> None:
        """Wait until the connection can be read from or written to, or has ended."""
        if not _is_ready(self._connection, event, end):
            raise self.lost("it does not answer")


class Listening:
    """A port that waits for the load host."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._owner = current_cancellation()
        self._owner.own(lambda: self)

    @property
    def address(self) -> str:
        """Host and port, such as `192.0.2.1:40123` or `[2001:db8::1]:40123`."""
        host, port = _address(self._listening.getsockname()), self._listening.getsockname()[1]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def accept(self, secret: str, seconds: float) -> Channel:
        """Wait for a load host that knows the secret, and refuse all others.

        Raises `EnvironmentMissing` if none comes in `seconds`, `UsageError` for a secret that is too short.
        """
        _key(secret)
        end, refused = time.monotonic() + seconds, ""
        while _is_ready(self._listening, select.POLLIN, end):
            self._owner.require_going_on()
            try:
                connection, _ = self._listening.accept()
            except (BlockingIOError, ConnectionAbortedError):
                continue
            try:
                return Channel(connection, secret, "server", min(GREETING_SECONDS, max(0.0, end - time.monotonic())))
            except EnvironmentMissing as fault:
                refused = f"; the last one that tried was refused: {fault.message}"
        self._owner.require_going_on()
        raise EnvironmentMissing(f"no load host connected within {seconds:g} s{refused}")

    def close(self) -> None:
        """Close the port."""
        self.kill()
        self._owner.disown(self)
        self._listening.close()

    def kill(self) -> None:
        """Close the port to others: a thread that waits for it goes on."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)

    def stop(self) -> None:
        """End the wait, as a cancellation does."""
        self.kill()


@contextlib.contextmanager
def listen_for_load_host(bind_address: str) -> Iterator[Listening]:
    """Listen on an IP address of this machine until the context ends, on a free port unless it has one (`HOST:PORT`).

    Channels stay open. Raises `EnvironmentMissing` if the address cannot be listened on.
    """
    with _bound(bind_address) as bound, contextlib.closing(Listening(bound)) as listening:
        yield listening


def _bound(address: str) -> socket.socket:
    """Return a listening socket."""
    host, port = _split(address, 0)
    with contextlib.ExitStack() as opened:
        try:
            places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            family, kind, protocol, _, place = places[0]
            bound = opened.enter_context(socket.socket(family, kind, protocol))
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(place)
            bound.listen()
            bound.setblocking(False)
        except OSError as fault:
            raise EnvironmentMissing(f"`{address}` cannot be listened on: {fault}") from fault
        opened.pop_all()
        return bound


def connect_to_server_host(address: str, secret: str, seconds: float) -> Channel:
    """Connect to a machine that listens at `HOST:PORT`, repeatedly while nobody does.

    Raises `EnvironmentMissing` if that fails for `seconds`, or if the other side does not know the secret, `UsageError`
    for a secret that is too short.
    """
    _key(secret)
    owner, end = current_cancellation(), time.monotonic() + seconds
    host, port = _split(address, None)
    while True:
        owner.require_going_on()
        left = end - time.monotonic()
        try:
            connection = socket.create_connection((host, port), max(0.1, min(left, GREETING_SECONDS)))
            break
        except OSError as fault:
            if left < 0:
                raise EnvironmentMissing(f"`{address}` cannot be reached: {fault}") from fault
        owner.wait(RETRY_SECONDS)
    return Channel(connection, secret, "load", GREETING_SECONDS)


def _is_ready(connection: socket.socket, event: int, end: float | None) -> bool:
    """Wait for an event of a socket, or its end; return whether it has come in time."""
    if connection.fileno() < 0:
        return True
    poll = select.poll()
    poll.register(connection, event)
    return bool(poll.poll(None if end is None else max(0.0, end - time.monotonic()) * 1000))


def _configure(connection: socket.socket) -> None:
    connection.setblocking(False)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, SILENT_SECONDS)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, PROBES_EVERY_SECONDS)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, PROBES)
    # The same for what was sent and is not confirmed.
    milliseconds = 1000 * (SILENT_SECONDS + PROBES * PROBES_EVERY_SECONDS)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)


def _key(secret: str) -> bytes:
    key = secret.encode()
    if len(key) < LEAST_SECRET_BYTES:
        raise UsageError(f"the secret of a channel has {len(key)} bytes, and needs {LEAST_SECRET_BYTES} at least")
    return key


def _hmac(key: bytes, *parts: bytes) -> bytes:
    """Return the code over parts of which only the last one may have any length."""
    return hmac.digest(key, PROTOCOL.encode() + b" " + b" ".join(parts), "sha256")


def _address(place: tuple[str, int]) -> str:
    """Return the IP address of a socket's; one of IPv4 as such, also in its form of IPv6."""
    address = ipaddress.ip_address(place[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def _split(address: str, default_port: int | None) -> tuple[str, int]:
    """Return host and port; raises `UsageError` if there is no port and no default."""
    try:
        # An IPv6 address without a port has colons too.
        return str(ipaddress.ip_address(address.strip("[]"))), _required(address, default_port)
    except ValueError:
        pass
    host, colon, port = address.rpartition(":")
    if colon and port.isascii() and port.isdecimal() and int(port) < 1 << 16:
        return host.strip("[]"), int(port)
    return address, _required(address, default_port)


def _required(address: str, default_port: int | None) -> int:
    if default_port is None:
        raise UsageError(f"`{address}` has no port", hint="HOST:PORT")
    return default_port
