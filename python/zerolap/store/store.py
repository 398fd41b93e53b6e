"""The store, as used by other packages."""

from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Final

from zerolap.records import UsageError
from zerolap.store.attempt_records import AttemptRecords
from zerolap.store.blobs import Blobs, FileContainer, open_blobs
from zerolap.store.database import BUSY_SECONDS, CONDUCTOR, Database
from zerolap.store.dated_records import DatedRecords
from zerolap.store.default_directory import DEFAULT_DIRECTORY
from zerolap.store.documents import DocumentRecords
from zerolap.store.fleet import FleetRecords
from zerolap.store.history_measurements import HistoryMeasurements
from zerolap.store.imported_records import ImportedRecords
from zerolap.store.measured_values import MeasuredValues
from zerolap.store.platform_records import PlatformRecords
from zerolap.store.published_histories import PublishedHistories
from zerolap.store.recorded_requests import RequestRecords
from zerolap.store.request_listing import RequestListing
from zerolap.store.retention import RetentionRecords
from zerolap.store.session_records import SessionRecords
from zerolap.store.sqlite import SqliteDatabase, can_write
from zerolap.store.stack_records import StackRecords
from zerolap.store.store_errors import RequestBusy
from zerolap.store.sweep_records import SweepRecords
from zerolap.store.trials import TrialRecords
from zerolap.store.triggers import TriggerRecords
from zerolap.store.work_records import WorkRecords

DATABASE_FILE: Final = "zerolap.db"
SQLITE_PREFIX: Final = "sqlite:///"
POSTGRESQL_PREFIXES: Final = ("postgresql://", "postgres://")


class Store(RequestRecords, TrialRecords, DocumentRecords, RetentionRecords):
    """Requests, results and blobs; its methods may be called from any thread.

    Each method writes in a single transaction: if the process is killed, the store stays unchanged. All methods raise
    `EnvironmentMissing` if the disk is full, or the database cannot be reached, cannot be written to or is locked, and
    `UnreadableRecord` for what is recorded in a form that this version cannot read; lists show it as unreadable.

    `notice` is what each page that shows the store has to say, as where its data are made up; it is not recorded.
    """

    def __init__(self, database: Database, blobs: Blobs) -> None:
        super().__init__(database, blobs)
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

    @classmethod
    def open(
        cls, location: str | None = None, busy_seconds: float = BUSY_SECONDS, *, is_temporary: bool = False
    ) -> "Store":
        """Open the store at a location, by default the directory `.zerolap`; creates it if it does not exist.

        A location is a directory, `sqlite:///FILE`, or `postgresql://USER:PASSWORD@HOST/DATABASE`, which takes
        `?blobs=URL`. `busy_seconds` is how long to wait for other writers and for a server. What a directory or file
        that `is_temporary` holds need not survive a loss of power. Raises `EnvironmentMissing` if the store cannot be
        used, `UsageError` for another kind of URL.
        """
        if location is not None and location.startswith(POSTGRESQL_PREFIXES):
            return cls._open_postgresql(location, busy_seconds)
        path = _sqlite_path(location)
        database = SqliteDatabase.open(path, busy_seconds, is_temporary=is_temporary)
        return cls(database, Blobs(FileContainer(database.directory / "blobs", flushes=not is_temporary)))

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
        if can_write(path):
            return cls.open(location)
        database = SqliteDatabase.open_to_read(path)
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
