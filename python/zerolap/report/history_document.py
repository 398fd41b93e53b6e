"""A history for other programs: JSON, CSV, and Markdown."""

import csv
import io

from zerolap.records import History
from zerolap.report.format import change, interval, metric_label
from zerolap.report.history_reading import (
    change_text,
    changes_in_order,
    history_effort,
    history_headline,
    range_of_change,
    series_change,
)
from zerolap.report.markdown import bullets, code, prose, sentence_with_names, table

CSV_HEADER = ("commit", "time", "tags", "case", "metric", "engine", "change", "low", "high", "value", "same_code")


def history_json(history: History) -> str:
    """Return the document as JSON."""
    return history.model_dump_json(by_alias=True, indent=2) + "\n"


def history_csv(history: History) -> str:
    """Return all points as CSV, a line each; changes are relative to the first point of the series."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for series in history.series:
        for point in series.points:
            commit = history.commits[point.position]
            numbers = (f"{number:.6g}" for number in (point.level, point.low, point.high))
            value = "" if point.value is None else f"{point.value:.10g}"
            identity = (commit.commit, commit.time, " ".join(commit.tags), series.case, series.metric, series.engine)
            writer.writerow([*identity, *numbers, value, int(point.same_code)])
    return text.getvalue()


def history_markdown(history: History) -> str:
    """Return a history as Markdown: the table of series, then all changes."""
    rows = [
        [
            code(series.case),
            metric_label(series.metric),
            f"{len(series.points):,}",
            change_text(total.change),
            "" if total.low == total.high else interval(total.low, total.high),
            str(len(series.changes) or ""),
        ]
        for series in history.series
        for total in [series_change(series)]
    ]
    parts = [f"**{history_headline(history)}**", prose(history_effort(history))]
    if rows:
        parts.append(table(["case", "metric", "commits", "change", "95 %", "steps"], rows))
    if changes_in_order(history):
        parts.append(bullets(_items(history)))
    return "\n\n".join(parts) + "\n"


def _items(history: History) -> list[str]:
    """Return a line for each change: the case, the size, where it lies, and the first reason."""
    items = []
    for series, changed in changes_in_order(history):
        where = sentence_with_names(range_of_change(history, changed))
        accepted = "" if changed.accepted is None else f"; accepted: {prose(changed.accepted)}"
        reason = f". {sentence_with_names(changed.reasons[0])}" if changed.reasons else ""
        label = metric_label(series.metric)
        items.append(f"{code(series.case)} {change(changed.change)} {label}, {changed.kind} {where}{accepted}{reason}")
    return items
