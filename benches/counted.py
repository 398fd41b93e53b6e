"""How well counted trials repeat, and what they cost: `make bench-counted`.

Twice over: the installed server compared with itself, and the demo's two revisions, each several times in a row.
"""

import statistics
import sys

from benches.comparing import DEMO_REPOSITORY, ClockedComparison, compare_demo, compare_servers
from benches.figures import DIRECTORY, Figure, show_figures, write_figures
from zerolap import Options

REPEATS = 5
METRIC = "instructions_per_op"
STORE = DIRECTORY / "counted"


def counting(seed: int = 1) -> Options:
    """Return the options of a comparison that only counts."""
    return Options(engines=["counted"], seed=seed)


def changes(comparisons: list[ClockedComparison]) -> dict[str, list[float]]:
    """Return the changes of instructions by case, in percent, one for each comparison."""
    by_case: dict[str, list[float]] = {}
    for comparison in comparisons:
        for case, verdict in comparison.verdicts(METRIC).items():
            by_case.setdefault(case, []).append(100 * verdict.change)
    return by_case


def ninth_decile(values: list[float]) -> float:
    """Return the smallest value that at least 90 % of the values do not exceed."""
    return sorted(values)[-(-9 * len(values) // 10) - 1]


def same_build() -> dict[str, Figure]:
    """Compare the installed server with itself, each time with another seed."""
    comparisons = [compare_servers(counting(seed), STORE) for seed in range(1, REPEATS + 1)]
    by_case = changes(comparisons)
    ranges = {case: max(values) - min(values) for case, values in by_case.items()}
    spread = ninth_decile(list(ranges.values()))
    trials = sum(verdict_pairs(comparison) * 2 for comparison in comparisons)
    seconds = [comparison.machine_seconds_per_case for comparison in comparisons]
    waited = statistics.median(comparison.seconds for comparison in comparisons) / len(by_case)
    return {
        "aa_spread_p90": Figure(
            value=spread,
            unit="% of instructions",
            samples=[{"case": case, "changes": values, "range": ranges[case]} for case, values in by_case.items()],
            trials=trials,
            notes=[f"{case}: {size:.4f} %" for case, size in ranges.items() if size > spread],
        ),
        "aa_alarms": Figure(
            value=sum(alarms(comparison) for comparison in comparisons),
            unit="cases not same",
            samples=[alarms(comparison) for comparison in comparisons],
            trials=trials,
        ),
        "seconds_per_case": Figure(
            value=statistics.median(seconds),
            unit="s of trials, both sides",
            samples=seconds,
            trials=trials,
            notes=[f"waited for: {waited:.2f} s a case"],
        ),
    }


def verdict_pairs(comparison: ClockedComparison) -> int:
    """Return the pairs of trials over all cases."""
    return sum(case.verdicts[0].pairs for case in comparison.document.cases if case.verdicts)


def alarms(comparison: ClockedComparison) -> int:
    """Return the number of cases whose verdict is not `same`."""
    summary = comparison.document.summary
    return summary.regression + summary.improvement + summary.unsure + summary.invalid


def known_change() -> dict[str, Figure]:
    """Compare the demo's revisions again and again: with one seed, and with a seed of its own each time."""
    first = compare_demo(counting(), STORE)
    changed = [case.case for case in first.document.cases if case.verdict != "same"]
    same_seed = [first] + [compare_demo(counting(), STORE, changed) for _ in range(REPEATS - 1)]
    other_seeds = [compare_demo(counting(seed), STORE, changed) for seed in range(1, REPEATS + 1)]
    return {
        "change_error": change_range(same_seed, changed),
        "change_error_across_seeds": change_range(other_seeds, changed),
    }


def change_range(comparisons: list[ClockedComparison], cases: list[str]) -> Figure:
    """Return the largest range, over the cases, of a case's changes."""
    by_case = {case: values for case, values in changes(comparisons).items() if case in cases}
    return Figure(
        value=max((max(values) - min(values) for values in by_case.values()), default=float("nan")),
        unit="percentage points",
        samples=[{"case": case, "changes": values} for case, values in by_case.items()],
        trials=sum(verdict_pairs(comparison) * 2 for comparison in comparisons),
    )


def main() -> None:
    """Measure, print and write."""
    figures = same_build()
    if DEMO_REPOSITORY.exists():
        figures |= known_change()
    else:
        print("no change_error: the demo's repository is not there; hint: make demo", file=sys.stderr)
    show_figures(figures)
    print(f"written to {write_figures('counted', figures)}")


if __name__ == "__main__":
    main()
