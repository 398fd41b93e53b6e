"""A lab answers while connections are many, slow and silent, and refuses other names than its own."""

import contextlib
import socket
import time
from collections.abc import Iterator

import httpx
import pytest
from command_line import Zerolap
from http_server import free_port
from stored_comparison import stored_token
from waiting import wait_until

from zerolap.api.hosts import is_permitted
from zerolap.api.refusals import Refusals
from zerolap.store import Store

HALF_REQUEST = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"


@contextlib.contextmanager
def serving(zerolap: Zerolap, *options: str) -> Iterator[str]:
    """Serve as a process; yields its URL."""
    port = free_port()
    child = zerolap.start("serve", "--listen", f"127.0.0.1:{port}", "--store", zerolap.store, *options)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: is_answered(url))
        yield url
    finally:
        child.terminate()
        child.communicate()


def is_answered(url: str) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(f"{url}/health").status_code == 200
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
    with serving(zerolap) as url, half_open(url, 600), httpx.Client() as client:
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
            connection.settimeout(60)
            assert connection.recv(100) == b""
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as dripping:
            dripping.settimeout(60)
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
    assert httpx.get(f"{shared_lab}/health", headers={"Host": host}).status_code == code


@pytest.fixture(scope="module")
def shared_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    zerolap = Zerolap(tmp_path_factory.mktemp("lab"))
    with serving(zerolap, "--host", "lab.example.org") as url:
        yield url


def test_reports_need_a_token_unless_they_are_public(zerolap: Zerolap, shared_lab: str) -> None:
    assert httpx.get(f"{shared_lab}/").status_code == 401
    with serving(zerolap, "--public-reports") as url:
        assert httpx.get(f"{url}/").status_code == 200


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
