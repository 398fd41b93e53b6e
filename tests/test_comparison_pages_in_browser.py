"""Pages of comparisons, runs, trials and the list of requests, driven in a browser."""

import re
from pathlib import Path

import pytest
from browser_pages import opened, violations
from http_server import served_lab
from playwright.sync_api import Browser, Page, expect
from simulated_fleet import SimulatedFleet, made_up_cases
from stored_comparison import COMPARISON, ID, recorded_comparison
from stored_run import REQUEST, RUN, stored_run

from zerolap.records import CaseResult
from zerolap.store import Store

CASE = COMPARISON.cases[0]
GROUPS = ("string", "hash")


def some_cases(number: int) -> list[CaseResult]:
    """Return cases of two groups, every tenth a regression."""
    words = ["regression" if place % 10 == 0 else "same" for place in range(number)]
    return [
        CASE.model_copy(
            update={"case": f"case-{place}", "group": GROUPS[place % 2], "verdict": word, "work": word},
        )
        for place, word in enumerate(words)
    ]


def asked_cases(shown: Page) -> list[str]:
    """Return the URLs of evidence that the page asks for from now on."""
    urls: list[str] = []
    shown.on("request", lambda request: urls.append(request.url) if "/comparison-case" in request.url else None)
    return urls


def test_the_evidence_of_a_case_is_fetched_when_it_is_opened(browser: Browser, store: Store) -> None:
    recorded_comparison(store, cases=some_cases(60))
    with served_lab(store) as url, opened(browser, url) as shown:
        urls = asked_cases(shown)
        shown.goto(f"{url}/comparisons/{ID}")
        expect(shown.get_by_role("heading", level=1)).to_contain_text("5 further cases regress; 54 cases unchanged")
        expect(shown.locator("tr.details")).to_have_count(0)
        assert urls == []
        shown.get_by_role("button", name="case-10", exact=True).click()
        expect(shown.locator(".detail > ul > li").first).to_contain_text("GET executes")
        assert len(urls) == 1
        expect(shown).to_have_url(re.compile(r"\?case=case-10$"))
        shown.reload()
        expect(shown.locator(".detail")).to_have_count(1)
        expect(shown.get_by_role("button", name="case-10", exact=True)).to_have_attribute("aria-expanded", "true")
        shown.get_by_role("button", name="case-10", exact=True).click()
        expect(shown.locator(".detail")).to_have_count(0)
        expect(shown).to_have_url(re.compile(rf"/{ID}$"))


def test_filters_are_in_the_address(browser: Browser, store: Store) -> None:
    recorded_comparison(store, cases=some_cases(60))
    with served_lab(store) as url, opened(browser, f"{url}/comparisons/{ID}") as shown:
        rows = shown.locator("tr.case")
        shown.get_by_role("combobox", name="Filter by group").select_option("hash")
        expect(rows).to_have_count(30)
        shown.get_by_role("searchbox", name="Filter by case").fill("CASE-1")
        expect(rows).to_have_count(6)
        shown.get_by_role("columnheader", name="case").get_by_role("button").click()
        expect(shown).to_have_url(re.compile("text=CASE-1"))
        expect(shown).to_have_url(re.compile("order=case"))
        shown.reload()
        expect(rows).to_have_count(6)
        expect(rows.first).to_contain_text("case-1")
        expect(shown.get_by_role("combobox", name="Filter by group")).to_have_value("hash")


def test_groups_are_summed_up_and_choose_their_cases(browser: Browser, store: Store) -> None:
    recorded_comparison(store, cases=some_cases(20))
    with served_lab(store) as url, opened(browser, f"{url}/comparisons/{ID}") as shown:
        shown.get_by_text("By group of commands").click()
        rows = shown.locator("details", has_text="By group of commands").locator("tbody tr")
        expect(rows).to_have_count(3)
        expect(rows.first).to_contain_text("2 regressions")
        shown.get_by_role("button", name="hash", exact=True).click()
        expect(shown.locator("tr.case")).to_have_count(10)


