"""People sign in to the pages: with a token of the lab, or by GitHub, which is played."""

import base64
import json
import math
import re
import time
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from api_client import request
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from http_server import served_lab
from played_github import PlayedGitHub
from stored_comparison import ID, recorded_comparison, stored_token
from waiting import PATIENCE_SECONDS

from zerolap.api import authorization
from zerolap.api.sessions import COOKIE, SESSION_SECONDS
from zerolap.api.signing_in import MOST_BODY_BYTES, path_within
from zerolap.api.tokens import new_token
from zerolap.errors import UsageError
from zerolap.store import Store
from zerolap.triggers.settings import TriggerSettings, checked_settings

REPOSITORY = "octo/server"
SECRET = "0123456789abcdef0123"
PUBLIC_URL = "http://lab.example.org"


@pytest.fixture
def github() -> Iterator[PlayedGitHub]:
    with PlayedGitHub.started() as played:
        played.add_repository(REPOSITORY)
        played.add_client("Iv23.client", SECRET)
        yield played
        assert played.violations == []


@pytest.fixture
def settings(github: PlayedGitHub, tmp_path: Path) -> TriggerSettings:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    github.install_app("1234", public.decode())
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    for name, content in (("key.pem", private), ("client-secret", SECRET.encode())):
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(0o600)
    content = {
        "github": {
            "api_url": github.url,
            "app_id": 1234,
            "private_key_file": "key.pem",
            "client_id": "Iv23.client",
            "client_secret_file": "client-secret",
        },
        "lab": {"public_url": PUBLIC_URL},
        "repository": [{"name": REPOSITORY, "permission": "triage", "actors": ["listed"]}],
    }
    return checked_settings(content, tmp_path)


@pytest.fixture
def lab(store: Store, settings: TriggerSettings, tmp_path: Path) -> Iterator[str]:
    recorded_comparison(store)
    with served_lab(store, settings, tmp_path / "mirrors") as url:
        yield url


@pytest.fixture
def browser_client(lab: str) -> Iterator[httpx.Client]:
    """A client that keeps cookies as a browser does, and does not follow."""
    with client_of(lab) as client:
        yield client


def client_of(lab: str) -> httpx.Client:
    return httpx.Client(base_url=lab, timeout=PATIENCE_SECONDS, trust_env=False)


def agreed(begun: httpx.Response) -> str:
    """Return where GitHub leads a person who was led there, as a path of the lab."""
    assert begun.status_code == HTTPStatus.SEE_OTHER, begun.text
    back = request("GET", begun.headers["location"]).headers["location"]
    assert back.startswith(f"{PUBLIC_URL}/sign-in/github/back?")
    return back.removeprefix(PUBLIC_URL)


def signed_in(client: httpx.Client, leads_to: str = "/fleet") -> httpx.Response:
    return client.get(agreed(client.get("/sign-in/github", params={"next": leads_to})))


def test_a_person_with_access_to_a_repository_reads_after_signing_in(
    browser_client: httpx.Client, github: PlayedGitHub, store: Store
) -> None:
    github.permit(REPOSITORY, "octocat", "triage")
    page = browser_client.get(f"/comparisons/{ID}?x=1", headers={"Accept": "text/html"})
    assert page.status_code == HTTPStatus.SEE_OTHER
    address = urlsplit(page.headers["location"])
    assert (address.netloc, address.path, parse_qs(address.query)["next"]) == (
        "",
        "/sign-in",
        [f"/comparisons/{ID}?x=1"],
    )
    assert browser_client.get(page.headers["location"]).status_code == HTTPStatus.OK
    done = signed_in(browser_client)
    assert (done.status_code, done.headers["location"]) == (HTTPStatus.SEE_OTHER, "/fleet")
    assert browser_client.get(f"/comparisons/{ID}.json").status_code == HTTPStatus.OK
    assert browser_client.get("/api/v1/pages/fleet").status_code == HTTPStatus.OK
    known = browser_client.get("/api/v1/session").json()
    assert (known["name"], known["source"], known["scopes"]) == ("octocat", "github", ["read"])


