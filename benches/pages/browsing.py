"""How long pages take to be drawn in a browser without a display, over a served store."""

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from playwright.sync_api import Browser, Page, sync_playwright

from zerolap.demonstration.made_up_reports import MadeUpReport, MadeUpTrials
from zerolap.demonstration.made_up_server import MACHINES, MadeUpServer
from zerolap.store import Store

FIRST_PAGES: Final = 9
ROUNDS: Final = 3
KEYSTROKES: Final = 20
MANY_CASES: Final = 10_000
WAIT_MS: Final = 60_000.0
DRAWN: Final = """() => {
  const heading = document.querySelector('main h1');
  const isDrawn = heading !== null && heading.dataset.left === undefined && !document.querySelector('.waiting');
  return isDrawn ? performance.now() : false;
}"""
"""What is drawn is there: a heading that is not that of the page before, and nothing is waited for."""
GO_TO: Final = """async ([url, patience]) => {
  document.querySelector('main h1').dataset.left = '';
  const began = performance.now();
  history.pushState(null, '', url);
  dispatchEvent(new Event('zerolap:navigated'));
  const isDrawn = DRAWN;
  while (isDrawn() === false) {
    if (performance.now() - began > patience) throw new Error(`${url} is not drawn`);
    await new Promise(requestAnimationFrame);
  }
  return performance.now() - began;
}""".replace("DRAWN", DRAWN)
KEYSTROKE: Final = """async (text) => {
  const input = document.querySelector('main input[type=search]');
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, text);
  const began = performance.now();
  input.dispatchEvent(new InputEvent('input', { bubbles: true }));
  await new Promise((done) => requestAnimationFrame(() => {
    const after = new MessageChannel();
    after.port1.onmessage = done;
    after.port2.postMessage(null);
  }));
  return performance.now() - began;
}"""
FRAMES_OF_EMPTY: Final = """async () => {
  document.body.innerHTML = '<canvas width="1200" height="600"></canvas>';
  const drawing = document.querySelector('canvas').getContext('2d');
  const times = [];
  await new Promise((done) => {
    const step = (now) => {
      drawing.clearRect(0, 0, 1200, 600);
      times.push(now);
      now - times[0] < 1000 ? requestAnimationFrame(step) : done();
    };
    requestAnimationFrame(step);
  });
  return (1000 * (times.length - 1)) / (times.at(-1) - times[0]);
}"""


@dataclass(frozen=True)
class Browsing:
    """Measures pages of a lab."""

    browser: Browser
    url: str

    @contextlib.contextmanager
    def _page(self) -> Iterator[Page]:
        """Open a page with nothing kept from before."""
        context = self.browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(WAIT_MS)
        yield context.new_page()
        context.close()

    def first_pages_ms(self) -> list[float]:
        """Return how long the overview takes from nothing."""
        measured = []
        for _ in range(FIRST_PAGES):
            with self._page() as shown:
                measured.append(self._first(shown))
        return measured

    def later_pages_ms(self, pages: Sequence[dict[str, str]]) -> list[tuple[str, float]]:
        """Return how long each page takes after the overview, its scripts with it, by route."""
        measured = []
        for addresses in pages:
            for route, path in addresses.items():
                with self._page() as shown:
                    self._first(shown)
                    measured.append((route, float(shown.evaluate(GO_TO, [path, WAIT_MS]))))
        return measured

    def keystrokes_ms(self, identity: str) -> list[float]:
        """Return how long it takes until the next frame after a keystroke in the filter of a comparison."""
        with self._page() as shown:
            shown.goto(f"{self.url}/comparisons/{identity}")
            shown.wait_for_function(DRAWN, polling="raf")
            shown.locator("main input[type=search]").wait_for()
            shown.wait_for_timeout(1000)
            texts = [text for word in ("hset-00", "zadd-0123", "eval-07") for text in _typed(word)]
            return [float(shown.evaluate(KEYSTROKE, texts[place % len(texts)])) for place in range(KEYSTROKES)]

    def _first(self, shown: Page) -> float:
        shown.goto(self.url, wait_until="commit")
        return float(shown.wait_for_function(DRAWN, polling="raf").json_value())


def _typed(word: str) -> list[str]:
    return [word[:end] for end in range(1, len(word) + 1)]


@contextlib.contextmanager
def opened_browser() -> Iterator[Browser]:
    """Open Debian's Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


def frames_of_empty_canvas(browser: Browser, count: int) -> list[float]:
    """Return the frames per second that this machine draws of nothing."""
    shown = browser.new_page(viewport={"width": 1200, "height": 900})
    measured = [float(shown.evaluate(FRAMES_OF_EMPTY)) for _ in range(count)]
    shown.close()
    return measured


def record_many_cases(store: Store, server: MadeUpServer) -> str:
    """Record a comparison of many cases, unless it is there; return its id."""
    report = MadeUpReport(server, MACHINES[0], server.commits[55].time, base=54, head=55, topic="made-up/server@many")
    if report.id not in store.in_short([report.id]):
        report.record(store, MadeUpTrials(store))
        comparison = store.comparison(report.id)
        cases = [
            case.model_copy(update={"case": f"{case.case}-{number:05d}"})
            for number in range(-(-MANY_CASES // len(comparison.cases)))
            for case in comparison.cases
        ][:MANY_CASES]
        store.record_comparison(comparison.model_copy(update={"cases": cases}))
    return report.id
