"""Why a case changed, is invalid or failed, on a terminal."""

from zerolap.records import Answer, CaseResult, Finding, Validity
from zerolap.report.lines import Lines, Part
from zerolap.report.reading import (
    FINDING_LABELS,
    answers,
    callers,
    culprit_figures,
    failed_on,
    has_changed,
    is_plain,
    location,
    others,
    ranked,
    sentence,
    statement,
    unconfirmed,
    word,
)
from zerolap.sheets import failed_check, one_line

LOG_LINES = 20
IN_DIFF: Part = ("  in this change", "bold cyan")
UNCONFIRMED: dict[Answer, str] = {
    "work": "by counting alone, not confirmed by timing",
    "time": "timed in one layout of each program, which may be the reason: not confirmed",
}


def show_reasons(lines: Lines, case: CaseResult, verdict: Part, reasons: int | None) -> None:
    """Write what is known of a case beyond its row; nothing for one that did not change."""
    if is_plain(case) and case.failure is None:
        return
    lines.blank()
    lines.line((one_line(case.case), "bold"), "  ", verdict)
    if case.failure is not None:
        show_failure(lines, case.failure, failed=word(case) == "failed")
    show_failed_checks(lines, case.validity)
    sides = failed_on(case)
    if sides is not None:
        lines.line(sides, indent=2)
    _show_verdicts(lines, case)
    if has_changed(case) or others(case) or ranked(case, "cause"):
        _show_findings(lines, case, reasons)


def show_failure(lines: Lines, failure: str, *, failed: bool = True) -> None:
    """Write why a case failed or is not decided: what happened, then the end of the log line by line."""
    happened, *log = [line for line in failure.splitlines() if line.strip()] or [""]
    lines.line(("failed: " if failed else "", "magenta"), one_line(happened), indent=2)
    if len(log) > LOG_LINES:
        lines.line((f"the last {LOG_LINES} of {len(log)} lines of its log:", "dim"), indent=4)
    for line in log[-LOG_LINES:]:
        lines.line(one_line(line), indent=4)


def show_failed_checks(lines: Lines, validity: Validity) -> None:
    """Write which checks do not hold, each with its value and limit."""
    for check in validity.failed:
        parts: list[Part] = [("invalid: ", "magenta"), failed_check(check.check, check.value, check.limit)]
        lines.line(*parts, indent=2)


def _show_verdicts(lines: Lines, case: CaseResult) -> None:
    for answered in answers(case):
        lines.line(statement(answered), indent=2)
    for verdict in others(case):
        parts: list[Part] = [("also ", "dim"), f"{verdict.verdict}: {sentence(verdict)}"]
        lines.line(*parts, indent=2)
    rests_on = unconfirmed(case)
    if rests_on is not None:
        lines.line((UNCONFIRMED[rests_on], "dim"), indent=2)


def _show_findings(lines: Lines, case: CaseResult, reasons: int | None) -> None:
    culprits = ranked(case, "culprit")
    shown = culprits if reasons is None else culprits[:reasons]
    if shown:
        lines.line(("why", "bold"), indent=2)
    for place, finding in enumerate(shown, start=1):
        _show_culprit(lines, place, finding)
    if len(shown) < len(culprits):
        lines.line((f"and {len(culprits) - len(shown)} more, listed by zerolap explain", "dim"), indent=2)
    for kind, label in FINDING_LABELS.items():
        for finding in ranked(case, kind):
            lines.line((label, "bold"), one_line(finding.text), indent=2)


def _show_culprit(lines: Lines, place: int, finding: Finding) -> None:
    heading: list[Part] = [f"{place}. ", (one_line(finding.function or "(unknown function)"), "bold")]
    if finding.file is not None:
        heading.append(("  " + location(finding), "dim"))
    if finding.in_diff:
        heading.append(IN_DIFF)
    lines.line(*heading, indent=2)
    lines.line(one_line(finding.text), indent=5)
    for part in finding.parts:
        lines.line(("- ", "dim"), one_line(part.text), indent=7)
    figures = "; ".join(culprit_figures(finding))
    if figures:
        lines.line(figures, indent=5)
    if finding.callers:
        lines.line("called by " + callers(finding), indent=5)
