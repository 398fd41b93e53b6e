"""Which commands of a server cases measure, as it is shown."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from zerolap.records import CommandCoverage, CoverageCounts, CoverageReport
from zerolap.sheets.environment import server_text
from zerolap.sheets.format import counted, first_of
from zerolap.sheets.sheet import Cell, Column, Fact, Mark, Section, Sheet, Table, as_name, name

MOST_CASES: Final = 3
"""The cases that a row names; the JSON document has all."""
MOST_DATASETS: Final = 6
MARKS: Final[dict[str, Mark]] = {"missing": "worse", "unproven": "worse", "excused": "quiet"}
COLUMNS: Final = [
    Column(key="command", heading="command"),
    Column(key="coverage", heading="coverage"),
    Column(key="cases", heading="cases"),
    Column(key="encodings", heading="encodings", rank=1),
    Column(key="datasets", heading="data sets", rank=3),
    Column(key="calls", heading="calls", is_number=True, rank=2),
]


def coverage_sheet(report: CoverageReport) -> Sheet:
    """Return what is neither covered nor excused, what is excused, and folded the commands of each group."""
    uncovered, excused = report.uncovered, [command for command in report.commands if command.coverage == "excused"]
    return Sheet(
        kind="coverage",
        title=_counts_text("command", report.commands_counts),
        continuation=_counts_text("subcommand", report.subcommands_counts),
        facts=[
            Fact(label="server", text=server_text(report.server)),
            Fact(label="cases", text=_cases_text(report)),
            Fact(label="covered", text=_meaning(report)),
        ],
        sections=[
            *([_section("uncovered", "Neither covered nor excused", uncovered)] if uncovered else []),
            *([_section("excused", "Excused", excused)] if excused else []),
            *(
                _section(group or "commands", f"Commands of the group {group}" if group else "Commands", list(commands))
                for group, commands in groupby(
                    (command for command in report.commands if command.coverage == "covered"),
                    key=lambda command: command.group,
                )
            ),
        ],
        closing=[Fact(label="made by", text=as_name(report.command_line))],
    )


def _counts_text(noun: str, counts: CoverageCounts) -> str:
    parts = [f"{counts.covered:,} of {counted(counts.known, noun, f'{noun}s')} covered"]
    parts += [f"{number:,} {word}" for word, number in _others(counts) if number]
    return ", ".join(parts)


def _others(counts: CoverageCounts) -> list[tuple[str, int]]:
    return [("excused", counts.excused), ("unproven", counts.unproven), ("missing", counts.missing)]


def _cases_text(report: CoverageReport) -> str:
    parts = [f"{report.cases:,}"]
    if report.checks:
        parts += [f"{report.checked:,} checked", f"{len(report.faulty):,} of them faulty"]
        parts += [f"{len(report.skipped):,} skipped"]
    return ", ".join(parts)


def _meaning(report: CoverageReport) -> str:
    if not report.checks:
        return "a case names the command; nothing was measured"
    return (
        "a case without faults called the command at least 1,000 times by the "
        "server's own count, none failed or rejected, with replies, hits and encodings as the case declares them"
    )


def _section(key: str, title: str, commands: Sequence[CommandCoverage]) -> Section:
    return Section(
        key=key, title=f"{title} ({len(commands):,})", tables=[Table(columns=COLUMNS, rows=list(map(_row, commands)))]
    )


def _row(command: CommandCoverage) -> list[Cell]:
    reason = f"{command.reason}: {command.text}" if command.reason else command.text
    return [
        name(command.command),
        Cell(text=command.coverage, mark=MARKS.get(command.coverage)),
        Cell(text=reason or first_of(command.cases, MOST_CASES)),
        Cell(text=", ".join(command.encodings)),
        Cell(text=first_of(command.datasets, MOST_DATASETS)),
        Cell(text="" if command.calls is None else f"{command.calls:,}", order=command.calls),
    ]
