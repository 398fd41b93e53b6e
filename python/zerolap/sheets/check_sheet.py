"""What is wrong with cases, as it is shown."""

import re
from collections.abc import Iterator
from typing import Final

from zerolap.records import CheckedCase, CheckReport
from zerolap.sheets.format import counted
from zerolap.sheets.sheet import Section, Sentence, Sheet
from zerolap.sheets.skipped_section import skipped_section

PLACED: Final = re.compile(r"(?P<file>.+?\.ya?ml):(?P<line>\d+): (?P<text>.*)", re.DOTALL)
"""A warning with its file and line; the file is named once."""


def check_sheet(report: CheckReport) -> Sheet:
    """Return the skipped cases, and each case that has faults or warnings with all of them."""
    faulty = sum(bool(case.faults) for case in report.cases)
    return Sheet(
        kind="check",
        title=f"{counted(len(report.cases), 'case', 'cases')} checked, {faulty:,} faulty",
        sections=[
            *skipped_section(report.skipped),
            *(
                Section(key=case.case, title=case.case, sentences=[*_faults(case), *_warnings(case)])
                for case in report.cases
                if case.faults or case.warnings
            ),
        ],
    )


def _faults(case: CheckedCase) -> Iterator[Sentence]:
    for fault in case.faults:
        command = f"{fault.command}: " if fault.command else ""
        yield Sentence(label=fault.kind, text=f"{command}{fault.text}", mark="worse")


def _warnings(case: CheckedCase) -> Iterator[Sentence]:
    shown = None
    for warning in case.warnings:
        placed = PLACED.fullmatch(warning)
        if placed is None:
            yield Sentence(label="file", text=warning)
            continue
        if shown != placed["file"]:
            shown = placed["file"]
            yield Sentence(label="file", text=shown)
        yield Sentence(label="line", text=f"{placed['line']}: {placed['text']}")
