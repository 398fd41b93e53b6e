"""The store, as used by other packages."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Final

from sqlalchemy import Connection

from zerolap.records import (
    Build,
    BuildJob,
    Comparison,
    Event,
    GivenJob,
    JobFailed,
    JobFinished,
    Measurement,
    Platform,
    Request,
    RequestKind,
    RequestState,
    Resolved,
    RunReport,
    Source,
    Spread,
    StartRatio,
    Trial,
    TrialDone,
    TrialsJob,
    UsageError,
)
from zerolap.store import documents, recorded_requests as requests, retention as retention_rows, trials
from zerolap.store.attempt_records import AttemptRecords
from zerolap.store.blobs import Blobs, StoredBlob, open_blobs
from zerolap.store.database import BUSY_SECONDS, CONDUCTOR, Database
from zerolap.store.dated_records import DatedRecords
from zerolap.store.default_directory import DEFAULT_DIRECTORY
from zerolap.store.documents import StoredRow
from zerolap.store.fleet import FleetRecords
from zerolap.store.history_measurements import HistoryMeasurements
from zerolap.store.imported_records import ImportedRecords
from zerolap.store.measured_values import MeasuredValues
from zerolap.store.platform_records import PlatformRecords
from zerolap.store.published_histories import PublishedHistories
from zerolap.store.recorded_requests import RecordedRequest, RequestInShort
from zerolap.store.request_listing import RequestListing
from zerolap.store.retention import Removal, Retention
from zerolap.store.session_records import SessionRecords
from zerolap.store.sqlite import SqliteDatabase, can_write
from zerolap.store.stack_records import StackRecords
from zerolap.store.store_errors import RequestBusy
from zerolap.store.sweep_records import SweepRecords
from zerolap.store.trials import FailedTrial, RecordedJob
from zerolap.store.triggers import TriggerRecords
from zerolap.store.work_records import WorkRecords

DATABASE_FILE: Final = "zerolap.db"
SQLITE_PREFIX: Final = "sqlite:///"
POSTGRESQL_PREFIXES: Final = ("postgresql://", "postgres://")


class Store:
    """Requests, results and blobs; its methods may be called from any thread.

    Each method writes in a single transaction: if the process is killed, the store stays unchanged. All methods raise
    `EnvironmentMissing` if the disk is full, or the database cannot be reached, cannot be written to or is locked, and
    `UnreadableRecord` for what is recorded in a form that this version cannot read; lists show it as unreadable.

    `notice` is what each page that shows the store has to say, as where its data are made up; it is not recorded.
    """

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self.blobs = blobs
        self.notice = ""
        self.fleet = FleetRecords(database, blobs)
        self.attempts = AttemptRecords(database, blobs)
        self.platform_records = PlatformRecords(database)
        self.sessions = SessionRecords(database)
        self.triggers = TriggerRecords(database)
        self.history = HistoryMeasurements(database)
        self.imported = ImportedRecords(database)
        self.measured = MeasuredValues(database)
        self.stacks = StackRecords(database)
        self.work = WorkRecords(database)
        self.published_histories = PublishedHistories(database)
        self.dated = DatedRecords(database)
        self.reports = RequestListing(database)
        self.sweeps = SweepRecords(database, blobs)
        self._database = database

    @classmethod
    def open(cls, location: str | None = None, busy_seconds: float = BUSY_SECONDS) -> "Store":
        """Open the store at a location, by default the directory `.zerolap`; creates it if it does not exist.

        A location is a directory, `sqlite:///FILE`, or `postgresql://USER:PASSWORD@HOST/DATABASE`, which takes
        `?blobs=URL`. `busy_seconds` is how long to wait for other writers and for a server. Raises
        `EnvironmentMissing` if the store cannot be used, `UsageError` for another kind of URL.
        """
        if location is not None and location.startswith(POSTGRESQL_PREFIXES):
            return cls._open_postgresql(location, busy_seconds)
        path = _sqlite_path(location)
        return cls._of_file(SqliteDatabase.open(path, busy_seconds))

    @classmethod
    def open_known(cls, location: str | None = None) -> "Store":
        """Open a store for results that are to be in it.

        Raises as `open` does, and `UsageError` where a location is named that has no store: it is misspelt.
        """
        if location is not None and not location.startswith(POSTGRESQL_PREFIXES):
            path = _sqlite_path(location)
            if not path.exists():
                raise UsageError(f"there is no store at `{location}`", hint="name the store that was measured into")
        return cls.open(location)

    @classmethod
    def open_to_read(cls, location: str | None = None) -> "Store":
        """Open a store to read results; the user need not have permission to write to it.

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

        url, blobs_location = parse_url(location)
        blobs = open_blobs(blobs_location, Path(DEFAULT_DIRECTORY, "blobs").absolute())
        return cls(PostgresqlDatabase.open(url, busy_seconds), blobs)

    @property
    def address(self) -> str:
        """The location of the results: a file, or a URL without its password."""
        return self._database.address

    @property
    def changes(self) -> int:
        """A number that grows with all that this object records, but for signs of life and what was written elsewhere.

        Equal numbers before two reads mean that nothing was recorded here in between. Other processes are not counted.
        """
        return self._database.changes

    @property
    def builds_directory(self) -> Path:
        """The directory of builds on this machine."""
        return self._database.directory / "builds"

    def database_bytes(self) -> int:
        """Return what the database takes; raises `EnvironmentMissing`."""
        return self._database.size_bytes()

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

    def submit(self, asked: Iterable[Request]) -> None:
        """Record requests in the state `waiting`, all or none; existing ones are not changed.

        Older ones of their topics on their platforms that have not ended are superseded.
        """
        with self._database.writing() as connection:
            for request in asked:
                requests.submit(connection, request)

    def begin(self, resolved: Resolved) -> None:
        """Record what a request means on its platform, and the request if there is none; it is `running` from now on.

        What was recorded of it before is not changed.
        """
        with self._database.writing() as connection:
            requests.begin(connection, resolved)

    def discard(self, identity: str) -> None:
        """Remove a request that an unfinished one stands for; raises `UsageError`."""
        with self._database.writing() as connection:
            requests.discard(connection, identity)

    def request(self, identity: str) -> RecordedRequest:
        """Return the request with that id, the unique beginning of an id, or `latest`; raises `UsageError`."""
        with self._database.reading() as connection:
            return requests.read(connection, identity)

    def outcome(self, request: Request) -> RecordedRequest:
        """Return the state of a request that is known already; raises `UsageError`."""
        with self._database.reading() as connection:
            return requests.read_outcome(connection, request)

    def resolved(self, identity: str) -> Resolved | None:
        """Return what the request of that name means on its platform; none while its servers are not built.

        Raises `UsageError`.
        """
        with self._database.reading() as connection:
            return requests.read_resolved(connection, identity)

    def unfinished(self, digest: str) -> list[str]:
        """Return the ids of the requests with that `Resolved.digest` that are not done, the newest first."""
        with self._database.reading() as connection:
            return requests.unfinished(connection, digest)

    def undocumented(self, limit: int) -> list[RequestInShort]:
        """Return the newest requests to this machine that have no document yet, the newest first."""
        with self._database.reading() as connection:
            return requests.undocumented_in_short(connection, limit)

    def latest_interrupted(self) -> str | None:
        """Return the id of the newest request to this machine that was interrupted or killed, or is worked on."""
        with self._database.reading() as connection:
            return requests.latest_interrupted(connection)

    def state(self, identity: str) -> RequestState:
        """Return the state of a request; a killed one is still `running`. Raises `UsageError`."""
        with self._database.reading() as connection:
            return requests.state(connection, identity)

    def kinds(self, identities: Iterable[str]) -> dict[str, RequestKind]:
        """Return what those of the requests are that are recorded, by id."""
        with self._database.reading() as connection:
            return requests.kinds(connection, identities)

    def claim(self, identity: str) -> AbstractContextManager[object]:
        """Hold a request while working on it; raises `RequestBusy` if any process, this one included, holds it.

        The claim of a killed process is released.
        """
        return self._database.claim(identity)

    def conduct(self) -> AbstractContextManager[None]:
        """Be the store's only conductor within the context; raises `RequestBusy` if another process is.

        From now on all that this object writes is refused with `NotConductor` once another process has become the
        conductor, also after the context has ended. Other objects write as before.
        """
        return self._database.conduct()

    def has_lost_lock(self) -> bool:
        """Return whether `conduct` was called, and its lock is not held any more; another process may have it then.

        Waits for the database's server as long as that does not answer.
        """
        return self._database.has_lost_lock()

    def has_conductor(self) -> bool:
        """Return whether a conductor works on the store."""
        try:
            with self.claim(CONDUCTOR):
                return False
        except RequestBusy:
            return True

    def cancel(self, identity: str) -> None:
        """Ask the process that works on a request to stop; raises `UsageError`."""
        with self._database.writing() as connection:
            requests.set_columns(connection, identity, {"cancelled": True})

    def is_cancelled(self, identity: str) -> bool:
        """Whether a cancellation was requested since the request last ended; raises `UsageError`."""
        with self._database.reading() as connection:
            return requests.is_cancelled(connection, identity)

    def end(self, identity: str, state: RequestState) -> None:
        """Set the state of a request at its end, or `running` when it continues, and clear its cancellation.

        Raises `UsageError`.
        """
        with self._database.writing() as connection:
            ended = None if state in requests.OPEN_STATES else time.time()
            values = {"state": state, "reason": "", "cancelled": False, "ended": ended}
            requests.set_columns(connection, identity, values)

    # Retention.

    def prune(self, retention: Retention, *, dry_run: bool = False) -> Removal:
        """Remove results and histories that are not kept, and blobs to which nothing refers.

        With `dry_run` it only returns them. What a kept result refers to stays. Raises `EnvironmentMissing`.
        """
        now = time.time()
        blobs = {blob.digest: blob for blob in self.blobs.stored()}
        with self._database.reading() as connection:
            outlived = retention_rows.outlived(connection, retention, now)
            outlived += self._beyond_bytes(connection, retention, blobs, set(outlived))
            histories = retention_rows.outlived_histories(connection, retention, now)
            kept = self._kept_blobs(connection, set(outlived))
            needed, artifacts = retention_rows.open_builds(connection), []
            for build, builder, digest in retention_rows.packed_builds(connection):
                used = blobs[digest].stored if digest in blobs else now
                if build in needed or used > now - retention.build_seconds:
                    kept.add(digest)
                else:
                    artifacts.append((build, builder))
        old = now - retention_rows.GRACE_SECONDS
        superfluous = [blob for digest, blob in blobs.items() if digest not in kept and blob.stored < old]
        blob_bytes = sum(blob.size_bytes for blob in superfluous)
        removed = Removal(outlived, len(histories), len(superfluous), blob_bytes)
        if dry_run:
            return removed
        for first in range(0, len(outlived), retention_rows.ROWS_AT_ONCE):
            with self._database.writing() as connection:
                retention_rows.remove(connection, outlived[first : first + retention_rows.ROWS_AT_ONCE])
        for history in histories:
            with self._database.writing() as connection:
                retention_rows.remove_history(connection, history)
        with self._database.writing() as connection:
            retention_rows.remove_artifacts(connection, artifacts)
            retention_rows.remove_unused_work(connection)
        # Rows that were recorded meanwhile may refer to old blobs.
        with self._database.reading() as connection:
            still_referenced = retention_rows.referenced_blobs(connection)
        for blob in superfluous:
            if blob.digest not in still_referenced:
                self.blobs.remove(blob.digest)
        return removed

    def open_builds(self) -> set[str]:
        """Return the digests of the builds of requests that have not ended."""
        with self._database.reading() as connection:
            return retention_rows.open_builds(connection)

    def _beyond_bytes(
        self, connection: Connection, retention: Retention, blobs: Mapping[str, StoredBlob], outlived: set[str]
    ) -> list[str]:
        """Return the oldest ended requests without which the blobs that are referred to have few enough bytes."""
        if retention.blob_bytes is None:
            return []
        users: Counter[str] = Counter()
        by_request = {}
        for identity in retention_rows.all_ids(connection):
            if identity not in outlived:
                by_request[identity] = retention_rows.blobs_of(connection, identity)
                users.update(by_request[identity])
        left = sum(blobs[digest].size_bytes for digest in users if digest in blobs)
        beyond: list[str] = []
        for identity in retention_rows.ended_requests(connection):
            if left <= retention.blob_bytes:
                break
            if identity in by_request:
                beyond.append(identity)
                users.subtract(by_request[identity])
                left -= sum(
                    blobs[digest].size_bytes for digest in by_request[identity] if not users[digest] and digest in blobs
                )
        return beyond

    def _kept_blobs(self, connection: Connection, removed: set[str]) -> set[str]:
        kept: set[str] = set()
        for identity in retention_rows.all_ids(connection):
            if identity not in removed:
                kept |= retention_rows.blobs_of(connection, identity)
        return kept

    # Platforms, builds, jobs and trials: recording one again changes nothing.

    def record_platform(self, platform: Platform) -> None:
        """Record a machine and the state that it is in, to which its trials refer by `Platform.facts_digest`."""
        with self._database.writing(is_change=False) as connection:
            requests.keep_platform(connection, platform)

    def platforms(self) -> list[Platform]:
        """Return the machines that are recorded, each with its newest facts, the newest first."""
        with self._database.reading() as connection:
            return requests.read_platforms(connection)

    def record_build(self, build: Build, source: Source | None = None) -> None:
        """Record a build and, if its source is a commit, the relation of the commit to the build."""
        with self._database.writing() as connection:
            trials.keep_build(connection, build, source)

    def build(self, digest: str) -> Build | None:
        """Return the build with that digest."""
        with self._database.reading() as connection:
            return trials.read_build(connection, digest)

    def record_job(self, job: GivenJob) -> None:
        """Record a job; raises `UsageError` for an unknown request."""
        with self._database.writing() as connection:
            trials.keep_jobs(connection, [job])

    def record(self, job: TrialsJob | BuildJob, event: Event) -> None:
        """Record the trials, the failure or the end that an event of a job reports; other events are ignored.

        The trials of an event are recorded together; none of them is if one exists already. Raises `UsageError` for a
        job that was not recorded.
        """
        if isinstance(event, TrialDone):
            if not isinstance(job, TrialsJob):
                raise ValueError(f"{job.id} is a build, which has no trials")
            with self._database.writing() as connection:
                trials.keep_trials(connection, [(job, event)])
        elif isinstance(event, JobFailed):
            log = self.blobs.put(event.details.encode()) if event.details else None
            with self._database.writing() as connection:
                trials.keep_failure(connection, job.id, event, log)
        elif isinstance(event, JobFinished):
            with self._database.writing() as connection:
                trials.keep_finish(connection, job.id, event)

    def jobs(self, identity: str) -> list[RecordedJob]:
        """Return the jobs of a request with their recorded events, in the order of recording.

        Raises `UsageError`, and `BlobDamaged` if the details of a failure cannot be read.
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
        """Record the document of a comparison, finished or not, replacing the recorded one."""
        with self._database.writing() as connection:
            documents.keep_comparison(connection, comparison)

    def record_run(self, report: RunReport) -> None:
        """Record the document of a run, finished or not, replacing the recorded one."""
        with self._database.writing() as connection:
            documents.keep_run(connection, report)

    def comparison(self, identity: str) -> Comparison:
        """Return the comparison with that id, the unique beginning of an id, or `latest`; raises `UsageError`.

        A killed comparison has the state `running`, and the cases recorded until then.
        """
        with self._database.reading() as connection:
            return documents.read_comparison(connection, identity)

    def comparison_without_cases(self, identity: str) -> Comparison:
        """Return the comparison with that id without its cases, to be read one by one; raises `UsageError`."""
        with self._database.reading() as connection:
            return documents.read_comparison_alone(connection, identity)

    def run_without_cases(self, identity: str) -> RunReport:
        """Return the run with that id without its cases, as `comparison_without_cases` does."""
        with self._database.reading() as connection:
            return documents.read_run_alone(connection, identity)

    def run(self, identity: str) -> RunReport:
        """Return the run with that id, the unique beginning of one, or `latest`; raises `UsageError`.

        The notes of an unfinished run report that it is incomplete.
        """
        with self._database.reading() as connection:
            return documents.read_run(connection, identity)

    def comparisons(self, limit: int = 20) -> list[StoredRow]:
        """Return the newest comparisons and runs in short, the newest first."""
        with self._database.reading() as connection:
            return documents.newest(connection, limit)

    def done_comparisons(self, limit: int) -> list[str]:
        """Return the ids of the newest comparisons that are done, the newest first."""
        with self._database.reading() as connection:
            return documents.done_comparisons(connection, limit)

    def in_short(self, identities: Iterable[str]) -> dict[str, StoredRow]:
        """Return those of the comparisons and runs that are recorded, by id, in short."""
        with self._database.reading() as connection:
            return documents.in_short(connection, identities)

    def latest(self) -> StoredRow:
        """Return the newest comparison or run in short; raises `UsageError` if there is none."""
        with self._database.reading() as connection:
            return documents.latest(connection)

    def record_spreads(self, identity: str, spreads: Mapping[tuple[str, str], Spread], circumstances: str = "") -> None:
        """Record how much starts differed in a comparison, by case and metric.

        `circumstances` are what comparable starts have in common, such as the topology. Raises `UsageError`.
        """
        with self._database.writing() as connection:
            documents.keep_spreads(connection, identity, spreads, circumstances)

    def record_start_ratios(self, identity: str, ratios: Sequence[StartRatio]) -> None:
        """Record what each start of a recorded comparison says; a start that is recorded is not changed.

        Raises `UsageError`.
        """
        with self._database.writing() as connection:
            documents.keep_start_ratios(connection, identity, ratios)

    def start_ratios(self, identity: str) -> Sequence[StartRatio]:
        """Return what each start of a comparison says, by anchor, case, metric and block; raises `UsageError`."""
        with self._database.reading() as connection:
            return documents.read_start_ratios(connection, identity)

    def spreads(self, platform: str, metric: str, circumstances: str | None = None) -> Sequence[Spread]:
        """Return how much starts differed on the platform with that fingerprint, the newest first.

        Without `circumstances` those of all circumstances are returned.
        """
        with self._database.reading() as connection:
            return documents.read_spreads(connection, platform, metric, circumstances)

    def circumstances(self, platform: str) -> Sequence[str]:
        """Return the circumstances for which the platform has spreads."""
        with self._database.reading() as connection:
            return documents.read_circumstances(connection, platform)


def _sqlite_path(location: str | None) -> Path:
    """Return the file that a location names, as an absolute path; raises `UsageError` for another kind of URL."""
    if location is None:
        return Path(DEFAULT_DIRECTORY, DATABASE_FILE).absolute()
    if location.startswith(SQLITE_PREFIX):
        name = location.removeprefix(SQLITE_PREFIX)
        if name and name != ":memory:":
            return Path(name).absolute()
    if not location or "://" in location or location.startswith("sqlite:"):
        raise UsageError(
            f"no such kind of store: {location!r}",
            hint="name a directory, a file as sqlite:///FILE, or postgresql://USER:PASSWORD@HOST/DATABASE",
        )
    return Path(location, DATABASE_FILE).absolute()
