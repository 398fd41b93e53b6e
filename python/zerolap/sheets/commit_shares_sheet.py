"""The share of each commit in the change of a range: what `zerolap compare --each-commit` shows."""

from typing import Final

from zerolap.records import FLAT, History, HistoryPoint, HistorySeries
from zerolap.sheets.format import change, count, counted, share, shortened
from zerolap.sheets.history_sheet import (
    change_text,
    failed_commits,
    history_effort,
    series_change,
    series_metric,
)
from zerolap.sheets.sheet import Cell, Column, Section, Sheet, Table, name

LONGEST_SUBJECT: Final = 60
LONGEST_AUTHOR: Final = 30
COLUMNS: Final = (
    Column(key="commit", heading="commit"),
    Column(key="change", heading="change", is_number=True),
    Column(key="share", heading="share", is_number=True),
    Column(key="subject", heading="subject", rank=1),
    Column(key="author", heading="author", rank=2),
)


def commit_shares_sheet(history: History) -> Sheet:
    """Return, for each case, the change of the range and the part of it that each commit has."""
    failed = failed_commits(history)
    changed = [(series, points) for series in history.series if (points := _changing_points(series))]
    return Sheet(
        kind="commit-shares",
        title=_headline(history, changed),
        remark=history_effort(history),
        sections=[
            *(
                Section(
                    key=f"{series.case} {series.metric}",
                    title=series.case,
                    remark=_total(series),
                    mark="strong",
                    tables=[Table(columns=list(COLUMNS), rows=[_row(history, point) for point in points])],
                )
                for series, points in changed
            ),
            *([Section(sentences=failed)] if failed else []),
        ],
        notes=list(history.notes),
    )


def _changing_points(series: HistorySeries) -> list[HistoryPoint]:
    """Return the points of commits that changed the work of a series, in their order."""
    return [
        point
        for point in series.points
        if point.step is not None and not (point.same_code or point.by_string_places) and abs(point.step) > FLAT
    ]


def _row(history: History, point: HistoryPoint) -> list[Cell]:
    commit = history.commits[point.position]
    return [
        name(commit.name),
        Cell(text=change(point.step or 0.0)),
        Cell(text="" if point.share is None else share(point.share)),
        Cell(text=shortened(commit.subject, LONGEST_SUBJECT)),
        Cell(text=shortened(commit.author, LONGEST_AUTHOR)),
    ]


def _headline(history: History, changed: list[tuple[HistorySeries, list[HistoryPoint]]]) -> str:
    if not changed:
        return "no commit changes the work of any case"
    commits = len({point.position for _, points in changed for point in points})
    cases = len({series.case for series, _ in changed})
    counts = f"{commits:,} of {counted(len(history.commits) - 1, 'commit', 'commits')}"
    return f"{counts} {'changes' if commits == 1 else 'change'} the work of {counted(cases, 'case', 'cases')}"


def _total(series: HistorySeries) -> str:
    """Write the change of a series: `+1.4 % instructions per request (1,200 → 1,217)`."""
    first, last = series.points[0].value, series.points[-1].value
    values = "" if first is None or last is None else f" ({count(first)} → {count(last)})"
    return f"{change_text(series_change(series).change)} {series_metric(series)}{values}"
