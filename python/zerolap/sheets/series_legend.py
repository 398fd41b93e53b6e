"""The legend of a chart of series: what each line is of, and what it has come to."""

from collections.abc import Mapping, Sequence
from typing import Final

from zerolap.records import PublishedHistory, PublishedSeries
from zerolap.sheets.format import change, interval, metric_heading
from zerolap.sheets.sheet import Cell, Column, Table, name

COLUMNS: Final = (
    Column(key="series", heading="series"),
    Column(key="change", heading="change at the end", is_number=True),
    Column(key="sum", heading="sum of all changes", is_number=True),
    Column(key="small", heading="of it in small steps", is_number=True),
    Column(key="places", heading="by places of strings", is_number=True),
)


def series_legend(
    series: Sequence[PublishedSeries],
    histories: Mapping[int, PublishedHistory],
    last: Sequence[tuple[float, float, float]],
    ledgers_since: Sequence[str | None],
) -> Table:
    """Return a row for each series: its change at its last point, and the sum of all its changes since a commit.

    Small steps are those that are not reported one by one; other places of strings are no change of the work.
    """
    rows = [
        [name(label), Cell(text=change(end[0]), detail=f"{interval(*end[1:])} %"), *_ledger_cells(of, since)]
        for label, of, end, since in zip(_names(series, histories), series, last, ledgers_since, strict=True)
    ]
    present = [place for place in range(len(COLUMNS)) if any(row[place].text for row in rows)]
    shown = [[row[place] for place in present] for row in rows]
    return Table(key="legend", columns=[COLUMNS[place] for place in present], rows=shown)


def _ledger_cells(series: PublishedSeries, since: str | None) -> list[Cell]:
    ledger = series.ledger
    if ledger is None or since is None:
        return [Cell(), Cell(), Cell()]
    places = change(ledger.by_string_places) if ledger.by_string_places else ""
    total = Cell(text=change(ledger.total), detail=f"since {since}")
    return [total, Cell(text=change(ledger.small_changes)), Cell(text=places)]


def _names(series: Sequence[PublishedSeries], histories: Mapping[int, PublishedHistory]) -> list[str]:
    """Return the names of lines: what all have in common is left out, but for the case."""
    parts = []
    for of in series:
        history = histories[of.history]
        labels = " ".join([of.source, *(f"{label}={value}" for label, value in of.labels.items())]).strip()
        of_history = (history.platform_name, history.variant, history.range, history.repository)
        parts.append((of.case, metric_heading(of.metric), of.topology, *of_history, labels))
    varying = [len(set(column)) > 1 for column in zip(*parts, strict=True)]
    return [", ".join(text for place, text in enumerate(of) if text and (place == 0 or varying[place])) for of in parts]
