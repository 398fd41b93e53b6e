"""Lasting links to reports: what is served, for how long it may be kept, and that texts of others stay texts."""

import asyncio
import base64
import threading
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest
from http_server import served_lab
from simulated_fleet import HeldTrials, SimulatedFleet, made_up_cases
from stored_comparison import ID, ONLY_WITH_A_TOKEN, reading_token, recorded_comparison
from stored_run import stored_run
from waiting import PATIENCE_SECONDS, wait_until

from zerolap.api import app_pages, pages
from zerolap.api.pages import Page as MadePage, Pages, TooBusy
from zerolap.api.tokens import new_token
from zerolap.documents import read_pictures
from zerolap.engines.simulated import Simulated
from zerolap.report import html
from zerolap.report.document import comparison_json, comparison_markdown, document_json, run_markdown
from zerolap.report.html import comparison_html, content_security_policy, run_html
from zerolap.store import Store

FOR_A_YEAR = "max-age=31536000, immutable"
FORMS = (".html", ".json", ".md")
SOME_TRIALS = 20
"""Of 30 cases, of which two agents have ended one at least."""


# What is served.


def test_a_comparison_is_served_as_the_command_line_writes_it(store: Store, client: httpx.Client) -> None:
    recorded_comparison(store)
    comparison = store.comparison(ID)
    with served_lab(store) as url:
        page, document, markdown = (client.get(f"{url}/comparisons/{ID}{ending}") for ending in FORMS)
    assert page.text == comparison_html(comparison, read_pictures(comparison, store))
    assert document.text == comparison_json(comparison)
    assert document.json()["schema"] == "zerolap.comparison/1"
    assert markdown.text == comparison_markdown(comparison)
    types = [answer.headers["content-type"].partition(";")[0] for answer in (page, document, markdown)]
    assert types == ["text/html", "application/json", "text/markdown"]


def test_a_run_is_served_as_the_command_line_writes_it(store: Store, client: httpx.Client) -> None:
    report = stored_run(store)
    with served_lab(store) as url:
        page, document, markdown = (client.get(f"{url}/runs/{report.id}{ending}") for ending in FORMS)
        assert client.get(f"{url}/comparisons/{report.id}").status_code == HTTPStatus.NOT_FOUND
    assert page.text == run_html(report, read_pictures(report, store))
    assert (document.text, markdown.text) == (document_json(report), run_markdown(report))
    assert all(FOR_A_YEAR in answer.headers["cache-control"] for answer in (page, document, markdown))


def test_a_finished_report_may_be_kept_and_need_not_be_read_again(store: Store, client: httpx.Client) -> None:
    recorded_comparison(store)
    with served_lab(store) as url:
        first = client.get(f"{url}/comparisons/{ID}.html")
        tag = first.headers["etag"]
        again = [
            client.get(f"{url}/comparisons/{ID}.html", headers={"If-None-Match": known})
            for known in (tag, f'"other", W/{tag}', '"other"')
        ]
        document = client.get(f"{url}/comparisons/{ID}.json")
    assert first.headers["cache-control"] == f"public, {FOR_A_YEAR}"
    assert [answer.status_code for answer in again] == [304, 304, 200]
    assert [len(answer.content) for answer in again] == [0, 0, len(first.content)]
    assert document.headers["etag"] != tag


def test_headers_confine_the_page(store: Store, client: httpx.Client) -> None:
    recorded_comparison(store)
    with served_lab(store) as url:
        paths = (f"/comparisons/{ID}", f"/comparisons/{ID}.html", f"/comparisons/{ID}.md", "/")
        answers = {path: client.get(f"{url}{path}") for path in paths}
    for answer in answers.values():
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    page = answers[f"/comparisons/{ID}.html"]
    assert content_security_policy(page.text) in page.headers["content-security-policy"]
    for path in (f"/comparisons/{ID}", "/"):
        assert app_pages.POLICY in answers[path].headers["content-security-policy"]


