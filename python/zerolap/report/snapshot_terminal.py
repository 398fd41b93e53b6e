"""What a save in the background costs, on a terminal."""

from collections.abc import Sequence

from rich.console import Console

from zerolap.byte_counts import shown_bytes
from zerolap.records import SnapshotPoint, SnapshotReport, SnapshotTraceReading
from zerolap.report.comparison_terminal import SIGNS
from zerolap.report.lines import Lines, TextColumn
from zerolap.report.snapshot_reading import (
    DURING,
    FIGURE_COLUMNS,
    LATENCY_COLUMNS,
    OUTSIDE,
    figure,
    latency,
    measured_size,
    snapshot_headline,
    snapshot_sentences,
    snapshot_server_line,
    snapshot_warnings,
)
from zerolap.report.snapshot_trace_reading import snapshot_trace_reading
from zerolap.report.snapshot_verdict_rows import VerdictRow, verdict_rows
from zerolap.report.terminal_traced import show_traced_table
from zerolap.sheets import ARROW, duration, one_line


def show_snapshot(report: SnapshotReport, console: Console) -> None:
    """Write the headline, verdicts, the table of pauses, that of latencies, and what was noticed."""
    lines = Lines(console)
    lines.line((snapshot_headline(report), "bold"))
    lines.line((snapshot_server_line(report), "dim"))
    lines.blank()
    for pair, rows in verdict_rows(report).items():
        lines.line((pair, "bold"))
        lines.table(_verdicts(rows))
        lines.blank()
    lines.table([*_places(report.points, resident=True), *_figures(report.points)])
    lines.blank()
    lines.line(("latency in ms, outside of the event ", "bold"), (f"{ARROW} during it", "bold"))
    lines.table([*_places(report.points, resident=False), *_latencies(report.points)])
    lines.blank()
    for sentence in snapshot_sentences(report):
        lines.line(sentence)
    lines.line((f"measured in {duration(report.machine_seconds)}", "dim"))
    for warning in snapshot_warnings(report):
        lines.line(("note: ", "yellow"), warning)
    for trace in report.traces:
        _show_trace(lines, snapshot_trace_reading(trace))
    if report.id:
        lines.blank()
        seed = f"  seed {report.settings.seed}"
        lines.line((report.id, "bold"), (f"  zerolap explain {report.id}{seed}", "dim"))


def _show_trace(lines: Lines, reading: SnapshotTraceReading) -> None:
    """Write what a traced event consists of, and its findings."""
    lines.blank()
    lines.line((reading.title, "bold"), "  ", (reading.headline, "dim"))
    for finding in reading.findings:
        lines.line(("finding: ", "yellow"), finding, indent=2)
    for table in reading.tables:
        show_traced_table(lines, table)
    if reading.stacks:
        lines.line(("the most frequent stack of each call, innermost function first", "dim"), indent=2)
    for stack in reading.stacks:
        lines.line(f"{stack.share:>7}  ", (f"{stack.call}  ", "dim"), stack.frames, indent=2)
    for note in reading.notes:
        lines.line(("note: ", "bold"), note, indent=2)


def _verdicts(rows: Sequence[VerdictRow]) -> list[TextColumn]:
    marks = [(f"{SIGNS[row.word][0]} {row.word}", SIGNS[row.word][1]) for row in rows]
    return [
        TextColumn("data", [row.data for row in rows]),
        TextColumn("load", [row.load for row in rows]),
        TextColumn("metric", [row.metric for row in rows]),
        TextColumn("values", [row.values for row in rows], right=True, dispensable=1),
        TextColumn("change", [row.change for row in rows], right=True),
        TextColumn("interval", [row.interval for row in rows], right=True, dispensable=2),
        TextColumn("verdict", marks),
    ]


def _places(points: Sequence[SnapshotPoint], *, resident: bool) -> list[TextColumn]:
    columns = [TextColumn("data", [shown_bytes(point.size_bytes) for point in points])]
    if any(point.side for point in points):
        columns.insert(0, TextColumn("server", [one_line(point.side) for point in points]))
    if resident:
        columns.append(
            TextColumn("resident GiB", [measured_size(point) for point in points], right=True, dispensable=5)
        )
    return [*columns, TextColumn("load", [point.load for point in points])]


def _figures(points: Sequence[SnapshotPoint]) -> list[TextColumn]:
    return [
        TextColumn(
            column.header, [figure(point, column) for point in points], right=True, dispensable=column.dispensable
        )
        for column in FIGURE_COLUMNS
        if any(column.metric in point.metrics for point in points)
    ]


def _latencies(points: Sequence[SnapshotPoint]) -> list[TextColumn]:
    return [
        TextColumn(
            header,
            [f"{latency(point, OUTSIDE, metric)} {ARROW} {latency(point, DURING, metric)}" for point in points],
            right=True,
            dispensable=dispensable,
        )
        for header, metric, dispensable in LATENCY_COLUMNS
    ]
