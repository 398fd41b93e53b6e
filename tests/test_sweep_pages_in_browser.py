"""The pages of sweeps of snapshots in a browser."""

import re

from browser_pages import opened
from http_server import served_lab
from made_snapshots import emulated_report, report, report_of_sides
from playwright.sync_api import Browser, expect
from test_report_pages_in_browser import HOSTILE
from test_sweep_pages import ID, SIDES_ID, recorded

from zerolap.records import EmulatedSnapshotReport
from zerolap.store import Store


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


def test_counted_forks_have_pictures_counts_and_what_they_depend_on(browser: Browser, store: Store) -> None:
    recorded(store, document=emulated_report())
    with served_lab(store) as url, opened(browser, f"{url}/snapshots") as shown:
        expect(shown.get_by_text("on Linux 6.1.192 with async-fork.patch")).to_be_visible()
        shown.get_by_role("link", name=ID).click()
        expect(shown.get_by_role("heading", level=1)).to_have_text(
            "fork at 1 GiB: 25 million instructions with fork=copy, 0.5 with fork=async (2.0 %)"
        )
        pictures = shown.locator("figure svg[role=img]")
        expect(pictures).to_have_count(2)
        expect(pictures.first).to_have_attribute(
            "aria-label", re.compile("head 0.1 million instructions at 0.06 GiB, 0.5 million instructions at 1 GiB$")
        )
        expect(shown.get_by_role("region", name="counts over sizes of data").locator("tbody tr")).to_have_count(4)
        expect(shown.get_by_text("an emulated machine measures no time")).to_be_visible()
        expect(shown.get_by_role("definition").filter(has_text="async-fork.patch")).to_be_visible()
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
        recorded(store, SIDES_ID, hostile_forks(text))
        with served_lab(store) as url:
            of_both = (f"/snapshots/{identity}{form}" for identity in (ID, SIDES_ID) for form in ("", ".html"))
            for path in ("/snapshots", *of_both):
                with opened(browser, url + path) as shown:
                    expect(shown.get_by_text(text).first).to_be_visible()
                    assert shown.title() != "acted"


def hostile_forks(text: str) -> EmulatedSnapshotReport:
    """Return forks of which all that others write is a text."""
    document = emulated_report(patch=text)
    sides = [side.model_copy(update={"name": f"{side.name} {text}"}) for side in document.sides]
    points = [point.model_copy(update={"side": f"{point.side} {text}"}) for point in document.points]
    kernel = document.kernel.model_copy(update={"name": text, "version": text, "compiler": text})
    server = document.server.model_copy(update={"name": text, "version": text})
    changes = {"server": server, "kernel": kernel, "sides": sides, "points": points, "notes": [text]}
    return document.model_copy(update=changes)
