"""How true verdicts are and what they cost: `make bench-truth`; docs/truth.md states what each figure means.

Names of figures as arguments measure these alone. What `.bench/truth.json` has of them is not measured again.
`BENCH_SECONDS` is the time after which no further trial begins. With `BENCH_ANY_CODE=1`, samples that were measured
with other code are used too. `--list` prints the figures, `--show` what the samples of that file and of those in
`benches/samples` come to, whatever machine and code they are of; neither measures.
"""

import os
import sys
from collections.abc import Sequence

from benches.figures import DIRECTORY
from benches.truth import copies, cost, counters, noisy, nulls, planted, power, throughput, time_only, whole_figures
from benches.truth.measuring import Bench, TruthFigure, kept_results, table
from benches.truth.samples import KEPT, SampleFile, locked

FILE = DIRECTORY / "truth.json"
INTERRUPTED = 130
FAMILIES = (cost, noisy, planted, throughput, time_only, nulls, copies, power, counters, whole_figures)


def figures() -> dict[str, TruthFigure]:
    """Return all figures by name, in the order in which they are measured: what takes hours comes last."""
    return {figure.name: figure for family in FAMILIES for figure in family.FIGURES}


def _chosen(names: Sequence[str]) -> list[TruthFigure]:
    every = figures()
    unknown = [name for name in names if name not in every]
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}; figures: {', '.join(every)}")
    return [every[name] for name in names] if names else list(every.values())


def _limit_seconds() -> float | None:
    text = os.environ.get("BENCH_SECONDS")
    if not text:
        return None
    try:
        return float(text)
    except ValueError as fault:
        raise SystemExit(f"BENCH_SECONDS={text} is not a number of seconds") from fault


def main() -> None:
    """Measure what the wanted figures still lack, and print all of them."""
    options = [argument for argument in sys.argv[1:] if argument.startswith("--")]
    chosen = _chosen([argument for argument in sys.argv[1:] if not argument.startswith("--")])
    if options == ["--list"]:
        for figure in chosen:
            print(f"{figure.name:24} {figure.wanted} {figure.counted}; {figure.limit or 'no limit'}")
        return
    if options not in ([], ["--show"]):
        raise SystemExit(f"unknown: {' '.join(options)}; options: --list, --show")
    if options:
        for path in (*([FILE] if FILE.exists() else []), *sorted(KEPT.glob("truth-*.json.xz"))):
            print(f"{path.name}\n{table(kept_results(SampleFile(path), chosen))}")
        return
    try:
        with locked(FILE):
            bench = _bench()
            stopped_by = bench.measure(chosen)
    except BlockingIOError as fault:
        raise SystemExit(f"another process measures into {FILE}") from fault
    print(table(bench.results(chosen)))
    print(f"ended by: {stopped_by}; written to {FILE}", file=sys.stderr)
    if stopped_by == "interrupt":
        raise SystemExit(INTERRUPTED)


def _bench() -> Bench:
    return Bench(
        SampleFile(FILE),
        DIRECTORY / "truth",
        limit_seconds=_limit_seconds(),
        any_code=os.environ.get("BENCH_ANY_CODE") == "1",
    )


if __name__ == "__main__":
    main()
