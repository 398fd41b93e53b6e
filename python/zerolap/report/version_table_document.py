"""A version table for other programs: JSON and Markdown."""

from zerolap.records import TableRow, VersionTable
from zerolap.report.markdown import bullets, code, prose, sentence_with_names, table
from zerolap.report.version_table_reading import (
    ShownTable,
    TableLine,
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
from zerolap.sheets import share


def version_table_json(document: VersionTable) -> str:
    """Return the document as JSON."""
    return document.model_dump_json(by_alias=True, indent=2) + "\n"


def version_table_markdown(document: VersionTable) -> str:
    """Return the tables as Markdown, then what is built differently, and the largest changes with their reasons."""
    parts = [f"**{prose(table_headline(document))}**", prose(table_effort(document))]
    for shown in shown_tables(document):
        parts += [f"**{prose(shown.title)}**", _table(shown, has_weights=document.weights.kind != "equal")]
    if document.builds:
        parts.append(bullets(sentence_with_names(build_text(difference)) for difference in document.builds))
    largest = largest_rows(document)
    if largest:
        parts.append(bullets(_item(document, row) for row in largest))
    notes = table_notes(document)
    if notes:
        parts.append(bullets(map(sentence_with_names, notes)))
    return "\n\n".join(parts) + "\n"


def _table(shown: ShownTable, *, has_weights: bool) -> str:
    headings = ["command", "case", *(["weight"] if has_weights else []), *(code(one.name) for one in shown.versions)]
    rows = [
        [
            *_names(line),
            *([share(line.weight)] if has_weights else []),
            *(cell_text(cell) for cell in line.changes),
        ]
        for line in shown.lines
    ]
    return table(headings, rows, numbers=range(2, len(headings)))


def _names(line: TableLine) -> tuple[str, str]:
    """Return the cells of commands and case."""
    if line.kind == "case":
        return "", code(line.name)
    if line.kind == "commands":
        return code(line.name), line.case if line.case.endswith(" cases") else code(line.case)
    return f"**{line.name}**" if line.kind == "all" else line.name, ""


def _item(document: VersionTable, row: TableRow) -> str:
    text = f"{code(row.case)} {prose(row_text(document, row))}"
    if row.cause is not None:
        text += f"; the largest change: {sentence_with_names(cause_text(row.cause))}"
        text += f". {sentence_with_names(row.cause.reasons[0])}" if row.cause.reasons else ""
    return text
