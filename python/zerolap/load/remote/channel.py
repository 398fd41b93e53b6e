"""The connection between the two machines of a trial, over TLS: nobody else can order, answer, replay or alter.

The load host opens it. It knows the certificate of the machine of the servers, which is made for each port, by its
SHA-256 digest, and proves by a secret that it is the load host of this trial.
"""

import contextlib
import contextvars
import datetime
import hashlib
import hmac
import ipaddress
import queue
import select
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, TypeVar

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from zerolap.records import EnvironmentMissing, Interrupted, UsageError
from zerolap.sandbox import current_cancellation

Role: TypeAlias = Literal["server", "load"]
"""The side of a channel: the machine of the servers, or the one of the load."""

PROTOCOL = "zerolap-load/2"
REFUSED = b"refused"
LEAST_SECRET_BYTES = 16
LONGEST_LINE_BYTES = 16 << 20
LONGEST_GREETING_BYTES = 4096
CHUNK_BYTES = 1 << 16
GREETING_SECONDS = 10.0
"""How long a stranger who sends nothing stays connected."""
MOST_GREETED = 32
"""Peers that have not proven yet who they are; with one more the first of them is cut off."""
SEND_SECONDS = 60.0
RETRY_SECONDS = 0.2
SILENT_SECONDS, PROBES_EVERY_SECONDS, PROBES = 5, 5, 3
"""A machine that is cut off is noticed after twenty seconds."""
CLOCKS_DIFFER = datetime.timedelta(days=1)

Loss: TypeAlias = EnvironmentMissing | Interrupted
"""The error for the loss of the other side: `Interrupted` where this side has ended the connection itself."""
Result = TypeVar("Result")
OTHER_SIDE: dict[Role, str] = {"server": "the load host", "load": "the machine of the servers"}


class ChannelClosed(EnvironmentMissing):
    """The other side has closed the connection, or cannot be reached any more."""


class NoReply(EnvironmentMissing):
    """The other side has not answered in time."""


