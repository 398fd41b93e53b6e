"""The page in a browser: pictures can be worked with, on every ground and width, and nothing is loaded."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from benches.page import large_page

CHROMIUM = shutil.which("chromium")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(large_page())
    return path


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Page]:
    shown = browser.new_page(viewport={"width": 1200, "height": 900})
    faults: list[str] = []
    shown.on("pageerror", lambda error: faults.append(str(error)))
    shown.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    shown.goto(file.as_uri())
    shown.locator(".flame-frame canvas").wait_for()
    yield shown
    assert faults == []
    shown.close()


def test_a_click_zooms_and_the_whole_is_one_press_away(page: Page) -> None:
    whole = page.get_by_role("button", name="whole")
    expect(whole).to_be_disabled()
    page.locator(".flame-frame canvas").click(position={"x": 300, "y": 63})
    expect(whole).to_be_enabled()
    whole.click()
    expect(whole).to_be_disabled()


def test_keys_move_zoom_and_go_back(page: Page) -> None:
    canvas = page.locator(".flame-frame canvas")
    canvas.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    whole = page.get_by_role("button", name="whole")
    expect(whole).to_be_enabled()
    page.keyboard.press("Escape")
    expect(whole).to_be_disabled()


def test_the_search_says_which_share_has_it(page: Page) -> None:
    page.get_by_placeholder("function, file or").fill("function12")
    expect(page.locator(".detail").first).to_contain_text("% of all samples")


def test_the_table_lists_functions_and_sorts(page: Page) -> None:
    page.get_by_role("button", name="Functions as a table").click()
    table = page.locator("table", has_text="function").last
    assert table.locator("tbody tr").count() > 5
    first = table.locator("tbody th").first
    by_own = first.inner_text()
    table.get_by_role("button", name="inclusive").click()
    expect(table.get_by_role("columnheader", name="inclusive")).to_have_attribute("aria-sort", "descending")
    expect(first).not_to_have_text(by_own)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 390), ("dark", 390)])
def test_every_ground_and_width_fits_and_loads_nothing(scheme: str, width: int, browser: Browser, file: Path) -> None:
    dark = "dark" if scheme == "dark" else "light"
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=dark)
    shown = context.new_page()
    requests: list[str] = []
    shown.on("request", lambda request: requests.append(request.url))
    shown.goto(file.as_uri())
    shown.locator(".flame-frame canvas").wait_for()
    assert [url for url in requests if not url.startswith("data:")] == [file.as_uri()]
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    ground = shown.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    context.close()
