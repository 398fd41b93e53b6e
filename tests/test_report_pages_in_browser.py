"""Served reports in a browser: their policy keeps them from nothing, and texts of others stay texts."""

from pathlib import Path

import pytest
from browser_pages import opened
from http_server import served_lab
from playwright.sync_api import Browser, expect
from simulated_fleet import SimulatedFleet, made_up_cases
from stored_comparison import COMPARISON, ID, ONLY_WITH_A_TOKEN, reading_token, recorded_comparison
from stored_run import stored_run

from zerolap.api import pages
from zerolap.store import Store

HOSTILE = (
    "</script><script>document.title='acted'</script>",
    "<img src=x onerror=\"document.title='acted'\">",
    '"><svg onload="document.title=\'acted\'">',
)


@pytest.mark.parametrize("ending", ["", ".html"])
def test_the_policy_keeps_a_report_from_nothing(ending: str, browser: Browser, store: Store) -> None:
    recorded_comparison(store)
    with served_lab(store) as url, opened(browser, f"{url}/comparisons/{ID}{ending}") as shown:
        shown.get_by_role("button", name=COMPARISON.cases[0].case, exact=True).click()
        expect(shown.locator(".detail").first).to_be_visible()


@pytest.mark.parametrize("ending", ["", ".html"])
def test_a_run_is_drawn_under_the_policy(ending: str, browser: Browser, store: Store) -> None:
    report = stored_run(store)
    with served_lab(store) as url, opened(browser, f"{url}/runs/{report.id}{ending}") as shown:
        shown.get_by_role("button", name="get-100B", exact=True).click()
        expect(shown.locator(".flame-frame canvas")).to_be_visible()


def test_the_list_leads_to_reports(browser: Browser, store: Store) -> None:
    recorded_comparison(store)
    report = stored_run(store)
    with served_lab(store) as url, opened(browser, f"{url}/reports") as shown:
        expect(shown.get_by_role("link", name=report.id)).to_be_visible()
        expect(shown).to_have_title("Reports · Zerolap")
        expect(shown.locator(".outcomes .mark")).to_have_text("= 1 same")
        shown.get_by_role("link", name=ID).click()
        expect(shown.locator("tr.case").first).to_be_visible()


def test_a_request_is_shown_until_it_ends(
    browser: Browser, store: Store, redis_server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "FRESH_SECONDS", 0.0)
    request = SimulatedFleet(store, redis_server).submit(made_up_cases(1))
    with served_lab(store) as url, opened(browser, url) as shown:
        shown.goto(f"{url}/comparisons/{request.id}")
        expect(shown.get_by_role("heading", level=1)).to_have_text("waiting")
        store.fleet.set_state(request.id, "failed", HOSTILE[0])
        expect(shown.get_by_role("heading", level=1)).to_have_text("failed")
        expect(shown.locator("pre")).to_have_text(HOSTILE[0])
        assert shown.title() == f"{request.id} · Zerolap"


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_others_are_shown_as_texts(text: str, browser: Browser, store: Store) -> None:
    case = COMPARISON.cases[0].model_copy(update={"case": text, "commands": [text], "group": text})
    server = COMPARISON.base.model_copy(update={"name": text, "version": text})
    recorded_comparison(store, cases=[case], base=server, head=server, notes=[text], command_line=text)
    with served_lab(store) as url:
        for ending in ("", ".html"):
            with opened(browser, f"{url}/comparisons/{ID}{ending}") as shown:
                shown.get_by_role("button", name=text, exact=True).click()
                expect(shown.locator(".detail").first).to_contain_text(text)
                assert shown.title() != "acted"
        with opened(browser, f"{url}/reports") as shown:
            expect(shown.get_by_text(f"{text} → {text}")).to_be_visible()
            assert shown.title() != "acted"


def test_a_browser_asks_for_the_token_as_a_password(browser: Browser, store: Store) -> None:
    recorded_comparison(store)
    credentials = {"username": "anybody", "password": reading_token(store)}
    with (
        served_lab(store, ONLY_WITH_A_TOKEN) as url,
        opened(browser, f"{url}/comparisons/{ID}", http_credentials=credentials) as shown,
    ):
        expect(shown.locator("tr.case").first).to_be_visible()
