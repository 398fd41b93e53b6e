"""Measures each published change by both instruments in both directions; `make bench-posts`, docs/posts.md.

`ZEROLAP_BENCH_REDIS` and `ZEROLAP_BENCH_VALKEY` are clones of the repositories; changes of one that is not given are
left out. What was measured is kept in `.bench/posts`, so that a bench that was stopped goes on. `BENCH_SECONDS` is the
time after which no further comparison begins. `--show` writes docs/posts.md's table from what there is.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from benches.figures import DIRECTORY, Figure, show_figures, write_figures
from benches.posts.published import CASES, PUBLISHED, Published
from zerolap import Options, compare, load_cases
from zerolap.cases import core_suite
from zerolap.errors import ZerolapError
from zerolap.records import Case, CaseResult, Verdict

PLACE: Final = DIRECTORY / "posts"
FILE: Final = PLACE / "measured.json"
REPOSITORIES: Final = {"redis": "ZEROLAP_BENCH_REDIS", "valkey": "ZEROLAP_BENCH_VALKEY"}
WORK: Final = "instructions_per_op"
TIME: Final = "cpu_ns_per_op"
DIRECTIONS: Final = ("forward", "backward")


@dataclass(frozen=True)
class Interval:
    """A measured change with its interval, as parts of the base."""

    change: float
    low: float
    high: float

    @classmethod
    def of(cls, verdict: Verdict | None) -> "Interval | None":
        """Return that of a verdict; none where there is none."""
        return None if verdict is None else cls(verdict.change, verdict.low, verdict.high)


@dataclass(frozen=True)
class Measured:
    """A published change in one direction: work and time per request, and the first reason."""

    direction: str
    work: Interval | None
    time: Interval | None
    reason: str
    failure: str | None = None


def main() -> None:
    """Measure what there is no measurement of yet, and print all."""
    parser = argparse.ArgumentParser(prog="benches.posts", description=__doc__)
    parser.add_argument("--show", action="store_true", help="write the table of what was measured, without measuring")
    arguments = parser.parse_args()
    measured = _measured_before()
    if not arguments.show:
        _measure(measured)
    if arguments.show:
        print("\n".join(table(measured)))
        return
    figure = posts_agree(measured)
    print(f"written to {write_figures('posts', {'posts_agree': figure})}", file=sys.stderr)
    show_figures({"posts_agree": figure})


def _measure(measured: dict[str, Measured]) -> None:
    cases = {case.name: case for case in [*core_suite(), *load_cases(CASES)]}
    ends = time.monotonic() + float(os.environ.get("BENCH_SECONDS") or "inf")
    for published, direction, repository in _wanted():
        key = key_of(published, direction)
        if key in measured or time.monotonic() > ends:
            continue
        measured[key] = _compared(published, direction, cases[published.case], repository)
        _keep(measured)
        print(f"{key}: {measured[key]}", file=sys.stderr)


def _wanted() -> Iterator[tuple[Published, str, Path]]:
    # All changes are measured once before any is measured the other way round.
    for direction in DIRECTIONS:
        for published in PUBLISHED:
            repository = os.environ.get(REPOSITORIES[published.repository])
            if repository:
                yield published, direction, Path(repository)


def key_of(published: Published, direction: str) -> str:
    """Return the name of a measurement in the file."""
    return f"{published.change}, {published.case}, {direction}"


def _compared(published: Published, direction: str, case: Case, repository: Path) -> Measured:
    base, head = published.base, published.head
    if direction != DIRECTIONS[0]:
        base, head = head, base
    options = Options(engines=["counted", "timed"])
    try:
        document = compare(base, head, [case], repo=repository, options=options, store=PLACE / "store")
    except ZerolapError as fault:
        return Measured(direction, None, None, "", failure=str(fault))
    (result,) = document.cases
    reasons = [finding.text for finding in result.findings if finding.kind == "culprit"]
    return Measured(
        direction, _interval(result, WORK), _interval(result, TIME), next(iter(reasons), ""), result.failure
    )


def _interval(result: CaseResult, metric: str) -> Interval | None:
    return Interval.of(next((verdict for verdict in result.verdicts if verdict.metric == metric), None))


def agrees(published: Published, forward: Measured) -> bool | None:
    """Whether time changed in the claimed direction and its interval reaches the claim; none where not measured."""
    if forward.time is None:
        return None
    return forward.time.low <= published.high and forward.time.high >= published.low and forward.time.change < 0


def posts_agree(measured: Mapping[str, Measured]) -> Figure:
    """Return the share of published changes that agree in direction and within the interval."""
    answers = {
        key: agrees(published, measured[key])
        for published in PUBLISHED
        if (key := key_of(published, DIRECTIONS[0])) in measured
    }
    known = {key: answer for key, answer in answers.items() if answer is not None}
    samples = [{"key": key} | asdict(one) for key, one in measured.items()]
    notes = [f"does not agree: {key}" for key, answer in known.items() if not answer]
    return Figure(sum(known.values()) / max(1, len(known)), "of changes", samples, len(known), notes=notes)


def table(measured: Mapping[str, Measured]) -> list[str]:
    """Return a Markdown table: published against measured, in both directions."""
    lines = [
        "| change | case | published | time that follows | work | time | time, backward |",
        "|---|---|---|---|---|---|---|",
    ]
    for published in PUBLISHED:
        forward, backward = (measured.get(key_of(published, direction)) for direction in DIRECTIONS)
        claimed = (
            f"{published.low:+.0%}"
            if published.low == published.high
            else f"{published.low:+.0%} to {published.high:+.0%}"
        )
        cells = [published.change, published.case, published.claim, claimed]
        cells += [_cell(forward.work if forward else None), _cell(forward.time if forward else None)]
        cells.append(_cell(backward.time if backward else None))
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _cell(interval: Interval | None) -> str:
    if interval is None:
        return "-"
    return f"{interval.change:+.1%} [{interval.low:+.1%}, {interval.high:+.1%}]"


def _measured_before() -> dict[str, Measured]:
    if not FILE.exists():
        return {}
    known: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return {key: _read(fields) for key, fields in known.items()}


def _read(fields: dict[str, Any]) -> Measured:
    intervals = {name: Interval(**fields[name]) if fields[name] else None for name in ("work", "time")}
    return Measured(**(fields | intervals))


def _keep(measured: Mapping[str, Measured]) -> None:
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps({key: asdict(one) for key, one in measured.items()}, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
