"""The tables of a sheet as CSV."""

import csv
import io
from collections.abc import Iterator

from zerolap.foreign_text import spreadsheet_text
from zerolap.sheets import Section, Sheet, Table, one_line


def sheet_csv(sheet: Sheet) -> str:
    """Return all tables, each below a line with where it is and its heading, and an empty line between two."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for number, (place, table) in enumerate(_tables(sheet, ())):
        if number:
            text.write("\n")
        writer.writerow(map(csv_cell, [*place, table.heading] if table.heading else place))
        writer.writerow([csv_cell(column.title) for column in table.columns])
        writer.writerows([csv_cell(f"{cell.text} {cell.detail}".strip()) for cell in row] for row in table.rows)
    return text.getvalue()


def _tables(section: Section, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Table]]:
    yield from ((place, table) for table in section.tables)
    for inner in section.sections:
        yield from _tables(inner, (*place, inner.title) if inner.title else place)


def csv_cell(text: str) -> str:
    """Return foreign text as a cell that no spreadsheet takes for a formula."""
    return spreadsheet_text(one_line(text))