class Channel:
    """A connected, authenticated channel of lines; used by one thread for sending and one for receiving.

    `own_address` is the IP address of this machine, as the other side reaches it, `peer_address` that of the other
    machine. The current `Cancellation` of the thread that opens it ends the connection when it is cancelled; errors are
    `Interrupted` then.
    """

    def __init__(self, connection: ssl.SSLSocket, role: Role) -> None:
        """Own a connected socket, on which nothing was sent yet; raises `EnvironmentMissing` if it is not connected."""
        self._connection = connection
        self._role: Role = role
        self._received = bytearray()
        self._loss: EnvironmentMissing | None = None
        # Of one connection only one call may be under way; none of them waits.
        self._calling = threading.Lock()
        self._owner = current_cancellation()
        try:
            self._owner.own(lambda: self)
            _configure(connection)
            self.own_address, self.peer_address = _address(connection.getsockname()), _address(connection.getpeername())
        except OSError as fault:
            self.close()
            raise self.lost(str(fault), ChannelClosed) from fault
        except BaseException:
            self.close()
            raise

    def invite(self, secret: str, end: float) -> None:
        """Let the load host in that knows the secret.

        Raises `EnvironmentMissing` for any other, and for one that does not greet before the time `end`.
        """
        self._call(self._connection.do_handshake, end)
        protocol, _, proof = self._line(LONGEST_GREETING_BYTES, end).partition(b" ")
        if protocol != PROTOCOL.encode():
            raise self.lost(f"it speaks `{protocol[:40].decode(errors='replace')}` and not `{PROTOCOL}`")
        if not hmac.compare_digest(proof, secret.encode()):
            self.send(REFUSED)
            raise self.lost("it does not know the secret")
        self.send(PROTOCOL.encode())

    def join(self, certificate: str, secret: str, end: float) -> None:
        """Prove to the machine of the servers, which has the certificate of that digest, that the secret is known.

        Raises `EnvironmentMissing` if the certificate is another one, before the secret is sent; if the other side does
        not let this load host in, or not before the time `end`.
        """
        self._call(self._connection.do_handshake, end)
        presented = self._connection.getpeercert(binary_form=True) or b""
        if not hmac.compare_digest(hashlib.sha256(presented).hexdigest(), certificate):
            raise self.lost("its certificate is another one")
        self.send(f"{PROTOCOL} {secret}".encode())
        answer = self._line(LONGEST_GREETING_BYTES, end)
        if answer == REFUSED:
            raise self.lost("it does not accept the secret")
        if answer != PROTOCOL.encode():
            raise self.lost(f"it does not speak `{PROTOCOL}`")

    def send(self, line: bytes) -> None:
        """Send a line without its end; raises `EnvironmentMissing` if the other side is lost."""
        left, end = memoryview(line + b"\n"), time.monotonic() + SEND_SECONDS
        while left:
            left = left[self._call(partial(self._connection.send, left[:CHUNK_BYTES]), end) :]

    def receive(self, seconds: float | None = None) -> bytes:
        """Return the next line, without its end.

        Raises `ChannelClosed` if the other side is lost, `EnvironmentMissing` also if no line comes in time.
        """
        return self._line(LONGEST_LINE_BYTES, None if seconds is None else time.monotonic() + seconds)

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
            # Not that of `SSLSocket`, after which another thread would read what is encrypted.
            socket.socket.shutdown(self._connection, socket.SHUT_RDWR)

    # A cancellation leaves it to whoever uses it to close it.
    stop = kill

    def _line(self, most_bytes: int, end: float | None) -> bytes:
        searched = 0
        while (length := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            if searched > most_bytes:
                raise self.lost(f"it sent a line of more than {most_bytes} bytes")
            data = self._call(partial(self._connection.recv, CHUNK_BYTES), end)
            if not data:
                raise self.lost("it has closed the connection", ChannelClosed)
            self._received += data
        line = bytes(self._received[:length])
        del self._received[: length + 1]
        return line

    def _call(self, call: Callable[[], Result], end: float | None) -> Result:
        """Return what a call of the connection returns, which is repeated until the other side lets it be complete."""
        while True:
            try:
                with self._calling:
                    return call()
            except ssl.SSLWantReadError:
                event = select.POLLIN
            except ssl.SSLWantWriteError:
                event = select.POLLOUT
            except (OSError, ValueError) as fault:
                # A connection that was closed before its handshake was complete is a `ValueError`.
                raise self.lost(str(fault), ChannelClosed) from fault
            if not _is_ready([(self._connection, event)], end):
                raise self.lost("it does not answer", NoReply)


class _Greetings:
    """Peers that have connected and are yet to prove who they are, each in a thread; ends with the context.

    `fileno` is readable when there is an outcome.
    """

    def __init__(self, secret: str, end: float) -> None:
        self._secret = secret
        self._end = end
        self._outcomes = queue.SimpleQueue[Channel | EnvironmentMissing | Interrupted]()
        self._under_way: dict[Channel, threading.Thread] = {}
        self._signal, self._signalled = socket.socketpair()

    def __enter__(self) -> "_Greetings":
        return self

    def __exit__(self, *_: object) -> None:
        for channel, thread in self._under_way.items():
            channel.kill()
            thread.join()
        with contextlib.suppress(queue.Empty):
            while True:
                outcome = self._outcomes.get_nowait()
                if isinstance(outcome, Channel):
                    outcome.close()
        self._signal.close()
        self._signalled.close()

    def fileno(self) -> int:
        return self._signalled.fileno()

    def begin(self, connection: ssl.SSLSocket) -> None:
        """Greet a peer, and cut off the first of those that were greeted where there are too many."""
        try:
            channel = Channel(connection, "server")
        except EnvironmentMissing:
            return
        self._under_way = {one: thread for one, thread in self._under_way.items() if thread.is_alive()}
        if len(self._under_way) >= MOST_GREETED:
            next(iter(self._under_way)).kill()
        # The thread belongs to the work that waits for the load host.
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(self._greet, channel), daemon=True)
        self._under_way[channel] = thread
        thread.start()

    def outcome(self) -> Channel | EnvironmentMissing | Interrupted:
        """Return who is let in, or why one was not, once `fileno` is readable."""
        self._signalled.recv(1)
        outcome = self._outcomes.get()
        if isinstance(outcome, Channel):
            self._under_way.pop(outcome).join()
        return outcome

    def _greet(self, channel: Channel) -> None:
        outcome: Channel | EnvironmentMissing | Interrupted = channel
        try:
            channel.invite(self._secret, min(self._end, time.monotonic() + GREETING_SECONDS))
        except (EnvironmentMissing, Interrupted) as fault:
            channel.close()
            outcome = fault
        self._outcomes.put(outcome)
        self._signal.send(b"1")


