"""A sheet on a terminal of any width."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rich.console import Console

from zerolap.report.lines import Lines, Part, TextColumn
from zerolap.sheets import Cell, Fact, Mark, Section, Sentence, Sheet, Stacks, Table, one_line, printable

OUTCOMES: Final[dict[Mark, tuple[str, str]]] = {
    "regression": ("!", "bold red"),
    "improvement": ("+", "bold green"),
    "unsure": ("?", "yellow"),
    "failed": ("x", "bold magenta"),
    "invalid": ("x", "magenta"),
    "same": ("=", "dim"),
    "identical": ("=", "dim"),
}
"""The sign and the style of each outcome; without colours the sign remains."""
STYLES: Final[dict[Mark, str]] = {
    "worse": "bold red",
    "better": "bold green",
    "warning": "bold yellow",
    "strong": "bold",
    "quiet": "dim",
}
STEP: Final = 2
"""By how much the content of a section is indented below its title."""


def show_sheet(sheet: Sheet, console: Console, *, all_sections: bool = False) -> None:
    """Write a sheet; what is folded only with `all_sections`."""
    lines = Lines(console)
    if sheet.title:
        lines.line((one_line(sheet.title), "bold"))
    if sheet.remark:
        lines.line((one_line(sheet.remark), "dim"))
    _show_content(lines, sheet, 0, all_sections=all_sections)
    if sheet.closing:
        lines.blank()
        _show_facts(lines, sheet.closing, 0)


def show_section(lines: Lines, section: Section, indent: int = 0, *, all_sections: bool = False) -> None:
    """Write a section below an empty line; nothing of what is folded but with `all_sections`."""
    if section.is_folded and not all_sections:
        return
    lines.blank()
    if section.title:
        # The change of a section stands beside its title, and is what is better or worse.
        is_of_remark = section.remark and section.mark in STYLES
        title = _marked(section.title, None if is_of_remark else section.mark, usual="bold")
        remark = _marked(section.remark, section.mark if is_of_remark else "quiet")
        lines.line(title, *(["  ", remark] if section.remark else []), indent=indent)
    inner = indent + STEP if section.title else indent
    _show_content(lines, section, inner, all_sections=all_sections)


def _show_content(lines: Lines, section: Section, indent: int, *, all_sections: bool) -> None:
    _show_facts(lines, section.facts, indent)
    for sentence in section.sentences:
        _show_sentence(lines, sentence, indent)
    for table in section.tables:
        _show_table(lines, table, indent)
    for stacks in section.stacks:
        _show_stacks(lines, stacks, indent)
    for inner in section.sections:
        show_section(lines, inner, indent, all_sections=all_sections)
    if section.notes and indent == 0:
        lines.blank()
    for note in section.notes:
        lines.line(("note: ", "bold"), one_line(note), indent=indent)


def _show_facts(lines: Lines, facts: Sequence[Fact], indent: int) -> None:
    width = max((len(fact.label) for fact in facts), default=0)
    for fact in facts:
        lines.line((one_line(fact.label).ljust(width) + "  ", "dim"), one_line(fact.text), indent=indent)


def _show_sentence(lines: Lines, sentence: Sentence, indent: int) -> None:
    label: list[Part] = [(f"{one_line(sentence.label)}: ", "bold")] if sentence.label else []
    lines.line(*label, _marked(sentence.text, sentence.mark), indent=indent)


def _show_table(lines: Lines, table: Table, indent: int) -> None:
    if table.heading or indent == 0:
        lines.blank()
    if table.heading:
        lines.line((one_line(table.heading), "bold" if indent == 0 else "dim"), indent=indent)
    columns = []
    for place, column in enumerate(table.columns):
        cells = [_code(row[place]) if column.is_code else _cell(row[place]) for row in table.rows]
        columns.append(
            TextColumn(one_line(column.title), cells, column.is_number, column.rank, goes_on_below=column.is_code)
        )
    if columns:
        columns[0] = _indented(columns[0], " " * indent)
        lines.table(columns)
    if table.left_out:
        lines.line((f"{table.left_out:,} more are not listed", "dim"), indent=indent)


def _indented(column: TextColumn, space: str) -> TextColumn:
    cells = [_after_space(cell, space) for cell in column.cells]
    return replace(column, header=space + column.header, cells=cells)


def _show_stacks(lines: Lines, stacks: Stacks, indent: int) -> None:
    lines.line((one_line(stacks.heading), "dim"), indent=indent)
    for stack in stacks.stacks:
        label: Part = (one_line(stack.label) + "  ", "dim")
        lines.line(f"{stack.share:>7}  ", label, one_line(" ← ".join(stack.frames)), indent=indent)


def _cell(cell: Cell) -> Part:
    shown = _marked(cell.text, cell.mark)
    return _after_space(shown, " " * STEP) if cell.is_part else shown


def _code(cell: Cell) -> Part:
    return printable(cell.text.replace("\n", " "))


def _after_space(part: Part, space: str) -> Part:
    return space + part if isinstance(part, str) else (space + part[0], part[1])


def _marked(text: str, mark: Mark | None, usual: str = "") -> Part:
    """Return a text in the style of its mark; an outcome has its sign before it."""
    shown = one_line(text)
    if mark in OUTCOMES:
        sign, style = OUTCOMES[mark]
        return f"{sign} {shown}", style
    style = usual if mark is None else STYLES[mark]
    return (shown, style) if style else shown
