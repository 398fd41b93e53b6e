"""A sweep of either kind as it is shown: measured on the machine itself, or counted in emulated machines."""

from zerolap.records import SnapshotReport, SweepReading, SweepReport
from zerolap.sheets.emulated_snapshot_sheet import (
    emulated_headline,
    emulated_kernel,
    emulated_server,
    emulated_snapshot_sheet,
)
from zerolap.sheets.sheet import Sheet
from zerolap.sheets.snapshot_sheet import snapshot_headline, snapshot_servers, snapshot_sheet


def sweep_sheet(report: SweepReport) -> Sheet:
    """Return the headline, the tables and what was noticed."""
    return snapshot_sheet(report) if isinstance(report, SnapshotReport) else emulated_snapshot_sheet(report)


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
    sheet = sweep_sheet(report)
    reading = SweepReading(
        headline=sheet.title,
        subject=sheet.remark,
        sentences=[sentence.text for sentence in sheet.sentences],
        warnings=sheet.notes,
    )
    return report.model_copy(update={"reading": reading})
