"""A sheet on a terminal of any width."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rich.console import Console

from zerolap.report.lines import Lines, Part, TextColumn
from zerolap.sheets import (
    ARROW,
    Cell,
    Fact,
    Mark,
    Section,
    Sentence,
    Sheet,
    Stacks,
    Table,
    listing,
    one_line,
    printable,
)

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
SIGNS_AND_DIGITS: Final = tuple("+-0123456789")
STEP: Final = 2
"""By how much the content of a section is indented below its title."""


def show_sheet(sheet: Sheet, console: Console, *, all_sections: bool = False) -> None:
    """Write a sheet; what is folded only with `all_sections`."""
    lines = Lines(console)
    if sheet.title:
        continuation = f"; {_without_ticks(sheet.continuation)}" if sheet.continuation else ""
        lines.line((_without_ticks(sheet.title), "bold"), continuation)
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
        title = _marked(_without_ticks(section.title), None if is_of_remark else section.mark, usual="bold")
        remark = _marked(section.remark, section.mark if is_of_remark else "quiet")
        lines.line(title, *(["  ", remark] if section.remark else []), indent=indent)
    inner = indent + STEP if section.title else indent
    _show_content(lines, section, inner, all_sections=all_sections)


def _show_content(lines: Lines, section: Section, indent: int, *, all_sections: bool) -> None:
    _show_facts(lines, section.facts, indent)
    for number, sentence in enumerate(section.sentences, start=1):
        _show_sentence(lines, sentence, indent, f"{number}. " if section.is_ranked else "")
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
        label = _without_ticks(fact.label).ljust(width) + "  "
        lines.labelled((label, "dim"), _without_ticks(fact.text), indent=indent)


def _show_sentence(lines: Lines, sentence: Sentence, indent: int, number: str = "") -> None:
    label: list[Part] = [(f"{_without_ticks(sentence.label)}: ", "bold")] if sentence.label else []
    links = f" {ARROW} {listing(_without_ticks(link.text) for link in sentence.links)}" if sentence.links else ""
    lines.line(number, *label, _marked(sentence.text, sentence.mark), links, indent=indent)


def _show_table(lines: Lines, table: Table, indent: int) -> None:
    if table.heading or indent == 0:
        lines.blank()
    if table.heading:
        lines.line((one_line(table.heading), "bold" if indent == 0 else "dim"), indent=indent)
    columns = _fitting_columns(lines, table, indent)
    if columns:
        lines.table([_indented(columns[0], " " * indent), *columns[1:]])
    if table.left_out:
        lines.line((f"{table.left_out:,} more are not listed", "dim"), indent=indent)
    if table.remark:
        lines.line((one_line(table.remark), "dim"), indent=indent)


def _fitting_columns(lines: Lines, table: Table, indent: int) -> list[TextColumn]:
    """Return the columns of a table with as much detail as fits beside those that stay.

    Columns of a rank go first, then the details of headings, then those of cells.
    """
    has_details = any(cell.detail for row in table.rows for cell in row)
    ranks = sorted({column.rank for column in table.columns} | {0}, reverse=True) if has_details else [0]
    tries = [(rank, True, True) for rank in ranks] + [(0, False, True), (0, False, False)]
    for rank, has_headings, has_cells in tries:
        columns = [
            TextColumn(
                one_line(column.title if has_headings else column.heading),
                _cells([row[place] for row in table.rows], is_code=column.is_code, has_details=has_cells),
                right=column.is_number,
                dispensable=column.rank,
                goes_on_below=column.is_code,
            )
            for place, column in enumerate(table.columns)
            if not has_details or column.rank <= rank
        ]
        if columns and lines.fits([_indented(columns[0], " " * indent), *columns[1:]]):
            break
    return columns


def _cells(cells: Sequence[Cell], *, is_code: bool, has_details: bool) -> list[Part]:
    """Return the cells of a column; where they have details, numbers and details stand below each other."""
    if is_code:
        return [printable(cell.text.replace("\n", " ")) for cell in cells]
    texts = [one_line(cell.text) for cell in cells]
    if any(cell.detail for cell in cells) and has_details:
        texts = _detailed(texts, [one_line(cell.detail) for cell in cells])
    shown = [_styled(text, cell.mark) for text, cell in zip(texts, cells, strict=True)]
    return [_after_space(part, " " * STEP) if cell.is_part else part for part, cell in zip(shown, cells, strict=True)]


def _detailed(texts: Sequence[str], details: Sequence[str]) -> list[str]:
    """Return texts with their details; figures are aligned at their ends, and so are their details."""
    pairs = list(zip(texts, details, strict=True))
    figures = [(text, detail) for text, detail in pairs if _is_figure(text, detail)]
    number = max((len(text.partition(" ")[0]) for text, _ in figures), default=0)
    width = max((len(_at_end(text, number)) for text, _ in figures), default=0)
    longest = max((len(detail) for _, detail in figures), default=0)
    return [
        f"{_at_end(text, number).ljust(width)}  {detail.rjust(longest)}"
        if _is_figure(text, detail)
        else f"{text}  {detail}".rstrip()
        for text, detail in pairs
    ]


def _is_figure(text: str, detail: str) -> bool:
    return detail != "" and text.startswith(SIGNS_AND_DIGITS)


def _at_end(text: str, width: int) -> str:
    return " " * (width - len(text.partition(" ")[0])) + text


def _indented(column: TextColumn, space: str) -> TextColumn:
    cells = [_after_space(cell, space) for cell in column.cells]
    return replace(column, header=space + column.header, cells=cells)


def _show_stacks(lines: Lines, stacks: Stacks, indent: int) -> None:
    lines.line((one_line(stacks.heading), "dim"), indent=indent)
    for stack in stacks.stacks:
        label: Part = (one_line(stack.label) + "  ", "dim")
        lines.line(f"{stack.share:>7}  ", label, one_line(" ← ".join(stack.frames)), indent=indent)


def _after_space(part: Part, space: str) -> Part:
    return space + part if isinstance(part, str) else (space + part[0], part[1])


def _without_ticks(text: str) -> str:
    """Return a text whose names stand for themselves; backticks that are not pairs stay."""
    shown = one_line(text)
    return shown.replace("`", "") if shown.count("`") % 2 == 0 else shown


def _marked(text: str, mark: Mark | None, usual: str = "") -> Part:
    return _styled(one_line(text), mark, usual)


def _styled(shown: str, mark: Mark | None, usual: str = "") -> Part:
    """Return a guarded text in the style of its mark; an outcome has its sign before it."""
    if mark in OUTCOMES:
        sign, style = OUTCOMES[mark]
        return f"{sign} {shown}", style
    style = usual if mark is None else STYLES[mark]
    return (shown, style) if style else shown
