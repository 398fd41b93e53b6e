"""A client has so many requests under way and no more, and agents are answered while others send requests slowly."""

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from api_client import request
from http_server import served
from stored_comparison import stored_token
from waiting import PATIENCE_SECONDS, wait_until
from webhook_payloads import settings_of_tests

from zerolap.api import application
from zerolap.api.active_requests import MOST_OF_CLIENT, MOST_OF_STRANGERS
from zerolap.fleet import Conductor, ServedPlatform
from zerolap.fleet.in_process import InProcess
from zerolap.fleet.setup.attempt_tokens import Tokens
from zerolap.fleet.turns import new_attempt
from zerolap.records import LoadJob
from zerolap.store import Store
from zerolap.triggers.running import Triggers

TOKENS = Tokens(b"secret")
HALF_DELIVERY = b"POST /webhooks/github HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
STATUS_BYTES = len(b"HTTP/1.1 000")


@contextlib.contextmanager
def lab_with_agent(store: Store) -> Iterator[tuple[str, dict[str, str]]]:
    """Serve a lab that takes webhooks; yields its URL, and the headers of an agent that carries out a job."""
    settings = settings_of_tests()
    limits = settings.limits.model_copy(update={"body_seconds": 10 * PATIENCE_SECONDS})
    settings = settings.model_copy(update={"limits": limits})
    conductor = Conductor(store, InProcess(), [ServedPlatform("alpha", builder="alpha")], tokens=TOKENS)
    given = new_attempt("c-1", "alpha", LoadJob(request="c-1", attempt="a-1", address="127.0.0.1:1"))
    attempt = replace(given, state="claimed", agent="alpha-1")
    conductor.intake.open([attempt])
    with served(application(conductor, store, Triggers(store, settings, Path("mirrors")))) as url:
        yield url, {"Authorization": f"Bearer {TOKENS.token_for(attempt.id)}"}


@contextlib.contextmanager
def slow_requests(url: str, number: int, addresses: int) -> Iterator[list[socket.socket]]:
    """Send half a webhook delivery many times, from addresses of this machine in turn."""
    with contextlib.ExitStack() as stack:
        connections = []
        for place in range(number):
            connection = stack.enter_context(socket.socket())
            connection.settimeout(PATIENCE_SECONDS)
            connection.bind((f"127.0.1.{1 + place % addresses}", 0))
            connection.connect(("127.0.0.1", urlsplit(url).port))
            connection.sendall(HALF_DELIVERY)
            connections.append(connection)
        yield connections


def refused(url: str, headers: dict[str, str], cause: str) -> float:
    """Return how many requests were refused for a cause."""
    metric = f'zerolap_refused_requests_total{{cause="{cause}"}} '
    text = request("GET", f"{url}/metrics", headers).text
    return next((float(line.removeprefix(metric)) for line in text.splitlines() if line.startswith(metric)), 0)


def test_requests_of_an_address_beyond_its_limit_are_refused_and_those_of_others_answered(store: Store) -> None:
    with lab_with_agent(store) as (url, agent), slow_requests(url, MOST_OF_CLIENT + 3, 1) as connections:
        wait_until(lambda: refused(url, agent, "requests_of_a_client") == 3)
        assert connections[-1].recv(STATUS_BYTES) == b"HTTP/1.1 429"
        # This one comes from another address.
        assert request("GET", f"{url}/health").status_code == 200
    with lab_with_agent(store) as (url, agent):
        with slow_requests(url, MOST_OF_CLIENT, 1):
            pass
        assert request("GET", f"{url}/health").status_code == 200


def test_a_body_that_breaks_off_is_counted_and_fills_no_log(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    token = stored_token(store, "ci", "submit")
    head = f"POST /api/v1/comparisons HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
    with lab_with_agent(store) as (url, agent):
        half_of_file = (
            f"PUT /blobs/{'0' * 64} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {agent['Authorization']}\r\n"
        )
        for begun in (head, half_of_file):
            with socket.create_connection(("127.0.0.1", urlsplit(url).port)) as connection:
                connection.sendall(f"{begun}Content-Length: 10\r\n\r\n{{".encode())
        wait_until(lambda: refused(url, agent, "broken_bodies") == 2)
    assert not [record for record in caplog.records if record.exc_info]


def test_agents_and_known_tokens_are_answered_while_strangers_take_all_places(store: Store) -> None:
    token = {"Authorization": f"Bearer {stored_token(store, 'ci', 'read')}"}
    with lab_with_agent(store) as (url, agent):
        assert request("GET", f"{url}/api/v1/comparisons", token).status_code == 200
        with slow_requests(url, MOST_OF_STRANGERS + 5, 16) as connections:
            wait_until(lambda: refused(url, agent, "requests") == 5)
            # An address that has no request under way, such as that of a monitor, still has a place.
            assert request("GET", f"{url}/health").status_code == 200
            assert connections[-1].recv(STATUS_BYTES) == b"HTTP/1.1 503"
            assert request("GET", f"{url}/api/v1/comparisons", token).status_code == 200
            # Its job needs no file: the answer is that of the route.
            assert request("GET", f"{url}/blobs/{'0' * 64}", agent).status_code == 403
            forged = {"Authorization": "Bearer a-1.forged"}
            assert request("GET", f"{url}/api/v1/comparisons", forged).status_code == 401
        wait_until(lambda: request("GET", f"{url}/health").status_code == 200)
