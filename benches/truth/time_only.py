"""Changes of time with nearly the same work: how often they are found, and whether the interval holds their size."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from benches.truth.case_data import CaseData, all_cases, data_of
from benches.truth.changes_in_time import changes_in_time
from benches.truth.edited import Edited, directory_name
from benches.truth.measuring import Estimate, TruthFigure
from benches.truth.planted import calibrate, calibration_program
from benches.truth.samples import Data, Experiment, PlannedSample, Sample
from benches.truth.sampling import METRIC
from benches.truth.throughput import by_edit
from zerolap import Options

CASE = "get-100B"
RUNS = 10
"""Of each edit."""
WHOLE = "whole_cpu_ns_per_op"
CRON_MS, PERIOD_MS = 3.0, 100.0
NS_PER_SECOND = 1e9


def _compare(name: str, directory: Path, seed: int) -> Data:
    edited = Edited.make(directory / "edited" / directory_name(name), changes_in_time()[name])
    program, store = calibration_program(directory), directory / "store"
    before = calibrate(program)
    compared = edited.compare(Options(seed=seed), store, [CASE])
    after = calibrate(program)
    return data_of(compared, store, edit=name, wait_ns=(before.wait_ns + after.wait_ns) / 2)


def _plan(directory: Path) -> list[PlannedSample]:
    return [
        PlannedSample(f"{name}, {number}", partial(_compare, name, directory))
        for number in range(1, RUNS + 1)
        for name in changes_in_time()
    ]


EXPERIMENT = Experiment("time_only", 1, ["changes_in_time.py", "planted.py"], _plan)


def _size_of_wait(sample: Sample, case: CaseData) -> tuple[str, float] | None:
    """Return the change by a wait in each command, whose time the calibration measured."""
    metric = case.metric(METRIC)
    return (METRIC, sample.data["wait_ns"] / metric.base) if metric is not None and metric.base else None


def _size_of_cron(_: Sample, case: CaseData) -> tuple[str, float] | None:
    """Return the change by 3 ms of CPU time each 100 ms: the timer is set anew after them.

    Of the elapsed time of the base's requests, set in relation to their CPU time.
    """
    whole, elapsed, throughput = (case.metric(name) for name in (WHOLE, "elapsed_ns_per_op", "ops_per_sec"))
    if whole is None or not whole.base:
        return None
    if elapsed is not None and elapsed.base:
        return WHOLE, CRON_MS / PERIOD_MS * elapsed.base / whole.base
    if throughput is None or not throughput.base:
        return None
    return WHOLE, CRON_MS / PERIOD_MS * NS_PER_SECOND / throughput.base / whole.base


SIZES: Mapping[str, Callable[[Sample, CaseData], tuple[str, float] | None]] = {
    "500 ns in each command": _size_of_wait,
    "3 ms in serverCron": _size_of_cron,
}
"""The edits whose size is known by construction, without looking at what comparisons came to."""


def least_found(samples: Sequence[Sample]) -> Estimate:
    """Return the share of runs that report a regression of time, of the edit with the smallest."""
    shares = {
        name: sum(case.time == "regression" for case in all_cases(of_edit)) / len(of_edit)
        for name, of_edit in by_edit(samples).items()
    }
    return Estimate(min(shares.values()), len(samples), [f"{name}: {share:.0%}" for name, share in shares.items()])


def least_sized(samples: Sequence[Sample]) -> Estimate | None:
    """Return the share of intervals that hold the size of the change, of the edit with the smallest."""
    shares, notes, trials = [], [], 0
    for name, of_edit in by_edit(samples).items():
        if name not in SIZES:
            continue
        held, truths, errors = 0, [], []
        for sample, case in zip(of_edit, all_cases(of_edit), strict=True):
            known = SIZES[name](sample, case)
            metric = None if known is None else case.metric(known[0])
            if known is not None and metric is not None and metric.change is not None:
                held += metric.holds(known[1])
                truths.append(known[1])
                errors.append(metric.change - known[1])
        trials += len(of_edit)
        shares.append(held / len(of_edit))
        if truths:
            mean, error = sum(truths) / len(truths), sum(errors) / len(errors)
            notes.append(f"{name}: {held} of {len(of_edit)}, true change {mean:+.1%}, mean error {error:+.2%}")
    return Estimate(min(shares), trials, notes) if shares else None


FIGURES = [
    TruthFigure(
        "time_only_found", "of runs, of the edit least found", [EXPERIMENT], 6 * RUNS, "comparisons", least_found
    ),
    TruthFigure(
        "time_only_sized", "of intervals, of the edit least held", [EXPERIMENT], 2 * RUNS, "comparisons", least_sized
    ),
]
