"""The channel between the two machines of a trial: who is let in, and what is noticed on the way."""

import contextlib
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from free_ports import bound_port
from two_hosts import LOOPBACK, PATIENCE_SECONDS, SECRET
from waiting import wait_until

from zerolap.load.remote import channel as channels
from zerolap.load.remote.channel import Channel, ChannelClosed, Listening, connect_to_server_host, listen_for_load_host
from zerolap.load.remote.load_side import serve_load
from zerolap.load.remote.orders import MOST_REQUESTS
from zerolap.load.remote.server_side import RemoteLoadHost
from zerolap.records import LOAD_HOST, Case, EnvironmentMissing, Interrupted, UsageError, ZerolapError
from zerolap.sandbox import Cancellation

OTHER_SECRET = "another one of the same length.."


OTHER_CERTIFICATE = "0" * 64


def joined(listening: Listening, address: str = "", certificate: str = "", secret: str = SECRET) -> Channel:
    """Connect as the load host, by default as the one that is waited for."""
    address, certificate = address or listening.address, certificate or listening.certificate
    return connect_to_server_host(address, certificate, secret, PATIENCE_SECONDS)


@contextlib.contextmanager
def connected(on_the_way: Callable[[bytes], bytes] | None = None) -> Iterator[tuple[Channel, Channel]]:
    """Yield the channel's side of the servers and that of the load; what the latter sends may be changed on the way."""
    with listen_for_load_host(LOOPBACK) as listening, contextlib.ExitStack() as stack, ThreadPoolExecutor() as pool:
        address = "" if on_the_way is None else stack.enter_context(tapped(listening.address, on_the_way))
        accepted = pool.submit(listening.accept, SECRET, PATIENCE_SECONDS)
        load = stack.enter_context(contextlib.closing(joined(listening, address)))
        yield stack.enter_context(contextlib.closing(accepted.result())), load


@contextlib.contextmanager
def tapped(address: str, change: Callable[[bytes], bytes]) -> Iterator[str]:
    """Someone between the machines, who changes what is sent to the listening one; yield where to connect to."""
    host, _, port = address.rpartition(":")
    with socket.create_server((LOOPBACK, 0)) as outside, contextlib.ExitStack() as stack:
        ends: list[socket.socket] = []

        def relay() -> None:
            load, server = outside.accept()[0], socket.create_connection((host, int(port)))
            ends.extend((load, server))
            back = threading.Thread(target=copy, args=(server, load, bytes))
            back.start()
            copy(load, server, change)
            back.join()

        def copy(source: socket.socket, target: socket.socket, change: Callable[[bytes], bytes]) -> None:
            with contextlib.suppress(OSError):
                while data := source.recv(65536):
                    target.sendall(change(data))

        def end() -> None:
            for connection in ends:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in ends:
                connection.close()

        thread = threading.Thread(target=relay)
        thread.start()
        stack.callback(end)
        yield f"{LOOPBACK}:{outside.getsockname()[1]}"


def test_lines_arrive_in_both_directions() -> None:
    long = b"x" * (3 << 20)
    with connected() as (server, load), ThreadPoolExecutor() as pool:
        assert (server.own_address, load.peer_address) == (LOOPBACK, LOOPBACK)
        for line in (b"{}", b"", b" a line with blanks ", long):
            sent = pool.submit(server.send, line)
            assert load.receive(PATIENCE_SECONDS) == line
            sent.result()
            sent = pool.submit(load.send, line)
            assert server.receive(PATIENCE_SECONDS) == line
            sent.result()


def test_both_sides_send_and_receive_at_the_same_time() -> None:
    lines = [bytes([letter]) * (1 << 20) for letter in b"abcdefgh"]

    def send_all(channel: Channel) -> None:
        for line in lines:
            channel.send(line)

    def receive_all(channel: Channel) -> list[bytes]:
        return [channel.receive(PATIENCE_SECONDS) for _ in lines]

    with connected() as (server, load), ThreadPoolExecutor() as pool:
        sending = [pool.submit(send_all, channel) for channel in (server, load)]
        received = [pool.submit(receive_all, channel) for channel in (server, load)]
        assert [of_channel.result() for of_channel in received] == [lines, lines]
        for sent in sending:
            sent.result()


