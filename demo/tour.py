"""Makes the pictures of docs/tour.md, each a PNG of at most 256 colours, so that all of them are small.

They are of the demo's comparison, which `demo/run` has left below .demo, and of `zerolap serve --demo`.
"""

import base64
import contextlib
import shutil
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from playwright.sync_api import Page, sync_playwright

PROJECT = Path(__file__).parents[1]
DEMO = PROJECT / ".demo"
PICTURES = PROJECT / "docs" / "pictures"
PROGRAM = PROJECT / ".venv" / "bin" / "zerolap"
WIDTH, HEIGHT = 1100, 720
OF_DEMO = {"terminal", "comment", "report", "flame-graph"}
LARGEST_BYTES = 150_000
PATIENCE_SECONDS = 120
STYLE = """
body { margin: 0; padding: 20px 28px; background: white; color: #161619; font: 15px/1.5 system-ui, sans-serif }
pre.terminal { margin: 0; font: 14px/1.35 "DejaVu Sans Mono", monospace; white-space: pre }
body.terminal { background: #161619; color: #e8e8ec }
table { border-collapse: collapse } td, th { border: 1px solid #d0d0d8; padding: 4px 10px }
code { background: #f0f0f4; padding: 1px 4px; border-radius: 4px }
"""
PALETTE = """async (screenshot) => {
  const image = new Image();
  image.src = `data:image/png;base64,${screenshot}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  const counts = new Map();
  const colour = (at, bits) => [0, 1, 2].reduce((sum, part) => (sum << 8) | ((data[at + part] >> bits) << bits), 0);
  let bits = 0;
  for (; bits < 8; bits++) {
    counts.clear();
    for (let at = 0; at < data.length; at += 4) counts.set(colour(at, bits), (counts.get(colour(at, bits)) ?? 0) + 1);
    if (bits >= 3 || counts.size <= 256) break;
  }
  const palette = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 256).map(([value]) => value);
  const nearest = new Map(palette.map((value, index) => [value, index]));
  const part = (value, shift) => (value >> shift) & 255;
  const distance = (a, b) => [16, 8, 0].reduce((sum, shift) => sum + (part(a, shift) - part(b, shift)) ** 2, 0);
  const pixels = new Uint8Array(image.width * image.height);
  for (let at = 0; at < data.length; at += 4) {
    const value = colour(at, bits);
    let index = nearest.get(value);
    if (index === undefined) {
      const distances = palette.map((other) => distance(value, other));
      index = distances.indexOf(Math.min(...distances));
      nearest.set(value, index);
    }
    pixels[at / 4] = index;
  }
  let text = "";
  for (let at = 0; at < pixels.length; at += 32768) text += String.fromCharCode(...pixels.subarray(at, at + 32768));
  return { width: image.width, height: image.height, palette, pixels: btoa(text) };
}"""
"""Reads a screenshot in the browser: its most frequent colours, and for each pixel the nearest of them."""


def main() -> int:
    """Make all pictures, or those that are named."""
    wanted = set(sys.argv[1:])
    chromium = shutil.which("chromium")
    if chromium is None:
        print("error: no chromium\nhint: apt-get install chromium", file=sys.stderr)
        return 3
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}).new_page()
        if not wanted or wanted & OF_DEMO:
            for name in of_demo(page):
                save(page, name, wanted)
        if not wanted or wanted - OF_DEMO:
            with served_demo() as address:
                for name in of_pages(page, address):
                    save(page, name, wanted)
        browser.close()
    return 0


def of_demo(page: Page) -> Iterator[str]:
    """Show what the demo's comparison comes to, and yield the name of each picture."""
    store = ("--store", str(DEMO / "store"))
    shown = zerolap("explain", "latest", *store)
    page.set_content(document("terminal", f'<pre class="terminal">{escaped(shown)}</pre>'))
    yield "terminal"
    comment = zerolap("comment", "latest", "--dry-run", "--repository", "redis/redis", *store)
    page.set_content(document("comment", MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(comment)))
    yield "comment"
    page.goto((DEMO / "report.html").as_uri())
    page.wait_for_selector("h1")
    yield "report"
    show(page, page.get_by_role("heading", name="Where the CPU time goes").first)
    yield "flame-graph"


def of_pages(page: Page, address: str) -> Iterator[str]:
    """Show pages of the lab over made-up data, and yield the name of each picture."""
    page.goto(address)
    page.wait_for_selector("main a[href*='/series']")
    series = page.locator("main a[href*='/series']").first.get_attribute("href")
    yield "overview"
    page.goto(f"{address}/stacks")
    merged = page.get_by_text("the newest results on made-up-x86").get_attribute("href")
    for name, path in {
        "series": series or "/series",
        "versions": "/versions",
        "stacks": merged or "/stacks",
        "opportunities": "/opportunities",
        "fleet": "/fleet",
    }.items():
        page.goto(f"{address}{path}")
        page.wait_for_load_state("networkidle")
        yield name


def show(page: Page, element: Any) -> None:
    """Scroll to an element, so that the picture begins with it."""
    element.evaluate("element => element.scrollIntoView({ block: 'start' })")
    page.wait_for_timeout(300)


def zerolap(*words: str) -> str:
    """Return what a command of the program writes."""
    done = subprocess.run([PROGRAM, *words], cwd=DEMO, capture_output=True, text=True, check=True)
    return done.stdout


def document(kind: str, body: str) -> str:
    """Return a page for a text that is not one."""
    return f"<!doctype html><style>{STYLE}</style><body class={kind!r}>{body}"


def escaped(text: str) -> str:
    """Return a text for a page."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


@contextlib.contextmanager
def served_demo() -> Iterator[str]:
    """Yield the address of `zerolap serve --demo` while it runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    serving = subprocess.Popen([PROGRAM, "serve", "--demo", "--listen", place], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not answers(f"http://{place}/health"):
            if serving.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("error: zerolap serve --demo does not answer")
            time.sleep(0.5)
        yield f"http://{place}"
    finally:
        serving.terminate()
        serving.wait()


def answers(address: str) -> bool:
    """Whether there is an answer yet."""
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def save(page: Page, name: str, wanted: set[str]) -> None:
    """Write what a page shows as a PNG with a palette."""
    if wanted and name not in wanted:
        return
    height = min(HEIGHT, page.evaluate("document.body.getBoundingClientRect().height"))
    clip: Any = {"x": 0, "y": 0, "width": WIDTH, "height": height}
    screenshot = base64.b64encode(page.screenshot(clip=clip)).decode()
    picture = page.context.new_page()
    read = picture.evaluate(PALETTE, screenshot)
    picture.close()
    content = png(read["width"], read["height"], read["palette"], base64.b64decode(read["pixels"]))
    assert len(content) <= LARGEST_BYTES, f"{name} has {len(content)} bytes"
    (PICTURES / f"{name}.png").write_bytes(content)
    print(f"{name}.png  {len(content):,} bytes")


def png(width: int, height: int, palette: list[int], pixels: bytes) -> bytes:
    """Return a picture of a byte for each pixel, which is the place of its colour in the palette."""
    rows = b"".join(b"\0" + pixels[row * width : (row + 1) * width] for row in range(height))
    colours = b"".join(colour.to_bytes(3, "big") for colour in palette)
    header = struct.pack(">2I5B", width, height, 8, 3, 0, 0, 0)
    parts = [(b"IHDR", header), (b"PLTE", colours), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )


if __name__ == "__main__":
    sys.exit(main())
