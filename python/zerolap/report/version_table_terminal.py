"""A version table on a terminal."""

import re
from collections.abc import Sequence
from typing import Final

from rich.console import Console

from zerolap.records import TableChange, VersionTable
from zerolap.report.lines import Lines, Part, TextColumn
from zerolap.report.version_table_reading import (
    ShownTable,
    build_text,
    cause_text,
    cell_text,
    largest_rows,
    row_text,
    shown_tables,
    table_effort,
    table_headline,
    table_notes,
)
from zerolap.sheets import one_line, share

MOST_REASONS: Final = 2
FIRST_OF_A_LINE: Final = re.compile(r"\D*\d+\.\d+(?:\.0)?")
"""The name of a release that is no patch of another one: these columns stay where there is little room."""


def show_version_table(table: VersionTable, console: Console) -> None:
    """Write a version table: headline, changes to the last version and from release to release, and their reasons."""
    lines = Lines(console)
    lines.line((table_headline(table), "bold"))
    lines.line((table_effort(table), "dim"))
    for shown in shown_tables(table):
        lines.blank()
        lines.line((shown.title, "bold"))
        _show_table(lines, shown, table)
    if table.builds:
        lines.blank()
    for difference in table.builds:
        lines.line(("build  ", "bold yellow"), build_text(difference))
    _show_largest(lines, table)
    notes = table_notes(table)
    if notes:
        lines.blank()
    for note in notes:
        lines.line(("note: ", "bold"), note)
    lines.blank()


def _show_table(lines: Lines, shown: ShownTable, table: VersionTable) -> None:
    names = [line.name if line.kind in ("commands", "all") else f"  {line.name}" for line in shown.lines]
    columns = [
        TextColumn("command", names),
        TextColumn("case", [line.case for line in shown.lines], dispensable=1),
    ]
    if table.weights.kind != "equal":
        weights = [share(line.weight) for line in shown.lines]
        columns.append(TextColumn("weight", weights, right=True, dispensable=3))
    for index, version in enumerate(shown.versions):
        cells = [_cell(line.changes[index]) for line in shown.lines]
        is_kept = version == table.versions[table.since] or index in (0, len(shown.versions) - 1)
        dispensable = 0 if is_kept else 2 if FIRST_OF_A_LINE.fullmatch(version.name) else 4
        columns.append(TextColumn(version.name, cells, right=True, dispensable=dispensable))
    lines.table(columns)


def _cell(cell: TableChange | None) -> Part:
    if cell is None or not cell.whole.is_certain:
        return cell_text(cell)
    return cell_text(cell), "bold red" if cell.whole.change > 0 else "bold green"


def _show_largest(lines: Lines, table: VersionTable) -> None:
    for row in largest_rows(table):
        lines.blank()
        lines.line((f"{row.case}  ", "bold"), row_text(table, row))
        if row.cause is not None:
            lines.line("  ", cause_text(row.cause))
            _show_reasons(lines, row.cause.reasons)


def _show_reasons(lines: Lines, reasons: Sequence[str]) -> None:
    for reason in reasons[:MOST_REASONS]:
        lines.line("  ", one_line(reason))
