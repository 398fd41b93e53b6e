"""The page of a sweep of snapshots in a browser."""

from pathlib import Path

from browser_pages import DESKTOP, opened
from made_snapshots import report, report_of_sides
from playwright.sync_api import Browser, expect

from zerolap.report import sheet_html
from zerolap.sheets import sweep_sheet, with_sweep_reading


def test_the_page_has_its_pictures_and_its_table(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "snapshot.html"
    file.write_text(sheet_html(with_sweep_reading(report()), sweep_sheet(report())))
    with opened(browser, file.as_uri(), viewport=DESKTOP) as page:
        expect(page.get_by_role("heading", level=1)).to_have_text("BGSAVE: fork of 25 ms at 1 GiB to 100 ms at 4 GiB")
        charts = page.locator("figure svg[role=img]")
        expect(charts).to_have_count(5)
        expect(charts.first).to_have_attribute("aria-label", "Fork: 25 ms at 1.08 GiB, 100 ms at 4.32 GiB")
        expect(page.locator("tbody tr")).to_have_count(4 + 4)
        expect(page.get_by_text("8 GiB failed: the server died")).to_be_visible()


def test_the_page_of_sides_draws_them_together_and_has_their_verdicts(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "snapshot.html"
    file.write_text(sheet_html(with_sweep_reading(report_of_sides()), sweep_sheet(report_of_sides())))
    with opened(browser, file.as_uri(), viewport=DESKTOP) as page:
        expect(page.get_by_role("heading", level=1)).to_have_text("BGSAVE: 4 improvements, 4 same")
        charts = page.locator("figure svg[role=img]")
        expect(charts).to_have_count(4)
        summary = "Fork: base 25.25 ms at 1.08 GiB, 101 ms at 4.32 GiB; head 12.62 ms at 1.08 GiB, 50.5 ms at 4.32 GiB"
        expect(charts.first).to_have_attribute("aria-label", summary)
        expect(page.locator("tbody tr")).to_have_count(8 + 4 + 4)
        expect(page.locator(".mark.improvement")).to_have_count(4)
