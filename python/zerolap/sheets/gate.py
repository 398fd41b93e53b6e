"""Why a comparison counts as failed, in a sentence."""

from collections.abc import Sequence
from typing import Final

from zerolap.fail_on import FailOn
from zerolap.records import CaseResult, Comparison
from zerolap.sheets.format import change, counted, first_of, one_line

MOST_NAMES: Final = 5
UNKNOWN: Final = "so a regression cannot be ruled out"
NO_ANSWERS: Final[dict[FailOn, str]] = {
    "work": f"nothing was counted, {UNKNOWN}",
    "time": f"nothing was timed, {UNKNOWN}",
    "memory": f"no server reported its memory, {UNKNOWN}",
    "suite": f"too few cases were measured, {UNKNOWN}",
    "unmeasured": "it is not known which changed functions were executed",
}


def gate_sentence(comparison: Comparison, when: FailOn) -> str | None:
    """Return why a comparison counts as failed, or None if it does not.

    For example `--fail-on work applies: regression in get-100B; on the head only, set-100B fails`.
    """
    if not comparison.fails_on(when):
        return None
    if not comparison.has_answer_for(when):
        return f"--fail-on {when} applies: {NO_ANSWERS.get(when, f'nothing was measured, {UNKNOWN}')}"
    failing = comparison.failing_cases(when)
    on_head = [case for case in failing if case.fails_on_head_only]
    regressions = [case for case in failing if case.is_regression]
    undecided = [case for case in failing if not case.is_regression and not case.fails_on_head_only]
    parts = [
        *([f"on the head only, {_names(on_head)} {'fails' if len(on_head) == 1 else 'fail'}"] if on_head else []),
        *([f"regression in {_names(regressions)}"] if regressions else []),
        *([f"undecided or invalid: {_names(undecided)}"] if undecided else []),
    ]
    if together := comparison.failing_together(when):
        largest = max(together, key=lambda pooled: pooled.cases)
        parts.append(f"regression of {largest.cases:,} cases together ({change(largest.change)})")
    if comparison.changed_functions is not None and comparison.is_unseen(when):
        unexecuted = counted(comparison.changed_functions.unexecuted, "changed function", "changed functions")
        parts.append(f"no case executed {unexecuted}")
    return f"--fail-on {when} applies: {'; '.join(parts)}"


def _names(cases: Sequence[CaseResult]) -> str:
    return first_of([one_line(case.case) for case in cases], MOST_NAMES)
