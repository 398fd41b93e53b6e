"""The pages in a browser: they can be worked with, on every ground and width, on paper too, and nothing is loaded."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browser_pages import opened
from made_records import a_time
from playwright.sync_api import Browser, Locator, Page, expect
from stored_run import stored_run
from waiting import PATIENCE_SECONDS

from benches.page import FIXTURE, large_page
from zerolap.documents import read_pictures
from zerolap.records import CasePictures, CaseResult, Comparison, Pictures, StackFrame, StackNodes, StackTree
from zerolap.report import html
from zerolap.report.html import comparison_html, run_html
from zerolap.sheets import Section, chosen_compared_case, comparison_list
from zerolap.store import Store


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
        path.write_text(run_html(report, read_pictures(report, store)))
    return path


@contextmanager
def opened_file(browser: Browser, file: Path, before: str = "") -> Iterator[Page]:
    """Open a page, a script run before its own; assert that nothing in it failed."""
    with opened(browser, file.as_uri(), before, viewport={"width": 1200, "height": 900}) as shown:
        yield shown


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Page]:
    with opened_file(browser, file) as shown:
        shown.locator(".flame-frame canvas").wait_for()
        yield shown


@pytest.fixture
def run_page(browser: Browser, run_file: Path) -> Iterator[Page]:
    with opened_file(browser, run_file) as shown:
        yield shown


def test_a_click_zooms_and_a_button_resets(page: Page) -> None:
    reset = page.get_by_role("button", name="reset zoom")
    expect(reset).to_be_disabled()
    page.locator(".flame-frame canvas").click(position={"x": 300, "y": 63})
    expect(reset).to_be_enabled()
    reset.click()
    expect(reset).to_be_disabled()


def test_keys_move_zoom_and_go_back(page: Page) -> None:
    canvas = page.locator(".flame-frame canvas")
    canvas.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    reset = page.get_by_role("button", name="reset zoom")
    expect(reset).to_be_enabled()
    page.keyboard.press("Escape")
    expect(reset).to_be_disabled()


def test_the_search_reports_the_share_that_matches(page: Page) -> None:
    page.get_by_placeholder("function, file or").fill("function12")
    expect(page.locator(".detail").first).to_contain_text("% of all samples match")


def test_the_table_lists_functions_and_sorts(page: Page) -> None:
    page.get_by_role("button", name="Functions as a table").click()
    table = page.locator("table", has_text="function").last
    expect(table.locator("tbody tr")).to_have_count(15)
    table.locator("..").get_by_role("button", name="show 100 more of 800").click()
    expect(table.locator("tbody tr")).to_have_count(115)
    first = table.locator("tbody th").first
    by_self = first.inner_text()
    table.get_by_role("button", name="total").click()
    expect(table.get_by_role("columnheader", name="total")).to_have_attribute("aria-sort", "descending")
    expect(first).not_to_have_text(by_self)


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
        # Of an open case the table is asked for, whatever the width.
        expect(shown.get_by_role("button", name="Functions as a table")).to_have_attribute("aria-expanded", "false")


# A run


def cases_of(page: Page) -> Locator:
    """Return the buttons that show the details of cases."""
    return page.locator("tr.case th button")


def names_of(page: Page) -> list[str]:
    """Return the cases in the order shown."""
    return [name.removeprefix("▸").removeprefix("▾").strip() for name in cases_of(page).all_inner_texts()]


def test_a_run_shows_its_server_and_its_figures(run_page: Page) -> None:
    expect(run_page).to_have_title("./src/redis-server on laptop · Zerolap")
    expect(run_page.get_by_role("heading", level=1)).to_have_text("3 of 5 cases measured")
    facts = run_page.locator("dl.facts").first
    for text in ("7.2.4", "1f3c5a7b9d0e", "io-threads=2", "6 min 52 s of trials"):
        expect(facts).to_contain_text(text)
    expect(run_page.locator(".note").first).to_contain_text("the host was noisy")
    expect(run_page.get_by_text(str(2**64 - 1))).to_be_visible()
    row = run_page.locator("tr.case", has_text="get-100B").locator("td:visible")
    assert [cell.split(" ")[0] for cell in row.all_inner_texts()] == [
        "string", "", "3,520", "1,211", "817,252", "374.6", "727.7"
    ]  # fmt: skip
    assert run_page.locator("tr.case", has_text="hset").locator("td").all_inner_texts() == [
        "hash", "", "6,293", "", "", "", ""
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
    expect(run_page.get_by_role("status")).to_have_text("1 of 5 cases shown")
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
        ["share", "ns", "instructions", "calls", "function", "file"],
        ["60.0 %", "726.7", "881", "1", "dictFind", "dictFind.c"],
        ["30.0 %", "363.4", "", "", "writeToClient", "writeToClient.c"],
    ]
    details.get_by_text("further figures").click()
    expect(details.get_by_role("row", name="system calls per request")).to_be_visible()
    expect(details).to_contain_text("GET · group string · standalone")
    expect(details.locator(".flame-frame canvas")).to_be_visible()
    expect(details).to_contain_text("100 samples of cpu-clock, 1,211 CPU ns per request")
    for summary in ("Latency in microseconds: 50 % 100; ", "Requests per second: median 160,000, "):
        expect(details.get_by_role("img", name=summary)).to_be_visible()
    expect(details).to_contain_text("hit_rate is 1, expected >= 0.99")
    # There is one server: nothing is of a head or a base.
    assert not details.get_by_text("head").count() + details.get_by_text("base").count()


def test_a_case_of_a_run_shows_why_it_has_no_figures(run_page: Page) -> None:
    for name in ("set-ex", "fcall", "hset"):
        run_page.get_by_role("button", name=name).click()
    failed, invalid, limited = (run_page.locator("tr.case", has_text=name) for name in ("set-ex", "fcall", "hset"))
    expect(failed).to_contain_text("failed")
    expect(invalid).to_contain_text("invalid")
    details = run_page.locator("table.cases")
    expect(details).to_contain_text("the server exited with 139")
    expect(details).to_contain_text("# Redis 7.2.4 crashed by signal: 11")
    expect(details).to_contain_text("1 failed")
    expect(invalid.locator("+ tr li").first).to_have_text("invalid: hit_rate is 0.12, expected >= 0.99")
    expect(limited.locator("+ tr")).to_contain_text("limits: not timed: the machine was disturbed")


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
        for figure in (
            "instructions/request 3,520",
            "CPU ns/request 1,211",
            "requests/s 817,252",
            "p50, µs 374.6",
            "p99, µs 727.7",
        ):
            expect(card).to_contain_text(figure)
        expect(shown.locator("tr.case", has_text="hset").locator("td:visible")).to_have_count(2)
        expect(shown.locator("table.cases > thead")).to_be_hidden()
        shown.get_by_label("sort by").select_option("instructions/request")
        assert names_of(shown)[0] == "hset"


@pytest.mark.parametrize("width", [721, 900])
def test_a_run_fits_a_tablet(width: int, browser: Browser, run_file: Path) -> None:
    with alone(browser, run_file, "light", width) as shown:
        cases_of(shown).first.wait_for()


# A comparison of many cases

MANY = 500
MOST_RENDERED = 120
"""More rows than fit the window and its height above and below; far fewer than there are."""
COMPARISON = Comparison.model_validate_json(FIXTURE.read_text())


def a_case(name: str, verdict: str = "same", **changes: Any) -> CaseResult:
    """Return the case of the fixture under another name, with another verdict on its work."""
    return COMPARISON.cases[0].model_copy(update={"case": name, "verdict": verdict, "work": verdict, **changes})


def a_timed_case(name: str, work: str, time: str, metric: str, change: float, verdict: str | None = None) -> CaseResult:
    """Return a case of a comparison that was asked for work and time."""
    [counted, *_] = COMPARISON.cases[0].verdicts
    verdicts = [counted.model_copy(update={"verdict": work}), a_time(time, change, metric, base=1000.0)]
    return a_case(name, verdict or time, work=work, time=time, verdicts=verdicts, deciding=metric, time_deciding=metric)


def numbered_case(number: int) -> CaseResult:
    """Return a case in whose row its number is: in its name, and as the value of the head."""
    (first, *others) = COMPARISON.cases[0].verdicts
    return a_case(f"case-{number:03}", verdicts=[first.model_copy(update={"head": 100_000 + number}), *others])


def a_comparison(*cases: CaseResult) -> Comparison:
    return COMPARISON.model_copy(update={"cases": list(cases)})


def some_stacks(*cases: str) -> Pictures:
    """Return pictures in which each of the cases has a small tree of stacks on both sides."""
    tree = StackTree(
        event="cpu-clock",
        samples=10,
        lost=0,
        cpu_ns_per_op=None,
        threads=["redis-server"],
        nodes=StackNodes(thread=[0, 0], parent=[-1, 0], frame=[0, 1], samples=[4, 6]),
    )
    frames = [StackFrame(function=name, file=None, object="redis-server", inlined=False) for name in ("main", "lookup")]
    case = CasePictures(latency=None, throughput=None, stacks={"base": tree, "head": tree})
    return Pictures(frames=frames, cases=dict.fromkeys(cases, case))


@contextmanager
def shown_page(browser: Browser, tmp_path: Path, text: str, before: str = "") -> Iterator[Page]:
    """Open a page; assert that no fault reached the browser."""
    file = tmp_path / "page.html"
    file.write_text(text)
    with opened_file(browser, file, before) as shown:
        yield shown


def row_of(page: Page, name: str) -> Locator:
    return page.locator("tr.case").filter(has=page.get_by_role("button", name=name, exact=True))


def rendered_rows(page: Page) -> int:
    return page.locator("tbody:not(.far) > tr.case").count()


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a page of cases whose work and time were measured, but for an identical one."""
    path = tmp_path_factory.mktemp("both") / "both.html"
    cases = [
        a_timed_case("get", "same", "same", "cpu_ns_per_op", 0.001),
        a_timed_case("hset", "regression", "same", "cpu_ns_per_op", 0.002),
        a_timed_case("zadd", "same", "regression", "ops_per_sec", -0.12),
        a_timed_case("set", "same", "unsure", "cpu_ns_per_op", 0.019),
        a_case("sismember", "same", work="identical"),
    ]
    path.write_text(comparison_html(a_comparison(*cases)))
    return path


