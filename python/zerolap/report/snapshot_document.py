"""What a save in the background costs, for programs, a browser and a pull request."""

from zerolap.byte_counts import shown_bytes
from zerolap.records import SnapshotReport, SnapshotTraceReading
from zerolap.report.html import page_html
from zerolap.report.markdown import bullets, code, folded, prose, sentence_with_names, table
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
    with_snapshot_reading,
)
from zerolap.report.snapshot_trace_reading import snapshot_trace_reading
from zerolap.report.snapshot_verdict_rows import verdict_rows
from zerolap.report.traced_markdown import LONGEST_NAME, LONGEST_STACK, traced_table
from zerolap.sheets import ARROW


def snapshot_html(report: SnapshotReport) -> str:
    """Return the sweep as a page that loads nothing; raises `EnvironmentMissing` where its template is missing."""
    return page_html(with_snapshot_reading(report))


def snapshot_markdown(report: SnapshotReport) -> str:
    """Return the headline, verdicts, the table of pauses, that of latencies, and what was noticed as Markdown."""
    points = report.points
    has_sides = any(point.side for point in points)
    columns = [column for column in FIGURE_COLUMNS if any(column.metric in point.metrics for point in points)]
    pauses = [
        [
            *([code(point.side)] if has_sides else []),
            shown_bytes(point.size_bytes),
            measured_size(point),
            point.load,
            *(figure(point, column) for column in columns),
        ]
        for point in points
    ]
    latencies = [
        [
            *([code(point.side)] if has_sides else []),
            shown_bytes(point.size_bytes),
            point.load,
            *(
                f"{latency(point, OUTSIDE, metric)} {ARROW} {latency(point, DURING, metric)}"
                for _, metric, _ in LATENCY_COLUMNS
            ),
        ]
        for point in points
    ]
    servers = ["server"] if has_sides else []
    shift = len(servers)
    pause_headings = [*servers, "data", "resident GiB", "load", *(column.header for column in columns)]
    latency_headings = [*servers, "data", "load", *(header for header, _, _ in LATENCY_COLUMNS)]
    parts = [
        f"**{prose(snapshot_headline(report))}**",
        prose(snapshot_server_line(report)),
        *_verdict_table(report),
        table(pause_headings, pauses, numbers={1 + shift, *range(3 + shift, len(pause_headings))}),
        f"Latency in ms, outside of the event {ARROW} during it:",
        table(latency_headings, latencies, numbers=range(2 + shift, len(latency_headings))),
    ]
    remarks = [*snapshot_sentences(report), *snapshot_warnings(report)]
    if remarks:
        parts.append(bullets(map(prose, remarks)))
    parts += [_trace_section(snapshot_trace_reading(trace)) for trace in report.traces]
    return "\n\n".join(parts) + "\n"


def _trace_section(reading: SnapshotTraceReading) -> str:
    """Return the findings of a traced event, and folded what it consists of."""
    findings = [sentence_with_names(finding) for finding in reading.findings]
    stacks = [
        f"{stack.share} {code(stack.call, LONGEST_NAME)} {code(stack.frames, LONGEST_STACK)}"
        for stack in reading.stacks
    ]
    blocks = [block for traced in reading.tables for block in (prose(traced.heading), traced_table(traced))]
    if stacks:
        blocks += ["The most frequent stack of each call, innermost function first:", bullets(stacks)]
    blocks += [prose(note) for note in reading.notes]
    section = folded(f"{code(reading.title)} {prose(reading.headline)}", "\n\n".join(blocks))
    return "\n\n".join([*([bullets(findings)] if findings else []), section])


def _verdict_table(report: SnapshotReport) -> list[str]:
    """Return the table of verdicts; nothing where there are none."""
    rows = [
        [code(pair), row.data, row.load, row.metric, row.values, row.change, row.interval, row.word]
        for pair, of_pair in verdict_rows(report).items()
        for row in of_pair
    ]
    headings = ["compared", "data", "load", "metric", "values", "change", "interval", "verdict"]
    return [table(headings, rows, numbers=range(4, 7))] if rows else []
