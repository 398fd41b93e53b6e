"""A history for other programs: JSON, CSV, and Markdown."""

import csv
import io
import math
from typing import Final

from zerolap.records import History, HistorySeries
from zerolap.report.history_reading import (
    NO_CHANGES,
    change_text,
    changes_in_order,
    history_effort,
    history_headline,
    range_of_change,
    series_change,
    series_label,
    series_metric,
    sources_of_others,
)
from zerolap.report.markdown import bullets, code, prose, sentence_with_names, table
from zerolap.sheets import change, interval, one_line

CSV_HEADER = (
    *("commit", "time", "tags", "case", "metric", "engine", "change", "low", "high", "value", "same_code"),
    *("measured_by", "labels"),
)
FORMULA_BEGINS: Final = ("=", "+", "-", "@")
US: Final = "zerolap"
"""Who has measured a series that is not imported."""


def history_json(history: History) -> str:
    """Return the document as JSON."""
    return history.model_dump_json(by_alias=True, indent=2) + "\n"


def history_csv(history: History) -> str:
    """Return all points as CSV, a line each; changes are relative to the first point of the series."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for series in history.series:
        origin = (series.source if series.is_imported else US, labels_text(series))
        for point in series.points:
            commit = history.commits[point.position]
            numbers = (f"{math.expm1(level):.6g}" for level in (point.level, point.low, point.high))
            value = "" if point.value is None else f"{point.value:.10g}"
            identity = (commit.commit, commit.time, " ".join(commit.tags), series.case, series.metric, series.engine)
            writer.writerow([*map(_cell, identity), *numbers, value, int(point.same_code), *map(_cell, origin)])
    return text.getvalue()


def labels_text(series: HistorySeries) -> str:
    """Write the labels of a series as `name=value`, in order."""
    return " ".join(f"{name}={value}" for name, value in sorted(series.labels.items()))


def _cell(text: str) -> str:
    """Return foreign text as a cell that no spreadsheet takes for a formula."""
    line = one_line(text)
    return f"'{line}" if line.startswith(FORMULA_BEGINS) else line


def history_markdown(history: History, nothing: str = NO_CHANGES) -> str:
    """Return a history as Markdown: the table of series, then all changes, failed commits and notes.

    `nothing` is the headline where there are no changes.
    """
    rows = [
        [
            code(series_label(series)),
            _metric(series),
            f"{len(series.points):,}",
            change_text(total.change),
            "" if total.low == total.high else interval(total.low, total.high),
            str(len(series.changes) or ""),
        ]
        for series in history.series
        for total in [series_change(series)]
    ]
    parts = [f"**{history_headline(history, nothing)}**", prose(history_effort(history))]
    if rows:
        parts.append(table(["case", "metric", "commits", "change", "95 %", "steps"], rows))
    if changes_in_order(history):
        parts.append(bullets(_items(history)))
    others = sources_of_others(history)
    if others:
        parts.append(f"Measured by others: {', '.join(map(code, others))}.")
    failed = [f"{commit.name}: {commit.failure}" for commit in history.commits if commit.failure is not None]
    if failed or history.notes:
        parts.append(bullets(map(sentence_with_names, [*failed, *history.notes])))
    return "\n\n".join(parts) + "\n"


def _metric(series: HistorySeries) -> str:
    """Return the metric of a series as Markdown; that of others is a foreign name."""
    return code(series_metric(series)) if series.is_imported else series_metric(series)


def _items(history: History) -> list[str]:
    """Return a line for each change: the case, the size, where it lies, and the first reason."""
    items = []
    for series, changed in changes_in_order(history):
        where = sentence_with_names(range_of_change(history, changed))
        accepted = "" if changed.accepted is None else f"; accepted: {prose(changed.accepted)}"
        reason = f". {sentence_with_names(changed.reasons[0])}" if changed.reasons else ""
        size = f"{change(changed.change)} {_metric(series)}"
        items.append(f"{code(series_label(series))} {size}, {changed.kind} {where}{accepted}{reason}")
    return items
