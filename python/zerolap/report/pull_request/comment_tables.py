"""The tables of a comment: cases that changed or are not decided, and a folded section with all else."""

import math
from collections.abc import Iterator, Sequence

from zerolap.records import Answer, Comparison, MeasuredServer
from zerolap.report.markdown import AnswerColumns, build_facts, bullets, code, folded, prose, settings_fact, table
from zerolap.report.pull_request.comment_detail import Detail
from zerolap.report.pull_request.outcome import PullRequestState, in_order_of_names
from zerolap.report.pull_request.rows import CaseRows, Row, cases_of
from zerolap.report.reading import ANSWERS, effort, failed_on, skipped_line, state_line
from zerolap.sheets import counted, failed_check, interval, percent

COMMAND_BYTES = 400
"""A longer command is left to the report, as a part of a command cannot be run."""


def answer_columns(rows: Sequence[Row]) -> AnswerColumns:
    """Return the columns on work and time for all of these rows."""
    return AnswerColumns.of_cases([row.case for row in rows])


def changed_table(rows: Sequence[Row], columns: AnswerColumns, platforms: int, detail: Detail) -> Iterator[str]:
    """Yield a table of the cases that changed or are not decided, and the number of rows left out."""
    notable = [row for row in rows if not row.is_unchanged]
    shown = notable[: detail.rows]
    if shown:
        where = ["platform"] if platforms > 1 else []
        yield table(
            ["case", *where, *columns.headings, "could have been seen"],
            [_cells(row, columns, platforms, detail) for row in shown],
        )
    if len(notable) > len(shown):
        yield f"and {len(notable) - len(shown):,} more in the report"


def everything_else(state: PullRequestState, rows: Sequence[Row], detail: Detail) -> Iterator[str]:
    """Yield a folded section: unchanged cases, settings, builds, how to repeat the comparison."""
    if not detail.facts or all(platform.comparison is None for platform in state.platforms):
        return
    unchanged = [case for case in cases_of(rows) if case.first.is_unchanged]
    blocks = [*_unchanged_table(unchanged, detail), bullets(_facts(state, detail))]
    summary = [counted(len(unchanged), "unchanged case", "unchanged cases")] if unchanged else []
    yield folded(", ".join([*summary, "settings, builds, how to repeat it"]), "\n\n".join(blocks))


def _cells(row: Row, columns: AnswerColumns, platforms: int, detail: Detail) -> list[str]:
    name = code(row.case.case, detail.name) + (" (acknowledged)" if row.acknowledgement is not None else "")
    where = [code(row.platform, detail.name)] if platforms > 1 else []
    cells = columns.cells(row.case)
    if row.word in ("failed", "invalid"):
        cells = [f"{row.word}: {_why_invalid(row, detail)}", *cells[1:]]
    elif row.word == "unsure" and not any(cells):
        cells = ["unsure", *cells[1:]]
    return [name, *where, *cells, _detectable(row)]


def _why_invalid(row: Row, detail: Detail) -> str:
    if row.case.failure is not None:
        return code(row.case.failure, detail.sentence // 2)
    failed = [failed_check(check.check, check.value, check.limit) for check in row.case.validity.failed]
    sides = failed_on(row.case)
    return ("" if sides is None else f"{sides}, ") + prose("; ".join(failed), detail.sentence // 2)


def _detectable(row: Row) -> str:
    """Return the smallest changes of work and time that the samples could have detected."""
    decided = [(answered.answer, answered.decided.detectable) for answered in row.answers.values() if answered.decided]
    return ", ".join(f"{answer} {percent(change)}" for answer, change in decided if math.isfinite(change))


def _unchanged_table(cases: Sequence[CaseRows], detail: Detail) -> Iterator[str]:
    """Yield a row for every group of unchanged cases, with the range of their changes."""
    groups: dict[str, list[CaseRows]] = {}
    for case in cases:
        groups.setdefault(case.first.case.group, []).append(case)
    largest_first = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    shown = largest_first[: detail.groups]
    if not shown:
        return
    present = [answer for answer in ANSWERS if _range(cases, answer)]
    rows = []
    for group, of_group in shown:
        identical = sum(case.is_identical for case in of_group)
        ranges = [_range(of_group, answer) for answer in present]
        rows.append([code(group, detail.name), f"{len(of_group):,}", f"{identical:,}", *ranges])
    headings = ["group", "unchanged", "identical", *(f"{answer}: changes within" for answer in present)]
    yield table(headings, rows, numbers=(1, 2))
    if len(largest_first) > len(shown):
        left_out = sum(len(of_group) for _, of_group in largest_first[len(shown) :])
        yield f"and {counted(left_out, 'case', 'cases')} of {len(largest_first) - len(shown):,} more groups"


def _range(cases: Sequence[CaseRows], answer: Answer) -> str:
    answered = [row.answers.get(answer) for case in cases for row in case.rows if not row.is_identical]
    changes = [answer.decided.change for answer in answered if answer is not None and answer.decided is not None]
    return interval(min(changes), max(changes)) + " %" if changes else ""


def _facts(state: PullRequestState, detail: Detail) -> Iterator[str]:
    measured = [
        (platform.name, platform.comparison)
        for platform in in_order_of_names(state.platforms)
        if platform.comparison is not None
    ]
    for name, comparison in measured[: detail.platforms]:
        yield from _platform_facts(name, comparison, detail)
    yield from dict.fromkeys(settings_fact(comparison.settings) for _, comparison in measured)
    for name, comparison in measured[: detail.builds]:
        where = f" on {code(name, detail.name)}" if len(measured) > 1 else ""
        yield f"base{where}: {build_facts(comparison.base)}"
        yield f"head{where}: {build_facts(comparison.head)}"
        yield from _differing_flags(comparison.base, comparison.head)
    command = code(state.command)
    if command:
        yield f"to repeat it: {command if len(command.encode()) <= COMMAND_BYTES else 'the command in the report'}"


def _platform_facts(name: str, comparison: Comparison, detail: Detail) -> Iterator[str]:
    platform = comparison.platform
    machine = f"{code(platform.cpu, detail.name)}, {platform.cores} cores, kernel {code(platform.kernel, detail.name)}"
    parts = [machine, prose(effort(comparison)), state_line(comparison), skipped_line(comparison.skipped)]
    yield f"{code(name, detail.name)}: {'; '.join(part for part in parts if part)}"
    names = {case.case for case in comparison.cases}
    for note in comparison.notes[: detail.notes]:
        yield f"{code(name, detail.name)}: {prose(note, detail.sentence, names)}"


def _differing_flags(base: MeasuredServer, head: MeasuredServer) -> Iterator[str]:
    """Yield the compiler flags that only one side was built with."""
    flags = {"base": base.flags.split(), "head": head.flags.split()}
    only = {
        "base": [flag for flag in flags["base"] if flag not in flags["head"]],
        "head": [flag for flag in flags["head"] if flag not in flags["base"]],
    }
    differing = [f"{side} {code(' '.join(of_side))}" for side, of_side in only.items() if of_side]
    if differing:
        yield f"flags that differ: {', '.join(differing)}"