def test_the_session_is_out_of_reach_of_scripts_and_known_to_the_store_by_its_digest_alone(
    browser_client: httpx.Client, github: PlayedGitHub, store: Store
) -> None:
    github.permit(REPOSITORY, "octocat", "admin")
    done = signed_in(browser_client)
    [cookie] = [value for value in done.headers.get_list("set-cookie") if value.startswith(f"{COOKIE}=")]
    for attribute in ("HttpOnly", "SameSite=lax", f"Max-Age={SESSION_SECONDS}", "Path=/"):
        assert attribute in cookie
    value = re.split("[=;]", cookie)[1]
    assert store.sessions.session(value) is None
    assert value.encode() not in b"".join(path.read_bytes() for path in Path(store.address).parent.glob("*.db*"))


def test_a_person_without_access_is_refused(browser_client: httpx.Client, github: PlayedGitHub) -> None:
    github.permit(REPOSITORY, "octocat", "read")
    refused = signed_in(browser_client)
    assert refused.status_code == HTTPStatus.FORBIDDEN
    assert "octocat has no access" in refused.text
    assert browser_client.get("/api/v1/pages/fleet").status_code == HTTPStatus.UNAUTHORIZED


def test_a_person_whom_the_settings_name_needs_no_permission(
    browser_client: httpx.Client, github: PlayedGitHub
) -> None:
    github.person = "Listed"
    assert signed_in(browser_client).status_code == HTTPStatus.SEE_OTHER
    assert github.asked("repos/get-collaborator-permission-level") == []


@pytest.mark.parametrize(
    "leads_to",
    [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example/",
        "/\t/evil.example",
        "javascript:alert(1)",
        "",
        "/\n",
    ],
)
def test_a_sign_in_leads_to_no_other_site(leads_to: str) -> None:
    assert path_within(leads_to) == "/"
    assert path_within("/series?a=1&b=%2F") == "/series?a=1&b=%2F"


def test_a_forged_cookie_leads_to_no_other_site(browser_client: httpx.Client, github: PlayedGitHub) -> None:
    github.person = "listed"
    back = agreed(browser_client.get("/sign-in/github"))
    attempt = json.loads(base64.urlsafe_b64decode(browser_client.cookies["zerolap-sign-in"].strip('"')))
    attempt["leads_to"] = "//evil.example"
    forged = base64.urlsafe_b64encode(json.dumps(attempt).encode()).decode()
    browser_client.cookies.clear()
    done = browser_client.get(back, headers={"Cookie": f"zerolap-sign-in={forged}"})
    assert (done.status_code, done.headers["location"]) == (HTTPStatus.SEE_OTHER, "/")


def test_a_browser_that_has_not_begun_a_sign_in_cannot_end_it(
    lab: str, browser_client: httpx.Client, github: PlayedGitHub
) -> None:
    github.person = "listed"
    back = agreed(browser_client.get("/sign-in/github"))
    with client_of(lab) as victim:
        assert victim.get(back).status_code == HTTPStatus.FORBIDDEN
        victim.get("/sign-in/github")
        assert victim.get(back).status_code == HTTPStatus.FORBIDDEN
        assert COOKIE not in victim.cookies


@pytest.mark.parametrize(
    "query", ["", "?state={state}", "?state={state}&code=", "?state={state}&code=%00", "?state=%ff"]
)
def test_hostile_answers_are_refused(query: str, browser_client: httpx.Client, github: PlayedGitHub) -> None:
    begun = browser_client.get("/sign-in/github")
    state = parse_qs(urlsplit(begun.headers["location"]).query)["state"][0]
    refused = browser_client.get("/sign-in/github/back" + query.format(state=state))
    assert refused.status_code in (HTTPStatus.FORBIDDEN, HTTPStatus.BAD_REQUEST)
    assert COOKIE not in browser_client.cookies


