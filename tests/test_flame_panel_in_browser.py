"""The flame graph of a case in a one-file report, in a browser: source lines of functions, and stacks of waits."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browser_pages import opened
from playwright.sync_api import Browser, Page, expect
from stored_stacks import COSTS, HSET, lined, recorded_stacks, stack_table

from zerolap.documents import read_comparison, read_pictures
from zerolap.records import Comparison, Pictures
from zerolap.report import comparison_html, html
from zerolap.store import Store

pytestmark = pytest.mark.skipif(not html.TEMPLATE.exists(), reason="the page is not built: make web")
HOSTILE_LINE = "</script><img src=x onerror=\"document.title='acted'\">"


def measured(store: Store) -> tuple[Comparison, Pictures]:
    """A comparison with a case that was sampled, with lines of `dictFind`, and that waited where it has samples."""
    tables = {
        "base": lined(stack_table(HSET["base"]), (10, "hash(key);", 300), (11, HOSTILE_LINE, 200)),
        "head": lined(stack_table(HSET["head"]), (10, "check(key);", 100), (12, "hash(key);", 250)),
    }
    comparison = read_comparison(store, recorded_stacks(store, {"hset": tables}, COSTS))
    pictures = read_pictures(comparison, store)
    case = pictures.cases["hset"]
    assert case.stacks is not None
    waits = {
        side: tree.model_copy(update={"event": "off-cpu", "cpu_ns_per_op": 800.0}) for side, tree in case.stacks.items()
    }
    return comparison, pictures.model_copy(update={"cases": {"hset": case.model_copy(update={"waits": waits})}})


@contextmanager
def opened_report(browser: Browser, store: Store, place: Path, **options: Any) -> Iterator[Page]:
    """Open the report; assert that nothing in it failed."""
    file = place / "report.html"
    file.write_text(comparison_html(*measured(store)))
    with opened(browser, file.as_uri(), **options) as shown:
        if shown.locator(".flame-frame canvas").count() == 0:
            shown.get_by_role("button", name="hset", exact=True).click()
        shown.locator(".flame-frame canvas").wait_for()
        yield shown
        assert shown.title() != "acted"


@pytest.mark.parametrize("width", [1200, 390])
def test_a_report_shows_the_lines_of_a_function_of_both_sides(
    width: int, browser: Browser, store: Store, tmp_path: Path
) -> None:
    with opened_report(browser, store, tmp_path, viewport={"width": width, "height": 800}) as shown:
        shown.get_by_text("Source lines of").get_by_role("button", name="dictFind").click()
        lines = shown.get_by_role("table", name="Lines of dictFind")
        rows = lines.get_by_role("row")
        expect(rows).to_have_count(4)
        expect(lines.get_by_role("columnheader")).to_have_text(["line", "source", "base", "head"])
        # Lines of one text are one row, also where they have moved.
        expect(rows.filter(has_text="hash(key);").get_by_role("rowheader")).to_have_text("10 → 12")
        expect(rows.filter(has_text="check(key);").get_by_role("rowheader")).to_have_text("\u2013 → 10")
        expect(rows.filter(has_text=HOSTILE_LINE)).to_have_count(1)
        assert shown.evaluate("document.documentElement.scrollWidth") <= width


def test_a_report_states_that_it_has_no_lines_of_a_function(browser: Browser, store: Store, tmp_path: Path) -> None:
    with opened_report(browser, store, tmp_path) as shown:
        shown.get_by_role("button", name="Functions as a table").click()
        shown.get_by_role("button", name="write", exact=True).first.click()
        expect(shown.get_by_text("No source lines of this function are kept here")).to_be_visible()
        expect(shown.get_by_text("but those of 1 function")).to_be_visible()


def test_waits_are_a_view_of_their_own(browser: Browser, store: Store, tmp_path: Path) -> None:
    with opened_report(browser, store, tmp_path) as shown:
        shown.get_by_role("group", name="Time").get_by_role("button", name="waits").click()
        expect(shown.get_by_role("heading", name="Where threads wait")).to_be_visible()
        expect(shown.get_by_text("800 ns off the processor per request").first).to_be_visible()
        # What a time consists of is not known: a difference could not be judged.
        expect(shown.get_by_role("button", name="difference")).to_have_count(0)
        expect(shown.get_by_text("Source lines of")).to_have_count(0)
        shown.get_by_role("group", name="Side").get_by_role("button", name="base").click()
        shown.get_by_role("button", name="Functions as a table").click()
        shown.get_by_role("button", name="gone", exact=True).first.click()
        expect(shown.get_by_text("10 % of the time off the processor")).to_be_visible()
        shown.get_by_role("group", name="Time").get_by_role("button", name="CPU time").click()
        expect(shown.get_by_role("heading", name="Where the CPU time goes")).to_be_visible()
