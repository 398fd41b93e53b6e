"""Measures how large the project is and how long its checks take: `python -m benches.house [FIGURE...]`.

It writes `.bench/house.json`. `test_seconds` and `ci_seconds` run `make test` and `.ci/run`, which takes long, and are
measured by their names alone.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Final

from benches.figures import Figure, read_figures, show_figures, write_figures
from benches.house.columns import edits_for_a_column

PROJECT: Final = Path(__file__).resolve().parents[2]
SOURCES: Final = PROJECT / "python" / "zerolap"
WEB: Final = PROJECT / "web" / "src"
HELP_RUNS: Final = 15


def main() -> int:
    """Measure, print and write the figures; return the exit code."""
    names = sys.argv[1:] or DEFAULT
    unknown = set(names) - set(FIGURES)
    if unknown:
        print(f"no figure {', '.join(sorted(unknown))}; there are {', '.join(FIGURES)}", file=sys.stderr)
        return 2
    figures = read_figures("house")
    for name in names:
        figures |= FIGURES[name]()
    show_figures(figures)
    print(write_figures("house", figures))
    return 0


def python_lines() -> dict[str, Figure]:
    """Count the lines of the package, of code, comments, docstrings and empty ones."""
    lines = {path.relative_to(SOURCES).parts[0]: 0 for path in SOURCES.rglob("*.py")}
    for path in SOURCES.rglob("*.py"):
        lines[path.relative_to(SOURCES).parts[0]] += len(path.read_text(encoding="utf-8").splitlines())
    return {"python_lines": Figure(sum(lines.values()), "lines", [lines], len(lines))}


def web_lines() -> dict[str, Figure]:
    """Count the lines of TypeScript without tests and styles; generated types are among them."""
    paths = [path for path in WEB.rglob("*.ts*") if ".test." not in path.name]
    lines = {str(path.relative_to(WEB)): len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    return {"web_lines": Figure(sum(lines.values()), "lines", [lines], len(lines))}


def column_edits() -> dict[str, Figure]:
    """Add a column to a sheet in a copy of the package, and find it in each form of the document."""
    edits = edits_for_a_column(SOURCES.parent)
    return {"edits_for_a_column": Figure(len(edits), "files", [edits], 1)}


def modules_of_pages() -> dict[str, Figure]:
    """Count the modules of the project that the queries of pages import."""
    listed = "sorted(name for name in sys.modules if name.startswith('zerolap'))"
    program = f"import json, sys, zerolap.queries; print(json.dumps({listed}))"
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    modules = json.loads(output)
    return {"modules_of_pages": Figure(len(modules), "modules", modules, 1)}


def help_ms() -> dict[str, Figure]:
    """Time `zerolap --help`."""
    program = Path(sys.executable).with_name("zerolap")
    samples = [_seconds([str(program), "--help"]) * 1000 for _ in range(HELP_RUNS)]
    return {"help_ms": Figure(median(samples), "ms", samples, HELP_RUNS)}


def test_seconds() -> dict[str, Figure]:
    """Time `make test`, with all that it needs built."""
    seconds = _seconds(["make", "test"])
    return {"test_seconds": Figure(seconds, "s", [seconds], 1)}


def ci_seconds() -> dict[str, Figure]:
    """Time `.ci/run`."""
    seconds = _seconds(["bash", ".ci/run"])
    return {"ci_seconds": Figure(seconds, "s", [seconds], 1)}


def _seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


FIGURES: Final[Mapping[str, Callable[[], dict[str, Figure]]]] = {
    "python_lines": python_lines,
    "web_lines": web_lines,
    "edits_for_a_column": column_edits,
    "modules_of_pages": modules_of_pages,
    "help_ms": help_ms,
    "test_seconds": test_seconds,
    "ci_seconds": ci_seconds,
}
DEFAULT: Final = [name for name in FIGURES if name not in ("test_seconds", "ci_seconds")]

if __name__ == "__main__":
    sys.exit(main())