def consume(channel: Channel) -> None:
    while True:
        channel.receive(PATIENCE_SECONDS)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: data + data,
        lambda data: b"x" + data,
        lambda data: data[5:],
    ],
    ids=["altered", "repeated", "inserted", "left out"],
)
def test_what_is_changed_on_the_way_ends_the_channel(change: Callable[[bytes], bytes]) -> None:
    is_on = threading.Event()
    with connected(lambda data: change(data) if is_on.is_set() else data) as (server, load):
        load.send(b"unchanged")
        assert server.receive(PATIENCE_SECONDS) == b"unchanged"
        is_on.set()
        load.send(b"first")
        # What is repeated arrives once, before the repetition is noticed.
        with pytest.raises(EnvironmentMissing, match="the load host was lost"):
            consume(server)
        with pytest.raises(EnvironmentMissing, match="the load host was lost"):
            server.send(b"more")


def test_nothing_that_is_sent_can_be_read_on_the_way() -> None:
    passed: list[bytes] = []

    def record(data: bytes) -> bytes:
        passed.append(data)
        return data

    with connected(record) as (server, load):
        load.send(b"an order in plain text")
        assert server.receive(PATIENCE_SECONDS) == b"an order in plain text"
    everything = b"".join(passed)
    assert everything
    assert SECRET.encode() not in everything
    assert b"plain text" not in everything


def test_a_line_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "LONGEST_LINE_BYTES", 1000)
    with connected() as (server, load):
        load.send(b"x" * 20_000)
        with pytest.raises(EnvironmentMissing, match="a line of more than 1000 bytes"):
            server.receive(PATIENCE_SECONDS)


def test_a_side_that_is_gone_or_silent_is_lost() -> None:
    with connected() as (server, load):
        with pytest.raises(EnvironmentMissing, match="the load host was lost: it does not answer"):
            server.receive(0.01)
        with pytest.raises(ChannelClosed, match="the machine of the servers was lost"):
            load.receive(PATIENCE_SECONDS)


def test_a_channel_that_is_killed_ends_the_wait_of_another_thread() -> None:
    with connected() as (server, _), ThreadPoolExecutor() as pool:
        waiting = pool.submit(server.receive)
        server.kill()
        with pytest.raises(ChannelClosed, match="the load host was lost"):
            waiting.result(PATIENCE_SECONDS)


def test_a_secret_of_some_length_is_asked_for() -> None:
    with listen_for_load_host(LOOPBACK) as listening:
        with pytest.raises(UsageError, match="needs 16 at least"):
            listening.accept("short", 1)
        with pytest.raises(UsageError, match="needs 16 at least"):
            joined(listening, secret="short")


def test_a_wrong_secret_is_refused_and_the_right_one_accepted() -> None:
    with listen_for_load_host(LOOPBACK) as listening, ThreadPoolExecutor() as pool:
        accepted = pool.submit(listening.accept, SECRET, PATIENCE_SECONDS)
        with pytest.raises(EnvironmentMissing, match="it does not accept the secret"):
            joined(listening, secret=OTHER_SECRET)
        for nonsense in (b"GET / HTTP/1.1\r\n\r\n", b"", b"{}\n", b"\x16\x03\x01\x40\x00" + b"x" * 20_000):
            with stranger(listening.address) as connection, contextlib.suppress(OSError):
                connection.sendall(nonsense)
        for nonsense in (b"GET / HTTP/1.1\r\n\r\n", b"zerolap-load/9 " + SECRET.encode() + b"\n", b"x" * 100_000):
            with contextlib.suppress(OSError), encrypted(listening.address) as connection:
                connection.sendall(nonsense)
                assert connection.recv(1) == b""
        with contextlib.closing(joined(listening)) as load:
            load.send(b"here")
            with contextlib.closing(accepted.result()) as server:
                assert server.receive(PATIENCE_SECONDS) == b"here"


