"""A sheet as GitHub's Markdown."""

from collections.abc import Sequence
from typing import Final

from zerolap.report.markdown import bullets, code, folded, prose, sentence_with_names, table
from zerolap.sheets import Cell, Fact, Section, Sentence, Sheet, Stacks, Table

LONGEST_STACK: Final = 400
LONGEST_NAME: Final = 60
PART: Final = "&emsp;"
"""Stands before the first cell of a row that is a part of the row above it."""
EMPHASIZED: Final = frozenset({"regression", "improvement", "strong"})


def sheet_markdown(sheet: Sheet) -> str:
    """Return the whole sheet: title, facts, sentences, tables, stacks, sections and notes."""
    blocks = [f"**{sentence_with_names(sheet.title)}**"] if sheet.title else []
    blocks += [sentence_with_names(sheet.remark)] if sheet.remark else []
    blocks += _content(sheet, 4)
    if sheet.closing:
        blocks.append(bullets(map(_fact, sheet.closing)))
    return "\n\n".join(blocks) + "\n"


def section_markdown(section: Section, level: int = 4) -> list[str]:
    """Return the blocks of a section, below a heading of that level; one that is folded is opened by the reader."""
    title = sentence_with_names(section.title)
    if section.mark in ("regression", "improvement", "unsure", "failed", "invalid", "same", "identical"):
        title += f": {section.mark}"
    heading = f"{title} {sentence_with_names(section.remark)}".strip()
    content = _content(section, level + 1)
    if section.is_folded:
        return [folded(heading, "\n\n".join(content))]
    return [*([f"{'#' * level} {heading}"] if heading else []), *content]


def _content(section: Section, level: int) -> list[str]:
    blocks = [bullets(map(_fact, section.facts))] if section.facts else []
    blocks += [bullets(map(_sentence, section.sentences))] if section.sentences else []
    for shown in section.tables:
        blocks += [f"**{prose(shown.heading)}**"] if shown.heading else []
        blocks.append(markdown_table(shown))
    blocks += [block for stacks in section.stacks for block in _stacks(stacks)]
    blocks += [block for inner in section.sections for block in section_markdown(inner, level)]
    return blocks + [f"Note: {sentence_with_names(note)}" for note in section.notes]


def _fact(fact: Fact) -> str:
    return f"{prose(fact.label)}: {sentence_with_names(fact.text)}"


def _sentence(sentence: Sentence) -> str:
    text = sentence_with_names(sentence.text)
    if sentence.mark in EMPHASIZED:
        text = f"**{text}**"
    return f"{prose(sentence.label)}: {text}" if sentence.label else text


def markdown_table(shown: Table) -> str:
    """Return a table; names are code."""
    headings = [
        code(column.title, LONGEST_NAME) if column.has_name else prose(column.title) for column in shown.columns
    ]
    numbers = [place for place, column in enumerate(shown.columns) if column.is_number]
    rows = [
        [code(cell.text) if column.is_code else _cell(cell) for column, cell in zip(shown.columns, row, strict=True)]
        for row in shown.rows
    ]
    text = table(headings, rows, numbers=numbers)
    return f"{text}\n\n{shown.left_out:,} more are not listed." if shown.left_out else text


def _cell(cell: Cell) -> str:
    text = code(cell.text, LONGEST_NAME) if cell.is_name else prose(cell.text, at_start=False)
    text = f"**{text}**" if cell.mark in EMPHASIZED and text else text
    return f"{PART}{text}" if cell.is_part else text


def _stacks(stacks: Stacks) -> Sequence[str]:
    lines = [
        f"{stack.share} {code(stack.label, LONGEST_NAME)} {code(' ← '.join(stack.frames), LONGEST_STACK)}"
        for stack in stacks.stacks
    ]
    return prose(stacks.heading), bullets(lines)
