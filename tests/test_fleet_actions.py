"""People end and repeat requests and drain agents by HTTP: with the right scope, and from pages of the lab alone."""

import base64
import time
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest
from api_client import Asking, request
from http_server import served_lab
from simulated_fleet import SimulatedFleet, made_up_cases
from stored_comparison import stored_token
from waiting import PATIENCE_SECONDS

from zerolap.api.tokens import TokenScope
from zerolap.lab import SubmissionOptions
from zerolap.records import Request
from zerolap.store import KnownAgent, Store
from zerolap.triggers.settings import TriggerSettings
from zerolap.triggers.trigger import asked_by

AGENT = KnownAgent("bench-1", "lab", "here", "{}", time.time())


@pytest.fixture
def lab(store: Store) -> Iterator[str]:
    store.fleet.saw_agents([AGENT])
    with served_lab(store, TriggerSettings()) as url:
        yield url


@pytest.fixture
def asked(store: Store, redis_server: Path) -> Request:
    """A request that waits, which `ci` has asked for."""
    submitting = SubmissionOptions(trigger=asked_by("ci"))
    return SimulatedFleet(store, redis_server).submit(made_up_cases(1), submitting=submitting)


def holder(lab: str, store: Store, scope: TokenScope, name: str) -> Asking:
    return Asking(lab, stored_token(store, name, scope))


def test_its_actor_ends_a_request_and_has_it_carried_out_again(lab: str, store: Store, asked: Request) -> None:
    ci = holder(lab, store, "submit", "ci")
    assert ci.post(f"/fleet/requests/{asked.id}/retry").status_code == HTTPStatus.CONFLICT
    assert ci.post(f"/fleet/requests/{asked.id}/cancel").json() == {"id": asked.id, "state": "cancelled"}
    assert store.request(asked.id).state == "cancelled"
    assert ci.post(f"/fleet/requests/{asked.id}/cancel").status_code == HTTPStatus.CONFLICT
    assert ci.post(f"/fleet/requests/{asked.id}/retry").json() == {"id": asked.id, "state": "waiting"}
    assert store.request(asked.id).state == "waiting"


@pytest.mark.parametrize("action", ["cancel", "retry"])
def test_others_need_the_scope_admin(action: str, lab: str, store: Store, asked: Request) -> None:
    if action == "retry":
        store.fleet.set_state(asked.id, "failed", "the build has failed")
    path = f"/fleet/requests/{asked.id}/{action}"
    assert Asking(lab, None).post(path).status_code == HTTPStatus.UNAUTHORIZED
    assert holder(lab, store, "read", "reader").post(path).status_code == HTTPStatus.FORBIDDEN
    refused = holder(lab, store, "submit", "somebody").post(path)
    assert refused.status_code == HTTPStatus.FORBIDDEN
    assert "admin" in refused.json()["hint"]
    assert holder(lab, store, "admin", "ops").post(path).status_code == HTTPStatus.OK


def test_an_agent_is_drained_with_the_scope_admin(lab: str, store: Store) -> None:
    ops = holder(lab, store, "admin", "ops")
    assert holder(lab, store, "submit", "ci").post("/fleet/agents/bench-1/drain").status_code == HTTPStatus.FORBIDDEN
    assert ops.post("/fleet/agents/bench-1/drain").json() == {"agents": ["bench-1"], "draining": True}
    assert store.fleet.orders().draining == {"bench-1"}
    assert ops.post("/fleet/agents/bench-1/resume").json() == {"agents": ["bench-1"], "draining": False}
    assert store.fleet.orders().draining == frozenset()
    assert ops.post("/fleet/agents/nobody/drain").status_code == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "{lab}", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "{lab}", "Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_site_cannot_have_a_browser_change_the_fleet(
    headers: dict[str, str], lab: str, store: Store, asked: Request
) -> None:
    token = stored_token(store, "ops", "admin")
    password = base64.b64encode(f"anybody:{token}".encode()).decode()
    path = f"{lab}/api/v1/fleet/requests/{asked.id}/cancel"
    given = {name: value.format(lab=lab) for name, value in headers.items()}
    assert request("POST", path, {"Authorization": f"Basic {password}", **given}).status_code == HTTPStatus.FORBIDDEN
    with httpx.Client(base_url=lab, trust_env=False, timeout=PATIENCE_SECONDS) as client:
        client.post("/api/v1/session", json={"token": token}, headers={"Origin": lab})
        assert client.post(path, headers=given).status_code == HTTPStatus.FORBIDDEN
        assert store.request(asked.id).state == "waiting"
        assert client.post(path, headers={"Origin": lab}).status_code == HTTPStatus.OK


@pytest.mark.parametrize("identity", ["latest", "c-", "c-0", "r-1%2f..", "c-'--"])
def test_ids_are_whole(identity: str, lab: str, store: Store, asked: Request) -> None:
    answer = holder(lab, store, "admin", "ops").post(f"/fleet/requests/{identity}/cancel")
    assert answer.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)
    assert store.request(asked.id).state == "waiting"
