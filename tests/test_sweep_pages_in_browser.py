"""The pages of sweeps of snapshots in a browser."""

from http_server import served_lab
from made_snapshots import report, report_of_sides
from playwright.sync_api import Browser, expect
from test_report_pages_in_browser import HOSTILE, opened
from test_sweep_pages import ID, SIDES_ID, recorded
from waiting import PATIENCE_SECONDS

from zerolap.store import Store

expect.set_options(timeout=1000 * PATIENCE_SECONDS)


def test_the_list_leads_to_a_sweep_with_its_pictures(browser: Browser, store: Store) -> None:
    recorded(store, document=report())
    recorded(store, SIDES_ID, report_of_sides())
    with served_lab(store) as url, opened(browser, url) as shown:
        shown.get_by_role("link", name="All snapshots").click()
        expect(shown).to_have_title("Snapshots · Zerolap")
        expect(shown.locator("tbody tr")).to_have_count(2)
        shown.get_by_role("link", name=ID).click()
        expect(shown.get_by_role("heading", level=1)).to_have_text("BGSAVE: fork of 25 ms at 1 GiB to 100 ms at 4 GiB")
        charts = shown.locator("figure svg[role=img]")
        expect(charts.first).to_have_attribute("aria-label", "Fork: 25 ms at 1.08 GiB, 100 ms at 4.32 GiB")
        expect(charts).to_have_count(5)
        links = shown.locator(".downloads a")
        expect(links).to_have_count(4)
        for link in links.all():
            assert shown.request.get(url + (link.get_attribute("href") or "")).ok


def test_an_empty_lab_says_how_to_begin(browser: Browser, store: Store) -> None:
    with served_lab(store) as url, opened(browser, f"{url}/snapshots") as shown:
        expect(shown.locator("pre")).to_have_text("zerolap snapshot redis-server")


def test_texts_of_others_are_shown_as_texts(browser: Browser, store: Store) -> None:
    for text in HOSTILE:
        document = report_of_sides((text, "head"))
        server = document.server.model_copy(update={"name": text, "version": text})
        sides = [side.model_copy(update={"server": server}) for side in document.sides]
        recorded(store, document=document.model_copy(update={"server": server, "sides": sides, "notes": [text]}))
        with served_lab(store) as url:
            for path in ("/snapshots", f"/snapshots/{ID}", f"/snapshots/{ID}.html"):
                with opened(browser, url + path) as shown:
                    expect(shown.get_by_text(text).first).to_be_visible()
                    assert shown.title() != "acted"
