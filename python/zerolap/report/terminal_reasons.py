"""Why a case changed, is invalid or failed, on a terminal."""

from zerolap.records import CaseResult, Finding, Validity
from zerolap.report.format import count, metric_label, one_line, per_side
from zerolap.report.lines import Lines, Part
from zerolap.report.reading import (
    answers,
    has_changed,
    is_plain,
    others,
    ranked,
    sentence,
    statement,
    unconfirmed,
    word,
)

LOG_LINES = 20
IN_DIFF: Part = ("  in this change", "bold cyan")
MARKS = {
    "moved": "moved cost: ",
    "diffuse": "diffuse: ",
    "cause": "cause: ",
    "identity": "code: ",
    "limits": "limits: ",
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
    _show_verdicts(lines, case)
    if has_changed(case) or others(case):
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


def failed_check(name: str, value: float | str | None, limit: str) -> str:
    """Write a check that does not hold: `hit_rate is 0.12, expected >= 0.99`."""
    seen = "unknown" if value is None else count(value) if isinstance(value, float | int) else value
    return one_line(f"{name} is {seen}, expected {limit}")


def _show_verdicts(lines: Lines, case: CaseResult) -> None:
    for answered in answers(case):
        lines.line(statement(answered), indent=2)
    for verdict in others(case):
        parts: list[Part] = [("also ", "dim"), f"{verdict.verdict}: {sentence(verdict)}"]
        lines.line(*parts, indent=2)
    if unconfirmed(case):
        lines.line(("by counting alone, not confirmed by timing", "dim"), indent=2)


def _show_findings(lines: Lines, case: CaseResult, reasons: int | None) -> None:
    culprits = ranked(case, "culprit")
    shown = culprits if reasons is None else culprits[:reasons]
    if shown:
        lines.line(("why", "bold"), indent=2)
    for place, finding in enumerate(shown, start=1):
        _show_culprit(lines, place, finding)
    if len(shown) < len(culprits):
        lines.line((f"and {len(culprits) - len(shown)} more, listed by zerolap explain", "dim"), indent=2)
    for kind, mark in MARKS.items():
        for finding in ranked(case, kind):
            lines.line((mark, "bold"), one_line(finding.text), indent=2)


def _show_culprit(lines: Lines, place: int, finding: Finding) -> None:
    heading: list[Part] = [f"{place}. ", (one_line(finding.function or "(unknown function)"), "bold")]
    if finding.file is not None:
        heading.append(("  " + location(finding), "dim"))
    if finding.in_diff:
        heading.append(IN_DIFF)
    lines.line(*heading, indent=2)
    lines.line(one_line(finding.text), indent=5)
    figures = "; ".join(culprit_figures(finding))
    if figures:
        lines.line(figures, indent=5)
    if finding.callers:
        lines.line("called by " + callers(finding), indent=5)


def culprit_figures(finding: Finding) -> list[str]:
    """Return a culprit's numbers in words: share, calls, instructions and time per request."""
    figures = []
    if finding.share_of_change is not None:
        figures.append(f"{finding.share_of_change * 100:.0f} % of the change")
    if finding.calls_per_op is not None:
        figures.append(f"calls per request {per_side(finding.calls_per_op)}")
    if finding.instructions_per_op is not None:
        own = finding.self_instructions_per_op
        of_its_own = f" (its own {per_side(own)})" if own is not None else ""
        figures.append(f"{metric_label('instructions_per_op')} {per_side(finding.instructions_per_op)}{of_its_own}")
    if finding.cpu_ns_per_op is not None:
        own = finding.self_cpu_ns_per_op
        of_its_own = f" (its own {per_side(own)})" if own is not None else ""
        figures.append(f"sampled ns per request {per_side(finding.cpu_ns_per_op)}{of_its_own}")
    return figures


def location(finding: Finding) -> str:
    """Return a culprit's file, with its first line where it is known."""
    line = f":{finding.lines[0]}" if finding.lines else ""
    return one_line(f"{finding.file}{line}")


def callers(finding: Finding) -> str:
    """Return who calls a culprit, each with its calls per request."""
    return one_line(
        ", ".join(
            f"{caller.function} {per_side(caller.calls_per_op)}{' (in this change)' if caller.in_diff else ''}"
            for caller in finding.callers
        )
    )
