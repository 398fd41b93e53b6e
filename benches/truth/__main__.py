"""How true verdicts are and what they cost: `make bench-truth`.

All of it takes a day. Names of figures as arguments measure these alone; the file then holds no others.
"""

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import zerolap
from benches.comparing import DEMO_REPOSITORY, ClockedComparison, compare_demo, empty_store
from benches.figures import DIRECTORY, Figure, show_figures, write_figures
from benches.truth.changes_in_time import NOW_AND_THEN, changes_in_time
from benches.truth.harmless import Edit, harmless_edits
from benches.truth.sampling import coverage, seconds_for_power, share_of_alarms, starts_of
from zerolap import Options
from zerolap.cases import core_suite
from zerolap.records import CaseResult

COPIES = 20
RUNS_OF_A_CHANGE = 10
BASE = "HEAD~1"


@dataclass(frozen=True)
class Edited:
    """A clone of the demo's repository whose last commit is an edit of its release."""

    repository: Path

    @classmethod
    def make(cls, name: str, edit: Edit) -> "Edited":
        """Clone, edit and commit."""
        repository = DIRECTORY / "truth" / "edited" / "".join(letter if letter.isalnum() else "-" for letter in name)
        shutil.rmtree(repository, ignore_errors=True)
        repository.parent.mkdir(parents=True, exist_ok=True)
        _git("clone", "--quiet", str(DEMO_REPOSITORY), str(repository))
        _git("-C", str(repository), "checkout", "--quiet", BASE)
        edit(repository / "src")
        identity = ("-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgsign=false")
        _git(*identity, "-C", str(repository), "commit", "--quiet", "--all", "--message", name)
        return cls(repository)

    def compare(self, options: Options, store: Path, cases: Sequence[str] = ()) -> ClockedComparison:
        """Compare the release with the edit."""
        began = time.monotonic()
        document = zerolap.compare(BASE, "HEAD", cases, repo=self.repository, options=options, store=store)
        return ClockedComparison(document, time.monotonic() - began)


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True)


def harmless() -> dict[str, Figure]:
    """Compare the release with each harmless edit, as a user would."""
    store = empty_store("truth/harmless")
    compared = {}
    for seed, (name, edit) in enumerate(harmless_edits().items(), 1):
        comparison = compared[name] = Edited.make(name, edit).compare(Options(seed=seed), store)
        confirmed = ", ".join(comparison.confirmed) or "none"
        print(f"{name}: {comparison.seconds:.0f} s, confirmed: {confirmed}", file=sys.stderr)
    samples = [
        {
            "edit": name,
            "seconds": comparison.seconds,
            "machine_seconds": comparison.document.summary.machine_seconds,
            "cases": [case.model_dump(mode="json", exclude={"findings"}) for case in comparison.document.cases],
        }
        for name, comparison in compared.items()
    ]
    cases = [case for comparison in compared.values() for case in comparison.document.cases]
    identical = sum(case.work == "identical" for case in cases)
    return {
        "null_alarms": Figure(
            value=sum(len(comparison.confirmed) for comparison in compared.values()),
            unit=f"confirmed of {len(cases)} cases",
            samples=samples,
            trials=len(cases),
            notes=[f"{name}: {', '.join(one.confirmed)}" for name, one in compared.items() if one.confirmed],
        ),
        "identical_share": Figure(
            value=identical / len(cases),
            unit="of the cases",
            samples=[
                {"edit": name, "work": [case.work for case in one.document.cases]} for name, one in compared.items()
            ],
            trials=len(cases),
        ),
    }


def copies() -> dict[str, Figure]:
    """Compare a program with copies of it that have another build id."""
    # Not what it may be a link to: the program finds out by its name what it is.
    program = Path(shutil.which("redis-server") or "redis-server")
    store, directory = empty_store("truth/copies"), DIRECTORY / "truth" / "copies"
    directory.mkdir(parents=True, exist_ok=True)
    compared = []
    for number in range(COPIES):
        copy = directory / f"redis-server-{number}"
        _copy_with_another_build_id(program, copy, number)
        began = time.monotonic()
        document = zerolap.compare(str(program), str(copy), options=Options(seed=number + 1), store=store)
        compared.append(ClockedComparison(document, time.monotonic() - began))
        print(f"copy {number}: {compared[-1].confirmed or 'none confirmed'}", file=sys.stderr)
    return {
        "copy_alarms": Figure(
            value=sum(len(one.confirmed) for one in compared),
            unit="confirmed changes",
            samples=[
                {
                    "seconds": one.seconds,
                    "cases": [case.model_dump(mode="json", exclude={"findings"}) for case in one.document.cases],
                }
                for one in compared
            ],
            trials=sum(len(one.document.cases) for one in compared),
        )
    }


def _copy_with_another_build_id(program: Path, copy: Path, number: int) -> None:
    shutil.copy2(program, copy)
    printed = subprocess.run(["readelf", "--notes", str(copy)], capture_output=True, text=True, check=True).stdout
    build_id = bytes.fromhex(printed.partition("Build ID: ")[2].split()[0])
    content = copy.read_bytes()
    if content.count(build_id) != 1:
        raise ValueError(f"{program} does not hold its build id once")
    copy.write_bytes(content.replace(build_id, bytes([number + 1]) * len(build_id)))


