"""The HTTP API over a real server: who may do what, what comes of it, how often, and that tokens stay secret."""

import asyncio
import json
import logging
import sqlite3
import time
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from api_client import ASKED, Asking, request
from command_line import Zerolap
from fastapi.openapi.models import OpenAPI
from free_ports import free_port
from http_server import is_listening, served_lab
from simulated_fleet import PLATFORM, SimulatedFleet, made_up_cases
from stored_comparison import stored_token
from structlog.testing import capture_logs
from toy_server import CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource
from waiting import BUILD_PATIENCE_SECONDS, wait_until

from zerolap.api.tokens import INCLUDED, TokenScope, new_token
from zerolap.api.v1 import EXAMPLE, MOST_BODY_BYTES
from zerolap.lab import SubmissionOptions
from zerolap.records import COMPARISON_SCHEMA
from zerolap.store import FleetPlatform, KnownAgent, Store
from zerolap.triggers.settings import TriggerSettings, checked_settings
from zerolap.triggers.trigger import AskedComparison, asked_by
from zerolap.triggers.work import TriggerWork

REPOSITORY = "toy/server"
UNKNOWN = "c-ffffffffffffffffffffffff"
PROBLEM = "application/problem+json"
SESSION = "/api/v1/session"


@pytest.fixture
def store(store: Store) -> Store:
    store.fleet.set_platforms([FleetPlatform("arm", "arm-build"), FleetPlatform("x86", "x86-build")])
    store.fleet.saw_agents([KnownAgent("bench-1", "home", "arm", "{}", 1.0, refusal="<b>another machine</b>")])
    return store


@pytest.fixture
def settings(toy: ToySource, tmp_path: Path) -> TriggerSettings:
    return settings_for(toy, tmp_path)


def settings_for(toy: ToySource, directory: Path, **limits: int) -> TriggerSettings:
    repository = {"name": REPOSITORY, "clone_url": str(toy.path), "cases_directory": str(CASES)}
    return checked_settings({"repository": [repository], "limits": limits}, directory)


@pytest.fixture
def lab(store: Store, settings: TriggerSettings) -> Iterator[str]:
    with served_lab(store, settings) as url:
        yield url


def holder(lab: str, store: Store, scope: TokenScope, name: str = "") -> Asking:
    """Return who has a new token."""
    return Asking(lab, stored_token(store, name or scope, scope))


def assert_problem(answer: httpx.Response, status: HTTPStatus, *parts: str) -> None:
    assert (answer.status_code, answer.headers["content-type"]) == (status, PROBLEM), answer.text
    document = answer.json()
    assert (document["status"], document["title"]) == (status, status.phrase)
    for part in parts:
        assert part in document["detail"] + document["hint"], document


def of_history(toy: ToySource) -> tuple[str, str]:
    """Return the commits of the tag `v1` and of the branch `work`."""
    head = toy.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    toy.git("tag", "--force", "v1", toy.first)
    toy.git("branch", "--force", "work", head)
    return toy.first, head


async def carry_out(store: Store, settings: TriggerSettings, directory: Path) -> None:
    """Work on what was recorded, as `zerolap serve` does."""
    work = TriggerWork(store, settings, directory / "mirrors", None)
    for waiting in (await work.waiting()).values():
        for stored in waiting:
            await work.work_on(stored)


# Asking.


def test_what_is_asked_for_is_answered_at_once_and_recorded(lab: str, store: Store) -> None:
    ci = holder(lab, store, "submit", "ci")
    answer = ci.ask(cases=["toy-get"], topic="nightly", priority="backfill")
    assert answer.status_code == HTTPStatus.ACCEPTED
    trigger = answer.json()
    assert trigger["state"] == "waiting"
    assert (trigger["subject"], trigger["actor"]) == ("toy/server:ci/nightly", "ci")
    assert trigger["comparisons"] == []
    assert answer.headers["location"] == trigger["links"]["self"] == f"/api/v1/triggers/{trigger['id']}"
    assert ci.get(f"/triggers/{trigger['id']}").json() == trigger
    [waiting] = store.triggers.in_state("waiting")
    assert json.loads(waiting.document)["head"] == "work"