def test_work_and_time_stand_beside_each_other(browser: Browser, both: Path) -> None:
    with opened_file(browser, both) as shown:
        work_and_time = shown.locator("dl.facts").first.locator("dd")
        expect(work_and_time.nth(0)).to_have_text("1 regression, 3 same, 1 identical")
        expect(work_and_time.nth(1)).to_have_text("1 regression, 1 unsure, 2 same")
        expect(shown.locator("caption")).to_have_text(
            "work: change of instructions per request; time: change of CPU ns per request"
        )
        # A change of work comes first although its time, and so the verdict, is the same.
        assert names_of(shown) == ["zadd", "hset", "set", "get", "sismember"]
        verdict, work, time = (row_of(shown, "hset").locator("td").nth(place) for place in range(3))
        expect(verdict).to_contain_text("same")
        expect(work).to_contain_text("regression")
        for text in ("same", "+0.20 %", "[-0.8, +1.2]"):
            expect(time).to_contain_text(text)
        for text in ("requests/s [-13.0, -11.0]", "1,000 → 880"):
            expect(row_of(shown, "zadd").locator("td").nth(2)).to_contain_text(text)
        cells = row_of(shown, "sismember").locator("td")
        expect(cells.nth(1)).to_contain_text("identical")
        expect(cells.nth(2)).to_have_text("")
        for word, names in (("regression 2", ["zadd", "hset"]), ("identical 1", ["sismember"])):
            button = shown.get_by_role("button", name=word)
            button.click()
            assert names_of(shown) == names
            button.click()
        shown.get_by_role("columnheader", name="time").get_by_role("button").click()
        assert names_of(shown)[:2] == ["zadd", "set"]


