"""What verdicts see of changes that no case alone shows: `python -m benches.unseen [SEED] [FIGURE...]`.

It writes `.bench/unseen.json`, and keeps figures there that are not measured. `regimes` builds and compares commits,
which takes minutes for each: `--places N` are planted, `--together N` in one commit, and measured by `--cases` and
`--engine`.
The starts are those of harmless edits in `benches/samples`: of each of these comparisons the changes of CPU time in all
cases. To each case a cost is added that is drawn around the planted one.

With `ZEROLAP_BENCH_REPOSITORIES`, clones of servers' repositories, real commits of them are measured too
(`unmeasured`): `ZEROLAP_BENCH_COMMITS` of them, by default 100, within `BENCH_SECONDS`.
"""

import argparse
import random
import sys
from typing import Final

from benches.figures import Figure, read_figures, show_figures, write_figures
from benches.truth.samples import KEPT, Data, SampleFile
from benches.unseen.byte_changes import byte_figures
from benches.unseen.regimes import regime_figures
from benches.unseen.tails import tail_figures
from benches.unseen.unmeasured import unmeasured
from zerolap.judge import CasesTogether, pooled_changes

HARMLESS: Final = ("nulls", "null_repeats")
CPU: Final = "cpu_ns_per_op"
MIN_EFFECT: Final = 0.02
PLANTED: Final = 0.0075
SCATTER: Final = 0.25
"""The standard deviation of what the cases pay, as a part of the planted cost."""
LARGEST_SEED: Final = 1 << 32


def main() -> int:
    """Judge, print and write the figures; return the exit code."""
    asked = _arguments()
    seed = random.SystemRandom().randrange(LARGEST_SEED) if asked.seed is None else asked.seed
    print(f"seed {seed}", flush=True)
    figures: dict[str, Figure] = {}
    if "suite" in asked.figures:
        comparisons = [changes for data in _harmless() if (changes := _changes(data))]
        figures |= {
            "suite_alarms": _figure(comparisons, 0.0, ("regression", "improvement"), seed, "at most 0.01"),
            "suite_found": _figure(comparisons, PLANTED, ("regression",), seed, "at least 0.95"),
        }
    if "regimes" in asked.figures:
        figures |= regime_figures(seed, asked.places, asked.together, asked.cases, asked.engine)
    if "tails" in asked.figures:
        figures |= tail_figures(seed, asked.planted, asked.nulls)
    if "unmeasured" in asked.figures:
        figures |= unmeasured(seed)
    if "bytes" in asked.figures:
        figures |= byte_figures(seed)
    show_figures(figures)
    print(write_figures("unseen", read_figures("unseen") | figures))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benches.unseen")
    parser.add_argument("seed", nargs="?", type=int)
    parser.add_argument(
        "figures", nargs="*", default=["suite"], metavar="FIGURE", help="suite, regimes, tails, unmeasured"
    )
    parser.add_argument("--planted", type=int, default=20)
    parser.add_argument("--nulls", type=int, default=40)
    parser.add_argument("--places", type=int, default=20)
    parser.add_argument("--together", type=int, default=1)
    parser.add_argument("--cases", nargs="*", default=[])
    parser.add_argument("--engine", default="counted,timed")
    return parser.parse_args()


def _harmless() -> list[Data]:
    samples = [sample for path in sorted(KEPT.glob("truth-*.json.xz")) for sample in SampleFile(path).samples]
    return [sample.data for sample in samples if sample.experiment in HARMLESS]


def _changes(data: Data) -> list[float]:
    """Return by how much the CPU time of each case changed."""
    return [metric["change"] for case in data["cases"] for metric in case["metrics"] if metric["metric"] == CPU]


def _figure(comparisons: list[list[float]], planted: float, counted: tuple[str, ...], seed: int, wanted: str) -> Figure:
    """Return the share of comparisons whose cases together have one of these verdicts."""
    chance = random.Random(seed)
    samples = []
    for changes in comparisons:
        costs = [chance.gauss(planted, planted * SCATTER) for _ in changes]
        with_costs = [(1 + change) * (1 + cost) - 1 for change, cost in zip(changes, costs, strict=True)]
        (pooled,) = pooled_changes([CasesTogether("suite", "", CPU, with_costs, MIN_EFFECT)])
        samples.append({"changes": changes, "costs": costs, "verdict": pooled.verdict, "change": pooled.change})
    share = sum(sample["verdict"] in counted for sample in samples) / len(samples)
    return Figure(share, f"of comparisons, {wanted}", samples, len(samples), notes=[f"seed {seed}"])


if __name__ == "__main__":
    sys.exit(main())
