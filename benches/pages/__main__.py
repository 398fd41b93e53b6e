"""Measures how fast pages are over a store of millions of points, in both databases; writes `.bench/pages.json`.

With `--size` the store is smaller, which the file states. `--sqlite` and `--postgresql` name stores that an earlier run
has filled; the store in SQLite is kept below `.bench/`.
"""

import argparse
import contextlib
import gzip
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from postgresql_server import PostgresqlServer, programs, server_user

from benches import page
from benches.figures import DIRECTORY, Figure, show_figures, write_figures
from benches.pages.browsing import (
    ROUNDS,
    Browsing,
    frames_of_empty_canvas,
    opened_browser,
    record_many_cases,
)
from benches.pages.huge_store import MOMENT, SEED, HugeSize, HugeStore
from benches.pages.known_names import DrawnParameters, KnownNames
from benches.pages.served_store import served_store
from zerolap.api.app_pages import ASSETS
from zerolap.demonstration import MadeUpServer
from zerolap.store import Store

LIMITS: Final = {
    "first_page_ms": 1000,
    "later_page_ms": 300,
    "api_p95_ms": 100,
    "rows_10000_ms": 50,
    "bundle_kib": 200,
    "report_kib": 1500,
}
"""Upper ones; `flame_fps` is to be 60, or what the machine reaches on an empty canvas."""
QUESTIONS_EACH: Final = 25
WARMING: Final = 1
FLAME_FRAMES: Final = 50_000
REPORT_CASES, REPORT_FRAMES = 100, 1500
WORST_NAMED: Final = 6


@dataclass
class Measured:
    """What was measured in a database, as raw samples."""

    first: list[float] = field(default_factory=list)
    later: list[tuple[str, float]] = field(default_factory=list)
    api: list[tuple[str, float]] = field(default_factory=list)
    rows: list[float] = field(default_factory=list)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(prog="benches.pages", description=__doc__)
    parser.add_argument("--size", type=float, default=1.0, help="part of the full size")
    parser.add_argument("--questions", type=int, default=QUESTIONS_EACH, help="of each query")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="over all later pages")
    parser.add_argument("--sqlite", metavar="DIR", help="a filled store")
    parser.add_argument("--postgresql", metavar="URL", help="a filled store; without PostgreSQL it is left out")
    given = parser.parse_args()
    size = HugeSize().scaled(given.size) if given.size != 1.0 else HugeSize()
    notes = [] if given.size == 1.0 else [f"reduced: {given.size} of the full size"]
    notes.append(f"{given.questions} questions of each query, {given.rounds} rounds over all later pages")
    measured = {}
    with _sqlite(given.sqlite, size) as (location, counts):
        notes.append(f"SQLite: {counts}")
        measured["sqlite"] = _measure(location, given.questions, given.rounds)
    with _postgresql(given.postgresql, size) as (location, counts):
        notes.append(f"PostgreSQL: {counts}")
        if location:
            measured["postgresql"] = _measure(location, given.questions, given.rounds)
    figures = _figures(measured, notes)
    print(f"written to {write_figures('pages', figures)}", file=sys.stderr)
    show_figures(figures)


# Stores.


@contextlib.contextmanager
def _sqlite(given: str | None, size: HugeSize) -> Iterator[tuple[str, str]]:
    if given is not None:
        yield given, "filled before"
        return
    directory = DIRECTORY / "pages-store"
    shutil.rmtree(directory, ignore_errors=True)
    yield str(directory.absolute()), _filled(str(directory), size)


@contextlib.contextmanager
def _postgresql(given: str | None, size: HugeSize) -> Iterator[tuple[str, str]]:
    binaries, user = programs(), server_user()
    if given is not None:
        yield given, "filled before"
    elif binaries is None or user is None:
        yield "", "not installed"
    else:
        with PostgresqlServer.started(binaries, user) as server:
            blobs = (DIRECTORY / "pages-store" / "blobs").absolute()
            location = f"{server.url(server.new_database())}&blobs={blobs}"
            yield location, _filled(location, size)


def _filled(location: str, size: HugeSize) -> str:
    began = time.monotonic()
    with Store.open(location) as store:
        counts = HugeStore(store, size).fill()
    return f"{counts}, made in {time.monotonic() - began:.0f} s"


# Measuring.