def test_time_that_was_not_measured_is_not_called_unsure(browser: Browser, tmp_path: Path) -> None:
    cases = [
        a_timed_case("set", "same", "unsure", "cpu_ns_per_op", 0.019),
        a_case("zadd", "regression"),
        a_timed_case("sampled", "identical", "unsure", "cpu_ns_per_op", 0.01, "same"),
    ]
    with shown_page(browser, tmp_path, comparison_html(a_comparison(*cases))) as shown:
        expect(row_of(shown, "zadd").locator("td").nth(0)).to_contain_text("regression counted only")
        expect(row_of(shown, "zadd").locator("td").nth(2)).to_have_text("time not timed")
        expect(row_of(shown, "set").locator("td").nth(2)).to_contain_text("unsure")
        shown.get_by_role("button", name="unsure 1").click()
        assert names_of(shown) == ["set"]


def test_a_change_of_time_with_one_layout_on_each_side_is_marked(browser: Browser, tmp_path: Path) -> None:
    case = a_timed_case("zadd", "same", "regression", "cpu_ns_per_op", 0.2)
    confirmed = case.model_copy(update={"case": "hset", "confirmed": True})
    with shown_page(browser, tmp_path, comparison_html(a_comparison(case, confirmed))) as shown:
        expect(row_of(shown, "zadd").locator("td").first).to_contain_text("regression one layout")
        expect(row_of(shown, "hset").locator("td").first).not_to_contain_text("one layout")


