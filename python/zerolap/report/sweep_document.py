"""Sweeps of either kind, in lists and as documents: measured on the machine itself, or counted in emulated machines."""

from rich.console import Console

from zerolap.records import SnapshotReport, SweepReport
from zerolap.report.emulated_snapshot_document import (
    emulated_snapshot_html,
    emulated_snapshot_markdown,
    show_emulated_snapshot,
)
from zerolap.report.emulated_snapshot_reading import (
    emulated_headline,
    emulated_kernel,
    emulated_server,
    with_emulated_reading,
)
from zerolap.report.snapshot_document import snapshot_html, snapshot_markdown
from zerolap.report.snapshot_reading import snapshot_headline, snapshot_servers, with_snapshot_reading
from zerolap.report.snapshot_terminal import show_snapshot


def sweep_headline(report: SweepReport) -> str:
    """Write what a sweep has shown."""
    return snapshot_headline(report) if isinstance(report, SnapshotReport) else emulated_headline(report)


def sweep_servers(report: SweepReport) -> str:
    """Write the servers that were measured, each once."""
    return snapshot_servers(report) if isinstance(report, SnapshotReport) else emulated_server(report)


def sweep_kernel(report: SweepReport) -> str:
    """Write the kernel that was built for a sweep: its version and patches; empty where it was the machine's own."""
    return "" if isinstance(report, SnapshotReport) else emulated_kernel(report)


def with_sweep_reading(report: SweepReport) -> SweepReport:
    """Return the document with the words in which it is read."""
    return with_snapshot_reading(report) if isinstance(report, SnapshotReport) else with_emulated_reading(report)


def sweep_json(report: SweepReport) -> str:
    """Return the document as JSON with its reading, its keys in the records' order."""
    return with_sweep_reading(report).model_dump_json(by_alias=True, indent=2) + "\n"


def sweep_html(report: SweepReport) -> str:
    """Return the sweep as a page that loads nothing; raises `EnvironmentMissing` where its template is missing."""
    return snapshot_html(report) if isinstance(report, SnapshotReport) else emulated_snapshot_html(report)


def sweep_markdown(report: SweepReport) -> str:
    """Return the headline, the tables and what was noticed as Markdown."""
    return snapshot_markdown(report) if isinstance(report, SnapshotReport) else emulated_snapshot_markdown(report)


def show_sweep(report: SweepReport, console: Console) -> None:
    """Write the headline, the tables and what was noticed, and the id by which it is shown again."""
    if isinstance(report, SnapshotReport):
        show_snapshot(report, console)
    else:
        show_emulated_snapshot(report, console)
