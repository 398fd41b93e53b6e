"""Why cases changed, with the changed lines that each reason points to."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from zerolap.records import Finding
from zerolap.sheets.case_rows import CaseRow
from zerolap.sheets.case_words import ranked, rests_on_memory
from zerolap.sheets.measured_change import ChangedLines


@dataclass(frozen=True)
class Reason:
    """A finding on a case, with the number of further cases that have the same reason.

    `locations` are the changed lines of the cause; without them, `file` may be its path in the repository.
    """

    row: CaseRow
    finding: Finding
    locations: tuple[ChangedLines, ...] = ()
    file: str | None = None
    further_cases: int = 0


def reasons_of(rows: Sequence[CaseRow], changed: Sequence[ChangedLines]) -> list[Reason]:
    """Return the distinct reasons of all changes: those of regressions first, and the first reason of every case."""
    listed: dict[tuple[str, str | None, str | None], Reason] = {}
    cases: dict[tuple[str, str | None, str | None], set[str]] = {}
    for row, finding in _in_order(rows):
        key = row.word, finding.function or finding.text, finding.file
        cases.setdefault(key, set()).add(row.case.case)
        if key not in listed:
            locations = locations_of(finding, changed)
            files = [lines.file for lines in _in_file(finding.file, changed)] if finding.in_diff else []
            file = None if locations else next(iter(files), None)
            listed[key] = Reason(row, finding, tuple(locations), file)
    return [replace(reason, further_cases=len(cases[key]) - 1) for key, reason in listed.items()]


def locations_of(finding: Finding, changed: Sequence[ChangedLines]) -> list[ChangedLines]:
    """Return the changed lines of a finding: those that were executed, otherwise those of its function.

    For an unchanged function that is called more or less often, these are the lines of its changed callers.
    """
    executed = [part for lines in _in_file(finding.file, changed) if (part := _executed(finding, lines)) is not None]
    if executed:
        return executed
    functions = [(finding.function, finding.file)]
    functions += [(caller.function, caller.file) for caller in finding.callers if caller.in_diff]
    return next((locations for name, file in functions if (locations := _of_function(name, file, changed))), [])


def _in_order(rows: Sequence[CaseRow]) -> Iterator[tuple[CaseRow, Finding]]:
    changed = [(row, _findings(row)) for row in rows if row.has_changed]
    for word in ("regression", "improvement"):
        of_word = [(row, findings) for row, findings in changed if row.word == word]
        for place in range(max((len(findings) for _, findings in of_word), default=0)):
            yield from ((row, findings[place]) for row, findings in of_word if place < len(findings))


def _findings(row: CaseRow) -> list[Finding]:
    """Return a case's culprits, and where most bytes are allocated; without any, the first finding on the cause."""
    of_bytes, culprits = ranked(row.case, "allocation")[:1], ranked(row.case, "culprit")
    reasons = [*of_bytes, *culprits] if rests_on_memory(row.case) else [*culprits, *of_bytes]
    return reasons or [*ranked(row.case, "cause"), *ranked(row.case, "diffuse")][:1]


def _in_file(file: str | None, changed: Sequence[ChangedLines]) -> list[ChangedLines]:
    """Return the changed lines of a file; findings name files below `src` without that directory."""
    return [lines for lines in changed if file is not None and lines.file.removeprefix("src/") == file]


def _executed(finding: Finding, lines: ChangedLines) -> ChangedLines | None:
    """Return a hunk from its first to its last executed line; a hunk that only removes lines as a whole."""
    first, last = (lines.last_line, lines.first_line) if lines.is_removal else (lines.first_line, lines.last_line)
    executed = [line for line in finding.lines or [] if first <= line <= last]
    if not executed or lines.is_removal:
        return lines if executed else None
    return ChangedLines(lines.file, min(executed), max(executed), lines.heading)


def _of_function(name: str | None, file: str | None, changed: Sequence[ChangedLines]) -> list[ChangedLines]:
    if not name:
        return []
    heading = re.compile(rf"\b{re.escape(name)}\s*\(")
    return [lines for lines in _in_file(file, changed) if heading.search(lines.heading)]
