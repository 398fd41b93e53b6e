"""How true timed verdicts are, what they cost, and how the page draws them: `make bench-timed`.

Takes hours: the installed server is compared with itself, and the demo's two revisions with each other, 20 times each.
Names of figures as arguments measure these alone; the file then holds no others.
"""

import math
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

from benches import page
from benches.comparing import DEMO_REPOSITORY, ClockedComparison, compare_demo, compare_servers, empty_store
from benches.figures import Figure, show_figures, write_figures
from zerolap import Options, open_store
from zerolap.documents import read_pictures
from zerolap.records import Timeline
from zerolap.report.html import comparison_html

LIVE_COMPARISONS = 20
COST_COMPARISONS = 3
KNOWN_CASE = "xadd-auto-id"
METRIC = "cpu_ns_per_op"
SMALLEST_EFFECT = {"timed": 0.03}


def same_build() -> dict[str, Figure]:
    """Compare the installed server with itself over the core suite, as a user would, each time with another seed."""
    store = empty_store("same-build")
    comparisons = []
    for seed in range(1, LIVE_COMPARISONS + 1):
        comparison = compare_servers(Options(seed=seed), store)
        comparisons.append(comparison)
        confirmed = ", ".join(comparison.confirmed) or "none"
        print(f"comparison {seed}: {comparison.seconds:.0f} s, confirmed: {confirmed}", file=sys.stderr)
    pairs = pair_ratios(comparisons, store)
    others = sum(len(comparison.timed_changes()) for comparison in comparisons)
    deviations = {case: statistics.stdev(ratios) for case, ratios in pairs.items()}
    undecided = sum(comparison.document.summary.unsure for comparison in comparisons)
    return {
        "aa_alarms": Figure(
            value=sum(len(comparison.confirmed) for comparison in comparisons),
            unit="confirmed changes",
            samples=[
                {
                    "seed": seed,
                    "confirmed": comparison.confirmed,
                    "seconds": comparison.seconds,
                    "changes_in_any_metric": [
                        {"case": case, **verdict.model_dump()} for case, verdict in comparison.timed_changes()
                    ],
                    "verdicts": {case: verdict.model_dump() for case, verdict in comparison.verdicts(METRIC).items()},
                }
                for seed, comparison in enumerate(comparisons, 1)
            ],
            trials=timed_starts(comparisons),
            notes=[
                f"{others} timed verdicts on any metric report a change",
                f"{undecided} cases unsure",
                f"{median_seconds(comparisons):.0f} s each",
            ],
        ),
        "sd_pair_cpu": Figure(
            value=100 * statistics.median(deviations.values()),
            unit="% of CPU per request",
            samples=[
                {"case": case, "sd": deviations[case], "log_ratios": [round(ratio, 5) for ratio in ratios]}
                for case, ratios in pairs.items()
            ],
            trials=timed_starts(comparisons),
            notes=[f"{case}: {100 * deviation:.1f} %" for case, deviation in deviations.items()],
        ),
    }


def pair_ratios(comparisons: list[ClockedComparison], location: Path) -> dict[str, list[float]]:
    """Return the log ratio of every pair of slices at full speed by case."""
    ratios: dict[str, list[float]] = {}
    with open_store(location) as store:
        for comparison in comparisons:
            timelines: dict[tuple[str, int, str], Timeline] = {}
            for trial, measurement in store.measurements(comparison.document.id):
                if trial.engine == "timed" and trial.per_second is None and measurement.timeline is not None:
                    timeline = Timeline.model_validate_json(store.blobs.get(measurement.timeline))
                    timelines[trial.case, trial.block, trial.side] = timeline
            for (case, block, side), base in timelines.items():
                if side == "base":
                    head = timelines[case, block, "head"]
                    ratios.setdefault(case, []).extend(
                        math.log(after.metrics[METRIC] / before.metrics[METRIC])
                        for before, after in zip(base.slices, head.slices, strict=True)
                    )
    return ratios


def timed_starts(comparisons: list[ClockedComparison]) -> int:
    """Return the starts of servers behind the timed verdicts."""
    return sum(2 * verdict.samples for comparison in comparisons for verdict in comparison.verdicts(METRIC).values())