@pytest.mark.parametrize("noun", ["comparisons", "runs"])
@pytest.mark.parametrize(
    "identity", [f"{ID[:-1]}0", ID[:-1], "latest", "c-", "c-'", "%2e%2e", "c-%00", f"c-{'0' * 65}", "<b>x"]
)
def test_what_there_is_not_is_stated_plainly(noun: str, identity: str, store: Store, client: httpx.Client) -> None:
    recorded_comparison(store)
    with served_lab(store) as url:
        page, document = (client.get(f"{url}/{noun}/{identity}{ending}") for ending in ("", ".json"))
    assert (page.status_code, document.status_code) == (404, 404)
    assert page.headers["content-type"].startswith("text/html")
    assert "<script" not in page.text
    assert "<b>" not in page.text
    assert document.headers["content-type"] == "application/problem+json"
    assert document.json()["status"] == HTTPStatus.NOT_FOUND
    assert page.headers["cache-control"] == document.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/unknown", "/fleet/x/y", "/%3Cb%3Ex"])
def test_an_address_without_a_page_leads_back_to_the_overview(path: str, store: Store, client: httpx.Client) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}
    with served_lab(store) as url:
        page, program = client.get(url + path, headers=browser), client.get(url + path)
        problem = client.get(f"{url}/api/v1{path}", headers=browser)
    assert (page.status_code, program.status_code, problem.status_code) == (404, 404, 404)
    assert page.headers["content-type"].startswith("text/html")
    assert '<a href="/">' in page.text
    assert '<form action="/search"' in page.text
    assert "<b>" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert program.headers["content-type"] == "application/json"
    assert problem.headers["content-type"] == "application/problem+json"


