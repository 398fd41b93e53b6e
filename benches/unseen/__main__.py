"""What verdicts see of changes that no case alone shows: `python -m benches.unseen [SEED]`.

It writes `.bench/unseen.json`.
The starts are those of harmless edits in `benches/samples`: of each of these comparisons the changes of CPU time in all
cases. To each case a cost is added that is drawn around the planted one.

Where the demo's repository is (`make demo`), bytes are planted too: `byte_changes`.
"""

import random
import sys
from typing import Final

from benches.figures import Figure, show_figures, write_figures
from benches.truth.samples import KEPT, Data, SampleFile
from benches.unseen.byte_changes import byte_figures
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
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.SystemRandom().randrange(LARGEST_SEED)
    comparisons = [changes for data in _harmless() if (changes := _changes(data))]
    figures = {
        "suite_alarms": _figure(comparisons, 0.0, ("regression", "improvement"), seed, "at most 0.01"),
        "suite_found": _figure(comparisons, PLANTED, ("regression",), seed, "at least 0.95"),
        **byte_figures(seed),
    }
    print(f"seed {seed}")
    show_figures(figures)
    print(write_figures("unseen", figures))
    return 0


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
