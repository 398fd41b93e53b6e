"""The page of stacks in a browser: by mouse, by keyboard, as a table, and with names that others have chosen."""

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from browser_pages import PHONE, opened, violations
from http_server import served_lab
from playwright.sync_api import Browser, Locator, Page, expect
from stored_comparison import ID
from stored_stacks import HOSTILE, HSET, planted_stacks, record_pass, recorded_stacks, stack_table, wait_tables
from waiting import wait_until

from zerolap.records import Finding
from zerolap.store import Store


@pytest.fixture
def lab(store: Store) -> Iterator[str]:
    planted_stacks(store)
    with served_lab(store) as url:
        yield url


@pytest.fixture
def shown(browser: Browser, lab: str) -> Iterator[Page]:
    with opened(browser, f"{lab}/stacks?id={ID}&case=hset") as page:
        page.locator(".flame-frame canvas").wait_for()
        yield page


def line(shown: Page) -> Locator:
    return shown.locator(".flame-line").first


def pressed(shown: Page, *keys: str) -> None:
    shown.locator(".flame-frame canvas").first.focus()
    for key in keys:
        shown.keyboard.press(key)


def test_results_lead_to_their_stacks(browser: Browser, lab: str) -> None:
    with opened(browser, f"{lab}/stacks") as shown:
        shown.get_by_role("link", name="hset", exact=True).click()
        expect(shown).to_have_url(f"{lab}/stacks?id={ID}&case=hset")
        expect(shown.locator(".flame-frame canvas")).to_be_visible()
        expect(shown.get_by_role("combobox", name="case")).to_have_value("hset")
        shown.get_by_role("combobox", name="case").select_option("get")
        expect(shown).to_have_url(f"{lab}/stacks?id={ID}&case=get")
        expect(shown.get_by_text("No frame changed significantly")).to_be_visible()


def test_an_empty_lab_states_how_stacks_are_recorded(browser: Browser, store: Store) -> None:
    with served_lab(store) as url, opened(browser, f"{url}/stacks") as shown:
        expect(shown.get_by_text("--stacks all")).to_be_visible()


def test_keys_move_among_frames_zoom_and_search(shown: Page) -> None:
    reset = shown.get_by_role("button", name="reset zoom")
    pressed(shown, "ArrowDown", "ArrowDown")
    expect(line(shown)).to_contain_text("processCommand")
    expect(line(shown)).to_contain_text("1,800 → 3,600 ns per request (+1,800 ns")
    pressed(shown, "Enter")
    expect(reset).to_be_enabled()
    pressed(shown, "Escape")
    expect(reset).to_be_disabled()
    pressed(shown, "/")
    search = shown.get_by_role("main").get_by_role("searchbox")
    expect(search).to_be_focused()
    search.fill("dictFind")
    expect(shown.locator(".flame-matches")).to_contain_text("50 % → 40 % of all samples match")


def test_the_arrows_follow_the_shape(shown: Page) -> None:
    shown.get_by_role("button", name="flame graph", exact=True).click()
    expect(shown.get_by_role("application")).to_have_attribute("aria-label", re.compile("^Flame graph, difference"))
    pressed(shown, "ArrowUp", "ArrowUp")
    expect(line(shown)).to_contain_text("processCommand")


def test_a_click_zooms_into_the_frame_at_that_place(shown: Page) -> None:
    for shape, y in (("icicle", 27), ("flame graph", 4 * 18 - 9)):
        shown.get_by_role("button", name=shape, exact=True).click()
        shown.locator(".flame-frame canvas").click(position={"x": 20, "y": y})
        expect(line(shown)).to_contain_text("main")
        shown.mouse.move(0, 0)