def _measure(location: str, questions: int, rounds: int) -> Measured:
    draw = random.Random(1)
    with Store.open(location) as store:
        many = record_many_cases(store, MadeUpServer(SEED, MOMENT))
        parameters = DrawnParameters(KnownNames.of(store, draw), draw)
    measured = Measured()
    with served_store(location) as url:
        with httpx.Client(base_url=url, trust_env=False, timeout=120.0) as client:
            for _, path in parameters.urls(WARMING):
                client.get(path)
            measured.api = [(name, _asked_ms(client, path)) for name, path in parameters.urls(questions)]
        with opened_browser() as browser:
            browsing = Browsing(browser, url)
            measured.first = browsing.first_pages_ms()
            measured.later = browsing.later_pages_ms([parameters.pages() for _ in range(rounds)])
            measured.rows = browsing.keystrokes_ms(many)
    return measured


def _asked_ms(client: httpx.Client, path: str) -> float:
    began = time.perf_counter()
    answer = client.get(path)
    took_ms = 1000 * (time.perf_counter() - began)
    if answer.status_code != httpx.codes.OK:
        raise RuntimeError(f"{path}: {answer.status_code} {answer.text[:300]}")
    return took_ms


def _figures(measured: dict[str, Measured], notes: list[str]) -> dict[str, Figure]:
    figures = {
        "first_page_ms": _of_databases({name: one.first for name, one in measured.items()}, 0.5, notes),
        "later_page_ms": _of_databases({name: one.later for name, one in measured.items()}, 0.95, notes),
        "api_p95_ms": _of_databases({name: one.api for name, one in measured.items()}, 0.95, notes),
        "rows_10000_ms": _of_databases({name: one.rows for name, one in measured.items()}, 0.5, notes),
        "bundle_kib": _bundle(),
        "report_kib": _report(),
        "flame_fps": _flame(),
        "questions_answered": _questions(),
    }
    for name, limit in LIMITS.items():
        figures[name].notes.insert(0, f"limit {limit}: {'missed' if figures[name].value > limit else 'reached'}")
    return figures


def _of_databases(samples: dict[str, Sequence[Any]], share: float, notes: list[str]) -> Figure:
    """Return a quantile of the slower database; samples are numbers, or numbers with a name."""
    values, described = {}, []
    for database, raw in samples.items():
        numbers = sorted(sample if isinstance(sample, float) else sample[1] for sample in raw)
        values[database] = _quantile(numbers, share)
        by_name: dict[str, list[float]] = {}
        for sample in raw:
            if not isinstance(sample, float):
                by_name.setdefault(sample[0], []).append(sample[1])
        slowest = sorted(by_name.items(), key=lambda entry: -_quantile(sorted(entry[1]), share))[:WORST_NAMED]
        words = ", ".join(f"{name} {_quantile(sorted(of_name), share):.0f}" for name, of_name in slowest)
        described.append(f"{database} {values[database]:.1f}{f'; slowest: {words}' if words else ''}")
    raw_samples = [{"database": database, "samples": list(raw)} for database, raw in samples.items()]
    trials = sum(len(raw) for raw in samples.values())
    return Figure(max(values.values()), "ms", raw_samples, trials, notes=[*described, *notes])


def _quantile(numbers: Sequence[float], share: float) -> float:
    return numbers[min(len(numbers) - 1, int(share * len(numbers)))]


def _bundle() -> Figure:
    sizes = [(path.name, len(gzip.compress(path.read_bytes(), 9)) / 1024) for path in sorted(ASSETS.iterdir())]
    return Figure(sum(size for _, size in sizes), "KiB compressed", sizes, len(sizes))


def _report() -> Figure:
    size = len(page.many_cases_page(REPORT_CASES, REPORT_FRAMES).encode()) / 1024
    note = f"{REPORT_CASES} cases, each with stacks of {REPORT_FRAMES} frames a side"
    return Figure(size, "KiB", [size], 1, notes=[note])


def _flame() -> Figure:
    with opened_browser() as browser:
        empty = frames_of_empty_canvas(browser, 6)
    zooms = page.frames_per_second(FLAME_FRAMES)
    note = f"{FLAME_FRAMES} frames; an empty canvas: {statistics.median(empty):.1f} frames per second"
    return Figure(statistics.median(zooms), "frames per second", zooms, len(zooms), {"empty canvas": empty}, [note])


def _questions() -> Figure:
    """Run the tests that answer a maintainer's questions; each passes or fails."""
    tests = Path(__file__).parents[2] / "tests" / "test_questions_answered.py"
    command = [sys.executable, "-m", "pytest", str(tests), "-q", "-m", "slow", "-rA", "-p", "no:cacheprovider"]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    outcomes = [line for line in lines if line.startswith(("PASSED ", "FAILED "))]
    answered = sum(line.startswith("PASSED ") for line in outcomes)
    return Figure(answered, f"of {len(outcomes)} questions", outcomes, len(outcomes))


if __name__ == "__main__":
    main()
