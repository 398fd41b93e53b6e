"""A sheet as GitHub's Markdown."""

from collections.abc import Iterable, Sequence
from typing import Final

from zerolap.report.markdown import bullets, code, folded, link, numbered, prose, sentence_with_names, summary, table
from zerolap.sheets import ARROW, Cell, Fact, Section, Sentence, Sheet, Stacks, Table, listing

MOST_BYTES: Final = 60_000
"""GitHub takes 65,536 characters in a comment."""
LONGEST_STACK: Final = 400
LONGEST_NAME: Final = 60
PART: Final = "&emsp;"
"""Stands before the first cell of a row that is a part of the row above it."""
EMPHASIZED: Final = frozenset({"regression", "improvement", "strong"})
OUTCOMES: Final = frozenset({"regression", "improvement", "unsure", "failed", "invalid", "same", "identical"})


def sheet_markdown(sheet: Sheet) -> str:
    """Return the whole sheet: title, facts, sentences, tables, stacks, sections and notes."""
    blocks = [title_markdown(sheet.title, sheet.continuation)] if sheet.title else []
    blocks += [sentence_with_names(sheet.remark)] if sheet.remark else []
    blocks += _content(sheet, 4)
    if sheet.closing:
        blocks.append(bullets(map(_fact, sheet.closing)))
    return "\n\n".join(blocks) + "\n"


def fitting_markdown(sheets: Iterable[Sheet], most_bytes: int = MOST_BYTES) -> str:
    """Return the first of these sheets, each of less detail than the one before, that fits; otherwise the last."""
    text = ""
    for sheet in sheets:
        text = sheet_markdown(sheet)
        if len(text.encode()) <= most_bytes:
            break
    return text


def title_markdown(title: str, continuation: str) -> str:
    """Return a title in bold, and what it goes on with."""
    return f"**{sentence_with_names(title)}**" + (f"; {sentence_with_names(continuation)}" if continuation else "")


def content_markdown(section: Section) -> str:
    """Return what a section consists of, below its title."""
    return "\n\n".join(_content(section, 4))


def section_markdown(section: Section, level: int = 4) -> list[str]:
    """Return the blocks of a section, below a heading of that level; one that is folded is opened by the reader."""
    write = summary if section.is_folded else sentence_with_names
    title = write(section.title) + (f": {section.mark}" if section.mark in OUTCOMES else "")
    heading = f"{title} {write(section.remark)}".strip()
    content = _content(section, level + 1)
    if section.is_folded:
        return [folded(heading, "\n\n".join(content))]
    return [*([f"{'#' * level} {heading}"] if heading else []), *content]


def _content(section: Section, level: int) -> list[str]:
    blocks = [bullets(map(_fact, section.facts))] if section.facts else []
    if section.sentences:
        blocks.append((numbered if section.is_ranked else bullets)(map(_sentence, section.sentences)))
    for shown in section.tables:
        blocks += [f"**{prose(shown.heading)}**"] if shown.heading else []
        blocks.append(markdown_table(shown))
    blocks += [block for stacks in section.stacks for block in _stacks(stacks)]
    blocks += [block for inner in section.sections for block in section_markdown(inner, level)]
    return blocks + [f"Note: {sentence_with_names(note)}" for note in section.notes]


def _fact(fact: Fact) -> str:
    return f"{sentence_with_names(fact.label)}: {sentence_with_names(fact.text)}"


def _sentence(sentence: Sentence) -> str:
    text = sentence_with_names(sentence.text)
    if sentence.mark in EMPHASIZED:
        text = f"**{text}**"
    if sentence.links:
        links = (link(sentence_with_names(target.text), target.address) for target in sentence.links)
        text = f"{text} {ARROW} {listing(links)}"
    return f"{sentence_with_names(sentence.label)}: {text}" if sentence.label else text


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
    below = [f"{shown.left_out:,} more are not listed."] if shown.left_out else []
    below += [sentence_with_names(shown.remark)] if shown.remark else []
    return "\n\n".join([text, *below])


def _cell(cell: Cell) -> str:
    """Return a cell; an outcome that it stands for is named, as Markdown has no signs and colours."""
    text = code(cell.text, LONGEST_NAME) if cell.is_name else sentence_with_names(cell.text, at_start=False)
    word = cell.mark if cell.mark in OUTCOMES and not cell.text.startswith(cell.mark) else ""
    first, *rest = [part for part in (word, text, sentence_with_names(cell.detail, at_start=False)) if part] or [""]
    shown = " ".join([f"**{first}**" if cell.mark in EMPHASIZED and first else first, *rest])
    return f"{PART}{shown}" if cell.is_part else shown


def _stacks(stacks: Stacks) -> Sequence[str]:
    lines = [
        f"{stack.share} {code(stack.label, LONGEST_NAME)} {code(' ← '.join(stack.frames), LONGEST_STACK)}"
        for stack in stacks.stacks
    ]
    return prose(stacks.heading), bullets(lines)