@pytest.mark.parametrize("path", [f"comparisons/{ID}", f"runs/{RUN.id}"])
def test_cases_are_sorted_by_each_column(path: str, browser: Browser, store: Store) -> None:
    recorded_comparison(store, cases=some_cases(4))
    stored_run(store)
    with served_lab(store) as url, opened(browser, f"{url}/{path}") as shown:
        headings = shown.locator("table.cases > thead").get_by_role("columnheader")
        expect(headings.first).to_be_visible()
        names = [re.sub(r" [▴▾]$", "", text) for text in headings.all_inner_texts()]
        assert names[0] == "case"
        # On a phone a list has the same columns.
        assert shown.locator(".order option").all_text_contents() == names
        for place in range(len(names)):
            headings.nth(place).get_by_role("button").click()
            expect(headings.nth(place)).to_have_attribute("aria-sort", re.compile("^(ascending|descending)$"))
            expect(shown.locator("th[aria-sort$=ending]")).to_have_count(1)


def test_the_command_can_be_copied(browser: Browser, store: Store) -> None:
    recorded_comparison(store)
    permissions = ["clipboard-read", "clipboard-write"]
    with (
        served_lab(store) as url,
        opened(browser, f"{url}/comparisons/{ID}", permissions=permissions) as shown,
    ):
        shown.get_by_role("button", name="Copy the command").click()
        expect(shown.locator(".copy")).to_contain_text("copied")
        assert shown.evaluate("navigator.clipboard.readText()") == COMPARISON.command_line


def test_a_comparison_leads_to_what_the_lab_knows_besides(browser: Browser, store: Store) -> None:
    commit = "1f3c5a7b9d0e44551f3c5a7b9d0e44551f3c5a7b"
    head = COMPARISON.head.model_copy(update={"name": commit[:12], "commit": commit})
    recorded_comparison(store, head=head)
    with served_lab(store) as url, opened(browser, f"{url}/comparisons/{ID}?case={CASE.case}") as shown:
        links = shown.locator(f"a[href='/commits/{commit}']")
        # Below the headline, where the name is that of the commit and is there once, and with its build.
        expect(links).to_have_text([commit[:12], commit[:12], commit])
        expect(shown.locator(f"a[href='/platforms/{COMPARISON.platform.fingerprint}']")).to_have_count(1)
        expect(shown.get_by_role("link", name="This case over time")).to_have_attribute(
            "href", re.compile(rf"^/series\?case={CASE.case}&metric=")
        )
        expect(shown.get_by_text("Cause: command line")).to_be_visible()


def test_a_request_that_has_ended_without_a_report_leads_to_the_fleet(
    browser: Browser, store: Store, redis_server: Path
) -> None:
    asked = SimulatedFleet(store, redis_server).submit(made_up_cases(1))
    store.end(asked.id, "failed")
    with served_lab(store) as url, opened(browser, f"{url}/comparisons/{asked.id}") as shown:
        expect(shown.get_by_role("heading", level=1)).to_have_text("failed")
        expect(shown.locator("main").get_by_role("link", name="fleet")).to_have_attribute("href", "/fleet")


def test_a_case_leads_to_its_trials_and_back(browser: Browser, store: Store) -> None:
    stored_run(store)
    with served_lab(store) as url, opened(browser, f"{url}/runs/{RUN.id}?case=get-100B") as shown:
        shown.get_by_text("4 trials of this case").click()
        table = shown.locator("table.trials")
        expect(table.locator("tbody tr")).to_have_count(4)
        expect(table).to_contain_text("no: steal is 0.5, expected <= 0.01")
        table.get_by_role("link").first.click()
        expect(shown.get_by_role("heading", level=1)).to_contain_text("get-100B")
        expect(shown.get_by_role("img", name=re.compile("1,000 requests; most"))).to_be_visible()
        expect(shown.get_by_role("img", name="Throughput, requests per second: 100,000 to 120,000")).to_be_visible()
        expect(shown.locator("table.trials tr[aria-current=true]")).to_have_count(1)
        assert violations(shown) == []
        shown.get_by_role("link", name="Back to the case").click()
        expect(shown.get_by_role("button", name="get-100B", exact=True)).to_have_attribute("aria-expanded", "true")


