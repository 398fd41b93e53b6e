"""How well counted trials repeat, and what they cost: `make bench-counted`.

Twice over: the installed server compared with itself, and the demo's two revisions, each several times in a row.
"""

import sys

from benches.comparing import DEMO_REPOSITORY, SERVER, Comparison
from benches.comparing import compare as compare_servers
from benches.figures import DIRECTORY, Figure, show_figures, write_figures

REPEATS = 5
METRIC = "instructions_per_op"


def compare(*arguments: str) -> Comparison:
    """Compare by counting alone."""
    return compare_servers(*arguments, "--engine", "counted", store=DIRECTORY / "counted")


def changes(comparisons: list[Comparison]) -> dict[str, list[float]]:
    """Return the changes of instructions by case, in percent, one for each comparison."""
    found: dict[str, list[float]] = {}
    for comparison in comparisons:
        for case in comparison.document["cases"]:
            for verdict in case["verdicts"]:
                if verdict["metric"] == METRIC:
                    found.setdefault(case["case"], []).append(100 * verdict["change"])
    return found


def ninth_decile(values: list[float]) -> float:
    """Return the smallest value that at least 90 % of the values do not exceed."""
    return sorted(values)[-(-9 * len(values) // 10) - 1]


def same_build() -> dict[str, Figure]:
    """Compare the installed server with itself, each time with another seed."""
    comparisons = [compare(SERVER, SERVER, "--seed", str(seed)) for seed in range(1, REPEATS + 1)]
    by_case = changes(comparisons)
    ranges = {case: max(values) - min(values) for case, values in by_case.items()}
    spread = ninth_decile(list(ranges.values()))
    trials = sum(verdict_pairs(comparison) * 2 for comparison in comparisons)
    cases = len(by_case)
    seconds = [one.document["summary"]["machine_seconds"] / cases for one in comparisons]
    return {
        "aa_spread_p90": Figure(
            value=spread,
            unit="% of instructions",
            samples=[{"case": case, "changes": values, "range": ranges[case]} for case, values in by_case.items()],
            trials=trials,
            notes=[f"{case}: {size:.4f} %" for case, size in ranges.items() if size > spread],
        ),
        "aa_alarms": Figure(
            value=sum(alarms(one) for one in comparisons),
            unit="cases not same",
            samples=[alarms(one) for one in comparisons],
            trials=trials,
        ),
        "seconds_per_case": Figure(
            value=sorted(seconds)[len(seconds) // 2],
            unit="s of trials, both sides",
            samples=seconds,
            trials=trials,
            notes=[f"waited for: {sorted(one.seconds for one in comparisons)[REPEATS // 2] / cases:.2f} s a case"],
        ),
    }


def verdict_pairs(comparison: Comparison) -> int:
    """Return the pairs of trials over all cases."""
    return sum(case["verdicts"][0]["pairs"] for case in comparison.document["cases"] if case["verdicts"])


def alarms(comparison: Comparison) -> int:
    """Return the cases that are not found the same."""
    summary = comparison.document["summary"]
    return sum(summary[word] for word in ("regression", "improvement", "unsure", "invalid"))


def known_change() -> dict[str, Figure]:
    """Compare the demo's revisions again and again: with one seed, and with a seed of its own each time."""
    arguments = ("HEAD~1", "HEAD", "--repo", str(DEMO_REPOSITORY))
    first = compare(*arguments)
    changed = [case["case"] for case in first.document["cases"] if case["verdict"] != "same"]
    same_seed = [first] + [compare(*arguments, *changed) for _ in range(REPEATS - 1)]
    other_seeds = [compare(*arguments, *changed, "--seed", str(seed)) for seed in range(1, REPEATS + 1)]
    return {
        "change_error": change_range(same_seed, changed),
        "change_error_across_seeds": change_range(other_seeds, changed),
    }


def change_range(comparisons: list[Comparison], cases: list[str]) -> Figure:
    """Return the largest range, over the cases, of a case's changes."""
    by_case = {case: values for case, values in changes(comparisons).items() if case in cases}
    return Figure(
        value=max((max(values) - min(values) for values in by_case.values()), default=float("nan")),
        unit="percentage points",
        samples=[{"case": case, "changes": values} for case, values in by_case.items()],
        trials=sum(verdict_pairs(one) * 2 for one in comparisons),
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