def assert_refused(tried: str, waited: str, secret: str = SECRET, certificate: str = "") -> None:
    """Have a load host try that is not let in; assert what it and who waits for one report once nobody has come.

    A machine on which the try takes longer than it is waited for has more time.
    """
    reports = []
    for seconds in (1.0, 10.0, PATIENCE_SECONDS):
        with listen_for_load_host(LOOPBACK) as listening, ThreadPoolExecutor() as pool:
            accepted = pool.submit(listening.accept, SECRET, seconds)
            with pytest.raises(EnvironmentMissing) as of_load_host:
                connect_to_server_host(listening.address, certificate or listening.certificate, secret, seconds)
            with pytest.raises(EnvironmentMissing, match="no load host connected") as of_waiting:
                accepted.result()
        reports.append((of_load_host.value.message, of_waiting.value.message))
        if re.search(tried, reports[-1][0]) and re.search(waited, reports[-1][1]):
            return
    raise AssertionError(reports)


def test_who_waits_without_the_secret_is_refused_with_the_reason() -> None:
    assert_refused(
        "it does not accept the secret",
        r"the last one that tried was refused: .*not know the secret",
        secret=OTHER_SECRET,
    )


def test_a_machine_with_another_certificate_is_not_sent_the_secret() -> None:
    """Who takes the address of the machine of the servers has a certificate of its own."""
    assert_refused("its certificate is another one", "no load host connected", certificate=OTHER_CERTIFICATE)


def test_a_load_host_that_is_cut_off_before_it_is_let_in_tries_again() -> None:
    """As a busy machine does with the first of too many peers."""
    with (
        listen_for_load_host(LOOPBACK) as listening,
        ThreadPoolExecutor() as pool,
        socket.create_server((LOOPBACK, 0)) as outside,
    ):
        address = f"{LOOPBACK}:{outside.getsockname()[1]}"
        joining = pool.submit(joined, listening, address)
        outside.accept()[0].close()
        accepted = pool.submit(listening.accept, SECRET, PATIENCE_SECONDS)
        relayed, _ = outside.accept()
        with relayed, stranger(listening.address) as inside:
            for source, target in ((relayed, inside), (inside, relayed)):
                pool.submit(copy_all, source, target)
            with contextlib.closing(joining.result()), contextlib.closing(accepted.result()):
                pass
            for connection in (relayed, inside):
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


def copy_all(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)


def test_each_port_has_a_certificate_of_its_own() -> None:
    with listen_for_load_host(LOOPBACK) as one, listen_for_load_host(LOOPBACK) as other:
        assert one.certificate != other.certificate


def test_silent_strangers_do_not_hold_off_the_load_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "GREETING_SECONDS", PATIENCE_SECONDS)
    with (
        listen_for_load_host(LOOPBACK) as listening,
        ThreadPoolExecutor() as pool,
        contextlib.ExitStack() as strangers,
    ):
        silent = [strangers.enter_context(stranger(listening.address)) for _ in range(channels.MOST_GREETED + 20)]
        accepted = pool.submit(listening.accept, SECRET, PATIENCE_SECONDS)
        with contextlib.closing(joined(listening)) as load, contextlib.closing(accepted.result()) as server:
            load.send(b"here")
            assert server.receive(PATIENCE_SECONDS) == b"here"
        # Once the load host is there all others are cut off.
        for connection in silent:
            connection.settimeout(PATIENCE_SECONDS)
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(1) == b""


def stranger(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)))


def encrypted(address: str) -> ssl.SSLSocket:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(stranger(address))


