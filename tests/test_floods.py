"""Floods of strangers cost the lab little: what is costly is made once, and holders of tokens go before strangers."""

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
import pytest
from flood import Flood, flooding, get
from http_server import served_lab
from stored_comparison import stored_token
from waiting import PATIENCE_SECONDS, wait_until
from webhook_payloads import settings_of_tests

from zerolap.api import authorization
from zerolap.api.active_requests import MOST_OF_CLIENT
from zerolap.api.http_protocol import MOST_HEAD_BYTES, MOST_HEAD_LINES, MOST_SMALL_CHUNKS
from zerolap.api.metrics import KnownMetrics
from zerolap.api.strangers import AT_ONCE, ClientGone, StrangersTurns, leave_queue
from zerolap.store import Store

UNSIGNED = ("X-GitHub-Event: push", f"X-Hub-Signature-256: sha256={'0' * 64}")


def post(path: str, body: str, *headers: str) -> str:
    return get(path, f"Content-Length: {len(body)}", *headers).replace("GET", "POST", 1) + body


FLOODS: Mapping[str, str] = MappingProxyType(
    {
        "description": get("/openapi.json"),
        "sign-in": get("/sign-in"),
        "session": get("/api/v1/session"),
        "health": get("/health"),
        "metrics": get("/metrics"),
        "no file": get("/assets/none.js"),
        "no page": get("/" + "a/" * 5000, "Accept: text/html"),
        "badge": get("/badges/branch.svg?repository=a/b&branch=c"),
        "many parameters": get("/api/v1/pages/opportunities?" + "&".join(f"x{n}=y" for n in range(500))),
        "wrong token": get("/api/v1/comparisons", f"Authorization: Bearer zl_{'A' * 43}"),
        "many cookies": get("/", "Cookie: " + "; ".join(f"a{n}=b" for n in range(3000))),
        "delivery": post("/webhooks/github", "[" * 200_000, *UNSIGNED),
        "body of a stranger": post("/api/v1/comparisons", "x" * 500_000),
    }
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A lab whose reports need a token; yields its URL and the token of a reader."""
    directory = tmp_path_factory.mktemp("lab")
    settings = settings_of_tests()
    with Store.open(str(directory / "store")) as store:
        token = stored_token(store, "reader", "read")
        with served_lab(store, settings, directory / "mirrors") as url:
            yield url, token


@pytest.mark.parametrize("name", FLOODS)
def test_holders_are_answered_beside_a_flood(lab: tuple[str, str], name: str) -> None:
    url, token = lab
    flood = Flood(int(url.rpartition(":")[2]), FLOODS[name], connections=40, addresses=2, seconds=20, answers=100)
    headers = {"Authorization": f"Bearer {token}"}
    with flooding(flood) as child, httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False, headers=headers) as client:
        for _ in range(3):
            assert client.get(f"{url}/api/v1/platforms").status_code == 200
        out, _ = child.communicate(timeout=PATIENCE_SECONDS)
    assert json.loads(out), "the flood got no answer"
    assert not {"500", "502"} & json.loads(out).keys()


def test_the_description_is_made_once_and_sent_once(lab: tuple[str, str], client: httpx.Client) -> None:
    first = client.get(f"{lab[0]}/openapi.json")
    again = client.get(f"{lab[0]}/openapi.json", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert first.json()["openapi"].startswith("3.1")
    other = client.get(f"{lab[0]}/openapi.json", headers={"If-None-Match": '"other"'})
    assert (other.status_code, other.content) == (200, first.content)


def test_turns_are_given_to_networks_one_after_the_other() -> None:
    async def scenario() -> list[str]:
        turns, given = StrangersTurns(per_second=1000.0, at_once=1), list[str]()

        async def wait(network: str) -> None:
            await turns.turn(network, {})
            given.append(network)

        await turns.turn("first", {})
        await asyncio.gather(*(wait("many") for _ in range(50)), wait("few"))
        return given

    given = asyncio.run(asyncio.wait_for(scenario(), PATIENCE_SECONDS))
    # Those of the network with many requests do not go before the one of another.
    assert given.index("few") <= 2
    assert len(given) == 51


def test_turns_are_spaced_out_after_a_burst() -> None:
    async def scenario() -> float:
        turns = StrangersTurns(per_second=100.0, at_once=5)
        began = time.monotonic()
        await asyncio.gather(*(turns.turn(str(number), {}) for number in range(25)))
        return time.monotonic() - began

    # Twenty of them wait 10 ms each; a busy machine only makes that longer.
    assert asyncio.run(scenario()) >= 0.19


def test_who_leaves_the_queue_takes_no_turn() -> None:
    async def scenario() -> None:
        turns, scope = StrangersTurns(per_second=2.0, at_once=1), dict[str, Any]()
        await turns.turn("a", {})
        gone, cancelled = (asyncio.create_task(turns.turn(name, given)) for name, given in (("b", scope), ("b", {})))
        await asyncio.sleep(0)
        leave_queue(scope["state"])
        cancelled.cancel()
        await asyncio.wait_for(turns.turn("c", {}), PATIENCE_SECONDS)
        with pytest.raises(ClientGone):
            await gone

    asyncio.run(scenario())


def test_connections_that_are_closed_leave_their_places(limited_lab: str) -> None:
    port = int(limited_lab.rpartition(":")[2])
    flood = Flood(port, get("/health"), connections=MOST_OF_CLIENT, seconds=20, answers=2 * AT_ONCE)
    for _ in range(3):
        with flooding(flood):
            time.sleep(0.3)
    # From the address of the flood.
    flood = Flood(port, get("/health"), connections=1, seconds=20, answers=1)
    with flooding(flood) as child:
        assert json.loads(child.communicate(timeout=PATIENCE_SECONDS)[0]) == {"200": 1}


def test_the_holder_of_a_session_is_no_stranger(lab: tuple[str, str]) -> None:
    url, token = lab
    with httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False, base_url=url) as client:
        signed_in = client.post("/api/v1/session", json={"token": token}, headers={"Origin": url})
        assert signed_in.status_code == 204
        # Cookies of others are left out on the way, and its own is not.
        client.cookies.set("other", "x" * 100)
        for _ in range(AT_ONCE // 8):
            assert client.get("/api/v1/session").json()["name"] == "reader"


def test_metrics_are_made_once_in_a_while() -> None:
    made = 0

    class Collector:
        def collect(self) -> list[Any]:
            nonlocal made
            made += 1
            return []

    async def collector() -> Any:
        return Collector()

    async def scenario() -> None:
        known = KnownMetrics(collector, kept_seconds=PATIENCE_SECONDS)
        for _ in range(100):
            await known.text()

    asyncio.run(scenario())
    # Registering a collector has it collect, too.
    assert made <= 2


@pytest.mark.parametrize("path", ["/health", "/sign-in", "/openapi.json", "/metrics", "/nothing", "/api/v1/platforms"])
def test_head_is_answered_as_get_without_a_body(lab: tuple[str, str], client: httpx.Client, path: str) -> None:
    got, head = client.get(f"{lab[0]}{path}"), client.head(f"{lab[0]}{path}")
    assert (head.status_code, head.content) == (got.status_code, b"")
    assert head.headers["content-type"] == got.headers["content-type"]
    assert client.get(f"{lab[0]}/health").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/pages/opportunities?limit=0",
        "/api/v1/pages/series?case=" + "x" * 1000,
        "/api/v1/stacks.svg?least_share=7",
        "/api/v1/comparisons?limit=100000",
        "/api/v1/comparisons/none",
        "/badges/branch.svg",
        "/comparisons/!.json",
        "/api/v1/requests/!/events",
    ],
)
def test_a_token_is_asked_for_before_parameters_are_looked_at(
    lab: tuple[str, str], client: httpx.Client, path: str
) -> None:
    assert client.get(f"{lab[0]}{path}").status_code == 401


@pytest.mark.parametrize("path", ["/api/v1/fleet/requests/!/cancel", "/api/v1/fleet/agents/!/drain"])
def test_a_token_is_asked_for_before_changes_are_looked_at(
    lab: tuple[str, str], client: httpx.Client, path: str
) -> None:
    assert client.post(f"{lab[0]}{path}").status_code == 401


def test_digests_that_are_not_there_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0

    def digests() -> set[str]:
        nonlocal read
        read += 1
        return set()

    async def scenario() -> None:
        known = authorization.KnownDigests(digests)
        for _ in range(3):
            assert not await known.has("a")

    monkeypatch.setattr(authorization, "ABSENT_SECONDS", float("inf"))
    asyncio.run(scenario())
    assert read == 1


# What is costly to read.


@contextlib.contextmanager
def sending(url: str, request: bytes) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), PATIENCE_SECONDS) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(request)
        yield connection


def status_of(connection: socket.socket) -> bytes:
    """Return the status of an answer, empty where the connection was cut instead."""
    try:
        return connection.recv(12)[9:]
    except ConnectionError:
        return b""


HEAD = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
ORIGIN = b"Host: localhost\r\nOrigin: http://localhost\r\n"
CHUNKED = b"POST /api/v1/session HTTP/1.1\r\n" + ORIGIN + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def limited_lab(zerolap: Any) -> Iterator[str]:
    """A lab as `zerolap serve` serves it, with the limits of its protocol."""
    from test_listening import serving

    with serving(zerolap) as url:
        yield url


def test_requests_that_are_costly_to_read_are_refused(limited_lab: str) -> None:
    costly = {
        "long head": HEAD + b"X: " + b"a" * MOST_HEAD_BYTES + b"\r\n\r\n",
        "many headers": HEAD + b"a:b\r\n" * (MOST_HEAD_LINES + 1) + b"\r\n",
        "small chunks": CHUNKED + b"1\r\nx\r\n" * (MOST_SMALL_CHUNKS + 1000) + b"0\r\n\r\n",
    }
    for name, request in costly.items():
        with sending(limited_lab, request) as connection:
            assert status_of(connection) in {b"400", b""}, name
    usual = HEAD + b"a:b\r\n" * (MOST_HEAD_LINES // 2) + b"\r\n"
    with sending(limited_lab, usual) as connection:
        assert status_of(connection) == b"200"


def test_of_requests_that_are_sent_at_once_the_first_is_answered(limited_lab: str) -> None:
    with sending(limited_lab, (HEAD + b"\r\n") * 3) as connection:
        answer = b""
        with contextlib.suppress(ConnectionError):
            while piece := connection.recv(65536):
                answer += piece
    assert answer.count(b"HTTP/1.1 200") == 1


def test_a_body_that_nobody_reads_is_cut(limited_lab: str) -> None:
    length = 64 << 20
    head = f"POST /api/v1/comparisons HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n".encode()
    sent = 0
    with sending(limited_lab, head) as connection, contextlib.suppress(ConnectionError):
        while sent < length:
            sent += connection.send(b"x" * 65536)
    assert sent < length


def test_answers_that_are_not_read_take_little_memory(limited_lab: str) -> None:
    result_bytes = len(httpx.get(f"{limited_lab}/openapi.json", trust_env=False, timeout=PATIENCE_SECONDS).content)
    readers = MOST_OF_CLIENT
    flood = Flood(
        int(limited_lab.rpartition(":")[2]), get("/openapi.json"), connections=readers, seconds=20, reads=False
    )
    before = tcp_memory_bytes()
    with flooding(flood):
        wait_until(lambda: unread_connections(flood.port) >= readers)
        held = tcp_memory_bytes() - before
    # Of the whole machine: other tests have connections, too, and each of these its smallest buffers.
    assert held < readers * result_bytes / 2


def tcp_memory_bytes() -> int:
    """Return what the connections of this machine take of the kernel's memory."""
    [line] = [line for line in Path("/proc/net/sockstat").read_text().splitlines() if line.startswith("TCP:")]
    return int(line.split()[-1]) * 4096


def unread_connections(port: int) -> int:
    """Return how many connections of a port have something that was not acknowledged or sent yet."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(f":{port:04X}") and int(row[4].partition(":")[0], 16) > 0 for row in rows)
