"""The outcome of a bisection on a terminal."""

from rich.console import Console

from zerolap.records import BisectCulprit, BisectReport
from zerolap.report.bisect_reading import (
    bisect_effort,
    bisect_headline,
    candidates,
    culprit_certainty,
    culprit_change,
    culprit_name,
    culprit_reasons,
    skipped_commits,
    whole_change,
)
from zerolap.report.format import one_line
from zerolap.report.lines import Lines


def show_bisect(report: BisectReport, console: Console) -> None:
    """Write the outcome: the whole change, each culprit with its size, its probability and its reasons."""
    lines = Lines(console)
    lines.line((bisect_headline(report), "bold"))
    lines.line((bisect_effort(report), "dim"))
    lines.line(("whole range  ", "dim"), whole_change(report))
    for culprit in report.culprits:
        lines.blank()
        _show_culprit(lines, report, culprit)
    skipped = skipped_commits(report)
    if skipped:
        lines.blank()
    for text in skipped:
        lines.line(("skipped: ", "magenta"), text)
    for note in report.notes:
        lines.line(("note: ", "bold"), one_line(note))


def _show_culprit(lines: Lines, report: BisectReport, culprit: BisectCulprit) -> None:
    style = "bold red" if culprit.change > 0 else "bold green"
    lines.line((culprit_name(report, culprit), "bold"), "  ", (culprit_change(report, culprit), style))
    lines.line((culprit_certainty(report, culprit), "dim"), indent=2)
    for text in candidates(report, culprit):
        lines.line(text, indent=2)
    for finding in culprit_reasons(culprit):
        lines.line(one_line(finding.text), indent=2)
