"""Webhooks over a real HTTP server: who is answered what, how much is read, and what is recorded."""

import asyncio
import contextlib
import itertools
import json
import socket
import threading
from collections import Counter
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from hostile_deliveries import HOSTILE_LIMITS, hostilities
from postgresql_server import PostgresqlServer, programs, server_user
from structlog.testing import capture_logs
from waiting import PATIENCE_SECONDS, wait_until
from webhook_payloads import STRANGER, delivery, labelled, pushed, settings_of_tests
from webhook_server import webhook_server

from zerolap.api import application
from zerolap.api.webhooks import webhooks_router
from zerolap.errors import UsageError
from zerolap.fleet import Conductor, ServedPlatform
from zerolap.fleet.in_process import InProcess
from zerolap.store import Store
from zerolap.triggers.running import Triggers
from zerolap.triggers.settings import TriggerLimits, TriggerSettings
from zerolap.triggers.webhooks.admission import Delivery, logged
from zerolap.triggers.webhooks.outcomes import STATUS, UNSIGNED

SLOW = TriggerLimits(body_seconds=0.2, body_mib=0.01)


def send(client: httpx.Client, url: str, sent: Delivery) -> httpx.Response:
    headers = [(name.encode(), value.encode("latin-1")) for name, value in sent.headers.items()]
    return client.post(url, content=sent.body, headers=headers)


def raw(url: str) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=PATIENCE_SECONDS)


def answer_of(connection: socket.socket) -> bytes:
    """Return what the server sends until it closes the connection."""
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65_536):
            received += piece
    return received


def head_of(length: str) -> bytes:
    return f"POST /webhooks/github HTTP/1.1\r\nHost: x\r\nX-GitHub-Event: push\r\n{length}\r\n\r\n".encode()


def test_a_delivery_is_answered_at_once_and_recorded(store: Store, client: httpx.Client) -> None:
    admitted = threading.Event()
    with webhook_server(store, settings_of_tests(), admitted.set) as url:
        answer = send(client, url, delivery("pull_request", labelled()))
        assert admitted.is_set()
    assert answer.status_code == HTTPStatus.ACCEPTED
    waiting = next(iter(store.triggers.in_state("waiting")), None)
    assert waiting is not None
    assert answer.json() == {"status": "accepted", "trigger": waiting.id}


def test_others_are_told_why_if_they_have_signed(store: Store, client: httpx.Client) -> None:
    admitted = threading.Event()
    with webhook_server(store, settings_of_tests(), admitted.set) as url:
        ignored = send(client, url, delivery("push", pushed("refs/heads/topic")))
        refused = send(client, url, delivery("pull_request", labelled(actor=STRANGER)))
        unsigned = send(client, url, delivery("pull_request", labelled(), {"x-hub-signature-256": None}))
        other_method = client.get(url)
    assert (ignored.status_code, ignored.json()["status"]) == (HTTPStatus.OK, "ignored")
    assert refused.status_code == HTTPStatus.FORBIDDEN
    assert refused.json()["reason"] == "the sender is not one of the permitted actors"
    assert unsigned.status_code == HTTPStatus.UNAUTHORIZED
    assert unsigned.json() == {"status": "refused", "reason": "Unauthorized"}
    assert other_method.status_code == HTTPStatus.METHOD_NOT_ALLOWED
    assert not admitted.is_set()


def test_hostile_deliveries_are_refused_with_their_status(store: Store, client: httpx.Client) -> None:
    hostile = hostilities(150, seed=2)
    wrong = []
    with capture_logs() as entries, webhook_server(store, settings_of_tests(HOSTILE_LIMITS)) as url:
        for first in hostile.accepted:
            assert send(client, url, first).status_code == HTTPStatus.ACCEPTED
        entries.clear()
        for attack in hostile.attacks:
            answer = send(client, url, attack.delivery)
            if answer.status_code != STATUS.get(attack.cause, HTTPStatus.OK):
                wrong.append((attack.name, answer.status_code, answer.text))
            if attack.cause in UNSIGNED:
                assert answer.json()["reason"] == HTTPStatus(answer.status_code).phrase
    assert wrong == []
    expected = Counter((logged(attack.delivery.identity), attack.cause.value) for attack in hostile.attacks)
    assert Counter((entry["delivery"], entry["cause"]) for entry in entries) == expected
    assert len(store.triggers.in_state("waiting")) == len(hostile.accepted)


@pytest.mark.parametrize("length", ["Content-Length: 999999999999", "Transfer-Encoding: chunked"])
def test_no_more_is_read_than_the_limit(store: Store, length: str) -> None:
    sent_bytes = 0
    with (
        capture_logs() as entries,
        webhook_server(store, settings_of_tests(TriggerLimits(body_mib=0.01))) as url,
        raw(url) as connection,
    ):
        connection.sendall(head_of(length))
        chunk = b"1000\r\n" + b" " * 0x1000 + b"\r\n"
        # It would go on for ever if the server went on reading.
        with contextlib.suppress(ConnectionError):
            for _ in itertools.count():
                connection.sendall(chunk)
                sent_bytes += len(chunk)
        answer = answer_of(connection)
    assert [entry["cause"] for entry in entries] == ["too large"]
    assert not answer or answer.startswith(b"HTTP/1.1 413")


