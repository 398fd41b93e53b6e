"""The channel between the two machines of a trial: who is let in, and what is noticed on the way."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from two_hosts import LOOPBACK, PATIENCE_SECONDS, SECRET
from waiting import wait_until

from zerolap.load import channel as channels
from zerolap.load.channel import Channel, ChannelClosed, connect_to_server_host, listen_for_load_host
from zerolap.load.hosts import LOAD_HOST
from zerolap.load.orders import MOST_REQUESTS
from zerolap.load.remote import RemoteLoadHost
from zerolap.load.serving import serve_load
from zerolap.records import Case, EnvironmentMissing, Interrupted, UsageError, ZerolapError
from zerolap.sandbox import Cancellation

OTHER_SECRET = "another one of the same length.."


@contextlib.contextmanager
def connected(on_the_way: Callable[[bytes], list[bytes]] | None = None) -> Iterator[tuple[Channel, Channel]]:
    """Yield the channel's side of the servers and that of the load; what the latter sends may be changed on the way."""
    with listen_for_load_host(LOOPBACK) as listening, contextlib.ExitStack() as stack, ThreadPoolExecutor() as pool:
        address = (
            listening.address if on_the_way is None else stack.enter_context(tapped(listening.address, on_the_way))
        )
        accepted = pool.submit(listening.accept, SECRET, PATIENCE_SECONDS)
        load = stack.enter_context(contextlib.closing(connect_to_server_host(address, SECRET, PATIENCE_SECONDS)))
        yield stack.enter_context(contextlib.closing(accepted.result())), load


@contextlib.contextmanager
def tapped(address: str, change: Callable[[bytes], list[bytes]]) -> Iterator[str]:
    """Someone between the machines, who sends other lines to the listening one than came; yield where to connect to."""
    host, _, port = address.rpartition(":")
    with socket.create_server((LOOPBACK, 0)) as outside, contextlib.ExitStack() as stack:
        ends: list[socket.socket] = []

        def relay() -> None:
            load, server = outside.accept()[0], socket.create_connection((host, int(port)))
            ends.extend((load, server))
            back = threading.Thread(target=copy, args=(server, load))
            back.start()
            with contextlib.suppress(OSError), load.makefile("rb") as lines:
                for line in lines:
                    for changed in change(line):
                        server.sendall(changed)
            back.join()

        def copy(source: socket.socket, target: socket.socket) -> None:
            with contextlib.suppress(OSError):
                while data := source.recv(65536):
                    target.sendall(data)

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


def only(number: int, change: Callable[[bytes], list[bytes]]) -> Callable[[bytes], list[bytes]]:
    """Return what changes one line, counted from 0, and leaves the others: the first two introduce the load host."""
    seen = iter(range(1 << 30))
    return lambda line: change(line) if next(seen) == number else [line]


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


def changed_byte(line: bytes) -> list[bytes]:
    return [line.replace(b"first", b"First")]


def taken_for_another(line: bytes) -> list[bytes]:
    """Other text with the code that belongs to the first."""
    return [line.partition(b" ")[0] + b" second\n"]


@pytest.mark.parametrize(
    "change",
    [
        only(2, changed_byte),
        only(2, taken_for_another),
        only(2, lambda _: []),
        only(2, lambda line: [b"\n", line]),
        only(2, lambda line: [line.partition(b" ")[2]]),
    ],
    ids=["altered", "exchanged", "left out", "inserted", "without a code"],
)
def test_a_line_that_is_not_the_next_one_is_noticed(change: Callable[[bytes], list[bytes]]) -> None:
    with connected(change) as (server, load):
        load.send(b"first")
        load.send(b"second")
        with pytest.raises(EnvironmentMissing, match="was lost: a line was altered, repeated or left out"):
            server.receive(PATIENCE_SECONDS)
        with pytest.raises(EnvironmentMissing, match="a line was altered"):
            server.send(b"more")


def test_a_line_that_is_repeated_is_noticed() -> None:
    with connected(only(2, lambda line: [line, line])) as (server, load):
        load.send(b"first")
        assert server.receive(PATIENCE_SECONDS) == b"first"
        with pytest.raises(EnvironmentMissing, match="a line was altered, repeated"):
            server.receive(PATIENCE_SECONDS)


def test_a_line_of_an_earlier_connection_is_noticed() -> None:
    recorded: list[bytes] = []

    def record(line: bytes) -> list[bytes]:
        recorded.append(line)
        return [line]

    with connected(only(2, record)) as (server, load):
        load.send(b"first")
        assert server.receive(PATIENCE_SECONDS) == b"first"
    with connected(only(2, lambda _: recorded)) as (server, load):
        load.send(b"second")
        with pytest.raises(EnvironmentMissing, match="a line was altered, repeated"):
            server.receive(PATIENCE_SECONDS)


