"""Sheets as they are drawn: each figure of their tables is on the terminal, in Markdown, in CSV and on the page."""

import csv
import io
import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from browser_pages import opened
from http_server import served_lab
from made_records import a_step
from markdown_it import MarkdownIt
from playwright.sync_api import Browser
from published_history import ACCEPTED_SET, FASTER_GET, SLOWER_ZADD, SLOWLY_SLOWER_HGET, MadeUp
from rich.console import Console
from stored_opportunities import counted_run
from stored_run import RUN
from stored_stacks import GET, lined, recorded_stacks, stack_table
from stored_variants import compared, record, timed_case
from test_version_table import SUITE, history_of_levels, table_of

from zerolap.build import functions_of_build
from zerolap.cases import load_cases
from zerolap.opportunities import counted_version, version_opportunities
from zerolap.queries import QuerySources, read_case_stacks
from zerolap.records import (
    CaseWeights,
    CheckedCase,
    CheckReport,
    Fault,
    History,
    MeasuredServer,
    Platform,
    Skipped,
    StatedWeights,
)
from zerolap.report import csv_cell, sheet_csv, sheet_markdown, show_sheet
from zerolap.sheets import (
    Section,
    Sheet,
    Table,
    check_sheet,
    commit_shares_sheet,
    history_sheet,
    opportunities_sheet,
    profile_sheet,
    version_table_sheet,
)
from zerolap.store import Store

WIDE = 300


def made_up_history() -> History:
    steps = (SLOWER_ZADD, FASTER_GET, ACCEPTED_SET)
    return MadeUp(steps, drifts=(SLOWLY_SLOWER_HGET,)).document


def history(_: Store, __: Path) -> Sheet:
    return history_sheet(made_up_history())


def commit_shares(_: Store, __: Path) -> Sheet:
    document = made_up_history()
    series = [
        of.model_copy(
            update={
                "points": tuple(
                    point.model_copy(update={"step": 0.042 if point.position == 20 else 0.0, "share": 0.9})
                    for point in of.points
                )
            }
        )
        for of in document.series
    ]
    return commit_shares_sheet(document.model_copy(update={"series": tuple(series)}))


def version_table(_: Store, directory: Path) -> Sheet:
    file = directory / "cases.yml"
    file.write_text(SUITE)
    levels = {
        "get": [0.0, 0.05, 0.1],
        "get-long": [0.0, 0.0, 0.0],
        "set": [0.0, -0.1, -0.3],
        "queue": [0.0, 0.2, math.log(1.4)],
    }
    changes = {"queue": [a_step(0, 1, 0.4, reasons=("`push` calls `pop` (1 -> 2 per request)",))]}
    return version_table_sheet(table_of(history_of_levels(levels, changes), load_cases(file)))


def opportunities(store: Store, _: Path) -> Sheet:
    stored_opportunities(store)
    version = counted_version(store, RUN.id)
    weights = CaseWeights(StatedWeights(kind="equal"), {graph.case: 1.0 for graph in version.graphs})
    return opportunities_sheet(version_opportunities(version, weights, store, functions_of_build, "zerolap"), 10)


def stored_opportunities(store: Store) -> None:
    """Record an opportunity, and another build that is faster in one case and slower in another."""
    counted_run(store)
    loss = timed_case("hset", "regression", 0.05, command="HSET")
    record(store, compared(timed_case("get-100B", "improvement", -0.2), loss).comparison)


def profile(store: Store, _: Path) -> Sheet:
    table = lined(stack_table(GET["base"]), (10, "    if (hash(key))", 300), (11, "        return it;", 50))
    identity = recorded_stacks(store, {"get": {"base": table, "head": table}}, {"get": (1000.0, 2000.0)})
    return profile_sheet(read_case_stacks(QuerySources(store), identity, "get", "head").profile(3))


def check(_: Store, __: Path) -> Sheet:
    fault = Fault(kind="misses", command="GET", text="50 of 100 keys that are read are missing")
    warnings = ["suite.yml:3: unknown field `a`", "suite.yml:9: unknown field `b`", "it was cut short"]
    return check_sheet(
        CheckReport(
            created="2026-11-27T00:00:00Z",
            command_line="zerolap suites check",
            server=MeasuredServer(
                name="redis-server", commit=None, version="7.2.4", build="b-1", build_id="ff", flags=""
            ),
            platform=Platform(name="host", fingerprint="f", cpu="cpu", cores=2, kernel="6.1"),
            cases=[CheckedCase(case="get", group="string", faults=[fault], warnings=warnings)],
            skipped=[Skipped(case="large", reason="memory", text="it needs 300 GB")],
        )
    )


