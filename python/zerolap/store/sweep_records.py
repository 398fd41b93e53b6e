"""Sweeps of snapshots that have ended: the whole document of each, and it in short for lists."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Row, select

from zerolap.records import SnapshotReport, SweepReport, UnreadableRecord, UsageError, read_stored_sweep
from zerolap.store.database import RecordsWithBlobs, begins_with, upsert
from zerolap.store.documents import as_json
from zerolap.store.recorded_requests import LATEST, find, keep_platform
from zerolap.store.tables import document, request

NOUN: Final = "sweep of snapshots"


@dataclass(frozen=True)
class StoredSweep:
    """A sweep in short: its document without repetitions and traces, or with the first run of each point alone.

    `report` is None where it cannot be read, `unreadable` is why.
    """

    number: int
    id: str
    created: str
    report: SweepReport | None
    unreadable: str = ""


class SweepRecords(RecordsWithBlobs):
    """Sweeps that have ended; its methods may be called from any thread, and raise as those of the store."""

    def record(self, report: SweepReport) -> None:
        """Record the document of a sweep that was requested, replacing the recorded one."""
        columns = {
            "id": report.id,
            "kind": "snapshot",
            "platform_fingerprint": report.platform.fingerprint,
            "blob": self.blobs.put(as_json(report).encode()),
            "document": as_json(_in_short(report)),
        }
        with self._database.write_transaction() as connection:
            keep_platform(connection, report.platform)
            upsert(connection, document, ["id"], [columns])

    def report(self, wanted: str) -> SweepReport:
        """Return the sweep with that id, the unique beginning of an id, or `latest`.

        Raises `UsageError` where there is none, or it is not done, `BlobDamaged`, `UnreadableRecord`.
        """
        unfinished = self.unfinished(wanted)
        if unfinished is not None:
            raise UsageError(
                f"the sweep {unfinished} is not done", hint=f"zerolap explain {unfinished} shows what is recorded"
            )
        with self._database.read_transaction() as connection:
            row = find(connection, document, wanted, NOUN, kind="snapshot")
        return read_stored_sweep(self.blobs.get(row.blob).decode(), row.id)

    def unfinished(self, wanted: str) -> str | None:
        """Return the id of the request, of which it is the unique beginning, for a sweep that is not done."""
        if wanted == LATEST:
            return None
        is_meant = (request.c.kind == "snapshot", begins_with(request.c.id, wanted))
        joined = select(request.c.id).join(document, document.c.id == request.c.id, isouter=True)
        ids = self._database.values(joined.where(*is_meant, document.c.id.is_(None)).limit(2))
        return ids[0] if len(ids) == 1 else None

    def newest(self, limit: int, before: int | None = None) -> Sequence[StoredSweep]:
        """Return the newest sweeps, or those older than the one of a number, the newest first."""
        statement = select(document, request.c.created).join(request, request.c.id == document.c.id)
        statement = statement.where(document.c.blob.is_not(None)).order_by(document.c.number.desc()).limit(limit)
        if before is not None:
            statement = statement.where(document.c.number < before)
        return [_stored(row) for row in self._database.rows(statement)]


def _in_short(report: SweepReport) -> SweepReport:
    if isinstance(report, SnapshotReport):
        measured = [point.model_copy(update={"repetitions": []}) for point in report.points]
        return report.model_copy(update={"points": measured, "traces": [], "starts": []})
    counted = [point.model_copy(update={"runs": point.runs[:1]}) for point in report.points]
    return report.model_copy(update={"points": counted})


def _stored(row: Row[Any]) -> StoredSweep:
    try:
        report = read_stored_sweep(row.document, row.id)
    except UnreadableRecord as fault:
        return StoredSweep(row.number, row.id, row.created, None, fault.message)
    return StoredSweep(row.number, row.id, row.created, report)
