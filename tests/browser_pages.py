"""Pages in a browser: opened so that nothing in them may fail, and examined for what keeps anybody from reading."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from waiting import PATIENCE_SECONDS

AXE = Path(__file__).parents[1] / "web" / "node_modules" / "axe-core" / "axe.min.js"
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}

expect.set_options(timeout=1000 * PATIENCE_SECONDS)


@contextmanager
def opened(browser: Browser, url: str, before: str = "", **options: Any) -> Iterator[Page]:
    """Open a page, after a script; assert that nothing in it failed, and that its policy kept it from nothing."""
    context = browser.new_context(**options)
    shown = context.new_page()
    shown.set_default_timeout(1000 * PATIENCE_SECONDS)
    faults: list[str] = []
    origin = ("/".join(url.split("/")[:3]), "data:")
    shown.on("pageerror", lambda error: faults.append(str(error)))
    shown.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
    shown.on("request", lambda request: faults.append(request.url) if not request.url.startswith(origin) else None)
    shown.add_init_script(
        "addEventListener('securitypolicyviolation', (event) => console.error(`violated: ${event.violatedDirective}`))"
    )
    if before:
        shown.add_init_script(before)
    shown.goto(url)
    yield shown
    assert faults == []
    context.close()


def violations(shown: Page) -> list[str]:
    """Return what axe reports, each with the elements."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm ci in web")
    if not shown.evaluate("typeof axe === 'object'"):
        shown.evaluate(AXE.read_text())
    reported = shown.evaluate("axe.run().then(({violations}) => violations)")
    return [f"{rule['id']}: {[node['html'] for node in rule['nodes']]}" for rule in reported]
