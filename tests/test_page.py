"""The pages in a browser: they can be worked with, on every ground and width, and nothing is loaded."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright
from stored_run import stored_run
from waiting import PATIENCE_SECONDS

from benches.page import large_page
from zerolap.lab import read_run_pictures
from zerolap.report.html import run_html
from zerolap.store import Store

CHROMIUM = shutil.which("chromium")

expect.set_options(timeout=1000 * PATIENCE_SECONDS)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=1000 * PATIENCE_SECONDS
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(large_page())
    return path


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("run")
    path = directory / "run.html"
    with Store.open(str(directory / "store")) as store:
        report = stored_run(store)
        path.write_text(run_html(report, read_run_pictures(report, store)))
    return path


@contextmanager
def opened(browser: Browser, file: Path) -> Iterator[Page]:
    """Open a page; assert that nothing in it failed."""
    shown = browser.new_page(viewport={"width": 1200, "height": 900})
    shown.set_default_timeout(1000 * PATIENCE_SECONDS)
    faults: list[str] = []
    shown.on("pageerror", lambda error: faults.append(str(error)))
    shown.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    shown.goto(file.as_uri())
    yield shown
    assert faults == []
    shown.close()


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Page]:
    with opened(browser, file) as shown:
        shown.locator(".flame-frame canvas").wait_for()
        yield shown


@pytest.fixture
def run_page(browser: Browser, run_file: Path) -> Iterator[Page]:
    with opened(browser, run_file) as shown:
        yield shown


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


GROUNDS_AND_WIDTHS = pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 390), ("dark", 390)]
)


@contextmanager
def alone(browser: Browser, file: Path, scheme: str, width: int) -> Iterator[Page]:
    """Open a page on a ground of a width; assert that it fits and has loaded nothing."""
    dark = "dark" if scheme == "dark" else "light"
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=dark)
    shown = context.new_page()
    shown.set_default_timeout(1000 * PATIENCE_SECONDS)
    requests: list[str] = []
    shown.on("request", lambda request: requests.append(request.url))
    shown.goto(file.as_uri())
    yield shown
    assert [url for url in requests if not url.startswith("data:")] == [file.as_uri()]
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    ground = shown.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    context.close()


@GROUNDS_AND_WIDTHS
def test_every_ground_and_width_fits_and_loads_nothing(scheme: str, width: int, browser: Browser, file: Path) -> None:
    with alone(browser, file, scheme, width) as shown:
        shown.locator(".flame-frame canvas").wait_for()


# A run


def cases_of(page: Page) -> Locator:
    """Return the buttons that show the details of cases."""
    return page.locator("tr.case th button")


def names_of(page: Page) -> list[str]:
    """Return the cases in the order shown."""
    return [name.removeprefix("▸").removeprefix("▾").strip() for name in cases_of(page).all_inner_texts()]


def test_a_run_says_what_was_measured_of_which_server(run_page: Page) -> None:
    expect(run_page).to_have_title("./src/redis-server · Zerolap")
    expect(run_page.get_by_role("heading", level=1)).to_have_text("3 of 5 cases measured")
    header = run_page.locator("header")
    for told in ("7.2.4", "1f3c5a7b9d0e", "io-threads=2", "6 min 52 s of trials", "the host was noisy"):
        expect(header).to_contain_text(told)
    expect(run_page.get_by_text(str(2**64 - 1))).to_be_visible()
    row = run_page.locator("tr.case", has_text="get-100B").locator("td:visible")
    assert [cell.split(" ")[0] for cell in row.all_inner_texts()] == [
        "string", "3,520", "1,211", "817,252", "374.6", "727.7"
    ]  # fmt: skip
    assert run_page.locator("tr.case", has_text="hset").locator("td").all_inner_texts() == [
        "hash", "6,293", "", "", "", ""
    ]  # fmt: skip


def test_cases_of_a_run_are_sorted_by_keys_alone(run_page: Page) -> None:
    assert names_of(run_page) == ["fcall", "get-10B", "get-100B", "hset", "set-ex"]
    heading = run_page.get_by_role("columnheader", name="instructions/request")
    heading.get_by_role("button").focus()
    run_page.keyboard.press("Enter")
    expect(heading).to_have_attribute("aria-sort", "descending")
    assert names_of(run_page)[:3] == ["hset", "get-100B", "get-10B"]
    run_page.keyboard.press("Enter")
    expect(heading).to_have_attribute("aria-sort", "ascending")
    # What was not measured stays at the end.
    assert names_of(run_page)[:3] == ["get-10B", "get-100B", "hset"]


def test_cases_of_a_run_are_filtered(run_page: Page) -> None:
    search = run_page.get_by_role("searchbox", name="Filter by case")
    search.fill("HSET")
    expect(cases_of(run_page)).to_have_count(1)
    expect(run_page.get_by_role("status")).to_have_text("1 case of 5 shown")
    search.fill("")
    run_page.get_by_role("button", name="failed 1").click()
    assert names_of(run_page) == ["set-ex"]


def test_a_case_of_a_run_shows_where_its_cost_goes(run_page: Page) -> None:
    button = run_page.get_by_role("button", name="get-100B")
    expect(button).to_have_attribute("aria-expanded", "false")
    button.focus()
    run_page.keyboard.press("Enter")
    details = run_page.locator(".detail")
    functions = details.locator("table").first.locator("tr")
    assert [row.split("\t") for row in functions.all_inner_texts()] == [
        ["function", "share of CPU time", "own CPU ns", "own instructions", "calls"],
        ["dictFind dictFind.c", "60.0\u00a0%", "726.7", "881", "1"],
        ["writeToClient writeToClient.c", "30.0\u00a0%", "363.4", "", ""],
    ]
    expect(details.locator(".flame-frame canvas")).to_be_visible()
    expect(details).to_contain_text("100 samples of cpu-clock, 1,211 ns of CPU per request")
    for told in ("Latency in microseconds: 50 % 100; ", "Requests per second: median 160,000, "):
        expect(details.get_by_role("img", name=told)).to_be_visible()
    expect(details).to_contain_text("hit_rate is 1, expected >= 0.99")
    # There is but one server: nothing is of a head or a base.
    assert not details.get_by_text("head").count() + details.get_by_text("base").count()


def test_a_case_of_a_run_says_why_there_is_nothing(run_page: Page) -> None:
    for name in ("set-ex", "fcall", "hset"):
        run_page.get_by_role("button", name=name).click()
    failed, invalid, limited = (run_page.locator("tr.case", has_text=name) for name in ("set-ex", "fcall", "hset"))
    expect(failed).to_contain_text("failed")
    expect(invalid).to_contain_text("invalid")
    details = run_page.locator("table.cases")
    expect(details).to_contain_text("Failed: the server exited with 139")
    expect(details.locator("pre")).to_have_text("# Redis 7.2.4 crashed by signal: 11")
    expect(details).to_contain_text("hit_rate is 0.12, expected >= 0.99 (does not hold)")
    expect(limited.locator("+ tr")).to_contain_text("Limits: not timed: the machine was disturbed")


@GROUNDS_AND_WIDTHS
def test_a_run_fits_every_ground_and_width_and_loads_nothing(
    scheme: str, width: int, browser: Browser, run_file: Path
) -> None:
    with alone(browser, run_file, scheme, width) as shown:
        for button in cases_of(shown).all():
            button.click()
        shown.locator(".flame-frame canvas").wait_for()
        shown.locator(".picture svg[role=img]").first.wait_for()


def test_a_run_on_a_phone_has_cards_and_an_order(browser: Browser, run_file: Path) -> None:
    with alone(browser, run_file, "light", 390) as shown:
        card = shown.locator("tr.case", has_text="get-100B")
        for told in ("3,520 instructions", "1,211 CPU ns", "817,252 requests/s", "374.6 µs p50", "727.7 µs p99"):
            expect(card).to_contain_text(told)
        expect(shown.locator("tr.case", has_text="hset").locator("td:visible")).to_have_count(2)
        expect(shown.locator("table.cases > thead")).to_be_hidden()
        shown.get_by_label("sort by").select_option("instructions/request")
        assert names_of(shown)[0] == "hset"


@pytest.mark.parametrize("width", [721, 900])
def test_a_run_fits_a_tablet(width: int, browser: Browser, run_file: Path) -> None:
    with alone(browser, run_file, "light", width) as shown:
        cases_of(shown).first.wait_for()