Make = Callable[[Store, Path], Sheet]
MAKERS: tuple[Make, ...] = (history, commit_shares, version_table, opportunities, profile, check)
WITH_TABLES = tuple(make for make in MAKERS if make is not check)


def tables_of(section: Section) -> Iterator[Table]:
    yield from section.tables
    for inner in section.sections:
        yield from tables_of(inner)


def sentences_of(section: Section) -> Iterator[str]:
    yield from (sentence.text for sentence in section.sentences)
    for inner in section.sections:
        yield from sentences_of(inner)


def words(text: str) -> list[str]:
    return text.replace("`", "").split()


@pytest.fixture
def sheet(request: pytest.FixtureRequest, store: Store, tmp_path: Path) -> Sheet:
    make: Make = request.param
    made = make(store, tmp_path)
    assert (make is check) == (not any(table.rows for table in tables_of(made)))
    return made


def by_name(make: Make) -> str:
    return make.__name__


@pytest.mark.parametrize("sheet", MAKERS, indirect=True, ids=by_name)
def test_a_terminal_shows_all_figures_and_sentences(sheet: Sheet) -> None:
    output = io.StringIO()
    show_sheet(sheet, Console(file=output, width=WIDE), all_sections=True)
    lines = [words(line) for line in output.getvalue().splitlines()]
    for table in tables_of(sheet):
        assert words(" ".join(column.title for column in table.columns)) in lines
        for row in table.rows:
            assert words(" ".join(cell.text for cell in row)) in lines
    everything = " ".join(words(output.getvalue()))
    for text in (sheet.title, sheet.remark, *sheet.notes, *sentences_of(sheet)):
        assert " ".join(words(text)) in everything


@pytest.mark.parametrize("sheet", MAKERS, indirect=True, ids=by_name)
def test_markdown_has_all_figures_and_sentences(sheet: Sheet) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(sheet_markdown(sheet))
    cells = [shown(after) for token, after in pairwise(tokens) if token.type in ("th_open", "td_open")]
    expected = [
        text
        for table in tables_of(sheet)
        for row in ([column.title for column in table.columns], *([cell.text for cell in row] for row in table.rows))
        for text in row
    ]
    assert [" ".join(cell.split()) for cell in cells] == [" ".join(text.split()) for text in expected]
    everything = " ".join(words(" ".join(shown(token) for token in tokens if token.type == "inline")))
    for text in (sheet.title, *sheet.notes, *sentences_of(sheet)):
        assert " ".join(words(text)) in everything


def shown(token: object) -> str:
    """Return the text of an inline token as a page shows it."""
    return "".join(child.content for child in getattr(token, "children", None) or [])


@pytest.mark.parametrize("sheet", WITH_TABLES, indirect=True, ids=by_name)
def test_csv_has_all_figures(sheet: Sheet) -> None:
    rows = list(csv.reader(io.StringIO(sheet_csv(sheet))))
    for table in tables_of(sheet):
        assert [column.title for column in table.columns] in rows
        for row in table.rows:
            assert [csv_cell(cell.text) for cell in row] in rows


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("sheet", MAKERS, indirect=True, ids=by_name)
def test_a_narrow_terminal_cuts_no_name_and_no_sentence(sheet: Sheet, width: int) -> None:
    output = io.StringIO()
    show_sheet(sheet, Console(file=output, width=width), all_sections=True)
    for table in tables_of(sheet):
        for row in table.rows:
            name = next((cell.text for cell in row if cell.is_name), "")
            assert name in output.getvalue()
    everything = "".join(words(output.getvalue()))
    for text in (sheet.title, *sheet.notes, *sentences_of(sheet)):
        assert "".join(words(text)) in everything


@pytest.mark.slow
def test_the_page_of_opportunities_has_all_figures_of_the_sheet(browser: Browser, store: Store) -> None:
    stored_opportunities(store)
    with served_lab(store) as url, opened(browser, f"{url}/opportunities") as page:
        answer = httpx.get(f"{url}/api/v1/pages/opportunities", trust_env=False).json()
        sheet = Sheet.model_validate(answer["sheet"])
        page.locator("table.opportunities").wait_for()
        page.emulate_media(media="print")
        text = " ".join((page.locator("main").text_content() or "").split())
        assert sheet.title in text
        for table in tables_of(sheet):
            for row in table.rows:
                assert [cell.text for cell in row if cell.text not in text] == []