def test_the_side_that_fails_is_stated(browser: Browser, tmp_path: Path) -> None:
    invalid = {"work": None, "deciding": None, "work_deciding": None, "verdicts": []}
    cases = [
        a_case("set", "invalid", **invalid, failure="head: it crashed", failed_sides=["head"]),
        a_case("get", "invalid", **invalid, failed_sides=["base", "head"]),
    ]
    with shown_page(browser, tmp_path, comparison_html(a_comparison(*cases))) as shown:
        expect(row_of(shown, "set").locator("td").first).to_contain_text("failed on the head only")
        expect(row_of(shown, "get").locator("td").first).to_contain_text("invalid on both sides")
        shown.get_by_role("button", name="set", exact=True).click()
        expect(shown.locator(".detail").first).to_contain_text("could not be measured on the head: it crashed")


@GROUNDS_AND_WIDTHS
def test_work_and_time_fit_every_ground_and_width(scheme: str, width: int, browser: Browser, both: Path) -> None:
    with alone(browser, both, scheme, width) as shown:
        for text in ("+0.20 %", "[-0.8, +1.2]"):
            expect(row_of(shown, "hset")).to_contain_text(text)
        expect(row_of(shown, "hset").get_by_text("time", exact=True)).to_be_visible(visible=width < 720)


@pytest.mark.parametrize("width", [721, 800, 1001])
def test_work_and_time_fit_a_tablet(width: int, browser: Browser, both: Path) -> None:
    with alone(browser, both, "light", width) as shown:
        # What is measured of a cell stays within it.
        wide = "[...document.querySelectorAll('td.answer')].filter(cell => cell.scrollWidth > cell.clientWidth).length"
        expect(row_of(shown, "zadd")).to_contain_text("-12.0 %")
        assert shown.evaluate(wide) == 0


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("many") / "many.html"
    path.write_text(comparison_html(a_comparison(*map(numbered_case, range(MANY)))))
    return path


def test_rows_are_rendered_as_they_are_scrolled_to(browser: Browser, many: Path) -> None:
    with opened_file(browser, many) as shown:
        assert 0 < rendered_rows(shown) < MOST_RENDERED
        # The names of all are there, so that the browser's own search finds them.
        assert len(names_of(shown)) == MANY
        for number in (250, 499, 7):
            row = row_of(shown, f"case-{number:03}")
            row.scroll_into_view_if_needed()
            expect(row).to_contain_text(f"{100_000 + number:,}")
            shown.wait_for_function(f"document.querySelectorAll('tbody:not(.far)').length < {MOST_RENDERED}")
        expect(row_of(shown, "case-250").locator(".values")).to_have_count(0)


def test_the_search_and_the_order_reach_rows_that_were_not_rendered(browser: Browser, many: Path) -> None:
    with opened_file(browser, many) as shown:
        shown.get_by_role("searchbox", name="Filter by case").fill("case-43")
        expect(shown.get_by_role("status")).to_have_text("10 of 500 cases shown")
        expect(shown.locator("tr.case .values")).to_have_count(10)
        expect(row_of(shown, "case-437")).to_contain_text("100,437")
        shown.get_by_role("searchbox", name="Filter by case").fill("")
        header = shown.get_by_role("columnheader", name="case")
        header.get_by_role("button").click()
        header.get_by_role("button").click()
        expect(shown.locator("tr.case").first).to_contain_text("100,499")
        assert rendered_rows(shown) < MOST_RENDERED


