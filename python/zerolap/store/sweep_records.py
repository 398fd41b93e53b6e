"""Sweeps of snapshots that have ended: the whole document of each, and it in short for lists."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, select

from zerolap.records import SnapshotReport, SweepReport, UnreadableRecord, UsageError, read_stored_sweep
from zerolap.store.blobs import Blobs
from zerolap.store.database import Database, insert_of
from zerolap.store.documents import as_json
from zerolap.store.recorded_requests import LAST_CHARACTER, LATEST, find, keep_platform
from zerolap.store.tables import request, sweep

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


class SweepRecords:
    """Sweeps that have ended; its methods may be called from any thread, and raise as those of the store."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._blobs = blobs

    def record(self, report: SweepReport) -> None:
        """Record the document of a sweep, replacing the one of its id."""
        blob = self._blobs.put(as_json(report).encode())
        columns = {
            "id": report.id,
            "created": report.created,
            "platform_fingerprint": report.platform.fingerprint,
            "blob": blob,
            "document": as_json(_in_short(report)),
        }
        with self._database.write_transaction() as connection:
            keep_platform(connection, report.platform)
            statement = insert_of(connection, sweep).values(**columns)
            connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=columns))

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
            row = find(connection, sweep, wanted, NOUN)
        return read_stored_sweep(self._blobs.get(row.blob).decode(), row.id)

    def unfinished(self, wanted: str) -> str | None:
        """Return the id of the request, of which it is the unique beginning, for a sweep that is not done."""
        if wanted == LATEST:
            return None
        is_meant = (request.c.kind == "snapshot", request.c.id >= wanted, request.c.id < wanted + LAST_CHARACTER)
        joined = select(request.c.id).join(sweep, sweep.c.id == request.c.id, isouter=True)
        with self._database.read_transaction() as connection:
            ids = list(connection.execute(joined.where(*is_meant, sweep.c.id.is_(None)).limit(2)).scalars())
        return ids[0] if len(ids) == 1 else None

    def has(self, identity: str) -> bool:
        """Whether there is a sweep with exactly that id."""
        with self._database.read_transaction() as connection:
            return connection.execute(select(sweep.c.id).where(sweep.c.id == identity)).first() is not None

    def newest(self, limit: int, before: int | None = None) -> Sequence[StoredSweep]:
        """Return the newest sweeps, or those older than the one of a number, the newest first."""
        statement = select(sweep).order_by(sweep.c.number.desc()).limit(limit)
        if before is not None:
            statement = statement.where(sweep.c.number < before)
        with self._database.read_transaction() as connection:
            return [_stored(row) for row in connection.execute(statement)]


def blobs_of_sweeps(connection: Connection) -> dict[str, str]:
    """Return the digest of the blob of each sweep, by id."""
    return {row.id: row.blob for row in connection.execute(select(sweep.c.id, sweep.c.blob))}


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