def test_a_function_stands_between_its_callers_and_callees(shown: Page, lab: str) -> None:
    shown.get_by_role("button", name="hset", exact=True).click()
    sandwich = shown.get_by_role("region", name="Callers and callees of hset")
    expect(sandwich.get_by_role("listitem")).to_have_count(4)
    expect(sandwich).to_contain_text("1,800 → 3,600 ns per request")
    expect(sandwich.get_by_role("listitem").first).to_contain_text("processCommand")
    expect(sandwich).to_contain_text("gone")
    sandwich.get_by_role("button", name="dictFind").click()
    expect(shown.get_by_role("region", name="Callers and callees of dictFind")).to_contain_text(
        "It calls nothing that was seen in a sample."
    )
    # The address names it, and brings it back.
    shown.reload()
    expect(shown.get_by_role("region", name="Callers and callees of dictFind")).to_be_visible()
    shown.get_by_role("button", name="close").click()
    expect(shown).to_have_url(f"{lab}/stacks?id={ID}&case=hset")


@pytest.fixture
def lined_lab(store: Store) -> Iterator[str]:
    markup = "<img src=x onerror=\"document.title='acted'\">"
    of_sides = {
        "base": [(10, f"hash(key); {markup}", 300), (11, "return it;", 100)],
        "head": [(10, "check(key);", 100), (12, f"hash(key); {markup}", 100), (13, "return it;", 200)],
    }
    tables = {}
    for side, lines in of_sides.items():
        samples = [{"file": "server.c", "line": line, "samples": count, "text": text} for line, text, count in lines]
        own = HSET[side]["main;processCommand;hset;dictFind"]
        function = {"function": "dictFind", "file": "server.c", "object": "redis-server", "samples": own}
        tables[side] = {**stack_table(HSET[side]), "lines": [{**function, "lines": samples}]}
    recorded_stacks(store, {"hset": tables}, {"hset": (3000.0, 4500.0)})
    with served_lab(store) as url:
        yield url


def test_a_function_shows_its_lines_with_their_samples(browser: Browser, lined_lab: str) -> None:
    with opened(browser, f"{lined_lab}/stacks?id={ID}&case=hset") as shown:
        name = shown.get_by_role("button", name="dictFind", exact=True)
        name.focus()
        shown.keyboard.press("Enter")
        rows = shown.get_by_role("table", name="Lines of dictFind").locator("tbody tr")
        expect(rows.get_by_role("rowheader")).to_have_text(["\u2013 → 10", "10 → 12", "11 → 13"])
        expect(rows.nth(1).get_by_role("cell").nth(1)).to_contain_text("60\u00a0% 900\u00a0ns")
        expect(rows.nth(1).get_by_role("cell").nth(2)).to_contain_text("25\u00a0% 450\u00a0ns")
        expect(rows.nth(1)).to_contain_text("hash(key); <img")
        expect(shown.get_by_text("base: 500 samples, 50 % of all, 1,500 ns per request")).to_be_visible()
        expect(shown.get_by_text("Samples whose line is not known: 20 % → 0 %.")).to_be_visible()
        expect(shown).to_have_title("Stacks · Zerolap")
        assert violations(shown) == []
        shown.locator("table.functions").get_by_role("button", name="hset", exact=True).click()
        expect(shown.get_by_text("No sample has a line of it")).to_be_visible()


def test_lines_are_read_on_a_phone(browser: Browser, lined_lab: str) -> None:
    key = quote('["dictFind","server.c",true]')
    with opened(browser, f"{lined_lab}/stacks?id={ID}&case=hset&function={key}", viewport=PHONE) as shown:
        expect(shown.get_by_role("table", name="Lines of dictFind")).to_be_visible()
        assert shown.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_passes_without_lines_state_it(shown: Page) -> None:
    shown.get_by_role("button", name="dictFind", exact=True).click()
    expect(shown.get_by_text("Lines were not recorded")).to_be_visible()


def test_the_table_has_changes_with_their_intervals(shown: Page) -> None:
    row = shown.get_by_role("row").filter(has=shown.get_by_role("button", name="gone", exact=True))
    expect(row).to_contain_text("10\u00a0% →\u00a00\u00a0%")
    expect(row).to_contain_text("-300\u00a0ns\u00a0±")
    shown.get_by_role("button", name="change of self").click()
    expect(shown.locator("table.functions tbody th").first).to_contain_text("onerror")


