"""The page of opportunities in a browser: what opens, what filters, where it leads to, and names that others chose."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from browser_pages import PHONE, opened, violations
from demonstrated_lab import DemonstratedLab
from http_server import served_lab
from made_records import a_measurement
from playwright.sync_api import Browser, Locator, Page, expect
from stored_opportunities import HOSTILE, MANY, counted_run, planted_graph, run_of_many_cases
from stored_run import RUN, record_trials, stored_run
from stored_variants import compared, record, timed_case
from waiting import PATIENCE_SECONDS

from zerolap import opportunities
from zerolap.queries import opportunity_list
from zerolap.store import Store


@pytest.fixture
def lab(store: Store) -> Iterator[str]:
    counted_run(store)
    with served_lab(store) as url:
        yield url


@pytest.fixture
def shown(browser: Browser, lab: str) -> Iterator[Page]:
    with opened(browser, f"{lab}/opportunities") as page:
        page.locator("table.opportunities").wait_for()
        yield page


def row(shown: Page, function: str) -> Locator:
    named = shown.get_by_role("button", name=function)
    return shown.locator("table.opportunities tr.case").filter(has=named)


def test_an_opportunity_opens_for_its_cases_by_the_keyboard(shown: Page, lab: str) -> None:
    expect(shown.get_by_text("1 opportunity in 2 cases: together")).to_be_visible()
    expect(row(shown, "addReplyDouble")).to_contain_text("2 of 2")
    expect(row(shown, "addReplyDouble")).to_contain_text("2 known edits: ")
    shown.get_by_role("button", name="addReplyDouble").focus()
    shown.keyboard.press("Enter")
    cases = shown.locator(".opportunity-case")
    expect(cases).to_have_count(2)
    expect(shown.get_by_text("times what it predicted")).to_be_visible()
    expect(cases.first).to_contain_text("hset")
    expect(cases.first).to_contain_text("fewer instructions")
    expect(cases.first).to_contain_text("xCommand > addReplyDouble")
    expect(cases.first).to_contain_text("calls per request")
    cases.first.get_by_role("link", name="hset").click()
    expect(shown).to_have_url(f"{lab}/runs/{RUN.id}?case=hset")


def test_a_case_leads_to_its_sampled_stacks(shown: Page) -> None:
    shown.get_by_role("button", name="addReplyDouble").click()
    link = shown.get_by_role("link", name="Sampled stacks with this function")
    # Of the two cases the first was sampled.
    expect(link).to_have_count(1)
    link.click()
    expect(shown.locator(".flame-frame canvas")).to_be_visible()
    expect(shown.get_by_role("combobox", name="case")).to_have_value("get-100B")


def test_a_detector_leads_to_its_page(shown: Page, lab: str) -> None:
    shown.get_by_role("link", name="costly-formatting").click()
    expect(shown).to_have_url(f"{lab}/detectors/costly-formatting")
    expect(shown.get_by_role("heading", level=1)).to_have_text("costly-formatting")
    expect(shown.get_by_text("Purpose")).to_be_visible()
    expect(shown).to_have_title("costly-formatting · Zerolap")
    shown.goto(f"{lab}/detectors/of-a-plugin")
    expect(shown.get_by_text("The lab has no page on this detector")).to_be_visible()


def test_a_further_detector_has_its_own_text_and_title(shown: Page, lab: str) -> None:
    shown.goto(f"{lab}/detectors/costly-formatting")
    heading = shown.get_by_role("heading", level=1)
    expect(heading).to_have_text("costly-formatting")
    shown.get_by_role("link", name="key-lookups").first.click()
    expect(heading).to_have_text("key-lookups")
    expect(shown).to_have_title("key-lookups · Zerolap")


def test_a_detectors_text_that_cannot_be_loaded_is_stated(browser: Browser, lab: str) -> None:
    shown = browser.new_page()
    shown.set_default_timeout(1000 * PATIENCE_SECONDS)
    unhandled: list[str] = []
    shown.on("pageerror", lambda error: unhandled.append(str(error)))
    shown.route("**/assets/mathematics-*.js", lambda route: route.abort())
    shown.goto(f"{lab}/detectors/mathematics")
    expect(shown.get_by_text("This page could not be loaded")).to_be_visible()
    assert unhandled == []
    shown.close()


def test_filters_are_part_of_the_address(shown: Page, lab: str) -> None:
    shown.get_by_role("combobox", name="Filter by command").select_option("GET")
    expect(shown).to_have_url(f"{lab}/opportunities?command=GET")
    expect(row(shown, "addReplyDouble")).to_be_visible()
    shown.goto(f"{lab}/opportunities?category=parsing")
    expect(shown.get_by_text("0 of 1 opportunity shown")).to_be_visible()
    shown.get_by_role("combobox", name="Filter by category").select_option("any category")
    expect(row(shown, "addReplyDouble")).to_be_visible()


def test_weights_and_results_are_chosen(shown: Page, lab: str) -> None:
    shown.get_by_role("combobox", name="weights").select_option("each case alike")
    expect(shown.get_by_text("each case weighted equally")).to_be_visible()
    shown.get_by_role("checkbox", name="from all results of this build").check()
    expect(shown).to_have_url(f"{lab}/opportunities?weights=equal&everywhere=true")
    expect(row(shown, "addReplyDouble")).to_be_visible()
    # No case of this run has a priority.
    expect(shown.get_by_role("combobox", name="weights").get_by_role("option")).to_have_count(2)


def test_all_cases_are_fetched_when_they_are_asked_for(browser: Browser, store: Store) -> None:
    run_of_many_cases(store, 8)
    with served_lab(store) as url, opened(browser, f"{url}/opportunities?id={MANY}") as shown:
        shown.get_by_role("button", name="addReplyDouble").click()
        expect(shown.locator(".opportunity-case")).to_have_count(5)
        shown.get_by_role("button", name="show all 8 cases").click()
        expect(shown.locator(".opportunity-case")).to_have_count(8)


def test_the_page_goes_on_asking_until_all_cases_are_shown(
    browser: Browser, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_seen_a_part = threading.Event()
    in_time = opportunities.opportunities_in_time

    def held(*arguments: Any) -> Any:
        answer = in_time(*arguments)
        # The whole is not answered before a part was seen.
        _, waiting = answer
        if not waiting:
            has_seen_a_part.wait(PATIENCE_SECONDS)
        return answer

    monkeypatch.setattr(opportunities, "opportunities_in_time", held)
    monkeypatch.setattr(opportunity_list, "EXAMINING_SECONDS", 0.0)
    run_of_many_cases(store, 12)
    with served_lab(store) as url, opened(browser, f"{url}/opportunities") as shown:
        expect(shown.get_by_text("4 cases of 12 not shown yet")).to_be_visible()
        has_seen_a_part.set()
        expect(shown.get_by_text("1 opportunity in 12 cases")).to_be_visible()
        expect(shown.get_by_text("not shown yet")).to_have_count(0)


def test_an_empty_lab_names_the_command_that_counts(browser: Browser, store: Store) -> None:
    with served_lab(store) as url, opened(browser, f"{url}/opportunities") as shown:
        expect(shown.get_by_text("zerolap run --engine counted")).to_be_visible()
    stored_run(store)
    with served_lab(store) as url, opened(browser, f"{url}/opportunities") as shown:
        expect(shown.get_by_text("zerolap run --engine counted")).to_be_visible()


def test_names_of_others_are_texts(browser: Browser, store: Store) -> None:
    stored_run(store)
    graph = store.blobs.put(planted_graph(formatting=HOSTILE))
    record_trials(store, "hset", "counted", [a_measurement(graph=graph)])
    with served_lab(store) as url, opened(browser, f"{url}/opportunities") as shown:
        shown.get_by_role("button", name="onerror").click()
        expect(shown.locator(".opportunity-case").first).to_contain_text(HOSTILE)
        expect(shown).to_have_title("Opportunities · Zerolap")
        expect(shown.locator("main img")).to_have_count(0)


def test_comparisons_and_runs_lead_to_their_opportunities(browser: Browser, made_up: DemonstratedLab) -> None:
    with opened(browser, made_up.url + made_up.paths["/runs/{identity}"]) as shown:
        shown.get_by_role("link", name="opportunities", exact=True).click()
        expect(row(shown, "createStreamIDString").first).to_be_visible()
        shown.goto(made_up.url + made_up.paths["/comparisons/{identity}"])
        shown.get_by_role("link", name="opportunities of the base").click()
        expect(shown.get_by_role("combobox", name="side")).to_have_value("base")
        expect(shown.locator("table.opportunities tr.case").first).to_be_visible()


def test_nothing_keeps_anybody_from_reading_and_a_phone_scrolls_down_only(
    browser: Browser, made_up: DemonstratedLab
) -> None:
    with opened(browser, made_up.url + made_up.paths["/opportunities"], color_scheme="light") as shown:
        shown.get_by_role("button", name="createStreamIDString").first.click()
        expect(shown.locator(".opportunity-case").first).to_be_visible()
        assert violations(shown) == []
        shown.emulate_media(color_scheme="dark")
        assert violations(shown) == []
        shown.set_viewport_size(PHONE)
        assert shown.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_paper_has_all_cases(shown: Page) -> None:
    shown.emulate_media(media="print")
    expect(shown.locator(".opportunity-case")).to_have_count(2)


def test_other_builds_are_listed_apart_and_lead_to_their_comparisons(browser: Browser, store: Store) -> None:
    counted_run(store)
    loss = timed_case("hset", "regression", 0.05, command="HSET")
    record(store, compared(timed_case("get-100B", "improvement", -0.2), loss).comparison)
    with served_lab(store) as url, opened(browser, f"{url}/opportunities") as page:
        variants = page.locator("#variants")
        variant = variants.locator("tbody tr").first
        expect(variant).to_contain_text("-O3")
        expect(variant).to_contain_text("+10.1 % (+8.9 to +11.4 %)")
        expect(variants.get_by_role("link", name="hset")).to_have_attribute("href", "/comparisons/c-01?case=hset")
        page.get_by_role("link", name="build-variants").last.click()
        expect(page.get_by_role("heading", name="build-variants")).to_be_visible()