def test_a_page_that_cannot_be_made_says_so_without_paths(
    store: Store, client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded_comparison(store)
    monkeypatch.setattr(html, "TEMPLATE", tmp_path / "absent.html")
    monkeypatch.setattr(app_pages, "ASSETS", tmp_path / "absent")
    app_pages.shell_page.cache_clear()
    with served_lab(store) as url:
        refused = [client.get(f"{url}{path}") for path in (f"/comparisons/{ID}.html", f"/comparisons/{ID}", "/")]
        assert client.get(f"{url}/comparisons/{ID}.json").status_code == HTTPStatus.OK
    for page in refused:
        assert page.status_code == HTTPStatus.SERVICE_UNAVAILABLE
        assert int(page.headers["retry-after"]) > 0
        assert str(tmp_path) not in page.text


# What is not finished.


@pytest.mark.slow
def test_a_comparison_is_shown_from_its_submission_to_its_end(
    store: Store, client: httpx.Client, redis_server: Path
) -> None:
    held = HeldTrials(SOME_TRIALS)
    fleet = SimulatedFleet(store, redis_server, Simulated(on_trial=held))
    request = fleet.submit(made_up_cases(30))
    with served_lab(store) as url:
        page = f"{url}/comparisons/{request.id}"
        assert client.get(page).status_code == HTTPStatus.OK
        waiting = client.get(f"{url}/api/v1/pages/request?id={request.id}")
        assert client.get(f"{page}.json").status_code == HTTPStatus.NOT_FOUND

        async def interrupted(fleet: SimulatedFleet) -> None:
            await fleet.until(lambda: len(fleet.engine.carried_out) >= SOME_TRIALS)
            # Both agents go on, and are stopped before they have done more than a case each.
            held.release()

        async def scenario(fleet: SimulatedFleet) -> None:
            assert await fleet.ended(request) == ["done"]

        fleet.run(interrupted)
        wait_until(lambda: client.get(f"{page}.json").status_code == HTTPStatus.OK)
        running = client.get(f"{page}.json")
        fleet.run(scenario)
        wait_until(lambda: client.get(f"{page}.json").json()["state"] == "done")
        done = client.get(f"{page}.json")
    assert waiting.json()["state"] == "waiting"
    assert waiting.json()["has_ended"] is False
    assert running.json()["state"] == "running"
    assert 0 < len(running.json()["cases"]) <= 30
    assert waiting.headers["cache-control"] == running.headers["cache-control"] == "no-store"
    assert "etag" not in running.headers
    assert FOR_A_YEAR in done.headers["cache-control"]
    assert done.text == comparison_json(store.comparison(request.id))


def test_a_submission_that_led_to_nothing_states_why(store: Store, client: httpx.Client, redis_server: Path) -> None:
    request = SimulatedFleet(store, redis_server).submit(made_up_cases(1))
    store.fleet.set_state(request.id, "failed", "it does not build:\n<script>acted()</script>")
    with served_lab(store) as url:
        page = client.get(f"{url}/comparisons/{request.id}")
        status = client.get(f"{url}/api/v1/pages/request?id={request.id}")
    assert page.status_code == HTTPStatus.OK
    assert (status.json()["state"], status.json()["has_ended"]) == ("failed", True)
    assert "it does not build" in status.json()["reasons"][0]
    assert status.headers["content-type"] == "application/json"
    assert status.headers["x-content-type-options"] == "nosniff"


# Who may read.


def test_a_setting_makes_reading_need_a_token(store: Store, client: httpx.Client) -> None:
    recorded_comparison(store)
    token = reading_token(store)
    as_password = base64.b64encode(f"anybody:{token}".encode()).decode()
    with served_lab(store, ONLY_WITH_A_TOKEN) as url:
        for path in ("/", f"/comparisons/{ID}", *(f"/comparisons/{ID}{form}" for form in FORMS), "/runs/r-1"):
            for given in (
                None,
                "Basic ?",
                "Basic bm9uZQ==",
                "Basic é",
                "Basic /w==",
                f"Bearer {new_token()}",
                f"Digest {token}",
            ):
                headers = {} if given is None else {b"Authorization": given.encode("latin-1")}
                refused = client.get(f"{url}{path}", headers=headers)
                assert refused.status_code == HTTPStatus.UNAUTHORIZED
                assert refused.headers["www-authenticate"].startswith("Basic ")
        for scheme in (f"Bearer {token}", f"Basic {as_password}"):
            read = client.get(f"{url}/comparisons/{ID}.html", headers={"Authorization": scheme})
            assert read.status_code == HTTPStatus.OK
            assert read.headers["cache-control"] == f"private, {FOR_A_YEAR}"


# Making pages.


def test_a_page_is_made_once_however_many_ask_for_it() -> None:
    made: list[int] = []
    may_end = threading.Event()

    def make() -> MadePage:
        made.append(1)
        may_end.wait(PATIENCE_SECONDS)
        return MadePage(b"x", "text/plain", is_final=True)

    async def scenario() -> None:
        kept = Pages()
        asking = [asyncio.create_task(kept.page("a", make)) for _ in range(20)]
        await asyncio.sleep(0)
        # Who goes away does not take the page from the others.
        asking[0].cancel()
        may_end.set()
        answers = await asyncio.gather(*asking, return_exceptions=True)
        assert [type(answer) for answer in answers] == [asyncio.CancelledError] + 19 * [MadePage]
        await kept.page("a", make)

    asyncio.run(scenario())
    assert made == [1]


def test_a_page_that_can_change_is_made_again_when_it_is_old() -> None:
    now, made = [0.0], []

    def make() -> MadePage:
        made.append(now[0])
        return MadePage(b"x", "text/plain")

    async def scenario() -> None:
        kept = Pages(lambda: now[0])
        for time in (0.0, pages.FRESH_SECONDS - 1, pages.FRESH_SECONDS + 1):
            now[0] = time
            await kept.page("a", make)

    asyncio.run(scenario())
    assert made == [0.0, pages.FRESH_SECONDS + 1]


def test_few_pages_are_kept_and_a_fault_is_not() -> None:
    made: list[str] = []

    def making(name: str) -> Callable[[], MadePage]:
        def make() -> MadePage:
            made.append(name)
            if name == "fault":
                raise ValueError(name)
            return MadePage(bytes(400), "text/plain", is_final=True)

        return make

    async def scenario() -> None:
        kept = Pages(most_bytes=2 * (400 + pages.ENTRY_BYTES))
        for name in ("a", "b", "a", "c", "a", "b"):
            await kept.page(name, making(name))
        for _ in range(2):
            with pytest.raises(ValueError, match="fault"):
                await kept.page("fault", making("fault"))
        await kept.page("larger than all", lambda: MadePage(bytes(10_000), "text/plain", is_final=True))

    asyncio.run(scenario())
    # What was not asked for since goes first.
    assert made == ["a", "b", "c", "b", "fault", "fault"]


def test_only_so_many_pages_are_made_at_once(
    store: Store, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST_MADE_AT_ONCE", 0)

    async def scenario() -> None:
        with pytest.raises(TooBusy):
            await Pages().page("a", lambda: MadePage(b"", "text/plain"))

    asyncio.run(scenario())
    with served_lab(store) as url:
        refused = client.get(f"{url}/comparisons/{ID}")
    assert refused.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert int(refused.headers["retry-after"]) > 0