def test_a_row_with_the_focus_stays_and_one_that_was_opened_keeps_its_place(browser: Browser, many: Path) -> None:
    with opened_file(browser, many) as shown:
        shown.get_by_role("button", name="case-400", exact=True).focus()
        shown.keyboard.press("Enter")
        expect(shown.locator(".detail")).to_have_count(1)
        shown.evaluate("scrollTo(0, 0)")
        expect(row_of(shown, "case-000")).to_contain_text("100,000")
        assert "case-400" in shown.evaluate("document.activeElement.textContent")
        expect(shown.locator(".detail")).to_have_count(1)
        shown.keyboard.press("Tab")
        assert shown.evaluate("document.activeElement.getAttribute('href')") == "#case-case-400"
        # Within the details are the words that are explained, and what is folded.
        within = "document.activeElement.closest('.detail') !== null"
        shown.keyboard.press("Tab")
        assert shown.evaluate(within)
        while shown.evaluate(within):
            shown.keyboard.press("Tab")
        assert "case-401" in shown.evaluate("document.activeElement.textContent")
        expect(row_of(shown, "case-401")).to_contain_text("100,401")


def test_a_filter_keeps_what_was_opened(browser: Browser, many: Path) -> None:
    with opened_file(browser, many) as shown:
        shown.get_by_role("button", name="case-003", exact=True).click()
        expect(shown.locator(".detail")).to_have_count(1)
        search = shown.get_by_role("searchbox", name="Filter by case")
        search.fill("case-4")
        expect(shown.locator(".detail")).to_have_count(0)
        search.fill("")
        expect(shown.get_by_role("button", name="case-003", exact=True)).to_have_attribute("aria-expanded", "true")
        expect(shown.locator(".detail")).to_have_count(1)


def test_a_link_leads_to_a_case_and_opens_it(browser: Browser, many: Path) -> None:
    with opened_file(browser, many) as shown:
        shown.goto(f"{shown.url}#case-case-321")
        case = shown.get_by_role("button", name="case-321", exact=True)
        expect(case).to_have_attribute("aria-expanded", "true")
        expect(case).to_be_in_viewport()
        expect(shown.locator(".detail")).to_have_count(1)


def test_an_opened_case_states_first_what_happened_and_how_sure_that_is(browser: Browser, both: Path) -> None:
    with opened_file(browser, both) as shown:
        detail = shown.locator("tr.details", has_text="HSET").or_(shown.locator(".detail")).first
        sentences = detail.locator("> ul > li")
        expect(sentences.first).to_contain_text("serves 12 % fewer requests per second (11.0 to 13.0 %).")
        expect(detail.locator("> ul")).to_contain_text("It is not confirmed")
        expect(detail.locator("> ul")).to_contain_text("Work, which is what the code does")
        figures = detail.get_by_role("table")
        # What decides, each with its chart.
        expect(figures.locator("tbody tr")).to_have_count(2)
        expect(figures.locator("svg.chart")).to_have_count(2)
        expect(figures.get_by_role("img", name="-12.0 % [-13.0, -11.0]")).to_be_visible()


def test_a_word_is_explained_where_it_stands(browser: Browser, both: Path) -> None:
    with opened_file(browser, both) as shown:
        word = shown.get_by_role("button", name="minimum effect").first
        expect(word).to_have_attribute("title", re.compile("the smallest change that matters"))
        word.focus()
        shown.keyboard.press("Enter")
        expect(word).to_have_attribute("aria-expanded", "true")
        meaning = shown.locator(".meaning:popover-open")
        expect(meaning).to_have_text(re.compile("^minimum effect: the smallest change that matters"))
        shown.keyboard.press("Escape")
        expect(meaning).to_have_count(0)
        expect(word).to_have_attribute("aria-expanded", "false")
        expect(word).to_be_focused()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_meaning_of_a_word_moves_nothing(width: int, browser: Browser, both: Path) -> None:
    with alone(browser, both, "light", width) as shown:
        facts = shown.locator("dl.facts").last
        word = facts.get_by_role("button", name="regression")
        word.scroll_into_view_if_needed()
        before = facts.bounding_box()
        word.click()
        meaning = shown.locator(".meaning:popover-open")
        expect(meaning).to_be_visible()
        expect(meaning).to_be_in_viewport(ratio=1)
        assert facts.bounding_box() == before
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        facts.get_by_role("button", name="seed").click()
        expect(meaning).to_have_text(re.compile("^seed: "))
        shown.emulate_media(media="print")
        expect(meaning).to_be_hidden()
        shown.emulate_media(media="screen")