def test_a_code_is_good_for_once_and_for_who_began(browser_client: httpx.Client, github: PlayedGitHub) -> None:
    github.person = "listed"
    back = agreed(browser_client.get("/sign-in/github"))
    state = parse_qs(urlsplit(back).query)["state"][0]
    refused = browser_client.get(f"/sign-in/github/back?state={state}&code=of-somebody-else")
    assert refused.status_code == HTTPStatus.FORBIDDEN
    assert "GitHub refuses this sign-in" in refused.text
    # The sign-in is over: its state is not taken again.
    assert browser_client.get(back).status_code == HTTPStatus.FORBIDDEN


def test_a_refusal_at_github_is_stated(browser_client: httpx.Client) -> None:
    begun = browser_client.get("/sign-in/github")
    state = parse_qs(urlsplit(begun.headers["location"]).query)["state"][0]
    refused = browser_client.get(f"/sign-in/github/back?error=access_denied&state={state}")
    assert refused.status_code == HTTPStatus.FORBIDDEN
    assert "refused or cancelled" in refused.text


@pytest.mark.parametrize("kind", ["error", "closes", "gateway_error"])
def test_nobody_is_signed_in_while_github_fails(kind: str, browser_client: httpx.Client, github: PlayedGitHub) -> None:
    github.person = "listed"
    back = agreed(browser_client.get("/sign-in/github"))
    github.misbehave(kind, path="/login/oauth/access_token")
    assert browser_client.get(back).status_code == HTTPStatus.BAD_GATEWAY
    assert COOKIE not in browser_client.cookies


def test_sign_ins_of_an_address_are_limited(browser_client: httpx.Client) -> None:
    statuses = [browser_client.get("/sign-in/github").status_code for _ in range(30)]
    assert statuses[0] == HTTPStatus.SEE_OTHER
    # With time, which goes on here too, one after the other is permitted again.
    assert HTTPStatus.TOO_MANY_REQUESTS in statuses


def test_signing_out_ends_the_session(lab: str, browser_client: httpx.Client, github: PlayedGitHub) -> None:
    github.person = "listed"
    signed_in(browser_client)
    value = browser_client.cookies[COOKIE]
    assert browser_client.delete("/api/v1/session").status_code == HTTPStatus.FORBIDDEN
    gone = browser_client.delete("/api/v1/session", headers={"Origin": lab})
    assert gone.status_code == HTTPStatus.NO_CONTENT
    again = request("GET", f"{lab}/api/v1/pages/fleet", {"Cookie": f"{COOKIE}={value}"})
    assert again.status_code == HTTPStatus.UNAUTHORIZED


def test_a_token_signs_in_until_it_is_removed(lab: str, browser_client: httpx.Client, store: Store) -> None:
    token = stored_token(store, "ops", "admin")
    without_origin = browser_client.post("/api/v1/session", json={"token": token})
    elsewhere = browser_client.post("/api/v1/session", json={"token": token}, headers={"Origin": "http://evil.example"})
    assert without_origin.status_code == elsewhere.status_code == HTTPStatus.FORBIDDEN
    another = new_token()
    wrong = browser_client.post("/api/v1/session", json={"token": another}, headers={"Origin": lab})
    assert wrong.status_code == HTTPStatus.UNAUTHORIZED
    assert another not in wrong.text
    done = browser_client.post("/api/v1/session", json={"token": token}, headers={"Origin": lab})
    assert done.status_code == HTTPStatus.NO_CONTENT
    known = browser_client.get("/api/v1/session").json()
    assert (known["name"], known["source"], known["scopes"]) == ("ops", "token", ["read", "submit", "admin"])
    assert browser_client.get("/api/v1/pages/fleet").status_code == HTTPStatus.OK
    store.triggers.remove_token("ops")
    assert browser_client.get("/api/v1/session").json()["name"] is None
    assert browser_client.get("/api/v1/pages/fleet").status_code == HTTPStatus.UNAUTHORIZED


