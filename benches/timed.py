"""How true timed verdicts are, what they cost, and how the page draws them: `make bench-timed`.

Takes hours: the installed server is compared with itself, and the demo's two revisions with each other, 20 times each.
Names of figures as arguments measure these alone; the file then holds no others.
"""

import math
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from zerolap.lab.timed_start import FIRST_PACED_BLOCK

from benches import page
from benches.comparing import DEMO_REPOSITORY, SERVER, Comparison, compare, empty_store
from benches.figures import Figure, show_figures, write_figures
from zerolap.records import Timeline
from zerolap.store import Store

LIVE_COMPARISONS = 20
COST_COMPARISONS = 3
KNOWN_CASE = "xadd-auto-id"
METRIC = "cpu_ns_per_op"


def same_build() -> dict[str, Figure]:
    """Compare the installed server with itself over the core suite, as a user would, each time with another seed."""
    store = empty_store("same-build")
    comparisons = []
    for seed in range(1, LIVE_COMPARISONS + 1):
        comparisons.append(compare(SERVER, SERVER, "--seed", str(seed), store=store))
        confirmed = [case["case"] for case in comparisons[-1].document["cases"] if case["confirmed"]]
        print(f"comparison {seed}: {comparisons[-1].seconds:.0f} s, confirmed: {confirmed or 'none'}", file=sys.stderr)
    alarms = [[case["case"] for case in one.document["cases"] if case["confirmed"]] for one in comparisons]
    pairs = pair_ratios(comparisons, store)
    others = sum(len(one.timed_changes()) for one in comparisons)
    deviations = {case: statistics.stdev(ratios) for case, ratios in pairs.items()}
    undecided = sum(one.document["summary"]["unsure"] for one in comparisons)
    return {
        "aa_alarms": Figure(
            value=sum(len(cases) for cases in alarms),
            unit="confirmed changes",
            samples=[
                {
                    "seed": seed,
                    "confirmed": cases,
                    "seconds": comparison.seconds,
                    "changes_in_any_metric": comparison.timed_changes(),
                    "verdicts": comparison.verdicts(METRIC),
                }
                for seed, (cases, comparison) in enumerate(zip(alarms, comparisons, strict=True), 1)
            ],
            trials=timed_starts(comparisons),
            notes=[
                f"{others} timed verdicts on any metric say that it changed",
                f"{undecided} cases unsure",
                f"{statistics.median(one.seconds for one in comparisons):.0f} s each",
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


def pair_ratios(comparisons: list[Comparison], location: Path) -> dict[str, list[float]]:
    """Return the log ratio of every pair of slices at full speed by case."""
    ratios: dict[str, list[float]] = {}
    with Store.open_to_read(str(location)) as store:
        for comparison in comparisons:
            slices: dict[tuple[str, int, str], Timeline] = {}
            for trial, measurement in store.measurements(comparison.document["id"]):
                if trial.engine == "timed" and trial.block < FIRST_PACED_BLOCK and measurement.profile is not None:
                    timeline = Timeline.model_validate_json(store.blobs.get(measurement.profile))
                    slices[trial.case, trial.block, trial.side] = timeline
            for (case, block, side), base in slices.items():
                if side == "base":
                    head = slices[case, block, "head"]
                    ratios.setdefault(case, []).extend(
                        math.log(after.metrics[METRIC] / before.metrics[METRIC])
                        for before, after in zip(base.slices, head.slices, strict=True)
                    )
    return ratios


def timed_starts(comparisons: list[Comparison]) -> int:
    """Return the starts of servers behind the timed verdicts."""
    return sum(2 * verdict["samples"] for one in comparisons for verdict in one.verdicts(METRIC).values())


def known_change() -> dict[str, Figure]:
    """Compare the demo's revisions again and again: how often is the change found, and held by its interval?"""
    arguments = ("HEAD~1", "HEAD", KNOWN_CASE, "--repo", str(DEMO_REPOSITORY))
    store = empty_store("known-change")
    comparisons = [compare(*arguments, "--seed", str(seed), store=store) for seed in range(1, LIVE_COMPARISONS + 1)]
    verdicts = [one.verdicts(METRIC).get(KNOWN_CASE) for one in comparisons]
    cases = [one.document["cases"][0] for one in comparisons]
    found = [case["confirmed"] and case["verdict"] == "regression" for case in cases]
    known = [verdict for verdict in verdicts if verdict is not None]
    pooled = statistics.mean(verdict["change"] for verdict in known)
    held = sum(verdict["low"] <= pooled <= verdict["high"] for verdict in known)
    samples = [
        {"seed": seed, "confirmed": confirmed, "verdict": verdict}
        for seed, (confirmed, verdict) in enumerate(zip(found, verdicts, strict=True), 1)
    ]
    trials = timed_starts(comparisons)
    return {
        "known_change": Figure(
            value=sum(found),
            unit=f"of {LIVE_COMPARISONS} found",
            samples=samples,
            trials=trials,
            notes=[f"pooled {pooled:+.1%}, {statistics.median(one.seconds for one in comparisons):.0f} s each"],
        ),
        "known_change_held": Figure(value=held, unit=f"of {len(known)} intervals", samples=samples, trials=trials),
    }


def cost() -> dict[str, Figure]:
    """Time the core suite to 3 %."""
    arguments = (SERVER, SERVER, "--engine", "timed", "--min-effect", "timed=3%")
    store = empty_store("cost")
    comparisons = [compare(*arguments, "--seed", str(seed), store=store) for seed in range(1, COST_COMPARISONS + 1)]
    seconds = [one.document["summary"]["machine_seconds"] / len(one.document["cases"]) for one in comparisons]
    return {
        "seconds_per_case": Figure(
            value=statistics.median(seconds),
            unit="s of trials, both sides",
            samples=[
                {"trials": own, "command": one.seconds, "cases": len(one.document["cases"])}
                for own, one in zip(seconds, comparisons, strict=True)
            ],
            trials=timed_starts(comparisons),
            notes=[f"{statistics.median(one.seconds for one in comparisons):.0f} s a comparison, with all waits"],
        )
    }


def report() -> dict[str, Figure]:
    """Write the page of the core suite with the stacks of all its cases."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "report.html"
        arguments = ("--engine", "timed,sampled", "--stacks", "all", "--min-effect", "timed=3%", "--html", str(file))
        comparison = compare(SERVER, SERVER, *arguments, store=empty_store("report"))
        kib = file.stat().st_size / 1024
    cases = len(comparison.document["cases"])
    return {"report_kib": Figure(value=kib, unit="KiB", samples=[kib], trials=2 * cases)}


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