def test_what_is_merged_is_stated(browser: Browser, lab: str) -> None:
    with opened(browser, f"{lab}/stacks?id={ID}") as shown:
        shown.get_by_text("Weights of 2 cases").click()
        expect(shown.get_by_text("Cases count by the CPU time of one of their requests")).to_be_visible()
        expect(shown.get_by_role("row").filter(has_text="1 of 1").first).to_contain_text("25 %, 1,000")
        shown.get_by_role("combobox", name="weights").select_option("each case alike")
        shown.get_by_text("Weights of 2 cases").click()
        expect(shown.get_by_role("row").filter(has_text="1 of 1").first).to_contain_text("50 %, 1,000")
        expect(shown.get_by_role("row").filter(has=shown.get_by_role("button", name="dictFind"))).to_contain_text(
            "2 of 2"
        )


def test_functions_stand_against_cases(browser: Browser, lab: str) -> None:
    with opened(browser, f"{lab}/stacks?id={ID}&show=functions") as shown:
        row = shown.get_by_role("row").filter(has=shown.get_by_role("rowheader", name="dictFind server.c"))
        expect(row.get_by_role("cell")).to_have_text(["43.75 %", "400", "1,800"])
        shown.get_by_role("button", name="change", exact=True).click()
        expect(row.get_by_role("cell").nth(1)).to_have_text("(0 ns)")
        expect(row.get_by_role("cell").nth(2)).to_have_text("+300 ns")
        row.get_by_role("link").nth(1).click()
        expect(shown.get_by_role("region", name="Callers and callees of dictFind")).to_be_visible()


def test_merged_results_are_counted_in_all_views(browser: Browser, store: Store, lab: str) -> None:
    planted_stacks(store, id="c-fedcba9876543210fedcba98")
    with opened(browser, f"{lab}/stacks?newest=10") as shown:
        expect(shown.get_by_text("The head of 2 results, all that have stacks")).to_be_visible()
        expect(shown.get_by_text("Weights of 2 cases in 2 results")).to_be_visible()
        shown.get_by_role("button", name="functions by case").click()
        expect(shown.locator("table.heat thead th")).to_have_text(["function", "all cases", "get", "hset"])
        expect(shown.locator(".heat-hint")).to_have_count(0)
        shown.get_by_role("columnheader", name="get").get_by_role("link").click()
        expect(shown).to_have_url(f"{lab}/stacks?case=get&newest=10")
    with opened(browser, f"{lab}/stacks?newest=1") as shown:
        expect(shown.get_by_text("The head of the newest 1 result that has stacks")).to_be_visible()


def test_a_table_that_is_cut_off_is_scrolled_by_keys(browser: Browser, store: Store) -> None:
    table = stack_table({"main;work": 100})
    recorded_stacks(store, {f"a-case-of-many-{number}": {"base": table, "head": table} for number in range(12)})
    with served_lab(store) as url, opened(browser, f"{url}/stacks?id={ID}&show=functions", viewport=PHONE) as shown:
        expect(shown.get_by_text("scroll it sideways to see all 13 columns")).to_be_visible()
        frame = shown.get_by_role("region", name="Heat map, scrolls sideways")
        # A browser without time to draw may lose a key.
        wait_until(lambda: frame.evaluate("frame => frame.scrollLeft") > 0, lambda: frame.press("ArrowRight"))


def test_names_in_the_texts_of_findings_are_set_as_code(browser: Browser, store: Store) -> None:
    stated = Finding(kind="culprit", rank=1, function="dictFind", file="dict.c", lines=[10], text="`dictFind` grew.")
    planted_stacks(store, findings={"hset": [stated]})
    with served_lab(store) as url, opened(browser, f"{url}/stacks?id={ID}&case=hset") as shown:
        expect(shown.get_by_text("dictFind grew.")).to_be_visible()
        expect(shown.get_by_text("`")).to_have_count(0)