def test_two_revisions_are_compared_on_the_named_platforms(
    lab: str, store: Store, settings: TriggerSettings, toy: ToySource, tmp_path: Path
) -> None:
    base, head = of_history(toy)
    ci = holder(lab, store, "submit", "ci")
    asked = ci.ask(head=head, cases=["toy-get"], engines=["counted"], budget_seconds=90, platforms=["x86"]).json()
    everywhere = ci.ask(topic="nightly").json()
    asyncio.run(carry_out(store, settings, tmp_path))
    done = ci.get(f"/triggers/{asked['id']}").json()
    assert (done["state"], len(done["comparisons"])) == ("done", 1)
    assert done["links"]["comparisons"] == [f"/api/v1/comparisons/{done['comparisons'][0]}"]
    comparison = ci.get(f"/comparisons/{done['comparisons'][0]}").json()
    assert (comparison["base"]["commit"], comparison["head"]["commit"]) == (base, head)
    assert (comparison["platform"], comparison["state"]) == ("x86", "waiting")
    assert (comparison["cause"], comparison["summary"], comparison["progress"]) == ("asked by ci", None, {"jobs": {}})
    recorded = store.request(comparison["id"]).request
    assert (recorded.settings.engines, recorded.settings.budget_seconds) == (["counted"], 90)
    assert [case.name for case in recorded.cases] == ["toy-get"]
    on_all = [
        ci.get(f"/comparisons/{one}").json() for one in ci.get(f"/triggers/{everywhere['id']}").json()["comparisons"]
    ]
    assert {one["platform"] for one in on_all} == {"arm", "x86"}
    assert {one["head"]["commit"] for one in on_all} == {head}
    # A newer one of the same topic supersedes it, and no other.
    ci.ask(topic="nightly")
    asyncio.run(carry_out(store, settings, tmp_path))
    assert {ci.get(f"/comparisons/{one['id']}").json()["state"] for one in on_all} == {"superseded"}
    assert ci.get(f"/comparisons/{comparison['id']}").json()["state"] == "waiting"


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"head": "no-such-branch"}, "neither a tag nor a branch no-such-branch"),
        ({"head": "both"}, "`both` is ambiguous"),
        ({"cases": ["toy-got"]}, "toy-got"),
    ],
)
def test_what_cannot_be_compared_states_why(
    changes: dict[str, Any],
    part: str,
    lab: str,
    store: Store,
    settings: TriggerSettings,
    toy: ToySource,
    tmp_path: Path,
) -> None:
    of_history(toy)
    toy.git("tag", "both", toy.first)
    toy.git("branch", "both", "HEAD")
    ci = holder(lab, store, "submit")
    asked = ci.ask(**changes).json()
    asyncio.run(carry_out(store, settings, tmp_path))
    failed = ci.get(f"/triggers/{asked['id']}").json()
    assert failed["state"] == "failed"
    assert part in failed["reason"]


def test_a_repeated_request_is_carried_out_once(lab: str, store: Store) -> None:
    ci, other = holder(lab, store, "submit", "ci"), holder(lab, store, "submit", "other")
    first, again = (ci.post("/comparisons", ASKED, Idempotency_Key="build-7") for _ in range(2))
    assert first.status_code == again.status_code == HTTPStatus.ACCEPTED
    assert first.json() == again.json()
    changed = ASKED | {"base": "v2"}
    assert_problem(ci.post("/comparisons", changed, Idempotency_Key="build-7"), HTTPStatus.CONFLICT, "Idempotency-Key")
    assert other.post("/comparisons", changed, Idempotency_Key="build-7").json()["id"] != first.json()["id"]
    assert len(store.triggers.in_state("waiting")) == 2


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"head": "--upload-pack=reboot"}, "head"),
        ({"head": "HEAD^"}, "head"),
        ({"base": "a..b"}, "base"),
        ({"base": "a\nb"}, "base"),
        ({"base": ""}, "base"),
        ({"repository": "../../etc/passwd"}, "repository"),
        ({"topic": "redis/redis#12"}, "topic"),
        ({"cases": ["`reboot` $(reboot)"]}, "cases"),
        ({"cases": ["a"] * 101}, "cases"),
        ({"engines": ["simulated"]}, "engines"),
        ({"engines": []}, "engines"),
        ({"budget_seconds": -1}, "budget_seconds"),
        ({"budget_seconds": 1e9}, "budget_seconds"),
        ({"platforms": ["moon"]}, "moon"),
        ({"priority": "now"}, "priority"),
        ({"actor": "admin"}, "actor"),
        ({"kind": "push"}, "kind"),
    ],
)
def test_wrong_values_are_named(changes: dict[str, Any], part: str, lab: str, store: Store) -> None:
    answer = holder(lab, store, "admin").ask(**changes)
    assert_problem(answer, HTTPStatus.UNPROCESSABLE_ENTITY, part)
    assert "passwd" not in answer.text
    assert store.triggers.in_state("waiting") == []


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"[" * 60_000, b"null"])
def test_a_body_that_is_no_request_is_refused(body: bytes, lab: str, store: Store) -> None:
    assert_problem(holder(lab, store, "submit").post("/comparisons", body), HTTPStatus.UNPROCESSABLE_ENTITY)


