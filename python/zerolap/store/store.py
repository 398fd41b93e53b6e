"""The store: what its neighbours use."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Literal

from sqlalchemy import Connection, Engine

from zerolap.records import CaseResult, Comparison, Measurement, RunCase, RunReport, Spread, Trial
from zerolap.store import comparisons, listing, runs, spreads, trials
from zerolap.store.blobs import Blobs
from zerolap.store.database import can_write, database_path, open_database, open_to_read, writing
from zerolap.store.faults import told
from zerolap.store.listing import StoredRow
from zerolap.store.trials import FailedTrial
from zerolap.store.uninterrupted import uninterrupted

BUSY_SECONDS = 10.0


class Store:
    """Results in a SQLite database, blobs in files beside it; used from one thread.

    Each method that writes does so in one transaction: killed in the middle of it, the store holds what it held
    before. All methods raise `EnvironmentMissing` where the disk is full, cannot be written or the database is locked.
    """

    def __init__(self, path: Path, engine: Engine) -> None:
        self.path = path
        self.blobs = Blobs(path.parent / "blobs")
        self._engine = engine
        self._writing_engine = writing(engine)

    @classmethod
    def open(cls, location: str | None = None, busy_seconds: float = BUSY_SECONDS) -> "Store":
        """Open the store in the directory `location` or at its `sqlite:///FILE`, by default `.zerolap` here.

        Creates it where there is none. `busy_seconds` is how long to wait for another process that writes. Raises
        `EnvironmentMissing` where it cannot be used, `UsageError` for another kind of URL.
        """
        path = database_path(location)
        return cls(path, open_database(path, busy_seconds))

    @classmethod
    def open_to_read(cls, location: str | None = None) -> "Store":
        """Open a store of which only results are to be read: one that this user cannot write to will do.

        Raises as `open` does.
        """
        path = database_path(location)
        return cls.open(location) if can_write(path) else cls(path, open_to_read(path))

    def close(self) -> None:
        """Close the database; the store cannot be used afterwards."""
        self._engine.dispose()

    def __enter__(self) -> "Store":
        """Return the store itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store."""
        self.close()

    def begin(self, comparison: Comparison) -> None:
        """Record a new comparison; raises `AlreadyRecorded` where its id is taken."""
        with self._writing() as connection:
            comparisons.begin(connection, comparison)

    def record_trial(self, identity: str, trial: Trial, measurement: Measurement) -> None:
        """Record a trial of the comparison or run `identity` with what it measured.

        Raises `AlreadyRecorded` for a trial that was recorded before, done or failed; `UsageError` for an unknown id.
        """
        with self._writing() as connection:
            trials.insert_done(connection, identity, trial, measurement)

    def record_failure(self, identity: str, trial: Trial, message: str, log: str = "") -> None:
        """Record that a trial failed, and the log it left; raises as `record_trial` does."""
        digest = self.blobs.put(log.encode("utf-8", "surrogateescape")) if log else None
        with self._writing() as connection:
            trials.insert_failed(connection, identity, trial, message, digest)

    def record_case(self, identity: str, case_result: CaseResult) -> None:
        """Record the result of a case over what was recorded of it, and count the summary anew."""
        with self._writing() as connection:
            comparisons.record_case(connection, identity, case_result)

    def finish(self, comparison: Comparison) -> None:
        """Record how a comparison ended: its state, summary, notes and cases as they are in this document."""
        with self._writing() as connection:
            comparisons.finish(connection, comparison)

    def comparison(self, identity: str) -> Comparison:
        """Return the comparison with that id, the unique beginning of an id, or `latest`.

        One that was killed has the state `running`, and the cases recorded until then. Raises `UsageError`.
        """
        with self._reading() as connection:
            return comparisons.read(connection, listing.find(connection, "compare", identity))

    def comparisons(self, limit: int = 20) -> list[StoredRow]:
        """Return the newest comparisons and runs in short, the newest first."""
        with self._reading() as connection:
            return listing.newest(connection, limit)

    def latest(self) -> StoredRow:
        """Return the newest comparison or run in short; raises `UsageError` where there is none."""
        with self._reading() as connection:
            return listing.latest(connection)

    def measurements(self, identity: str) -> list[tuple[Trial, Measurement]]:
        """Return the trials of the comparison or run `identity` that were carried out; raises `UsageError`."""
        with self._reading() as connection:
            listing.require(connection, identity)
            return trials.measured(connection, identity)

    def failures(self, identity: str) -> list[FailedTrial]:
        """Return the trials of the comparison or run `identity` that failed; raises `UsageError`."""
        with self._reading() as connection:
            listing.require(connection, identity)
            return trials.failed(connection, identity)

    def record_spreads(self, identity: str, found: Mapping[tuple[str, str], Spread]) -> None:
        """Record how much starts differed in a comparison of a build with itself, by case and metric."""
        with self._writing() as connection:
            spreads.insert_spreads(connection, identity, found)

    def spreads(self, platform: str, metric: str) -> Sequence[Spread]:
        """Return how much starts differed on the platform with that fingerprint, the newest first."""
        with self._reading() as connection:
            return spreads.read_spreads(connection, platform, metric)

    def begin_run(self, report: RunReport) -> None:
        """Record a new run; raises `AlreadyRecorded` where its id is taken."""
        with self._writing() as connection:
            runs.begin(connection, report)

    def record_run_case(self, identity: str, case: RunCase) -> None:
        """Record a case of a run over what was recorded of it."""
        with self._writing() as connection:
            runs.record_case(connection, identity, case)

    def finish_run(self, report: RunReport, state: Literal["done", "interrupted", "failed"] = "done") -> None:
        """Record how a run ended, its cases as they are in this document."""
        with self._writing() as connection:
            runs.finish(connection, report, state)

    def run(self, identity: str) -> RunReport:
        """Return the run with that id, the unique beginning of one, or `latest`; raises `UsageError`."""
        with self._reading() as connection:
            return runs.read(connection, listing.find(connection, "run", identity))

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with told(self.path), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with told(self.path), uninterrupted(), self._writing_engine.begin() as connection:
            yield connection
