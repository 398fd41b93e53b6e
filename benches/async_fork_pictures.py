"""Draws the pictures of docs/async-fork.md: `python -m benches.async_fork_pictures DOCUMENT.json DIRECTORY`.

`DOCUMENT.json` is what `zerolap snapshot --kernel --json` has written; the charts are those of its page in Chromium.
"""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from zerolap.records import EmulatedSnapshotReport
from zerolap.report import sheet_html
from zerolap.sheets import sweep_sheet

NAMES = ("fork", "wait")


def main() -> None:
    """Write both pictures into the directory."""
    document, directory = map(Path, sys.argv[1:])
    report = EmulatedSnapshotReport.model_validate_json(document.read_text())
    with TemporaryDirectory() as place, sync_playwright() as playwright:
        page_file = Path(place, "page.html")
        page_file.write_text(sheet_html(report, sweep_sheet(report)))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 760, "height": 900}, device_scale_factor=1.5)
        page.goto(page_file.as_uri())
        for name, figure in zip(NAMES, page.locator("figure.picture").all(), strict=False):
            figure.screenshot(path=directory / f"async-fork-{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