def test_a_large_body_is_refused_whatever_its_length_is_said_to_be(lab: str, store: Store) -> None:
    large = json.dumps(ASKED | {"topic": "x" * MOST_BODY_BYTES}).encode()
    ci = holder(lab, store, "submit")
    in_pieces = (large[start : start + 1000] for start in range(0, len(large), 1000))
    for content in (large, in_pieces):
        assert_problem(ci.post("/comparisons", content), HTTPStatus.REQUEST_ENTITY_TOO_LARGE, str(MOST_BODY_BYTES))


def test_only_repositories_of_the_settings_are_compared(lab: str, store: Store) -> None:
    ci = holder(lab, store, "admin")
    assert_problem(ci.ask(repository="other/server"), HTTPStatus.FORBIDDEN, "other/server", "--triggers")
    assert ci.ask(repository=REPOSITORY.upper()).status_code == HTTPStatus.ACCEPTED
    with served_lab(store) as without_triggers:
        answer = Asking(without_triggers, stored_token(store, "other", "admin")).ask()
    assert_problem(answer, HTTPStatus.FORBIDDEN, "--triggers")


# Who may.

READING = ("/comparisons", f"/comparisons/{UNKNOWN}", f"/triggers/t-{'0' * 24}", "/platforms", "/agents")


def test_nothing_is_told_without_a_token(lab: str, store: Store) -> None:
    stored_token(store, "ci", "admin")
    for token in (None, "zl_", new_token(), new_token() + "x", "zl_" + "a" * 10_000):
        asking = Asking(lab, token)
        answers = [asking.get(path) for path in READING]
        answers += [asking.ask(), asking.post(f"/comparisons/{UNKNOWN}/cancel")]
        for answer in answers:
            assert_problem(answer, HTTPStatus.UNAUTHORIZED, "token")
            assert answer.headers["www-authenticate"] == "Bearer"
            assert token is None or token not in answer.text
    assert store.triggers.in_state("waiting") == []


def test_a_token_permits_its_scope_and_those_below(lab: str, store: Store) -> None:
    reader, ci, admin = (holder(lab, store, scope) for scope in INCLUDED)
    for asking in (reader, ci, admin):
        assert asking.get("/platforms").status_code == HTTPStatus.OK
    assert_problem(reader.ask(), HTTPStatus.FORBIDDEN, "scope submit", "--scope submit")
    assert_problem(reader.post(f"/comparisons/{UNKNOWN}/cancel"), HTTPStatus.FORBIDDEN, "scope submit")
    assert_problem(ci.ask(priority="release"), HTTPStatus.FORBIDDEN, "release", "admin")
    assert admin.ask(priority="release").status_code == HTTPStatus.ACCEPTED