def test_of_thousands_of_cases_those_near_the_window_are_in_the_page(browser: Browser, tmp_path: Path) -> None:
    cases = [numbered_case(number) for number in range(2000)]
    with shown_page(browser, tmp_path, comparison_html(a_comparison(*cases))) as shown:
        assert 0 < shown.locator("tr.case").count() < 200
        # What is not there has its room.
        assert shown.evaluate("document.querySelector('table.cases').offsetHeight") > 30 * 2000
        shown.evaluate("scrollTo(0, document.querySelector('table.cases').offsetHeight / 2)")
        expect(row_of(shown, "case-1000")).to_be_visible()
        expect(row_of(shown, "case-1000")).to_contain_text("101,000")
        assert shown.locator("tr.case").count() < 200
        shown.get_by_role("searchbox", name="Filter by case").fill("case-1999")
        expect(shown.get_by_role("status")).to_have_text("1 of 2,000 cases shown")
        shown.get_by_role("searchbox", name="Filter by case").fill("")
        shown.goto(f"{shown.url}#case-case-1777")
        case = shown.get_by_role("button", name="case-1777", exact=True)
        expect(case).to_have_attribute("aria-expanded", "true")
        expect(case).to_be_in_viewport()


# Faults


def test_a_document_that_is_no_json_is_offered_as_it_is(browser: Browser, tmp_path: Path) -> None:
    text = comparison_html(a_comparison(a_case("get")))
    document = text.partition('id="document">')[2].partition("</script>")[0]
    broken = text.replace(document, document[:-1])
    with shown_page(browser, tmp_path, broken) as shown:
        message = shown.get_by_role("alert")
        expect(message).to_contain_text("This report cannot be shown.")
        expect(message).to_contain_text("The document of this report is not valid JSON")
        message.get_by_text("show the data").click()
        expect(message.locator("pre")).to_have_text(document[:-1])
        with shown.expect_download() as download:
            message.get_by_role("button", name="save the data").click()
        assert download.value.path().read_text() == document[:-1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema_": "zerolap.comparison/9"}, 'has the schema "zerolap.comparison/9"'),
        ({"cases": [{"case": "get"}]}, "This report cannot be shown"),
        ({"cases": None}, "This report cannot be shown"),
    ],
)
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_a_document_that_the_page_cannot_show_is_reported(
    changes: Mapping[str, Any], message: str, browser: Browser, tmp_path: Path
) -> None:
    # As a program of another version could have written it.
    changed = COMPARISON.model_copy(update=changes)
    with shown_page(browser, tmp_path, html.page_html(changed)) as shown:
        expect(shown.get_by_role("alert")).to_contain_text(message)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_a_case_that_cannot_be_shown_costs_only_its_details(browser: Browser, tmp_path: Path) -> None:
    comparison = a_comparison(a_case("get"), a_case("set"))
    details = {
        "get": Section.model_construct(**dict(Section()) | {"sentences": [None]}),
        "set": chosen_compared_case(a_case("set")),
    }
    with shown_page(browser, tmp_path, html.page_html(comparison, None, comparison_list(comparison), details)) as shown:
        for name in ("get", "set"):
            shown.get_by_role("button", name=name, exact=True).click()
        expect(shown.get_by_role("alert")).to_have_count(1)
        expect(row_of(shown, "get").locator("+ tr")).to_contain_text("The details of this case cannot be shown.")
        expect(row_of(shown, "set").locator("+ tr")).to_contain_text("all hold")


def test_pictures_that_are_damaged_cost_only_the_pictures(browser: Browser, tmp_path: Path) -> None:
    text = comparison_html(a_comparison(a_case("get")), some_stacks("get"))
    with shown_page(browser, tmp_path, text.replace('id="pictures">', 'id="pictures">?')) as shown:
        expect(shown.locator(".warning")).to_contain_text("The data of the charts cannot be read")
        expect(row_of(shown, "get")).to_contain_text("same")


COUNTING = """
const parse = JSON.parse;
window.parsedStacks = 0;
JSON.parse = (text, ...others) => {
  window.parsedStacks += String(text).includes('"nodes"');
  return parse(text, ...others);
};
"""


def test_stacks_are_parsed_when_their_case_is_opened(browser: Browser, tmp_path: Path) -> None:
    text = comparison_html(a_comparison(a_case("get"), a_case("set")), some_stacks("get", "set"))
    with shown_page(browser, tmp_path, text, COUNTING) as shown:
        expect(row_of(shown, "get")).to_contain_text("same")
        assert shown.evaluate("parsedStacks") == 0
        shown.get_by_role("button", name="set", exact=True).click()
        expect(shown.locator(".flame-frame canvas")).to_be_visible()
        assert shown.evaluate("parsedStacks") == 1