def test_the_answer_to_a_large_body_is_read_by_a_client(store: Store, client: httpx.Client) -> None:
    with webhook_server(store, settings_of_tests(TriggerLimits(body_mib=0.01))) as url:
        said = send(client, url, delivery("push", b" " * 20_000))
        unsaid = client.post(url, content=iter([b" " * 6_000] * 3))
    assert (said.status_code, unsaid.status_code) == (413, 413)
    assert said.json() == unsaid.json() == {"status": "refused", "reason": said.reason_phrase}


@pytest.mark.parametrize("length", ["Content-Length: 100", "Transfer-Encoding: chunked"])
def test_who_sends_too_slowly_is_not_waited_for(store: Store, length: str) -> None:
    with (
        capture_logs() as entries,
        webhook_server(store, settings_of_tests(SLOW)) as url,
        raw(url) as connection,
    ):
        connection.sendall(head_of(length) + b"1\r\n{")
        answer = answer_of(connection)
    assert answer.startswith(b"HTTP/1.1 408")
    assert [(entry["cause"], entry["github_event"]) for entry in entries] == [("too slow", "push")]


def test_who_breaks_off_leads_to_nothing(store: Store, client: httpx.Client) -> None:
    with webhook_server(store, settings_of_tests()) as url:
        with raw(url) as connection:
            connection.sendall(head_of("Content-Length: 100") + b"{")
        assert send(client, url, delivery("push", pushed())).status_code == HTTPStatus.ACCEPTED
    assert len(store.triggers.in_state("waiting")) == 1


def test_bodies_do_not_fill_the_memory(store: Store, client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerolap.api.webhooks.MOST_HELD_BYTES", 10_000)
    patient = HOSTILE_LIMITS.model_copy(update={"body_seconds": 3600.0})
    with contextlib.ExitStack() as connections, webhook_server(store, settings_of_tests(patient)) as url:
        for _ in range(3):
            connection = connections.enter_context(raw(url))
            connection.sendall(head_of("Content-Length: 9000") + b" " * 3_200)

        def status() -> int:
            return send(client, url, delivery("push", pushed())).status_code

        wait_until(lambda: status() == HTTPStatus.SERVICE_UNAVAILABLE)
        connections.close()
        wait_until(lambda: status() == HTTPStatus.ACCEPTED)


def test_a_delivery_that_cannot_be_recorded_may_come_again(tmp_path: Path, client: httpx.Client) -> None:
    sent = delivery("push", pushed())
    with (
        Store.open(str(tmp_path / "store"), busy_seconds=0.05) as store,
        webhook_server(store, settings_of_tests()) as url,
    ):
        with store._database.write_transaction():
            unavailable = send(client, url, sent)
        accepted = send(client, url, sent)
    assert unavailable.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert unavailable.headers["retry-after"]
    assert "store" not in unavailable.text
    assert accepted.status_code == HTTPStatus.ACCEPTED


def test_deliveries_are_admitted_into_postgresql(tmp_path: Path, client: httpx.Client) -> None:
    binaries, user = programs(), server_user()
    if binaries is None or user is None:
        pytest.skip("not installed: PostgreSQL (initdb, postgres, and a user for them)")
    hostile = hostilities(60, seed=3)
    with PostgresqlServer.started(binaries, user) as server:
        location = f"{server.url(server.new_store())}&blobs={tmp_path / 'blobs'}"
        with Store.open(location) as store, webhook_server(store, settings_of_tests(HOSTILE_LIMITS)) as url:
            for first in hostile.accepted:
                assert send(client, url, first).status_code == HTTPStatus.ACCEPTED
            for attack in hostile.attacks:
                assert send(client, url, attack.delivery).status_code == STATUS.get(attack.cause, HTTPStatus.OK)
            waiting = store.triggers.in_state("waiting")
    assert [json.loads(stored.document)["number"] for stored in waiting] == list(range(1, 9))


def test_webhooks_need_a_secret(store: Store) -> None:
    with pytest.raises(UsageError, match="need a secret") as fault:
        webhooks_router(store, TriggerSettings())
    assert "webhook_secret_file" in fault.value.hint


def test_a_conductor_serves_webhooks_where_it_has_a_secret(store: Store) -> None:
    conductor = Conductor(store, InProcess(), [ServedPlatform("local", builder="local")])

    async def status(settings: TriggerSettings | None) -> int:
        triggers = None if settings is None else Triggers(store, settings, Path("mirrors"))
        transport = httpx.ASGITransport(application(conductor, store, triggers))
        async with httpx.AsyncClient(transport=transport, base_url="http://lab") as asking:
            sent = delivery("push", pushed())
            return (await asking.post("/webhooks/github", content=sent.body, headers=dict(sent.headers))).status_code

    assert asyncio.run(status(None)) == HTTPStatus.NOT_FOUND
    assert asyncio.run(status(TriggerSettings())) == HTTPStatus.NOT_FOUND
    assert asyncio.run(status(settings_of_tests())) == HTTPStatus.ACCEPTED
