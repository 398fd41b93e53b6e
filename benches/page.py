"""How smoothly the page zooms a flame graph, in Debian's Chromium without a display."""

import json
import random
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from zerolap.documents.picture_lines import (
    Function,
    LineBounds,
    SourceTexts,
    StackPasses,
    lined_functions,
    sampled_lines,
)
from zerolap.records import CasePictures, Comparison, DrawnSide, Pictures, StackFrame, StackNodes, StackTree
from zerolap.report.html import comparison_html

NODES = 20_000
FRAMES = 800
DEEPEST = 55
ZOOMS = 12
LINED_FUNCTIONS = 20
LINES_OF_FUNCTION = 25
WORDS = ("if", "(client->", "reply", "len", "+=", "robj", "*key", "dictFind(", "== NULL)", "return", "->ptr")
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
    frames, sources = _pictures(1).frames, SourceTexts()
    drawn: dict[str, CasePictures] = {}
    for place, of_case in enumerate(cases):
        stacks: dict[DrawnSide, StackTree] = {
            "base": sampled_tree(2 * place, nodes),
            "head": sampled_tree(2 * place + 1, nodes),
        }
        functions = lined_functions(stacks.values(), frames, [])
        lines = sampled_lines(
            {side: StackPasses([_lined_table(tree, frames, functions)]) for side, tree in stacks.items()},
            functions,
            LineBounds.of(count),
            sources,
        )
        drawn[of_case.case] = pictures.model_copy(update={"stacks": stacks, "lines": lines})
    return comparison_html(
        _comparison().model_copy(update={"cases": cases}), Pictures(frames=frames, sources=sources.all(), cases=drawn)
    )


def _lined_table(tree: StackTree, frames: Sequence[StackFrame], functions: Sequence[Function]) -> bytes:
    """Return functions of a tree as a stack table with their source lines, the same for all trees."""
    own: dict[str, int] = {}
    for place, samples in zip(tree.nodes.frame, tree.nodes.samples, strict=True):
        own[frames[place].function] = own.get(frames[place].function, 0) + samples
    named = [(name, file) for name, file, _ in functions[:LINED_FUNCTIONS]]
    return json.dumps(
        {
            "schema": "zerolap.stacks/1",
            "event": tree.event,
            "samples": sum(own[name] for name, _ in named),
            "lost": 0,
            "threads": [{"name": "server"}],
            "frames": [{"function": name, "file": file, "object": "server", "inlined": False} for name, file in named],
            "stacks": [{"thread": 0, "frames": [place], "samples": own[name]} for place, (name, _) in enumerate(named)],
            "lines": [
                {
                    "function": name,
                    "file": file,
                    "object": "server",
                    "samples": own[name],
                    "lines": _lines(name, own[name]),
                }
                for name, file in named
            ],
        }
    ).encode()


def _lines(function: str, samples: int) -> list[dict[str, object]]:
    """Return lines of source code of a function with their samples, a few of which have most."""
    draw = random.Random(function)
    texts = ["    " + " ".join(draw.choices(WORDS, k=draw.randrange(2, 9))) + ";" for _ in range(LINES_OF_FUNCTION)]
    first = draw.randrange(4000)
    counts = [0] * LINES_OF_FUNCTION
    for _ in range(samples):
        counts[min(int(draw.expovariate(0.2)), LINES_OF_FUNCTION - 1)] += 1
    return [
        {"file": "file.c", "line": first + number, "samples": count, "text": text}
        for number, (text, count) in enumerate(zip(texts, counts, strict=True))
        if count > 0
    ]


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
