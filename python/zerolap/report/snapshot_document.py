"""What a save in the background costs, for programs, a browser and a pull request."""

from zerolap.byte_counts import shown_bytes
from zerolap.records import SnapshotReport
from zerolap.report.format import ARROW
from zerolap.report.html import page_html
from zerolap.report.markdown import bullets, prose, table
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


def snapshot_json(report: SnapshotReport) -> str:
    """Return the document as JSON with its reading, its keys in the records' order."""
    return with_snapshot_reading(report).model_dump_json(by_alias=True, indent=2) + "\n"


def snapshot_html(report: SnapshotReport) -> str:
    """Return the sweep as a page that loads nothing; raises `EnvironmentMissing` where its template is missing."""
    return page_html(with_snapshot_reading(report))


def snapshot_markdown(report: SnapshotReport) -> str:
    """Return the headline, the table of pauses, that of latencies, and what was noticed as Markdown."""
    points = report.points
    columns = [column for column in FIGURE_COLUMNS if any(column.metric in point.metrics for point in points)]
    pauses = [
        [
            shown_bytes(point.size_bytes),
            measured_size(point),
            point.load,
            *(figure(point, column) for column in columns),
        ]
        for point in points
    ]
    latencies = [
        [
            shown_bytes(point.size_bytes),
            point.load,
            *(
                f"{latency(point, OUTSIDE, metric)} {ARROW} {latency(point, DURING, metric)}"
                for _, metric, _ in LATENCY_COLUMNS
            ),
        ]
        for point in points
    ]
    pause_headings = ["data", "resident GiB", "load", *(column.header for column in columns)]
    latency_headings = ["data", "load", *(header for header, _, _ in LATENCY_COLUMNS)]
    parts = [
        f"**{prose(snapshot_headline(report))}**",
        prose(snapshot_server_line(report)),
        table(pause_headings, pauses, numbers={1, *range(3, len(pause_headings))}),
        f"Latency in ms, outside of the event {ARROW} during it:",
        table(latency_headings, latencies, numbers=range(2, len(latency_headings))),
    ]
    remarks = [*snapshot_sentences(report), *snapshot_warnings(report)]
    if remarks:
        parts.append(bullets(map(prose, remarks)))
    return "\n\n".join(parts) + "\n"
