"""What is wrong with cases, on a terminal."""

import re

from rich.console import Console

from zerolap.records import CheckedCase, CheckReport
from zerolap.report.lines import Lines
from zerolap.report.terminal_skipped import show_skipped
from zerolap.sheets import counted, one_line

PLACED = re.compile(r"(?P<file>.+?\.ya?ml):(?P<line>\d+): (?P<text>.*)", re.DOTALL)
"""A warning with its file and line; the file is named once."""


def show_check(report: CheckReport, console: Console) -> None:
    """Write a headline, and each case that has faults or warnings with all of them."""
    lines = Lines(console)
    faulty = [case for case in report.cases if case.faults]
    headline = f"{counted(len(report.cases), 'case', 'cases')} checked, {len(faulty):,} faulty"
    lines.line((headline, "bold"))
    show_skipped(lines, report.skipped)
    for case in report.cases:
        if case.faults or case.warnings:
            _show_case(lines, case)


def _show_case(lines: Lines, case: CheckedCase) -> None:
    lines.blank()
    lines.line((case.case, "bold"))
    for fault in case.faults:
        command = f"{fault.command}: " if fault.command else ""
        lines.line((f"  {fault.kind}  ", "red"), one_line(f"{command}{fault.text}"))
    shown = None
    for warning in case.warnings:
        placed = PLACED.fullmatch(warning)
        if placed is None:
            lines.line(("  file  ", "yellow"), one_line(warning))
            continue
        if shown != placed["file"]:
            shown = placed["file"]
            lines.line(("  file  ", "yellow"), shown)
        lines.line(("  line  ", "yellow"), one_line(f"{placed['line']}: {placed['text']}"))