def test_nobody_who_comes_is_waited_for_so_long() -> None:
    with (
        listen_for_load_host(LOOPBACK) as listening,
        pytest.raises(EnvironmentMissing, match=r"no load host connected within 0\.05 s"),
    ):
        listening.accept(SECRET, 0.05)
    with bound_port(LOOPBACK) as port, pytest.raises(EnvironmentMissing, match="cannot be reached"):
        connect_to_server_host(f"{LOOPBACK}:{port}", OTHER_CERTIFICATE, SECRET, 0.05)
    with pytest.raises(EnvironmentMissing, match="cannot be listened on"), listen_for_load_host("192.0.2.1"):
        pytest.fail("it listens")
    with pytest.raises(UsageError, match="no port"):
        connect_to_server_host("192.0.2.1", OTHER_CERTIFICATE, SECRET, 0.05)


@pytest.mark.parametrize(
    ("address", "split"),
    [
        ("192.0.2.1", ("192.0.2.1", 0)),
        ("192.0.2.1:80", ("192.0.2.1", 80)),
        ("[2001:db8::1]:80", ("2001:db8::1", 80)),
        ("2001:db8::1", ("2001:db8::1", 0)),
        ("[2001:db8::1]", ("2001:db8::1", 0)),
        ("bench-1.example:80", ("bench-1.example", 80)),
        ("bench-1.example", ("bench-1.example", 0)),
    ],
)
def test_addresses_are_read(address: str, split: tuple[str, int]) -> None:
    assert channels._split(address, 0) == split


def test_a_cancellation_ends_every_wait() -> None:
    def wait_for(step: Callable[[threading.Event], object]) -> None:
        cancellation, ended, is_connected = Cancellation(), list[ZerolapError](), threading.Event()

        def run() -> None:
            try:
                with cancellation.current():
                    step(is_connected)
            except ZerolapError as fault:
                ended.append(fault)

        thread = threading.Thread(target=run)
        thread.start()
        wait_until(lambda: is_connected.is_set() or not thread.is_alive())
        cancellation.cancel()
        thread.join()
        assert [type(fault) for fault in ended] == [Interrupted]

    def accept(is_connected: threading.Event) -> None:
        with listen_for_load_host(LOOPBACK) as listening:
            is_connected.set()
            listening.accept(SECRET, 3600)

    def receive(is_connected: threading.Event) -> None:
        # The other side is accepted in a thread of its own, and belongs to nobody.
        with connected() as (_server, load):
            is_connected.set()
            load.receive()

    def serve(is_connected: threading.Event) -> None:
        with connected() as (_server, load):
            is_connected.set()
            serve_load(load)

    for step in (accept, receive, serve):
        wait_for(step)


# What is said


class Liar(threading.Thread):
    """A load host that answers each order with the next of some texts."""

    def __init__(self, load: Channel, *answers: str) -> None:
        super().__init__()
        self._load = load
        self._answers = answers

    def run(self) -> None:
        with contextlib.suppress(ZerolapError):
            for answer in self._answers:
                self._load.receive()
                self._load.send(answer.encode())


DONE = '{"reply": "done"}'
SLICE = (
    '{"reply": "slice", "result": {"requests": 100, "succeeded": 100, "elapsed_ns": 5000, "client_cpu_ns": 50,'
    ' "ops_per_sec": 2e7, "latency_us": {"p50": 1, "p99": 1, "p99_9": 1, "max": 1}, "histogram_ns": [[1000, 100]],'
    ' "replies": {"bulk": 100}, "misses": 0, "errors": {}}}'
)


@pytest.fixture
def case() -> Case:
    return Case.model_validate({"name": "ping", "group": "checks", "commands": ["PING"]})


@contextlib.contextmanager
def told(*answers: str) -> Iterator[RemoteLoadHost]:
    with connected() as (server, load):
        liar = Liar(load, *answers)
        liar.start()
        yield RemoteLoadHost(server)
        server.close()
        liar.join()


