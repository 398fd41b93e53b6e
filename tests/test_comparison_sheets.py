"""A comparison and a run are drawn from one sheet: the terminal, Markdown and CSV have the same figures."""

import csv
import io
from collections.abc import Iterator

import pytest
from rich.console import Console
from stored_run import RUN
from test_report import ALL, BOTH

from zerolap.report import sheet_csv, sheet_markdown, show_sheet
from zerolap.sheets import Section, Sheet, Table, comparison_sheet, run_sheet

SHEETS = [
    pytest.param(comparison_sheet(ALL), id="a counted comparison"),
    pytest.param(comparison_sheet(BOTH), id="a timed comparison"),
    pytest.param(run_sheet(RUN), id="a run"),
]


def tables_of(section: Section) -> Iterator[Table]:
    yield from section.tables
    for inner in section.sections:
        yield from tables_of(inner)


def figures_of(sheet: Sheet) -> list[str]:
    """Return all texts of cells with a digit."""
    cells = [cell for table in tables_of(sheet) for row in table.rows for cell in row]
    return [text for cell in cells for text in (cell.text, cell.detail) if any(map(str.isdigit, text))]


@pytest.mark.parametrize("sheet", SHEETS)
def test_all_figures_are_on_a_wide_terminal_that_is_asked_for_all(sheet: Sheet) -> None:
    file = io.StringIO()
    show_sheet(sheet, Console(file=file, width=300), all_sections=True)
    text = file.getvalue()
    assert figures_of(sheet)
    assert [figure for figure in figures_of(sheet) if figure not in text] == []


@pytest.mark.parametrize("sheet", SHEETS)
def test_all_figures_are_in_markdown(sheet: Sheet) -> None:
    text = sheet_markdown(sheet).replace("\\", "").replace("`", "")
    assert [figure for figure in figures_of(sheet) if figure not in text] == []


@pytest.mark.parametrize("sheet", SHEETS)
def test_all_figures_are_in_csv(sheet: Sheet) -> None:
    cells = [cell.removeprefix("'") for row in csv.reader(io.StringIO(sheet_csv(sheet))) for cell in row]
    assert [figure for figure in figures_of(sheet) if not any(figure in cell for cell in cells)] == []


def test_what_is_folded_is_shown_only_where_all_is_asked_for() -> None:
    file = io.StringIO()
    show_sheet(comparison_sheet(ALL), Console(file=file, width=100))
    assert len(file.getvalue().splitlines()) < 45
    assert "How to repeat it" not in file.getvalue()