def test_a_session_ends_after_its_time(browser_client: httpx.Client, github: PlayedGitHub, store: Store) -> None:
    github.person = "listed"
    signed_in(browser_client)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("zerolap.store.session_records.time.time", lambda: time.time_ns() / 1e9 + SESSION_SECONDS + 1)
        assert browser_client.get("/api/v1/pages/fleet").status_code == HTTPStatus.UNAUTHORIZED


def test_made_up_sessions_are_limited(lab: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authorization, "LEAST_BETWEEN_SECONDS", 0.0)
    statuses = [
        request("GET", f"{lab}/api/v1/pages/fleet", {"Cookie": f"{COOKIE}={number:043}"}).status_code
        for number in range(40)
    ]
    assert statuses[0] == HTTPStatus.UNAUTHORIZED
    assert HTTPStatus.TOO_MANY_REQUESTS in statuses


def test_made_up_sessions_share_queries_of_the_store(lab: str, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError("a made-up session is looked up by itself")

    monkeypatch.setattr(store.sessions, "session", forbidden)
    monkeypatch.setattr(store.sessions, "remove", forbidden)
    monkeypatch.setattr(authorization, "ABSENT_SECONDS", math.inf)
    read: list[set[str]] = []
    digests = store.sessions.digests
    monkeypatch.setattr(store.sessions, "digests", lambda: read.append(digests()) or read[-1])
    texts = ["", "x", "é" * 43, f"{0:044}", *(f"{number:043}" for number in range(3))]
    for text in texts:
        headers = {"Cookie": f"{COOKIE}={text}".encode(), "Origin": lab}
        with client_of(lab) as client:
            assert client.get("/api/v1/pages/fleet", headers=headers).status_code == 401
            assert client.delete("/api/v1/session", headers=headers).status_code == 204
    # What does not look like a session costs none, and each of the others one.
    assert len(read) == 3


def test_without_a_client_of_an_app_browsers_ask_for_a_token(store: Store) -> None:
    with served_lab(store, TriggerSettings()) as url, client_of(url) as client:
        assert client.get("/fleet", headers={"Accept": "text/html"}).headers["www-authenticate"].startswith("Basic")
        assert client.get("/sign-in/github").status_code == HTTPStatus.NOT_FOUND
        assert client.get("/api/v1/session").json()["by_github"] is False


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"client_secret_file": None}, "both client_id and client_secret_file"),
        ({"app_id": None, "private_key_file": None}, "by an application"),
    ],
)
def test_settings_of_a_sign_in_are_whole(
    changes: dict[str, None], message: str, settings: TriggerSettings, tmp_path: Path
) -> None:
    github = {
        "app_id": 1234,
        "private_key_file": "key.pem",
        "client_id": "Iv23.client",
        "client_secret_file": "client-secret",
    }
    given = {name: value for name, value in github.items() if name not in changes}
    with pytest.raises(UsageError, match=message):
        checked_settings({"github": given, "lab": {"public_url": PUBLIC_URL}}, tmp_path)
    with pytest.raises(UsageError, match="lead people back"):
        checked_settings({"github": github}, tmp_path)


@pytest.mark.parametrize("origin", ["http://[x", "null", "http://", "//lab.example.org", "http://evil.example"])
def test_nothing_is_changed_from_an_origin_that_is_no_page_of_the_lab(origin: str, store: Store) -> None:
    with served_lab(store) as url:
        refused = request("DELETE", f"{url}/api/v1/session", {"Origin": origin})
    assert refused.status_code == HTTPStatus.FORBIDDEN


def test_a_body_that_is_too_large_is_not_read(store: Store) -> None:
    with served_lab(store) as url:
        large = request("POST", f"{url}/api/v1/session", {"Origin": url}, content=bytes(MOST_BODY_BYTES + 1))
        wrong = request("POST", f"{url}/api/v1/session", {"Origin": url}, content=b'{"token": 5}')
        elsewhere = request("POST", f"{url}/api/v1/session", content=bytes(MOST_BODY_BYTES + 1))
    assert large.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert wrong.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert elsewhere.status_code == HTTPStatus.FORBIDDEN
