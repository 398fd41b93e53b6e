"""All pages of the lab over the store of the demonstration: what holds for each of them, whatever it shows."""

import re
from pathlib import Path
from typing import Any

import pytest
from browser_pages import AXE, DESKTOP, PHONE, opened
from demonstrated_lab import PAGES, DemonstratedLab
from playwright.sync_api import Browser, Page, Request, expect

from zerolap.api.app_pages import ROUTES
from zerolap.demonstration import NOT_MEASURED

WEB = Path(__file__).parents[1] / "web"
MOST_TABS = 60
SOONEST_AGAIN_MS = 5_000
"""Until a page asks again for what it shows: the least of the times in `web/src/app`."""

every_page = pytest.mark.parametrize("route", PAGES)
"""Slow together, but for one look at each page."""


def drawn(shown: Page) -> Page:
    """Wait until a page has fetched and drawn all that it shows at first."""
    expect(shown.locator("main h1").first).to_be_visible()
    shown.wait_for_load_state("networkidle")
    expect(shown.locator(".waiting")).to_have_count(0)
    return shown


def test_server_and_bundle_have_the_same_pages() -> None:
    routes = (WEB / "src/app/routes.ts").read_text()
    assert sorted(re.findall(r'path: "(/[^"]*)"', routes)) == sorted(ROUTES)


@every_page
def test_a_page_opens_without_a_fault(route: str, browser: Browser, made_up: DemonstratedLab) -> None:
    with opened(browser, made_up.url + made_up.paths[route], viewport=DESKTOP) as shown:
        drawn(shown)
        expect(shown.get_by_role("alert").filter(has_text=re.compile(r"\S"))).to_have_count(0)
        expect(shown.get_by_text(NOT_MEASURED).first).to_be_visible()
        assert widest(shown) <= DESKTOP["width"]


@pytest.mark.slow
@every_page
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_fits_a_phone(route: str, scheme: Any, browser: Browser, made_up: DemonstratedLab) -> None:
    options: dict[str, Any] = {"viewport": PHONE, "color_scheme": scheme, "is_mobile": True, "has_touch": True}
    with opened(browser, made_up.url + made_up.paths[route], **options) as shown:
        drawn(shown)
        assert widest(shown) <= PHONE["width"]


def widest(shown: Page) -> int:
    """Return how wide a page is, what lies beyond its window with it."""
    return int(shown.evaluate("document.documentElement.scrollWidth"))


@pytest.mark.slow
@every_page
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_is_accessible(route: str, scheme: Any, browser: Browser, made_up: DemonstratedLab) -> None:
    if not AXE.is_file():
        pytest.skip("not installed: axe-core (npm ci in web/)")
    # The page's policy keeps scripts of others from it.
    with opened(
        browser, made_up.url + made_up.paths[route], viewport=DESKTOP, color_scheme=scheme, bypass_csp=True
    ) as shown:
        drawn(shown)
        shown.add_script_tag(path=AXE)
        violations = shown.evaluate("async () => (await axe.run()).violations")
    assert [_in_short(violation) for violation in violations] == []


def _in_short(violation: dict[str, Any]) -> str:
    places = ", ".join(str(node["target"]) for node in violation["nodes"][:3])
    return f"{violation['id']}: {violation['help']} at {places}"


@pytest.mark.slow
@every_page
def test_a_page_is_readable_in_forced_colours_and_in_print(
    route: str, browser: Browser, made_up: DemonstratedLab
) -> None:
    with opened(browser, made_up.url + made_up.paths[route], viewport=DESKTOP, forced_colors="active") as shown:
        drawn(shown)
        expect(shown.locator("main h1").first).to_be_visible()
        shown.emulate_media(media="print", forced_colors="none")
        expect(shown.locator("main h1").first).to_be_visible()
        assert shown.pdf().startswith(b"%PDF")


@pytest.mark.slow
@every_page
def test_a_page_can_be_used_by_the_keyboard(route: str, browser: Browser, made_up: DemonstratedLab) -> None:
    with opened(browser, made_up.url + made_up.paths[route], viewport=DESKTOP) as shown:
        drawn(shown)
        shown.keyboard.press("Tab")
        expect(shown.locator(":focus")).to_have_text("Skip to the page")
        shown.keyboard.press("Enter")
        wanted = shown.evaluate(FIRST_CONTROL)
        reached = []
        while wanted is not None and wanted not in reached and len(reached) < MOST_TABS:
            shown.keyboard.press("Tab")
            reached.append(shown.evaluate("() => document.activeElement.outerHTML.slice(0, 200)"))
        assert wanted is None or wanted in reached
        assert not reached or shown.evaluate(HAS_FOCUS_MARK)


FIRST_CONTROL = """() => {
  const controls = [...document.querySelectorAll('main :is(a[href], button, input, select, summary)')];
  const shown = controls.filter((one) => one.checkVisibility() && !one.disabled && one.tabIndex >= 0);
  return shown.length === 0 ? null : shown[0].outerHTML.slice(0, 200);
}"""
HAS_FOCUS_MARK = """() => {
  const style = getComputedStyle(document.activeElement);
  return style.outlineStyle !== 'none' || style.boxShadow !== 'none';
}"""


@pytest.mark.slow
@every_page
def test_what_a_page_shows_is_asked_once_and_before_its_script_is_there(
    route: str, browser: Browser, made_up: DemonstratedLab
) -> None:
    requests: list[Request] = []

    def record(request: Request) -> None:
        # Playwright keeps a mark on what it calls, which a method of a list cannot have.
        requests.append(request)

    with opened(browser, made_up.url, viewport=DESKTOP) as shown:
        drawn(shown)
        shown.on("request", record)
        shown.goto(made_up.url + made_up.paths[route])
        drawn(shown)
        # Some pages ask again once their answer is old; on a slow machine it is before all of them is drawn.
        times = [request.timing["startTime"] for request in requests]
        asked = [
            request.url.removeprefix(made_up.url)
            for request, time in zip(requests, times, strict=True)
            if time - times[0] < SOONEST_AGAIN_MS
        ]
    queries = [url for url in asked if url.startswith(("/api/v1/pages/", "/openapi.json"))]
    assert sorted(queries) == sorted(set(queries))
    scripts = [place for place, url in enumerate(asked) if re.search(r"/assets/\w+(Page|Route)-.*\.js", url)]
    assert queries == [] or asked.index(queries[0]) < max(scripts)
