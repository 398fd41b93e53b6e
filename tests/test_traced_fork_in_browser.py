"""The page of a sweep of snapshots with a traced fork in a browser."""

from pathlib import Path

from browser_pages import DESKTOP, opened
from made_snapshots import report
from made_traces import EVIL, parent_call, trace
from playwright.sync_api import Browser, expect
from waiting import PATIENCE_SECONDS

from zerolap.explain import fork_findings
from zerolap.report import sheet_html
from zerolap.sheets import sweep_sheet, with_sweep_reading

TABLES = ("parts of the fork", "calls of the parent", "off the processor", "page faults", "calls of the child")


def test_the_page_has_the_findings_and_what_the_fork_consists_of(browser: Browser, tmp_path: Path) -> None:
    made = trace(
        parent_call("clock_nanosleep", 20, in_pause_ms=20, frames=("clock_nanosleep", "<b>usleep</b>", "fork")),
        parent_call("write", 2, target=EVIL),
    )
    made = made.model_copy(update={"findings": fork_findings(made)})
    file = tmp_path / "snapshot.html"
    file.write_text(
        sheet_html(
            with_sweep_reading(report().model_copy(update={"traces": [made]})),
            sweep_sheet(report().model_copy(update={"traces": [made]})),
        )
    )
    with opened(browser, file.as_uri(), viewport=DESKTOP) as page:
        section = page.locator("section", has=page.get_by_role("heading", name="What the fork consists of, 4 GiB"))
        patient = 1000 * PATIENCE_SECONDS
        expect(section.locator("li").first).to_contain_text("waits for something that is no request", timeout=patient)
        expect(section.locator("li").first.locator("code")).to_have_text("clock_nanosleep", timeout=patient)
        expect(section.get_by_text("<b>usleep</b>")).to_be_visible(timeout=patient)
        expect(section.locator("table")).to_have_count(len(TABLES), timeout=patient)