def test_stacks_that_are_damaged_cost_only_their_flame_graph(browser: Browser, tmp_path: Path) -> None:
    name = 'get "<x>" & more'
    text = comparison_html(a_comparison(a_case(name), a_case("set")), some_stacks(name, "set"))
    start = text.index(">", text.index('class="stacks"')) + 1
    with shown_page(browser, tmp_path, text[:start] + "?" + text[start:]) as shown:
        expect(shown.get_by_role("alert")).to_have_count(0)
        for case in (name, "set"):
            shown.get_by_role("button", name=case, exact=True).click()
        expect(shown.locator(".flame-frame canvas")).to_have_count(1)
        expect(shown.get_by_role("alert")).to_contain_text("The data of this flame graph cannot be read")
        expect(row_of(shown, name).locator("+ tr")).to_contain_text("all hold")


# Paper and forced colours


@contextmanager
def of_three_cases(browser: Browser, tmp_path: Path, **options: Any) -> Iterator[Page]:
    file = tmp_path / "three.html"
    cases = [a_case("get", "regression"), a_case("set"), a_case("hset", "unsure")]
    file.write_text(comparison_html(a_comparison(*cases), some_stacks("get", "set")))
    context = browser.new_context(viewport={"width": 1200, "height": 900}, **options)
    shown = context.new_page()
    shown.set_default_timeout(1000 * PATIENCE_SECONDS)
    shown.goto(file.as_uri())
    shown.locator(".flame-frame canvas").wait_for()
    yield shown
    context.close()


def styled(page: Page, selector: str, name: str) -> str:
    return str(page.locator(selector).first.evaluate(f"element => getComputedStyle(element)['{name}']"))


def test_on_paper_all_cases_are_open_and_nothing_is_cut_off(browser: Browser, tmp_path: Path) -> None:
    with of_three_cases(browser, tmp_path, color_scheme="dark") as shown:
        expect(shown.locator(".detail")).to_have_count(1)
        shown.emulate_media(media="print")
        expect(shown.locator(".detail")).to_have_count(3)
        # Only what is open on the screen has its flame graph.
        expect(shown.locator(".flame-frame canvas")).to_have_count(1)
        expect(shown.locator(".filter").first).to_be_hidden()
        assert styled(shown, ".flame-frame canvas", "position") == "static"
        assert styled(shown, ".flame-frame", "overflow") == "visible"
        assert styled(shown, "body", "backgroundColor") == "rgb(255, 255, 255)"
        assert (
            shown.evaluate(
                "[...document.querySelectorAll('body *')].map(element => getComputedStyle(element).position)"
                ".includes('sticky')"
            )
            is False
        )
        # The width of A4 less usual margins.
        shown.set_viewport_size({"width": 718, "height": 900})
        assert shown.evaluate("document.documentElement.scrollWidth") <= 718
        shown.emulate_media(media="screen")
        expect(shown.locator(".detail")).to_have_count(1)


COUNTING_PRINTED = """
addEventListener("afterprint", () => {
  window.printed = ["tr.case .values", ".detail"].map((selector) => document.querySelectorAll(selector).length);
});
"""


def test_all_cases_of_the_list_are_printed(browser: Browser, many: Path) -> None:
    with opened_file(browser, many, COUNTING_PRINTED) as shown:
        shown.get_by_role("searchbox", name="Filter by case").fill("case-1")
        expect(shown.get_by_role("status")).to_have_text("100 of 500 cases shown")
        assert rendered_rows(shown) < 100
        shown.pdf()
        assert shown.evaluate("printed") == [100, 100]
        shown.wait_for_function("document.querySelectorAll('.detail').length == 0")


COLOUR = """name => {
  const element = document.body.appendChild(document.createElement("p"));
  element.style.color = name;
  const colour = getComputedStyle(element).color;
  element.remove();
  return colour;
}"""


def test_forced_colours_are_those_of_the_reader(browser: Browser, tmp_path: Path) -> None:
    with of_three_cases(browser, tmp_path, forced_colors="active") as shown:
        text, marked = shown.evaluate(COLOUR, "CanvasText"), shown.evaluate(COLOUR, "Highlight")
        assert styled(shown, ".mark.regression", "color") == text
        assert styled(shown, ".chart.regression .bounds", "stroke") == text
        assert styled(shown, ".quiet", "color") == text
        pressed = shown.get_by_role("button", name="regression 1")
        pressed.click()
        expect(pressed).to_have_css("background-color", marked)
