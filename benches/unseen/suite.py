"""What all cases together show of a cost that each pays a little of: `suite_alarms` and `suite_found`.

The starts are those of harmless edits in `benches/samples`: of each of these comparisons the changes of CPU time in all
cases. To each case a cost is added that is drawn around the planted one.
"""

import random
from typing import Final, TypeAlias

from benches.figures import Figure
from benches.truth.samples import KEPT, Data, SampleFile
from zerolap.judge import CasesTogether, pooled_changes

HARMLESS: Final = ("nulls", "null_repeats")
CPU: Final = "cpu_ns_per_op"
MIN_EFFECT: Final = 0.02
PLANTED: Final = 0.0075
SCATTER: Final = 0.25
"""The standard deviation of what the cases pay, as a part of the planted cost."""

MeasuredCase: TypeAlias = tuple[float, dict[int, float]]
"""The change of a case's CPU time, and the log ratios of its starts."""


def suite_figures(seed: int) -> dict[str, Figure]:
    """Judge the kept comparisons as they were measured, and with costs added."""
    comparisons = [measured for data in _harmless() if (measured := _changes(data))]
    return {
        "suite_alarms": _figure(comparisons, 0.0, ("regression", "improvement"), seed, "at most 0.01"),
        "suite_found": _figure(comparisons, PLANTED, ("regression",), seed, "at least 0.95"),
    }


def _harmless() -> list[Data]:
    samples = [sample for path in sorted(KEPT.glob("truth-*.json.xz")) for sample in SampleFile(path).samples]
    return [sample.data for sample in samples if sample.experiment in HARMLESS]


def _changes(data: Data) -> list[MeasuredCase]:
    return [
        (metric["change"], dict(enumerate(case["log_ratios"])))
        for case in data["cases"]
        for metric in case["metrics"]
        if metric["metric"] == CPU
    ]


def _figure(
    comparisons: list[list[MeasuredCase]], planted: float, counted: tuple[str, ...], seed: int, wanted: str
) -> Figure:
    """Return the share of comparisons whose cases together have one of these verdicts."""
    chance = random.Random(seed)
    samples = []
    for measured in comparisons:
        changes, starts = [change for change, _ in measured], [of_case for _, of_case in measured]
        costs = [chance.gauss(planted, planted * SCATTER) for _ in changes]
        with_costs = [(1 + change) * (1 + cost) - 1 for change, cost in zip(changes, costs, strict=True)]
        (pooled,) = pooled_changes([CasesTogether("suite", "", CPU, with_costs, MIN_EFFECT, starts)])
        samples.append({"changes": changes, "costs": costs, "verdict": pooled.verdict, "change": pooled.change})
    share = sum(sample["verdict"] in counted for sample in samples) / len(samples)
    return Figure(share, f"of comparisons, {wanted}", samples, len(samples), notes=[f"seed {seed}"])