def test_a_removed_token_is_refused_at_once(lab: str, store: Store, zerolap: Zerolap) -> None:
    made = zerolap("token", "add", "ci", "--scope", "submit", "--actor", "robot", "--store", zerolap.store)
    ci = Asking(lab, made.out.strip())
    assert ci.ask().json()["actor"] == "robot"
    [listed] = zerolap("token", "list", "--json", "-", "--store", zerolap.store).document()["tokens"]
    assert (listed["name"], listed["scope"], listed["actor"]) == ("ci", "submit", "robot")
    assert listed["last_used"] is not None
    assert zerolap("token", "remove", "ci", "--store", zerolap.store).code == 0
    assert_problem(ci.ask(), HTTPStatus.UNAUTHORIZED)
    zerolap("token", "remove", "ci", "--store", zerolap.store).fails_with(2, "no token ci", "zerolap token list")


@pytest.mark.parametrize(
    "words",
    [("../x",), ("ci", "--scope", "all"), ("ci", "--actor", "a b")],
)
def test_a_token_has_a_plain_name_and_a_scope(words: tuple[str, ...], zerolap: Zerolap) -> None:
    zerolap("token", "add", *words).fails_with(2, "hint: ")


def test_a_token_is_nowhere_but_with_its_holder(
    store: Store, settings: TriggerSettings, zerolap: Zerolap, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    made = zerolap("token", "add", "ci", "--scope", "submit", "--store", zerolap.store)
    token, wrong = made.out.strip(), new_token()
    assert made.out.count("\n") == 1
    assert "zl_" not in made.err
    with capture_logs() as logs, served_lab(store, settings) as url:
        ci = Asking(url, token)
        assert ci.ask().status_code == HTTPStatus.ACCEPTED
        assert ci.ask(priority="release").status_code == HTTPStatus.FORBIDDEN
        assert ci.ask(head="^").status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        assert Asking(url, wrong).get("/platforms").status_code == HTTPStatus.UNAUTHORIZED
        shown = zerolap("token", "list", "--store", zerolap.store).out
    written = [path.read_bytes() for path in zerolap.store.rglob("*") if path.is_file()]
    assert any(b"asked" in content for content in written)
    for secret in (token, wrong):
        for part in (secret, secret.removeprefix("zl_"), secret[3:20]):
            assert not any(part.encode() in content for content in written)
            assert part not in shown + caplog.text + json.dumps(logs, default=str)
    assert {entry["event"] for entry in logs} >= {"a comparison was asked for"}


# How often.


def test_requests_of_a_token_are_limited(store: Store, toy: ToySource, tmp_path: Path) -> None:
    with served_lab(store, settings_for(toy, tmp_path, requests_per_minute_per_token=1)) as url:
        first, other = holder(url, store, "read", "first"), holder(url, store, "read", "other")
        assert first.get("/platforms").status_code == HTTPStatus.OK
        refused = first.get("/platforms")
        assert other.get("/platforms").status_code == HTTPStatus.OK
    assert_problem(refused, HTTPStatus.TOO_MANY_REQUESTS)
    assert refused.headers["retry-after"] == "60"


def test_wrong_tokens_are_limited_and_good_ones_of_the_same_address_heard(
    store: Store, toy: ToySource, tmp_path: Path
) -> None:
    with served_lab(store, settings_for(toy, tmp_path, forged_per_minute_per_address=1)) as url:
        statuses = [Asking(url, new_token()).get("/platforms").status_code for _ in range(3)]
        assert holder(url, store, "read").get("/platforms").status_code == HTTPStatus.OK
    assert statuses == [401, 429, 429]


def test_what_an_actor_asks_for_is_limited(store: Store, toy: ToySource, tmp_path: Path) -> None:
    with served_lab(store, settings_for(toy, tmp_path, submissions_per_hour_per_actor=2)) as url:
        first = Asking(url, stored_token(store, "first", "submit", "robot"))
        second = Asking(url, stored_token(store, "second", "submit", "robot"))
        other = holder(url, store, "submit", "other")
        assert [asking.ask().status_code for asking in (first, second, other)] == [202, 202, 202]
        refused = second.ask()
    assert_problem(refused, HTTPStatus.TOO_MANY_REQUESTS, "robot")
    assert 0 < int(refused.headers["retry-after"]) <= 3600
    assert len(store.triggers.in_state("waiting")) == 3


def test_the_use_of_a_token_is_recorded_once_a_minute(lab: str, store: Store) -> None:
    reader = holder(lab, store, "read")
    reader.get("/platforms")
    [first] = [token.last_used for token in store.triggers.tokens()]
    reader.get("/platforms")
    [second] = [token.last_used for token in store.triggers.tokens()]
    assert first == second
    assert first is not None
    store.triggers.used_token("read", time.time() - 61)
    reader.get("/platforms")
    [third] = [token.last_used for token in store.triggers.tokens()]
    assert third is not None
    assert third >= first


# Following and ending.


def test_a_comparison_is_followed_to_its_end(lab: str, store: Store, redis_server: Path) -> None:
    fleet = SimulatedFleet(store, redis_server)
    asked = fleet.submit(made_up_cases(5))
    reader = holder(lab, store, "read")

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(asked) == ["done"]

    fleet.run(scenario)
    [listed] = reader.get("/comparisons").json()["comparisons"]
    shown = reader.get(f"/comparisons/{asked.id}").json()
    assert shown == listed | {"progress": shown["progress"]}
    assert (shown["state"], shown["summary"]["same"]) == ("done", 5)
    assert set(shown["progress"]["jobs"]) == {"done"}
    assert shown["ended"] >= shown["created"]
    document = request("GET", lab + shown["links"]["document"], reader.headers).json()
    assert (document["schema"], document["id"]) == (COMPARISON_SCHEMA, asked.id)
    assert request("GET", lab + shown["links"]["report"], reader.headers).status_code == HTTPStatus.OK


def test_comparisons_are_listed_the_newest_first_in_parts(lab: str, store: Store, redis_server: Path) -> None:
    fleet = SimulatedFleet(store, redis_server)
    newest_first = [fleet.submit(made_up_cases(1)).id for _ in range(5)][::-1]
    reader = holder(lab, store, "read")
    parts: list[list[str]] = []
    cursor = None
    while cursor is not None or not parts:
        answer = reader.get("/comparisons", limit=2, **({} if cursor is None else {"cursor": cursor})).json()
        parts.append([one["id"] for one in answer["comparisons"]])
        cursor = answer["cursor"]
        # What comes meanwhile does not shift the parts.
        fleet.submit(made_up_cases(1))
    assert parts == [newest_first[:2], newest_first[2:4], newest_first[4:]]
    for wrong in ({"limit": 0}, {"limit": 101}, {"limit": "x"}, {"cursor": "'; DROP TABLE request"}):
        assert_problem(reader.get("/comparisons", **wrong), HTTPStatus.UNPROCESSABLE_ENTITY, next(iter(wrong)))
    assert reader.get("/comparisons", cursor=UNKNOWN).json() == {"comparisons": [], "cursor": None}


def test_a_comparison_is_ended_by_who_asked_for_it_or_an_admin(lab: str, store: Store, redis_server: Path) -> None:
    fleet = SimulatedFleet(store, redis_server)
    ci, other = (holder(lab, store, "submit", name) for name in ("ci", "other"))
    admin = holder(lab, store, "admin")
    mine, foreign = (
        fleet.submit(made_up_cases(1), platform=PLATFORM, submitting=SubmissionOptions(trigger=cause)).id
        for cause in (asked_by("ci"), "command line")
    )
    assert_problem(other.post(f"/comparisons/{mine}/cancel"), HTTPStatus.FORBIDDEN, "other", "admin")
    assert_problem(ci.post(f"/comparisons/{foreign}/cancel"), HTTPStatus.FORBIDDEN)
    assert ci.post(f"/comparisons/{mine}/cancel").json() == {"id": mine, "state": "cancelled"}
    assert_problem(ci.post(f"/comparisons/{mine}/cancel"), HTTPStatus.CONFLICT, "cancelled already")
    assert admin.post(f"/comparisons/{foreign}/cancel").status_code == HTTPStatus.OK
    assert_problem(admin.post(f"/comparisons/{UNKNOWN}/cancel"), HTTPStatus.NOT_FOUND, UNKNOWN)
    work = store.request(foreign)
    assert (work.state, work.reason) == ("cancelled", "by admin")


def test_the_beginning_of_an_id_is_no_id(lab: str, store: Store, redis_server: Path) -> None:
    identity = SimulatedFleet(store, redis_server).submit(made_up_cases(1)).id
    admin = holder(lab, store, "admin")
    assert_problem(admin.get(f"/comparisons/{identity[:-1]}"), HTTPStatus.NOT_FOUND)
    assert_problem(admin.post(f"/comparisons/{identity[:-1]}/cancel"), HTTPStatus.NOT_FOUND)
    assert_problem(admin.get("/comparisons/latest"), HTTPStatus.UNPROCESSABLE_ENTITY)
    assert_problem(admin.get(f"/triggers/t-{'0' * 24}"), HTTPStatus.NOT_FOUND)


def test_platforms_and_agents_are_listed(lab: str, store: Store) -> None:
    reader = holder(lab, store, "read")
    assert reader.get("/platforms").json()["platforms"] == [
        {"name": "arm", "builder": "arm-build", "agents": 1},
        {"name": "x86", "builder": "x86-build", "agents": 0},
    ]
    [agent] = reader.get("/agents").json()["agents"]
    assert agent == {
        "name": "bench-1",
        "lab": "home",
        "platform": "arm",
        "seen": "1970-01-01T00:00:01Z",
        "draining": False,
        "refusal": "<b>another machine</b>",
    }


def test_links_have_the_address_of_the_lab_where_it_is_known(store: Store, settings: TriggerSettings) -> None:
    public = settings.lab.model_copy(update={"public_url": "https://lab.example.org"})
    with served_lab(store, settings.model_copy(update={"lab": public})) as url:
        answer = holder(url, store, "submit").ask()
    assert answer.headers["location"].startswith("https://lab.example.org/api/v1/triggers/t-")


def test_a_store_that_cannot_be_used_is_a_problem_without_its_place(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "store"), busy_seconds=0.1) as store, served_lab(store) as url:
        reader = holder(url, store, "read")
        writer = sqlite3.connect(tmp_path / "store" / "zerolap.db", isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        answer = reader.get("/platforms")
        writer.close()
        assert reader.get("/platforms").status_code == HTTPStatus.OK
    assert_problem(answer, HTTPStatus.SERVICE_UNAVAILABLE)
    assert int(answer.headers["retry-after"]) > 0
    assert str(tmp_path) not in answer.text


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_a_lab_measures_what_it_is_asked_for(zerolap: Zerolap, toy: ToySource) -> None:
    of_history(toy)
    settings = zerolap.directory / "triggers.toml"
    settings.write_text(
        f"[[repository]]\nname = '{REPOSITORY}'\nclone_url = '{toy.path}'\ncases_directory = '{CASES}'\n"
        "regimes = 'none'\n[limits]\nrequests_per_minute_per_token = 1_000_000\n"
    )
    token = zerolap("token", "add", "ci", "--scope", "submit", "--store", zerolap.store).out.strip()
    port = free_port()
    words = ("serve", "--triggers", settings, "--listen", f"127.0.0.1:{port}", "--store", zerolap.store)
    serving = zerolap.start(*words)
    log = ""
    try:
        ci = Asking(f"http://127.0.0.1:{port}", token)
        wait_until(lambda: is_listening(port) and ci.get("/platforms").is_success)
        asked = ci.ask(cases=["toy-get"], engines=["counted"]).json()
        triggered = f"/triggers/{asked['id']}"
        wait_until(lambda: ci.get(triggered).json()["state"] == "done", seconds=BUILD_PATIENCE_SECONDS)
        [identity] = ci.get(triggered).json()["comparisons"]
        wait_until(lambda: ci.get(f"/comparisons/{identity}").json()["ended"], seconds=BUILD_PATIENCE_SECONDS)
        done = ci.get(f"/comparisons/{identity}").json()
        report = request("GET", f"http://127.0.0.1:{port}{done['links']['report']}", ci.headers)
    finally:
        serving.terminate()
        _, log = serving.communicate()
    assert (done["state"], done["summary"]["regression"]) == ("done", 1), log
    assert 'id="app"' in report.text
    assert "a comparison was asked for" in log
    assert token.removeprefix("zl_") not in log


# The description.


def described(lab: str) -> dict[str, Any]:
    document: dict[str, Any] = request("GET", f"{lab}/openapi.json").json()
    return document


def test_the_description_is_that_of_reports_and_api(lab: str) -> None:
    document = described(lab)
    OpenAPI.model_validate(document)
    assert document["openapi"].startswith("3.1")
    assert {path.split("/")[1] for path in document["paths"]} == {
        "api",
        "badges",
        "checks",
        "comparisons",
        "runs",
        "snapshots",
    }
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    for operation in operations:
        assert operation["summary"]
        assert operation["description"]
        takes_token = operation["operationId"] in {
            name
            for path, methods in document["paths"].items()
            if path.startswith("/api/") and path != SESSION
            for name in ids(methods)
        }
        assert ("security" in operation) == takes_token, operation
        for status, answer in operation["responses"].items():
            is_refusal = not status.startswith("2")
            assert not (is_refusal and list(answer.get("content", [])) == ["application/json"]), (operation, status)
    jsonschema.Draft202012Validator.check_schema({"$defs": document["components"]["schemas"]})
    for reference in references(document):
        place: Any = document
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]


