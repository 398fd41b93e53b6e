"""Exit codes of finished comparisons and runs."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from zerolap import writer
from zerolap.fail_on import FailOn
from zerolap.records import (
    CHECKS_OF_SERVER,
    CheckReport,
    Comparison,
    EnvironmentMissing,
    History,
    RunReport,
    SnapshotReport,
    SweepReport,
    TrialFailed,
)

if TYPE_CHECKING:
    from zerolap.history import FillOutcome

DONE = 0
FAIL_ON_APPLIES = 1
FAULTS_OF_FILES = frozenset({"arguments", "topology", "file"})
"""Reasons for skipping a case that are faults of its file."""
OTHER_LOAD = "other_load"
"""The check that fails where other processes keep the machine busy."""


def exit_code(comparison: Comparison, fail_on: FailOn) -> int:
    """Return 4 if a trial failed, 1 if `fail_on` applies, else 0; if it applies, the reason is written to stderr.

    A regression counts for `fail_on` even if it is not confirmed by timing.
    """
    from zerolap.sheets import gate_sentence

    code = _gate_code(gate_sentence(comparison, fail_on))
    is_failed = any(case.failure is not None and not case.validity.valid for case in comparison.cases)
    return TrialFailed.exit_code if is_failed else code


def run_exit_code(report: RunReport) -> int:
    """Return 4 if a trial failed, 0 if anything was measured; else the reason is written to stderr.

    It is 4 then if the server's replies were wrong, and 3 if the machine, its tools or the budget are the reason.
    """
    if any(case.failure is not None and not case.validity.valid for case in report.cases):
        return TrialFailed.exit_code
    if report.measured_cases:
        return DONE
    checks = {check.check for case in report.cases for check in case.validity.failed}
    writer.note(f"nothing was measured{_why_nothing(report, checks)}")
    return TrialFailed.exit_code if checks & CHECKS_OF_SERVER else EnvironmentMissing.exit_code


def _why_nothing(report: RunReport, checks: Collection[str]) -> str:
    from zerolap.sheets import plain

    if checks:
        quiet = "; `--wait 5m` waits for a quiet machine" if OTHER_LOAD in checks else ""
        return f": all cases are invalid by {', '.join(sorted(checks))}{quiet}"
    reasons = [*dict.fromkeys(skipped.text for skipped in report.skipped), *report.notes[-1:]]
    return f": {plain(reasons[0])}" if reasons else ""


def snapshot_exit_code(report: SweepReport, fail_on: FailOn) -> int:
    """Return 4 if a size failed, 1 if `fail_on` applies, else 0; if it applies, the reason is written to stderr."""
    from zerolap.sheets import snapshot_gate_sentence

    code = _gate_code(snapshot_gate_sentence(report, fail_on) if isinstance(report, SnapshotReport) else None)
    return TrialFailed.exit_code if report.failed else code


def check_exit_code(report: CheckReport, *, fail_on_fault: bool = True) -> int:
    """Return 1 if a case has faults or its file cannot be used, unless that is ignored, 4 if no case was checked."""
    unreadable = any(skipped.reason in FAULTS_OF_FILES for skipped in report.skipped)
    if fail_on_fault and (unreadable or any(case.faults for case in report.cases)):
        return FAIL_ON_APPLIES
    if not report.cases:
        raise TrialFailed("no case was checked", hint="the report lists why each was skipped")
    return DONE


def history_exit_code(history: History, cases: Collection[str], fail_on: FailOn) -> int:
    """Return 1 if `fail_on` applies to a history of these cases, else 0; the reason is written to stderr."""
    from zerolap.history import history_gate_sentence

    return _gate_code(history_gate_sentence(history, cases, fail_on))


def filling_exit_code(history: History, engines: Collection[str], filled: "FillOutcome") -> int:
    """Return 0 if the range has any result of these engines; else the reason is written to stderr.

    It is 4 then if commits failed or a case is invalid, and 3 if the machine or the budget is the reason. Commits of
    which all are one program need not be timed.
    """
    own = [series for series in history.series if not series.is_imported and series.engine in engines]
    counts = "counted" in engines
    if own or not (counts or filled.failures or filled.comparisons or filled.is_over_budget):
        return DONE
    writer.note(f"nothing of {history.range} was measured")
    is_of_commits = bool(filled.failures) or (counts and not filled.is_over_budget)
    return TrialFailed.exit_code if is_of_commits else EnvironmentMissing.exit_code


def _gate_code(reason: str | None) -> int:
    if reason is None:
        return DONE
    writer.note(reason)
    return FAIL_ON_APPLIES