def sampling() -> dict[str, Figure]:
    """Time a harmless edit at many placements, and draw comparisons from what was measured."""
    store = empty_store("truth/sampling")
    edited = Edited.make("sampled", harmless_edits()["unused functions in all"])
    edited.compare(Options(engines=["counted"], quick=True), store, ["get-100B"])
    # An effect that is never excluded makes every case take all starts.
    comparison = edited.compare(Options(engines=["timed"], min_effect={"timed": 1e-6}, seed=1), store)
    starts = starts_of([comparison], store)
    trials = sum(map(len, starts.values()))
    seconds_per_start = comparison.seconds / trials
    raw = [
        {"case": case, "log_ratios": ratios, "seconds_per_start": seconds_per_start} for case, ratios in starts.items()
    ]
    figures = {}
    for key, change in (("power_3pct_seconds", 0.03), ("power_1_5pct_seconds", 0.015)):
        found = seconds_for_power(starts, change, seconds_per_start)
        unit = f"machine seconds a case, power {found.reached:.0%}"
        figures[key] = Figure(found.seconds, unit, raw, trials, notes=found.notes)
    figures["coverage_95"] = Figure(coverage(starts), "of intervals", raw, trials)
    figures["start_regimes"] = Figure(share_of_alarms(starts, shift=0.01), "of verdicts", raw, trials)
    return figures


def known_in_time() -> dict[str, Figure]:
    """Compare the release with changes in time alone, again and again."""
    store = empty_store("truth/time")
    compared: dict[str, list[CaseResult]] = {}
    for name, edit in changes_in_time().items():
        edited = Edited.make(name, edit)
        for seed in range(1, RUNS_OF_A_CHANGE + 1):
            [case] = edited.compare(Options(seed=seed), store, ["get-100B"]).document.cases
            compared.setdefault(name, []).append(case)
            print(f"{name}, {seed}: work {case.work}, time {case.time}", file=sys.stderr)
    samples = [
        {"edit": name, "cases": [case.model_dump(mode="json", exclude={"findings"}) for case in cases]}
        for name, cases in compared.items()
    ]
    trials = sum(map(len, compared.values()))
    detected = {name: sum(case.time == "regression" for case in cases) / len(cases) for name, cases in compared.items()}
    sized = {name: _share_of_right_sizes(name, cases) for name, cases in compared.items()}
    return {
        key: Figure(
            value=min(shares.values()),
            unit="of runs, the least",
            samples=samples,
            trials=trials,
            notes=[f"{name}: {share:.0%}" for name, share in shares.items()],
        )
        for key, shares in (("time_only_found", detected), ("time_only_sized", sized))
    }


def _share_of_right_sizes(name: str, cases: Sequence[CaseResult]) -> float:
    """Return the share of runs whose interval holds the size of a change: the mean of what all runs came to."""
    metric = "whole_cpu_ns_per_op" if name in NOW_AND_THEN else "cpu_ns_per_op"
    verdicts = [verdict for case in cases for verdict in case.verdicts if verdict.metric == metric]
    size = statistics.mean(verdict.change for verdict in verdicts) if verdicts else 0.0
    return sum(verdict.low <= size <= verdict.high for verdict in verdicts) / len(cases)


def cost() -> dict[str, Figure]:
    """Time the demo with its builds at hand, and its counting alone."""
    store = empty_store("truth/cost")
    compare_demo(Options(engines=["counted"], seed=1), store, ["get-100B"])
    whole = [compare_demo(Options(seed=seed), store) for seed in range(2, 5)]
    counted = [compare_demo(Options(engines=["counted"], seed=seed), store) for seed in range(5, 8)]
    seconds = sorted(one.seconds for one in whole)
    per_case = sorted(one.document.summary.machine_seconds / len(core_suite()) for one in counted)
    return {
        "demo_seconds_cached": Figure(seconds[1], "s", seconds, len(whole)),
        "counted_seconds": Figure(per_case[1], "machine seconds a case", per_case, len(counted)),
    }


PARTS: dict[tuple[str, ...], Callable[[], dict[str, Figure]]] = {
    ("null_alarms", "identical_share"): harmless,
    ("copy_alarms",): copies,
    ("power_3pct_seconds", "power_1_5pct_seconds", "coverage_95", "start_regimes"): sampling,
    ("time_only_found", "time_only_sized"): known_in_time,
    ("demo_seconds_cached", "counted_seconds"): cost,
}


def main() -> None:
    """Measure the figures that the arguments name, or all."""
    wanted = set(sys.argv[1:])
    figures: dict[str, Figure] = {}
    for keys, part in PARTS.items():
        if not wanted or wanted & set(keys):
            figures |= part()
            write_figures("truth", figures)
    show_figures(figures)


if __name__ == "__main__":
    main()