def test_a_case_of_a_run_states_what_it_sends(browser: Browser, store: Store) -> None:
    stored_run(store)
    [sent] = [case for case in REQUEST.cases if case.name == "get-100B"]
    with served_lab(store) as url, opened(browser, f"{url}/runs/{RUN.id}?case=get-100B") as shown:
        expect(shown.get_by_role("heading", name="What was measured")).to_be_visible()
        expect(shown.locator(".detail pre").first).to_have_text(sent.client.sent[0].line)


def test_charts_of_a_case_are_to_be_had_as_tables(browser: Browser, store: Store) -> None:
    stored_run(store)
    with served_lab(store) as url, opened(browser, f"{url}/runs/{RUN.id}?case=get-100B") as shown:
        for name, begin in (("charts", "chart,side,"), ("stacks", "thread,stack,")):
            link = shown.get_by_role("link", name=name, exact=True)
            answer = shown.request.get(f"{url}{link.get_attribute('href')}")
            assert answer.ok
            assert answer.text().startswith(begin)
            assert len(answer.text().splitlines()) > 2
        shown.goto(f"{url}/runs/{RUN.id}?case=hset")
        expect(shown.locator(".detail")).to_have_count(1)
        expect(shown.get_by_role("link", name="charts", exact=True)).to_have_count(0)


def test_charts_are_read_by_the_arrow_keys(browser: Browser, store: Store) -> None:
    stored_run(store)
    with served_lab(store) as url, opened(browser, f"{url}/runs/{RUN.id}?case=get-100B") as shown:
        chart = shown.get_by_role("img", name=re.compile("^Latency in microseconds"))
        chart.focus()
        shown.keyboard.press("ArrowRight")
        text = shown.locator(".picture", has=chart).locator(".reading-text")
        expect(text).to_have_text(re.compile("^0 % of requests within: .* µs$"))
        shown.keyboard.press("ArrowRight")
        expect(text).not_to_have_text(re.compile("^0 %"))
        box = chart.bounding_box()
        assert box is not None
        shown.mouse.move(box["x"] + box["width"] - 16, box["y"] + 50)
        expect(text).to_have_text(re.compile("^the slowest request: "))


def test_the_list_is_filtered_and_goes_back_in_time(browser: Browser, store: Store, redis_server: Path) -> None:
    recorded_comparison(store)
    stored_run(store)
    fleet = SimulatedFleet(store, redis_server)
    newest = [fleet.submit(made_up_cases(1)) for _ in range(50)][-1]
    with served_lab(store) as url, opened(browser, f"{url}/reports") as shown:
        expect(shown.get_by_role("link", name=newest.id)).to_be_visible()
        assert violations(shown) == []
        shown.get_by_role("link", name="older").click()
        expect(shown.get_by_role("link", name=ID)).to_be_visible()
        shown.get_by_role("link", name="newest").click()
        expect(shown.get_by_role("link", name=newest.id)).to_be_visible()
        shown.get_by_role("main").get_by_role("searchbox").fill("redis-server")
        expect(shown).to_have_url(re.compile("text=redis-server"))
        shown.get_by_role("combobox", name="Filter by state").select_option("done")
        expect(shown.locator("table.reports tbody tr")).to_have_count(2)
        shown.get_by_role("combobox", name="Filter by kind").select_option("run")
        expect(shown.locator("table.reports tbody tr")).to_have_count(1)


@pytest.mark.parametrize("width", [390, 1280])
def test_an_open_case_is_accessible_on_both_grounds_and_fits(width: int, browser: Browser, store: Store) -> None:
    recorded_comparison(store, cases=some_cases(20))
    options = {"color_scheme": "light", "viewport": {"width": width, "height": 900}}
    with served_lab(store) as url, opened(browser, f"{url}/comparisons/{ID}?case=case-3", **options) as shown:
        expect(shown.locator(".detail > ul > li").first).to_be_visible()
        shown.get_by_text("all figures").first.click()
        shown.get_by_text("By group of commands").click()
        shown.locator(".detail .word").first.click()
        assert violations(shown) == []
        shown.emulate_media(color_scheme="dark")
        assert violations(shown) == []
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
