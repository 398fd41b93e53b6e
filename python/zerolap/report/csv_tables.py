"""CSV: the tables of a sheet, and the points of a history."""

import csv
import io
import math
from collections.abc import Iterator
from typing import Final

from zerolap.foreign_text import spreadsheet_text
from zerolap.records import History
from zerolap.sheets import Section, Sheet, Table, one_line

HEADER: Final = (
    *("commit", "time", "tags", "case", "metric", "engine", "change", "low", "high", "value", "same_code"),
    *("measured_by", "labels"),
)


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


def history_csv(history: History) -> str:
    """Return all points as CSV, a line each; changes are relative to the first point of the series."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for series in history.series:
        labels = " ".join(f"{name}={value}" for name, value in sorted(series.labels.items()))
        origin = (series.source if series.is_imported else "zerolap", labels)
        for point in series.points:
            commit = history.commits[point.position]
            numbers = (f"{math.expm1(level):.6g}" for level in (point.level, point.low, point.high))
            value = "" if point.value is None else f"{point.value:.10g}"
            identity = (commit.commit, commit.time, " ".join(commit.tags), series.case, series.metric, series.engine)
            writer.writerow([*map(csv_cell, identity), *numbers, value, int(point.same_code), *map(csv_cell, origin)])
    return text.getvalue()


def _tables(section: Section, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Table]]:
    yield from ((place, table) for table in section.tables)
    for inner in section.sections:
        yield from _tables(inner, (*place, inner.title) if inner.title else place)


def csv_cell(text: str) -> str:
    """Return foreign text as a cell that no spreadsheet takes for a formula."""
    return spreadsheet_text(one_line(text))
