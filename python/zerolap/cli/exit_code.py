"""What a finished comparison means to the caller's shell."""

from zerolap.cli.options import FailOn
from zerolap.records import Comparison, RunReport, TrialFailed

DONE = 0
FAIL_ON_APPLIES = 1


def exit_code(comparison: Comparison, fail_on: FailOn) -> int:
    """Return 4 if a trial failed, 1 if `fail_on` applies, else 0.

    A regression fails nothing by default; asked for by `--fail-on` it does, also where timing does not confirm it.
    """
    if any(_trial_failed(case.failure, valid=case.validity.valid) for case in comparison.cases):
        return TrialFailed.exit_code
    return FAIL_ON_APPLIES if comparison.fails_on(fail_on.value) else DONE


def run_exit_code(report: RunReport) -> int:
    """Return 4 if a trial failed, else 0."""
    failed = any(_trial_failed(case.failure, valid=case.validity.valid) for case in report.cases)
    return TrialFailed.exit_code if failed else DONE


def _trial_failed(failure: str | None, *, valid: bool) -> bool:
    return failure is not None and not valid
