"""A sweep of snapshots of either kind: measured on the machine itself, or counted in emulated machines."""

from typing import Annotated, TypeAlias

from pydantic import Field, TypeAdapter

from zerolap.records.base import read_stored
from zerolap.records.emulated_snapshot import EmulatedPart, EmulatedSnapshotReport, EmulatedSweep
from zerolap.records.snapshot import SnapshotPart, SnapshotReport, SnapshotSweep

Sweep: TypeAlias = Annotated[SnapshotSweep | EmulatedSweep, Field(discriminator="kind")]
"""What a request for a sweep is to measure."""
SweepPart: TypeAlias = Annotated[SnapshotPart | EmulatedPart, Field(discriminator="kind")]
"""What one job of a sweep measures."""
SweepReport: TypeAlias = Annotated[SnapshotReport | EmulatedSnapshotReport, Field(discriminator="schema_")]
"""The document of a sweep; its schema states of which kind it is."""

_SWEEP_REPORT: TypeAdapter[SweepReport] = TypeAdapter(SweepReport)


def read_stored_sweep(text: str, identity: str) -> SweepReport:
    """Return the document of the sweep of that id that a store holds; raises `UnreadableRecord`."""
    return read_stored(_SWEEP_REPORT, text, f"the sweep {identity}")
