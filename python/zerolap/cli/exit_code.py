"""Exit codes of finished comparisons and runs."""

from zerolap import writer
from zerolap.cli.options import FailOn
from zerolap.records import Comparison, RunReport, SnapshotReport, TrialFailed

DONE = 0
FAIL_ON_APPLIES = 1


def exit_code(comparison: Comparison, fail_on: FailOn) -> int:
    """Return 4 if a trial failed, 1 if `fail_on` applies, else 0; if it applies, the reason is written to stderr.

    A regression counts for `fail_on` even if it is not confirmed by timing.
    """
    from zerolap.report import gate_sentence

    reason = gate_sentence(comparison, fail_on.value)
    if reason is not None:
        writer.note(reason)
    if any(_trial_failed(case.failure, valid=case.validity.valid) for case in comparison.cases):
        return TrialFailed.exit_code
    return DONE if reason is None else FAIL_ON_APPLIES


def run_exit_code(report: RunReport) -> int:
    """Return 4 if a trial failed, else 0."""
    failed = any(_trial_failed(case.failure, valid=case.validity.valid) for case in report.cases)
    return TrialFailed.exit_code if failed else DONE


def snapshot_exit_code(report: SnapshotReport, fail_on: FailOn) -> int:
    """Return 4 if a size failed, 1 if `fail_on` applies, else 0; if it applies, the reason is written to stderr."""
    from zerolap.report import snapshot_gate_sentence

    reason = snapshot_gate_sentence(report, fail_on.value)
    if reason is not None:
        writer.note(reason)
    if report.failed:
        return TrialFailed.exit_code
    return DONE if reason is None else FAIL_ON_APPLIES


def _trial_failed(failure: str | None, *, valid: bool) -> bool:
    return failure is not None and not valid