def test_a_slice_is_what_the_load_host_says(case: Case) -> None:
    with told(DONE, SLICE, DONE) as host, host.start(case, 1, 1) as load:
        assert load.slice(100).elapsed_ns == 5000


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"requests": 100', '"requests": 99'),
        ('"elapsed_ns": 5000', '"elapsed_ns": 0'),
        ('"elapsed_ns": 5000', '"elapsed_ns": -1'),
        ('"elapsed_ns": 5000', f'"elapsed_ns": 1{"0" * 400}'),
        ('"ops_per_sec": 2e7', '"ops_per_sec": NaN'),
        ('"ops_per_sec": 2e7', '"ops_per_sec": 1e999'),
        ('"p50": 1', '"p50": Infinity'),
        ("[[1000, 100]]", "[]"),
        ("[[1000, 100]]", "[[1000, -100]]"),
        (SLICE, DONE),
        (SLICE, "{"),
        (SLICE, '{"reply": "seen", "checks": []}'),
        (SLICE, "[]"),
    ],
)
def test_figures_that_cannot_be_are_not_taken(case: Case, old: str, new: str) -> None:
    assert old in SLICE
    with (
        told(DONE, SLICE.replace(old, new)) as host,
        pytest.raises(EnvironmentMissing, match="the load host was lost"),
        host.start(case, 1, 1) as load,
    ):
        load.slice(100)


def test_slices_do_not_grow_without_end(case: Case) -> None:
    with (
        told(DONE) as host,
        pytest.raises(EnvironmentMissing, match="times that cannot be"),
        host.start(case, 1, 1) as load,
    ):
        load.slice(MOST_REQUESTS + 1)


CHECKS = ("steal", "other_load", "swap", "suspended_seconds", "clock_stepped_seconds")


def seen(*names: str, value: str = "0.5") -> str:
    checks = [f'{{"check": "{name}", "ok": true, "value": {value}, "limit": "<= 1"}}' for name in names]
    return f'{{"reply": "seen", "checks": [{", ".join(checks)}]}}'


def test_checks_of_the_load_host_have_names_of_their_own() -> None:
    with told(DONE, seen(*CHECKS)) as host:
        with host.watch() as watch:
            pass
        assert [check.check for check in watch.checks()] == [LOAD_HOST + name for name in CHECKS]


@pytest.mark.parametrize(
    "answer",
    [seen(), seen("steal"), seen(*CHECKS, "hit_rate"), seen(*CHECKS, value="NaN"), seen(*CHECKS, value='"much"'), DONE],
)
def test_other_checks_are_not_taken(answer: str) -> None:
    with (
        told(DONE, answer) as host,
        pytest.raises(EnvironmentMissing, match="the load host was lost"),
        host.watch(),
    ):
        pass


@pytest.mark.parametrize(
    "order",
    [
        "{}",
        "[]",
        '{"order": "run", "command": "sh"}',
        '{"order": "slice", "name": "1", "requests": 0}',
        f'{{"order": "slice", "name": "1", "requests": {MOST_REQUESTS + 1}}}',
        '{"order": "stop", "name": "1", "more": 1}',
        '{"order": "stop", "name": ""}',
    ],
)
def test_what_is_no_order_ends_the_work(order: str) -> None:
    with connected() as (server, load):
        server.send(order.encode())
        with pytest.raises(EnvironmentMissing, match="gives an order that is none"):
            serve_load(load)


def test_orders_without_end_end_the_work() -> None:
    with connected() as (server, load):
        with contextlib.suppress(EnvironmentMissing):
            for _ in range(1000):
                server.send(b'{"order": "begin watch"}')
        with pytest.raises(EnvironmentMissing, match="does not wait for answers"):
            serve_load(load)


@pytest.mark.parametrize("order", ['{"order": "stop", "name": "1"}', '{"order": "end watch"}'])
def test_an_order_for_what_is_not_there_is_answered(order: str) -> None:
    with connected() as (server, load), ThreadPoolExecutor() as pool:
        serving = pool.submit(serve_load, load)
        server.send(order.encode())
        assert b'"by":"environment"' in server.receive(PATIENCE_SECONDS)
        server.close()
        serving.result()
