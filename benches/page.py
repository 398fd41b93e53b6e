"""How smoothly the page zooms a flame graph, in Debian's Chromium without a display."""

import random
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from zerolap.records import CasePictures, Comparison, Pictures, StackFrame, StackNodes, StackTree
from zerolap.report.html import comparison_html

NODES = 20_000
FRAMES = 800
DEEPEST = 55
ZOOMS = 12
FIXTURE = Path(__file__).parent / "page.json"
"""Made by `zerolap compare redis-server redis-server get-100B --quick --engine counted --json FILE`; its machine is
left out."""

ZOOM = """async ([x, y]) => {
  const canvas = document.querySelector('.flame-frame canvas');
  const place = canvas.getBoundingClientRect();
  const clientX = place.left + x * place.width, clientY = place.top + y;
  canvas.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX, clientY }));
  const times = [];
  await new Promise((done) => {
    const step = (now) => {
      times.push(now);
      now - times[0] < 300 ? requestAnimationFrame(step) : done();
    };
    requestAnimationFrame(step);
  });
  return (1000 * (times.length - 1)) / (times.at(-1) - times[0]);
}"""
INTO, BACK = (0.3, 63), (0.5, 9)
"""A frame three levels down, and the root."""


def frames_per_second(nodes: int = NODES) -> list[float]:
    """Return the frames per second of zooms into a graph of so many frames and back."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "report.html"
        file.write_text(large_page(nodes))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            shown = browser.new_page(viewport={"width": 1200, "height": 900})
            shown.goto(file.as_uri())
            return _zoom(shown)


def large_page(nodes: int = NODES) -> str:
    """Return a page with one case, its flame graphs of so many frames."""
    return comparison_html(_comparison(), _pictures(nodes))


def many_cases_page(count: int, nodes: int) -> str:
    """Return a page of so many cases, each with stacks of both sides of so many frames."""
    [case, *_] = _comparison().cases
    cases = [case.model_copy(update={"case": f"{case.case}-{number}"}) for number in range(count)]
    pictures = CasePictures(latency=None, throughput=None, stacks=None)
    drawn = {
        of_case.case: pictures.model_copy(
            update={"stacks": {"base": sampled_tree(2 * place, nodes), "head": sampled_tree(2 * place + 1, nodes)}}
        )
        for place, of_case in enumerate(cases)
    }
    return comparison_html(
        _comparison().model_copy(update={"cases": cases}), Pictures(frames=_pictures(1).frames, cases=drawn)
    )


def _zoom(shown: Page) -> list[float]:
    shown.locator(".flame-frame canvas").wait_for()
    # The page has to have come to rest: what is measured is the zoom and not the loading.
    shown.wait_for_timeout(2000)
    reset = shown.get_by_role("button", name="reset zoom")
    measured = []
    for _ in range(ZOOMS // 2):
        measured.append(shown.evaluate(ZOOM, INTO))
        expect(reset).to_be_enabled()
        measured.append(shown.evaluate(ZOOM, BACK))
        expect(reset).to_be_disabled()
    return measured


def _comparison() -> Comparison:
    found = Comparison.model_validate_json(FIXTURE.read_text())
    # The page opens cases that got slower by itself.
    cases = [case.model_copy(update={"verdict": "regression", "work": "regression"}) for case in found.cases]
    return found.model_copy(update={"cases": cases})


def _pictures(nodes: int) -> Pictures:
    frames = [
        StackFrame(function=f"function{number}", file="file.c", object="server", inlined=False)
        for number in range(FRAMES)
    ]
    case = CasePictures(
        latency=None, throughput=None, stacks={"base": sampled_tree(1, nodes), "head": sampled_tree(2, nodes)}
    )
    return Pictures(frames=frames, cases={one.case: case for one in _comparison().cases})


def sampled_tree(seed: int, nodes: int) -> StackTree:
    """Return a tree of so many frames, of one shape for all seeds, its samples by the seed."""
    shape, weights = random.Random(0), random.Random(seed)
    parents, functions, depths = [-1], [0], [0]
    while len(parents) < nodes:
        # Half of the nodes hang below recent ones, which makes it deep; the others near the root, which makes it wide.
        recent = shape.randrange(max(0, len(parents) - 4000), len(parents))
        parent = recent if shape.random() < 0.5 else min(int(shape.expovariate(6 / len(parents))), len(parents) - 1)
        if depths[parent] < DEEPEST:
            parents.append(parent)
            functions.append(shape.randrange(FRAMES))
            depths.append(depths[parent] + 1)
    samples = [int(weights.expovariate(0.25)) for _ in parents]
    return StackTree(
        event="cpu-clock",
        samples=sum(samples),
        lost=0,
        cpu_ns_per_op=1000.0,
        threads=["server"],
        nodes=StackNodes(thread=[0] * len(parents), parent=parents, frame=functions, samples=samples),
    )