class Listening:
    """A port that waits for the load host; `certificate` is the SHA-256 digest of the one that it presents."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._context, self.certificate = _new_certificate()
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
        _require_length(secret)
        end, refused = time.monotonic() + seconds, ""
        with _Greetings(secret, end) as greetings:
            while ready := _is_ready([(self._listening, select.POLLIN), (greetings, select.POLLIN)], end):
                self._owner.require_going_on()
                if greetings.fileno() in ready:
                    outcome = greetings.outcome()
                    if isinstance(outcome, Channel):
                        return outcome
                    refused = f"; the last one that tried was refused: {outcome.message}"
                elif (connection := self._connected()) is not None:
                    greetings.begin(connection)
        self._owner.require_going_on()
        raise EnvironmentMissing(f"no load host connected within {seconds:g} s{refused}")

    def _connected(self) -> ssl.SSLSocket | None:
        """Return a connection; none where its peer has gone meanwhile."""
        try:
            connection, _ = self._listening.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return None
        connection.setblocking(False)
        try:
            return self._context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        except (OSError, ValueError):
            connection.close()
            return None

    def close(self) -> None:
        """Close the port."""
        self.kill()
        self._owner.disown(self)
        self._listening.close()

    def kill(self) -> None:
        """Close the port to others: a thread that waits for it goes on."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)

    # A cancellation leaves it to whoever waits to close it.
    stop = kill


def _new_certificate() -> tuple[ssl.SSLContext, str]:
    """Make a key and its certificate, and return them with the SHA-256 digest of the certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "zerolap load")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .serial_number(x509.random_serial_number())
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .not_valid_before(now - CLOCKS_DIFFER)
        .not_valid_after(now + CLOCKS_DIFFER)
        .sign(key, hashes.SHA256())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # Nobody connects again to a port of one trial.
    context.num_tickets = 0
    encoding, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    # The file is its owner's alone, and the only form in which a context takes a key.
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        file.write(key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain))
        file.write(certificate.public_bytes(encoding))
        file.flush()
        context.load_cert_chain(Path(file.name))
    return context, certificate.fingerprint(hashes.SHA256()).hex()


@contextlib.contextmanager
def listen_for_load_host(bind_address: str) -> Iterator[Listening]:
    """Listen on an IP address of this machine until the context ends, on a free port unless it has one (`HOST:PORT`).

    Channels stay open. Raises `EnvironmentMissing` if the address cannot be listened on.
    """
    with _bound(bind_address) as bound, contextlib.closing(Listening(bound)) as listening:
        yield listening


def _bound(address: str) -> socket.socket:
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


def connect_to_server_host(address: str, certificate: str, secret: str, seconds: float) -> Channel:
    """Connect to a machine that listens at `HOST:PORT`, repeatedly while nobody does.

    `certificate` is the SHA-256 digest of its certificate. Raises `EnvironmentMissing` if that fails for `seconds`, if
    the certificate is another one or the secret is not accepted, `UsageError` for a secret that is too short.
    """
    _require_length(secret)
    owner, end = current_cancellation(), time.monotonic() + seconds
    place = _split(address, None)
    while True:
        owner.require_going_on()
        try:
            return _joined(place, certificate, secret)
        except (OSError, ChannelClosed, NoReply) as fault:
            # Also of a machine that is too busy to greet in time, or that others keep busy.
            if time.monotonic() > end:
                raise EnvironmentMissing(f"`{address}` cannot be reached: {fault}") from fault
        owner.wait(RETRY_SECONDS)


def _joined(place: tuple[str, int], certificate: str, secret: str) -> Channel:
    connection = socket.create_connection(place, GREETING_SECONDS)
    connection.setblocking(False)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # Without authorities: the certificate is compared with the one that is known.
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    channel = Channel(context.wrap_socket(connection, do_handshake_on_connect=False), "load")
    try:
        channel.join(certificate, secret, time.monotonic() + GREETING_SECONDS)
    except BaseException:
        channel.close()
        raise
    return channel


class _HasDescriptor(Protocol):
    def fileno(self) -> int:
        """Return the descriptor, below 0 where it is closed."""


def _is_ready(awaited: Sequence[tuple[_HasDescriptor, int]], end: float | None) -> set[int]:
    """Wait for an event of one of some descriptors, or its end; return those for which it has come in time."""
    closed = {descriptor for source, _ in awaited if (descriptor := source.fileno()) < 0}
    if closed:
        return closed
    poll = select.poll()
    for source, event in awaited:
        poll.register(source, event)
    seconds = None if end is None else max(0.0, end - time.monotonic())
    return {descriptor for descriptor, _ in poll.poll(None if seconds is None else seconds * 1000)}


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


def _require_length(secret: str) -> None:
    length = len(secret.encode())
    if length < LEAST_SECRET_BYTES:
        raise UsageError(f"the secret of a channel has {length} bytes, and needs {LEAST_SECRET_BYTES} at least")


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