def median_seconds(comparisons: list[ClockedComparison]) -> float:
    """Return the seconds that a comparison took, with all waits."""
    return statistics.median(comparison.seconds for comparison in comparisons)


def known_change() -> dict[str, Figure]:
    """Compare the demo's revisions again and again: how often is the change found, and held by its interval?"""
    store = empty_store("known-change")
    comparisons = [compare_demo(Options(seed=seed), store, [KNOWN_CASE]) for seed in range(1, LIVE_COMPARISONS + 1)]
    verdicts = [comparison.verdicts(METRIC).get(KNOWN_CASE) for comparison in comparisons]
    cases = [comparison.document.cases[0] for comparison in comparisons]
    detected = [case.confirmed and case.verdict == "regression" for case in cases]
    known = [verdict for verdict in verdicts if verdict is not None]
    pooled = statistics.mean(verdict.change for verdict in known)
    held = sum(verdict.low <= pooled <= verdict.high for verdict in known)
    samples = [
        {"seed": seed, "confirmed": confirmed, "verdict": None if verdict is None else verdict.model_dump()}
        for seed, (confirmed, verdict) in enumerate(zip(detected, verdicts, strict=True), 1)
    ]
    trials = timed_starts(comparisons)
    return {
        "known_change": Figure(
            value=sum(detected),
            unit=f"of {LIVE_COMPARISONS} found",
            samples=samples,
            trials=trials,
            notes=[f"pooled {pooled:+.1%}, {median_seconds(comparisons):.0f} s each"],
        ),
        "known_change_held": Figure(value=held, unit=f"of {len(known)} intervals", samples=samples, trials=trials),
    }


def cost() -> dict[str, Figure]:
    """Time the core suite to 3 %."""
    store = empty_store("cost")
    comparisons = [
        compare_servers(Options(engines=["timed"], min_effect=SMALLEST_EFFECT, seed=seed), store)
        for seed in range(1, COST_COMPARISONS + 1)
    ]
    return {
        "seconds_per_case": Figure(
            value=statistics.median(comparison.machine_seconds_per_case for comparison in comparisons),
            unit="s of trials, both sides",
            samples=[
                {
                    "trials": comparison.machine_seconds_per_case,
                    "command": comparison.seconds,
                    "cases": len(comparison.document.cases),
                }
                for comparison in comparisons
            ],
            trials=timed_starts(comparisons),
            notes=[f"{median_seconds(comparisons):.0f} s a comparison, with all waits"],
        )
    }


def report() -> dict[str, Figure]:
    """Write the page of the core suite with the stacks of all its cases."""
    location = empty_store("report")
    options = Options(engines=["timed", "sampled"], all_stacks=True, min_effect=SMALLEST_EFFECT)
    comparison = compare_servers(options, location).document
    with open_store(location) as store:
        html = comparison_html(comparison, read_pictures(comparison, store))
    kib = len(html.encode()) / 1024
    return {"report_kib": Figure(value=kib, unit="KiB", samples=[kib], trials=2 * len(comparison.cases))}


def drawing() -> dict[str, Figure]:
    """Zoom a large flame graph in a browser."""
    frames = page.frames_per_second()
    return {
        "frames_per_second": Figure(
            value=statistics.median(frames),
            unit=f"frames/s, {page.NODES} nodes",
            samples=frames,
            trials=len(frames),
            notes=[f"slowest zoom: {min(frames):.0f}"],
        )
    }


FIGURES: dict[str, Callable[[], dict[str, Figure]]] = {
    "frames_per_second": drawing,
    "report_kib": report,
    "seconds_per_case": cost,
    "known_change": known_change,
    "aa_alarms": same_build,
}


def main() -> None:
    """Measure, print and write; what was measured is written at once."""
    wanted = sys.argv[1:] or list(FIGURES)
    unknown = [name for name in wanted if name not in FIGURES]
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}; figures: {', '.join(FIGURES)}")
    figures: dict[str, Figure] = {}
    for name in wanted:
        if name == "known_change" and not DEMO_REPOSITORY.exists():
            print("no known_change: the demo's repository is not there; hint: make demo", file=sys.stderr)
            continue
        figures |= FIGURES[name]()
        written = write_figures("timed", figures)
        print(f"written to {written}", file=sys.stderr)
    show_figures(figures)


if __name__ == "__main__":
    main()
