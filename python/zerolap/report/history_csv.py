"""The points of a history as CSV."""

import csv
import io
import math
from typing import Final

from zerolap.records import History, HistorySeries
from zerolap.report.csv_tables import csv_cell

HEADER: Final = (
    *("commit", "time", "tags", "case", "metric", "engine", "change", "low", "high", "value", "same_code"),
    *("measured_by", "labels"),
)
US: Final = "zerolap"
"""Who has measured a series that is not imported."""


def history_csv(history: History) -> str:
    """Return all points as CSV, a line each; changes are relative to the first point of the series."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for series in history.series:
        origin = (series.source if series.is_imported else US, _labels(series))
        for point in series.points:
            commit = history.commits[point.position]
            numbers = (f"{math.expm1(level):.6g}" for level in (point.level, point.low, point.high))
            value = "" if point.value is None else f"{point.value:.10g}"
            identity = (commit.commit, commit.time, " ".join(commit.tags), series.case, series.metric, series.engine)
            writer.writerow([*map(csv_cell, identity), *numbers, value, int(point.same_code), *map(csv_cell, origin)])
    return text.getvalue()


def _labels(series: HistorySeries) -> str:
    """Write the labels of a series as `name=value`, in order."""
    return " ".join(f"{name}={value}" for name, value in sorted(series.labels.items()))