def ids(methods: dict[str, Any]) -> list[str]:
    return [operation["operationId"] for operation in methods.values()]


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from references(inner)


def test_answers_are_as_described(
    lab: str, store: Store, settings: TriggerSettings, toy: ToySource, tmp_path: Path
) -> None:
    of_history(toy)
    admin = holder(lab, store, "admin")
    asked = admin.ask()
    asyncio.run(carry_out(store, settings, tmp_path))
    trigger = admin.get(f"/triggers/{asked.json()['id']}")
    identity = trigger.json()["comparisons"][0]
    answers = {
        ("post", "/comparisons"): [asked, admin.ask(head="^"), Asking(lab, None).ask(), admin.ask(repository="a/b")],
        ("get", "/comparisons"): [admin.get("/comparisons", limit=1), admin.get("/comparisons", limit=0)],
        ("get", "/comparisons/{identity}"): [admin.get(f"/comparisons/{one}") for one in (identity, UNKNOWN)],
        ("post", "/comparisons/{identity}/cancel"): [admin.post(f"/comparisons/{identity}/cancel") for _ in range(2)],
        ("get", "/triggers/{identity}"): [trigger, admin.get(f"/triggers/t-{'0' * 24}")],
        ("get", "/platforms"): [admin.get("/platforms")],
        ("get", "/agents"): [admin.get("/agents")],
    }
    document = described(lab)
    # Those of pages, sessions and the fleet are tested where they are used.
    others = ("/api/v1/pages/", "/api/v1/fleet/", "/api/v1/requests/", "/api/v1/stacks.", SESSION)
    described_paths = {path for path in document["paths"] if path.startswith("/api/") and not path.startswith(others)}
    assert {f"/api/v1{path}" for _, path in answers} == described_paths
    for (method, path), given in answers.items():
        for answer in given:
            expected = document["paths"][f"/api/v1{path}"][method]["responses"][str(answer.status_code)]
            schema = expected["content"][answer.headers["content-type"]]["schema"]
            whole = {**schema, "components": document["components"]}
            jsonschema.Draft202012Validator(
                whole, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
            ).validate(answer.json())


def test_the_example_is_a_request(lab: str) -> None:
    body = described(lab)["paths"]["/api/v1/comparisons"]["post"]["requestBody"]["content"]["application/json"]
    assert AskedComparison.model_validate(body["example"]).repository == EXAMPLE["repository"]
    jsonschema.Draft202012Validator(body["schema"]).validate(body["example"])


def test_what_there_is_not_below_the_api_is_a_problem(lab: str) -> None:
    assert_problem(request("GET", f"{lab}/api/v2/comparisons"), HTTPStatus.NOT_FOUND, "/openapi.json")
    wrong = request("DELETE", f"{lab}/api/v1/comparisons")
    assert_problem(wrong, HTTPStatus.METHOD_NOT_ALLOWED)
    assert set(wrong.headers["allow"].split(", ")) & {"GET", "POST"}