def test_links_lead_to_files_of_other_programs(shown: Page) -> None:
    names = shown.locator(".exports a")
    of_sides = [f"{name}, {side}" for name in ("pprof", "folded", "callgrind", "SVG") for side in ("base", "head")]
    expect(names).to_have_text(["speedscope", "Firefox Profiler", *of_sides])
    with shown.expect_download() as download:
        names.nth(3).click()
    assert download.value.suggested_filename == f"{ID}-hset-head.pb.gz"


def test_names_of_others_are_texts(shown: Page) -> None:
    name = shown.get_by_role("button", name="onerror")
    expect(name).to_have_text(HOSTILE.replace("\n", ""))
    name.click()
    expect(shown.get_by_role("region")).to_contain_text("onerror")
    expect(shown).to_have_title("Stacks · Zerolap")
    expect(shown.locator("main img")).to_have_count(0)


@pytest.mark.parametrize("query", ["", f"?id={ID}&case=hset", f"?id={ID}&show=functions"])
def test_nothing_keeps_anybody_from_reading_and_a_phone_scrolls_down_only(
    browser: Browser, lab: str, query: str
) -> None:
    with opened(browser, f"{lab}/stacks{query}", color_scheme="light") as shown:
        expect(shown.locator("main table").first).to_be_visible()
        if "case" in query:
            shown.get_by_role("button", name="dictFind").click()
            expect(shown.get_by_role("region")).to_be_visible()
        assert violations(shown) == []
        shown.emulate_media(color_scheme="dark")
        assert violations(shown) == []
        shown.set_viewport_size(PHONE)
        assert shown.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_waits_are_chosen_beside_cpu_time(browser: Browser, store: Store, lab: str) -> None:
    record_pass(store, ID, "hset", wait_tables(), "traced")
    with opened(browser, f"{lab}/stacks?id={ID}&case=hset") as shown:
        shown.get_by_role("group", name="Time").get_by_role("button", name="waits").click()
        expect(shown.get_by_text("base: waits of 4 ms; head: waits of 5 ms")).to_be_visible()
        assert "time=waits" in shown.url
        shown.get_by_role("group", name="Side").get_by_role("button", name="base").click()
        shown.get_by_role("button", name="fsync", exact=True).first.click()
        expect(shown.get_by_text("25 % of the time off the processor")).to_be_visible()
        assert violations(shown) == []


def test_a_case_that_was_only_traced_leads_to_its_waits(browser: Browser, store: Store) -> None:
    recorded_stacks(store, {"hset": wait_tables()}, engine="traced")
    with served_lab(store) as url, opened(browser, f"{url}/comparisons/{ID}?case=hset") as shown:
        expect(shown.get_by_role("heading", name="Where threads wait")).to_be_visible()
        expect(shown.get_by_role("link", name="Its sampled stacks")).to_have_count(0)
        shown.get_by_role("link", name="Its stacks of waits").click()
        expect(shown.get_by_text("base: waits of 4 ms; head: waits of 5 ms")).to_be_visible()


def test_threads_are_shown_alone(browser: Browser, store: Store) -> None:
    table = stack_table({"main;work": 60, "wait;sys_read": 40}, {"wait": "bio"})
    recorded_stacks(store, {"get": {"base": table, "head": table}})
    with served_lab(store) as url, opened(browser, f"{url}/stacks?id={ID}") as shown:
        shown.get_by_role("combobox", name="Thread").select_option("bio")
        shown.get_by_role("button", name="head", exact=True).click()
        expect(shown.locator(".flame-legend")).to_have_text("server kernel")
        expect(shown.get_by_role("button", name="work", exact=True)).to_have_count(0)
        expect(shown.get_by_role("row").filter(has_text="sys_read")).to_contain_text("40\u00a0%")
