"""The store: what its neighbours use."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Final

from zerolap.records import (
    Build,
    BuildJob,
    Comparison,
    Event,
    JobFailed,
    JobFinished,
    Measurement,
    Request,
    RequestState,
    RunReport,
    Source,
    Spread,
    Trial,
    TrialDone,
    TrialsJob,
    UsageError,
)
from zerolap.store import documents, requests, trials
from zerolap.store.blobs import Blobs, open_blobs
from zerolap.store.database import BUSY_SECONDS, Database
from zerolap.store.directory import DEFAULT_DIRECTORY
from zerolap.store.documents import StoredRow
from zerolap.store.sqlite import SqliteDatabase, can_write
from zerolap.store.trials import FailedTrial, RecordedJob

DATABASE_FILE: Final = "zerolap.db"
SQLITE_PREFIX: Final = "sqlite:///"
POSTGRESQL_PREFIXES: Final = ("postgresql://", "postgres://")


class Store:
    """Requests, results and blobs; its methods may be called from any thread.

    Each method that writes does so in one transaction: killed in the middle of it, the store holds what it held
    before. All methods raise `EnvironmentMissing` where the disk is full, the database cannot be reached or written
    to, or is locked.
    """

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self.blobs = blobs
        self._database = database

    @classmethod
    def open(cls, location: str | None = None, busy_seconds: float = BUSY_SECONDS) -> "Store":
        """Open the store at a location, by default the directory `.zerolap` here; creates it where there is none.

        A location is a directory, `sqlite:///FILE`, or `postgresql://USER:PASSWORD@HOST/DATABASE`, which takes
        `?blobs=URL`. `busy_seconds` is how long to wait for others that write, and for a server. Raises
        `EnvironmentMissing` where the store cannot be used, `UsageError` for another kind of URL.
        """
        if location is not None and location.startswith(POSTGRESQL_PREFIXES):
            return cls._open_postgresql(location, busy_seconds)
        path = _sqlite_path(location)
        return cls._of_file(SqliteDatabase.open(path, busy_seconds))

    @classmethod
    def open_to_read(cls, location: str | None = None) -> "Store":
        """Open a store of which only results are to be read: one that this user cannot write to will do.

        Raises as `open` does.
        """
        if location is not None and location.startswith(POSTGRESQL_PREFIXES):
            return cls.open(location)
        path = _sqlite_path(location)
        return cls.open(location) if can_write(path) else cls._of_file(SqliteDatabase.open_to_read(path))

    @classmethod
    def _of_file(cls, database: SqliteDatabase) -> "Store":
        return cls(database, open_blobs(None, database.directory / "blobs"))

    @classmethod
    def _open_postgresql(cls, location: str, busy_seconds: float) -> "Store":
        from zerolap.store.postgresql import PostgresqlDatabase, parse_url

        url, blobs = parse_url(location)
        kept = open_blobs(blobs, Path(DEFAULT_DIRECTORY) / "blobs")
        return cls(PostgresqlDatabase.open(url, busy_seconds), kept)

    @property
    def place(self) -> str:
        """Where results are kept: a file, or a URL without its password."""
        return self._database.place

    @property
    def builds_directory(self) -> Path:
        """Where builds are kept on this machine."""
        return self._database.directory / "builds"

    def close(self) -> None:
        """Close the database; the store cannot be used afterwards."""
        self._database.close()

    def __enter__(self) -> "Store":
        """Return the store itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store."""
        self.close()

    # Requests.

    def begin(self, request: Request) -> None:
        """Record a request, its platform and its revisions, in the state `running`; again, it changes nothing."""
        with self._database.writing() as connection:
            requests.begin(connection, request)

    def request(self, identity: str) -> Request:
        """Return the request with that id, the unique beginning of an id, or `latest`; raises `UsageError`."""
        with self._database.reading() as connection:
            return requests.read(connection, identity)

    def unfinished(self, digest: str) -> list[str]:
        """Return the ids of the requests with that `Request.digest` that are not done, the newest first."""
        with self._database.reading() as connection:
            return requests.unfinished(connection, digest)

    def state(self, identity: str) -> RequestState:
        """Return the state of a request; one that was killed is `running` still. Raises `UsageError`."""
        with self._database.reading() as connection:
            return requests.state(connection, identity)

    def claim(self, identity: str) -> AbstractContextManager[None]:
        """Hold a request while working on it; raises `RequestBusy` where another process, or this one, holds it.

        A process that is killed gives it up.
        """
        return self._database.claim(identity)

    def cancel(self, identity: str) -> None:
        """Ask whoever works on a request to stop, from any process; raises `UsageError`."""
        with self._database.writing() as connection:
            requests.set_columns(connection, identity, {"cancelled": True})

    def is_cancelled(self, identity: str) -> bool:
        """Whether somebody asked to stop the request, since it last ended; raises `UsageError`."""
        with self._database.reading() as connection:
            return requests.is_cancelled(connection, identity)

    def end(self, identity: str, state: RequestState) -> None:
        """Record how a request ended, or with `running` that it goes on, and forget a cancellation.

        Raises `UsageError`.
        """
        with self._database.writing() as connection:
            requests.set_columns(connection, identity, {"state": state, "cancelled": False})

    # Builds, jobs and trials: what is recorded again changes nothing.

    def record_build(self, build: Build, source: Source | None = None) -> None:
        """Record a build, and where its source is a commit, that the commit has this content."""
        with self._database.writing() as connection:
            trials.keep_build(connection, build, source)

    def build(self, digest: str) -> Build | None:
        """Return the build with that digest."""
        with self._database.reading() as connection:
            return trials.read_build(connection, digest)

    def record_job(self, job: TrialsJob | BuildJob) -> None:
        """Record a job; raises `UsageError` for an unknown request."""
        with self._database.writing() as connection:
            trials.keep_job(connection, job)

    def record(self, job: TrialsJob | BuildJob, event: Event) -> None:
        """Record what an event of a job says that is to be kept: trials, a failure, the end; nothing of others.

        The trials of an event are recorded together, or, where one of them is there already, none. Raises
        `UsageError` for a job that was not recorded, `ValueError` for a metric that is not a finite number.
        """
        if isinstance(event, TrialDone):
            if not isinstance(job, TrialsJob):
                raise ValueError(f"{job.id} is a build: it has no trials")
            with self._database.writing() as connection:
                trials.keep_trials(connection, job, event)
        elif isinstance(event, JobFailed):
            log = self.blobs.put(event.details.encode()) if event.details else None
            with self._database.writing() as connection:
                trials.keep_failure(connection, job.id, event, log)
        elif isinstance(event, JobFinished):
            with self._database.writing() as connection:
                trials.keep_finish(connection, job.id, event)

    def jobs(self, identity: str) -> list[RecordedJob]:
        """Return the jobs of a request with what came of them, in the order of recording.

        Raises `UsageError`, and `BlobDamaged` where the details of a failure cannot be read.
        """
        with self._database.reading() as connection:
            requests.require(connection, identity)
            return trials.read_jobs(connection, identity, lambda digest: self.blobs.get(digest).decode())

    def measurements(self, identity: str) -> list[tuple[Trial, Measurement]]:
        """Return the trials of a comparison or run that were carried out, in the order of recording.

        Raises `UsageError`.
        """
        with self._database.reading() as connection:
            requests.require(connection, identity)
            return trials.read_measurements(connection, identity)

    def failures(self, identity: str) -> list[FailedTrial]:
        """Return the failures of the jobs of a comparison or run; raises `UsageError`."""
        with self._database.reading() as connection:
            requests.require(connection, identity)
            return trials.read_failures(connection, identity)

    # Documents.

    def record_comparison(self, comparison: Comparison) -> None:
        """Record the document of a comparison, finished or not, over what was recorded of it."""
        with self._database.writing() as connection:
            documents.keep_comparison(connection, comparison)

    def record_run(self, report: RunReport, state: RequestState) -> None:
        """Record the document of a run, finished or not, over what was recorded of it."""
        with self._database.writing() as connection:
            documents.keep_run(connection, report, state)

    def comparison(self, identity: str) -> Comparison:
        """Return the comparison with that id, the unique beginning of an id, or `latest`; raises `UsageError`.

        One that was killed has the state `running`, and the cases recorded until then.
        """
        with self._database.reading() as connection:
            return documents.read_comparison(connection, identity)

    def run(self, identity: str) -> RunReport:
        """Return the run with that id, the unique beginning of one, or `latest`; raises `UsageError`.

        The notes of an unfinished one say so.
        """
        with self._database.reading() as connection:
            return documents.read_run(connection, identity)

    def comparisons(self, limit: int = 20) -> list[StoredRow]:
        """Return the newest comparisons and runs in short, the newest first."""
        with self._database.reading() as connection:
            return documents.newest(connection, limit)

    def latest(self) -> StoredRow:
        """Return the newest comparison or run in short; raises `UsageError` where there is none."""
        with self._database.reading() as connection:
            return documents.latest(connection)

    def record_spreads(self, identity: str, spreads: Mapping[tuple[str, str], Spread], circumstances: str = "") -> None:
        """Record how much starts differed in a comparison, by case and metric.

        `circumstances` are what starts must have in common to be alike, such as the topology. Raises `UsageError`.
        """
        with self._database.writing() as connection:
            documents.keep_spreads(connection, identity, spreads, circumstances)

    def spreads(self, platform: str, metric: str, circumstances: str | None = None) -> Sequence[Spread]:
        """Return how much starts differed on the platform with that fingerprint, the newest first.

        Under all circumstances where none are named.
        """
        with self._database.reading() as connection:
            return documents.read_spreads(connection, platform, metric, circumstances)

    def circumstances(self, platform: str) -> Sequence[str]:
        """Return the circumstances under which it is known how much starts differ on the platform."""
        with self._database.reading() as connection:
            return documents.read_circumstances(connection, platform)


def _sqlite_path(location: str | None) -> Path:
    """Return the file that a location names; raises `UsageError` for another kind of URL."""
    if location is None:
        return Path(DEFAULT_DIRECTORY) / DATABASE_FILE
    if location.startswith(SQLITE_PREFIX):
        name = location.removeprefix(SQLITE_PREFIX)
        if name and name != ":memory:":
            return Path(name)
    if not location or "://" in location or location.startswith("sqlite:"):
        raise UsageError(
            f"no such kind of store: {location!r}",
            hint="name a directory, a file as sqlite:///FILE, or postgresql://USER:PASSWORD@HOST/DATABASE",
        )
    return Path(location) / DATABASE_FILE
