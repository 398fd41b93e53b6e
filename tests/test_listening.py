"""A lab answers while connections are many, slow and silent, and refuses other names than its own."""

import asyncio
import contextlib
import resource
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import uvicorn
from command_line import PROGRAM, Zerolap
from free_ports import free_port
from stored_comparison import stored_token
from waiting import PATIENCE_SECONDS, wait_until

from zerolap.api.host_names import is_permitted
from zerolap.api.http_protocol import protocol_of
from zerolap.api.listening import ConnectionLimits, Connections, Listener
from zerolap.api.refusals import Refusals
from zerolap.api.serving import Address
from zerolap.errors import UsageError
from zerolap.store import Store
from zerolap.triggers.webhooks.rates import network_of

FEW_DESCRIPTORS, MANY = 400, 5_000
HALF_REQUEST = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"


@contextlib.contextmanager
def serving(zerolap: Zerolap, *options: str) -> Iterator[str]:
    """Serve as a process; yields its URL."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with zerolap.running("serve", "--listen", f"127.0.0.1:{port}", "--store", zerolap.store, *options):
        wait_until(lambda: is_answered(url))
        yield url


def got(url: str, **headers: str) -> httpx.Response:
    return httpx.get(url, headers=headers, timeout=PATIENCE_SECONDS, trust_env=False)


def is_answered(url: str) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return got(f"{url}/health").status_code == 200
    return False


@contextlib.contextmanager
def half_open(url: str, number: int) -> Iterator[list[socket.socket]]:
    """Open connections that send half a request, from a few addresses of this machine."""
    port = int(url.rpartition(":")[2])
    connections = []
    try:
        for place in range(number):
            connection = socket.socket()
            connection.bind((f"127.0.1.{1 + place % 50}", 0))
            connection.connect(("127.0.0.1", port))
            connection.sendall(HALF_REQUEST)
            connections.append(connection)
        yield connections
    finally:
        for connection in connections:
            connection.close()


def test_it_answers_beside_half_open_connections_and_wrong_tokens(zerolap: Zerolap) -> None:
    with Store.open(str(zerolap.store)) as store:
        token = stored_token(store, "ci", "read")
    with (
        serving(zerolap) as url,
        half_open(url, 600),
        httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False) as client,
    ):
        for _ in range(200):
            assert client.get(f"{url}/api/v1/comparisons", headers={"Authorization": "Bearer wrong"}).status_code in (
                401,
                429,
            )
        right = {"Authorization": f"Bearer {token}"}
        assert client.get(f"{url}/api/v1/comparisons", headers=right).status_code == 200
        assert is_answered(url)


def test_one_address_has_a_share_and_makes_room_for_who_sends_a_request(
    zerolap: Zerolap, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All from one address: the oldest of them make room.
    with serving(zerolap) as url:
        port = int(url.rpartition(":")[2])
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(1100)]
        try:
            assert is_answered(url)
            closed = 0
            for connection in silent[:80]:
                connection.setblocking(False)
                with contextlib.suppress(BlockingIOError, ConnectionResetError):
                    closed += connection.recv(1) == b""
            assert closed > 0
        finally:
            for connection in silent:
                connection.close()


@pytest.mark.slow
def test_half_open_connections_leave_descriptors_for_the_lab(zerolap: Zerolap) -> None:
    port, log = free_port(), zerolap.directory / "serve.log"
    limit = f"--nofile={FEW_DESCRIPTORS}:{FEW_DESCRIPTORS}"
    words = ["prlimit", limit, *PROGRAM, "serve", "--listen", f"127.0.0.1:{port}", "--store", str(zerolap.store)]
    with log.open("w") as output:
        child = subprocess.Popen(words, cwd=zerolap.directory, stdout=output, stderr=output)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: is_answered(url))
        with half_open(url, 2 * FEW_DESCRIPTORS):
            assert is_answered(url)
            assert "Too many open files" not in log.read_text()
    finally:
        child.terminate()
        child.wait()


@pytest.mark.slow
def test_it_answers_beside_five_thousand_half_open_connections(zerolap: Zerolap) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < MANY + 500:
        pytest.skip(f"{MANY} connections need more than the {hard} descriptors that a process may have here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        with serving(zerolap) as url, half_open(url, MANY):
            assert is_answered(url)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_an_answer_is_read_slowly_for_longer_than_a_head_may_take() -> None:
    limits = ConnectionLimits(head_seconds=0.1)
    content = b"x" * (32 << 20)
    with answering(content, limits) as connections, reader_of(connections) as reader:
        read = len(reader.recv(1000))
        # As sweeping does after a while.
        time.sleep(2 * limits.head_seconds)
        connections.loop.call_soon_threadsafe(connections.connections.close_slow)
        while piece := reader.recv(1 << 20):
            read += len(piece)
    assert read > len(content)


def test_who_reads_nothing_of_an_answer_is_cut() -> None:
    limits = ConnectionLimits(reading_seconds=0.1)
    with answering(b"x" * (32 << 20), limits) as connections, reader_of(connections) as reader:
        wait_until(lambda: connections.connections.refusals.total["slow_readers"])
        read = 0
        with contextlib.suppress(ConnectionError):
            while piece := reader.recv(1 << 20):
                read += len(piece)
    assert read < 32 << 20


def test_connections_whose_answers_are_not_read_make_room() -> None:
    limits = ConnectionLimits(total=3, per_address=3)
    with answering(b"x" * (32 << 20), limits) as server, contextlib.ExitStack() as readers:
        unread = [readers.enter_context(reader_of(server)) for _ in range(limits.total)]
        for reader in unread:
            assert reader.recv(1)
        with reader_of(server) as reader:
            assert reader.recv(4) == b"HTTP"


@pytest.mark.parametrize(
    "text", ["7480", "localhost", "::1:7480", "[::1]", "[::1]7480", "[::1:7480", "127.0.0.1:65536", "127.0.0.1:", ":1"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Address.parse(text)


def test_addresses_are_read() -> None:
    assert Address.parse("[::1]:7480") == Address("::1", 7480)
    assert Address.parse("[fe80::1%eth0]:1") == Address("fe80::1%eth0", 1)
    assert Address.parse("lab.example.org:7480") == Address("lab.example.org", 7480)


def has_ipv6() -> bool:
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        return True
    return False


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_it_listens_at_several_addresses(zerolap: Zerolap) -> None:
    port = free_port()
    with serving(zerolap, "--listen", f"[::1]:{port}", "--listen", f"127.0.0.2:{port}"):
        assert is_answered(f"http://[::1]:{port}")
        assert is_answered(f"http://127.0.0.2:{port}")
    families = set()
    for listener in Listener.all_at("localhost", 0, Connections(ConnectionLimits(), Refusals())):
        families.add(listener.family)
        listener.close()
    assert families == {family for family, *_ in socket.getaddrinfo("localhost", 0)}


@dataclass
class Answering:
    """A server in a thread: its port, its connections, and the loop that they are used in."""

    port: int
    connections: Connections
    loop: asyncio.AbstractEventLoop


@contextlib.contextmanager
def answering(content: bytes, limits: ConnectionLimits) -> Iterator[Answering]:
    """Answer every request with a content."""

    async def application(_scope: Any, _receive: Any, send: Any) -> None:
        length = (b"content-length", str(len(content)).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": content})

    connections = Connections(limits, Refusals())
    [listener] = Listener.all_at("127.0.0.1", 0, connections)
    settings = uvicorn.Config(application, http=protocol_of(connections), log_config=None, lifespan="off", ws="none")
    server = uvicorn.Server(settings)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_until_complete, args=(server.serve([listener]),))
    thread.start()
    try:
        wait_until(lambda: server.started)
        yield Answering(listener.getsockname()[1], connections, loop)
    finally:
        server.should_exit = server.force_exit = True
        thread.join()
        loop.close()


@contextlib.contextmanager
def reader_of(server: Answering) -> Iterator[socket.socket]:
    """Send a request, and have the answer read through a small buffer."""
    with socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.settimeout(PATIENCE_SECONDS)
        reader.connect(("127.0.0.1", server.port))
        reader.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        yield reader


def test_addresses_of_one_network_are_counted_together() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8:0:0:ffff::2") == network_of("2001:DB8::2")
    assert network_of("2001:db8:0:1::1") != network_of("2001:db8::1")
    assert len(network_of("a" * 60_000)) < 100
    assert network_of("::ffff:192.0.2.1") == network_of("192.0.2.1") != network_of("192.0.2.2")


def is_cut(connection: socket.socket, letter: bytes) -> bool:
    """Send another letter, and return whether the other side has closed the connection."""
    try:
        connection.sendall(letter)
    except ConnectionError:
        return True
    return False


@pytest.mark.slow
def test_a_connection_that_sends_no_request_is_closed(zerolap: Zerolap) -> None:
    with serving(zerolap) as url:
        with half_open(url, 1) as [connection, *_]:
            connection.settimeout(PATIENCE_SECONDS)
            assert connection.recv(100) == b""
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as dripping:
            dripping.settimeout(PATIENCE_SECONDS)
            letters = iter(HALF_REQUEST + b"X: " + b"a" * 1000)
            wait_until(lambda: is_cut(dripping, bytes([next(letters)])), lambda: time.sleep(0.2))
        assert is_answered(url)


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("localhost", 200),
        ("127.0.0.1:7480", 200),
        ("[::1]:7480", 200),
        ("lab.example.org", 200),
        ("LAB.example.org.:7480", 200),
        ("evil.example.com", 421),
        ("127.0.0.1.evil.example.com", 421),
        ("", 421),
    ],
)
def test_other_names_are_refused(zerolap: Zerolap, shared_lab: str, host: str, code: int) -> None:
    assert got(f"{shared_lab}/health", Host=host).status_code == code


@pytest.fixture(scope="module")
def shared_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    zerolap = Zerolap(tmp_path_factory.mktemp("lab"))
    with serving(zerolap, "--host", "lab.example.org") as url:
        yield url


def test_reports_need_a_token_unless_they_are_public(zerolap: Zerolap, shared_lab: str) -> None:
    assert got(f"{shared_lab}/").status_code == 401
    with serving(zerolap, "--public-reports") as url:
        assert got(f"{url}/").status_code == 200


def test_refusals_are_logged_by_cause_with_their_number(capsys: pytest.CaptureFixture[str]) -> None:
    refusals = Refusals()
    for _ in range(1000):
        refusals.count("wrong_tokens")
    refusals.count("hosts")
    refusals.log_new()
    refusals.log_new()
    written = capsys.readouterr().out
    assert written.count("refused") == 1
    assert "wrong_tokens=1000" in written
    assert "hosts=1" in written


def test_names_with_addresses_in_them_are_no_addresses() -> None:
    assert not is_permitted("1.2.3.4.nip.io", {"localhost"})
    assert is_permitted("[::1]", ())
