"""A database, SQLite or PostgreSQL: its transactions and the migration of its schema."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from sqlalchemy import Connection, Engine, String, Table, inspect, select, table as unknown_table
from sqlalchemy.sql.expression import column

from zerolap.records import EnvironmentMissing
from zerolap.store.store_errors import NotConductor, store_faults
from zerolap.store.tables import REVISION, conductor
from zerolap.store.uninterrupted import uninterrupted

MIGRATIONS: Final = Path(__file__).parent / "migrations"
BUSY_SECONDS: Final = 10.0
FIRST_REVISION: Final = "0010"
"""The oldest revision from which migrations lead to the newest."""

CONDUCTOR: Final = "the-conductor"
"""What a conductor claims: the store as a whole."""

_VERSION_TABLE = "alembic_version"


class StoreLock(Protocol):
    """A lock of the store that this process has taken."""

    def is_held(self) -> bool:
        """Return whether the lock is still held; once it was lost, another process may hold it.

        Waits for the database's server as long as that does not answer.
        """


class Database(ABC):
    """An open database; its methods may be called from any thread.

    `place` names it in messages; `directory` holds what belongs to it on this machine. `changes` grows with each write
    transaction of this object that has ended; equal values before two reads mean that it wrote nothing in between.
    """

    def __init__(self, place: str, directory: Path, engine: Engine) -> None:
        self.place = place
        self.directory = directory
        self._engine = engine
        self.changes = 0
        self._epoch: int | None = None
        self._lock: StoreLock | None = None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Begin a read transaction, which sees a single state of the database; raises `EnvironmentMissing`."""
        with store_faults(self.place), self._reading_engine().begin() as connection:
            yield connection

    @contextmanager
    def writing(self, *, is_change: bool = True) -> Iterator[Connection]:
        """Begin a write transaction; one that changes no request, result or trigger need not count in `changes`.

        Raises `EnvironmentMissing`, `UsageError` if a row lacks its parent, and `NotConductor` if `conduct` was called
        here, and by another process since.
        """
        with store_faults(self.place), uninterrupted(), self._writing_engine().begin() as connection:
            if self._epoch is not None:
                self._require_epoch(connection, self._epoch)
            yield connection
        if is_change:
            # Of several threads that count at the same time one is enough: each has ended its transaction before.
            self.changes += 1

    @contextmanager
    def conduct(self) -> Iterator[None]:
        """Be the store's only conductor within the context; raises `RequestBusy` if another process is.

        From now on all that is written here is refused with `NotConductor` once another process has become the
        conductor, also after the context has ended.
        """
        with self.claim(CONDUCTOR) as claim:
            with store_faults(self.place), uninterrupted(), self._writing_engine().begin() as connection:
                first = insert_of(connection, conductor).values(id=1, epoch=1)
                next_epoch = {"epoch": conductor.c.epoch + 1}
                taken = first.on_conflict_do_update(index_elements=["id"], set_=next_epoch)
                # Waits for the transactions of the conductor before, which hold the row.
                epoch = connection.execute(taken.returning(conductor.c.epoch)).scalar_one()
            self._epoch, self._lock = epoch, claim
            try:
                yield
            finally:
                self._lock = None

    def has_lost_lock(self) -> bool:
        """Return whether `conduct` was called here, and its lock is not held any more."""
        return self._lock is not None and not self._lock.is_held()

    def _require_epoch(self, connection: Connection, epoch: int) -> None:
        # The row is held until the end of the transaction: no other process becomes the conductor before.
        statement = select(conductor.c.epoch).with_for_update(read=True)
        if connection.execute(statement).scalar() != epoch:
            raise NotConductor(
                f"another conductor works on the store {self.place}", hint="start it again: it waits as stand-by"
            )

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @abstractmethod
    def claim(self, identity: str) -> AbstractContextManager[StoreLock]:
        """Hold the request with that id within the context; raises `RequestBusy` if another process holds it."""

    @abstractmethod
    def size_bytes(self) -> int:
        """Return what the database takes, on this machine or its server; raises `EnvironmentMissing`."""

    @abstractmethod
    def _reading_engine(self) -> Engine: ...

    @abstractmethod
    def _writing_engine(self) -> Engine: ...

    @abstractmethod
    def _lock_schema(self, connection: Connection) -> None:
        """Prevent other processes from changing the schema until the transaction ends."""

    def bring_up_to_date(self) -> None:
        """Create the schema or migrate it to the newest revision.

        Raises `EnvironmentMissing` for the database of another program or of a newer version.
        """
        if self.stored_revision() == REVISION:
            return
        # Before the lock, for which others wait only so long: it takes longer than the migrations themselves.
        known, migrate = _read_migrations()
        with self.writing() as connection:
            self._lock_schema(connection)
            _upgrade(connection, self.place, known, migrate)

    def stored_revision(self) -> str | None:
        """Return the revision of the schema, None for an empty database."""
        with self.reading() as connection:
            return _stored_revision(connection, self.place)


def insert_new(connection: Connection, table: Table) -> Any:
    """Return an insert in the database's dialect that ignores rows whose key exists."""
    return insert_of(connection, table).on_conflict_do_nothing()


def insert_of(connection: Connection, table: Table) -> Any:
    """Return an insert in the database's dialect, which has `on_conflict_do_update`."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as postgresql_insert

        return postgresql_insert(table)
    from sqlalchemy.dialects.sqlite import insert as sqlite_insert

    return sqlite_insert(table)


def _stored_revision(connection: Connection, place: str) -> str | None:
    names = inspect(connection).get_table_names()
    if _VERSION_TABLE not in names:
        if names:
            raise EnvironmentMissing(
                f"{place} is a database of another program", hint="name another store with --store"
            )
        return None
    version = unknown_table(_VERSION_TABLE, column("version_num", String))
    revision: str | None = connection.execute(select(version)).scalar()
    return revision


def _read_migrations() -> tuple[set[str], Callable[[Connection], None]]:
    """Return the revisions that migrations lead to, and what carries them out on a connection, in its transaction."""
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))

    def migrate(connection: Connection) -> None:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")

    return {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}, migrate


def _upgrade(connection: Connection, place: str, known: Collection[str], migrate: Callable[[Connection], None]) -> None:
    stored = _stored_revision(connection, place)
    if stored == REVISION:
        # Another process was first.
        return
    if stored is not None and stored < FIRST_REVISION:
        raise EnvironmentMissing(
            f"the store {place} was written by an early zerolap (revision {stored}, oldest known {FIRST_REVISION})",
            hint="convert it by `python scripts/convert_store.py OLD NEW` of the sources of zerolap,"
            " or name another store with --store",
        )
    if stored is not None and stored not in known:
        raise EnvironmentMissing(
            f"the store {place} was written by a newer zerolap (revision {stored}, newest known {REVISION})",
            hint="upgrade zerolap, or name another store with --store",
        )
    migrate(connection)