def test_a_line_that_is_sent_back_is_noticed() -> None:
    """What one side has sent is no line of the other side."""
    with connected() as (server, load):
        server.send(b"first")
        line = load._line(channels.LONGEST_LINE_BYTES, None)
        load._send(line + b"\n")
        with pytest.raises(EnvironmentMissing, match="a line was altered"):
            server.receive(PATIENCE_SECONDS)


def test_a_line_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "LONGEST_LINE_BYTES", 1000)
    with connected() as (server, load):
        load._send(b"x" * 2000)
        with pytest.raises(EnvironmentMissing, match="a line of more than 1000 bytes"):
            server.receive(PATIENCE_SECONDS)


def test_a_side_that_is_gone_or_silent_is_lost() -> None:
    with connected() as (server, load):
        with pytest.raises(EnvironmentMissing, match="the load host was lost: it does not answer"):
            server.receive(0.01)
        with pytest.raises(ChannelClosed, match="the machine of the servers was lost"):
            load.receive(PATIENCE_SECONDS)


def test_a_secret_of_some_length_is_asked_for() -> None:
    with listen_for_load_host(LOOPBACK) as listening:
        with pytest.raises(UsageError, match="needs 16 at least"):
            listening.accept("short", 1)
        with pytest.raises(UsageError, match="needs 16 at least"):
            connect_to_server_host(listening.address, "short", 1)


def test_a_wrong_secret_is_refused_and_the_right_one_taken() -> None:
    with listen_for_load_host(LOOPBACK) as listening, ThreadPoolExecutor() as pool:
        accepted = pool.submit(listening.accept, SECRET, PATIENCE_SECONDS)
        with pytest.raises(EnvironmentMissing, match="does not know the secret"):
            connect_to_server_host(listening.address, OTHER_SECRET, PATIENCE_SECONDS)
        for nonsense in (b"GET / HTTP/1.1\r\n\r\n", b"", b"{}\n", b'{"protocol": "zerolap-load/9", "nonce": ""}\n'):
            with stranger(listening.address) as connection:
                connection.sendall(nonsense)
        with contextlib.closing(connect_to_server_host(listening.address, SECRET, PATIENCE_SECONDS)) as load:
            load.send(b"here")
            with contextlib.closing(accepted.result()) as server:
                assert server.receive(PATIENCE_SECONDS) == b"here"


def stranger(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)))


def test_who_does_not_prove_the_secret_is_refused() -> None:
    """A load host that does not mind whether the other side knows the secret has to know it all the same."""
    nonce, zeros = "ab" * 32, "0" * 64
    with listen_for_load_host(LOOPBACK) as listening, ThreadPoolExecutor() as pool:
        accepted = pool.submit(listening.accept, SECRET, PATIENCE_SECONDS)
        with stranger(listening.address) as connection, connection.makefile("rb") as lines:
            connection.sendall(b'{"protocol": "%s", "nonce": "%s"}\n' % (channels.PROTOCOL.encode(), nonce.encode()))
            assert b"proof" in lines.readline()
            connection.sendall(b'{"proof": "%s"}\n' % zeros.encode())
            assert lines.readline() == b""
        with contextlib.closing(connect_to_server_host(listening.address, SECRET, PATIENCE_SECONDS)):
            accepted.result().close()


def test_nobody_who_comes_is_waited_for_so_long() -> None:
    with (
        listen_for_load_host(LOOPBACK) as listening,
        pytest.raises(EnvironmentMissing, match=r"no load host connected within 0\.05 s"),
    ):
        listening.accept(SECRET, 0.05)
    with pytest.raises(EnvironmentMissing, match="cannot be reached"):
        connect_to_server_host(listening_address_of_nobody(), SECRET, 0.05)
    with pytest.raises(EnvironmentMissing, match="cannot be listened on"), listen_for_load_host("192.0.2.1"):
        pytest.fail("it listens")
    with pytest.raises(UsageError, match="no port"):
        connect_to_server_host("192.0.2.1", SECRET, 0.05)


def listening_address_of_nobody() -> str:
    with socket.create_server((LOOPBACK, 0)) as closed:
        return f"{LOOPBACK}:{closed.getsockname()[1]}"


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


DONE = '{"answer": "done"}'
SLICE = (
    '{"answer": "slice", "result": {"requests": 100, "succeeded": 100, "elapsed_ns": 5000, "client_cpu_ns": 50,'
    ' "ops_per_sec": 2e7, "latency_us": {"p50": 1, "p99": 1, "p99_9": 1, "max": 1}, "histogram_ns": [[1000, 100]],'
    ' "replies": {"bulk": 100}, "nils": 0, "zeros": 0, "errors": {}}}'
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
        (SLICE, '{"answer": "seen", "checks": []}'),
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
    return f'{{"answer": "seen", "checks": [{", ".join(checks)}]}}'


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
