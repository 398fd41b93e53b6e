"""A database, SQLite or PostgreSQL: its transactions and its schema."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

from sqlalchemy import ColumnElement, Connection, Engine, Select, Table, and_, inspect, select

from zerolap.records import EnvironmentMissing
from zerolap.store.blobs import Blobs
from zerolap.store.store_errors import NotConductor, store_faults
from zerolap.store.tables import REVISION, conductor, metadata, store_revision
from zerolap.uninterrupted import uninterrupted

BUSY_SECONDS: Final = 10.0
AnySelect: TypeAlias = Select[*tuple[Any, ...]]
VALUES_AT_ONCE: Final = 500
LAST_CHARACTER: Final = "\U0010ffff"
CONDUCTOR: Final = "the-conductor"
"""What a conductor claims: the store as a whole."""


class StoreLock(Protocol):
    """A lock of the store that this process has taken."""

    def is_held(self) -> bool:
        """Return whether the lock is still held; once it was lost, another process may hold it.

        Waits for the database's server as long as that does not answer.
        """


class Database(ABC):
    """An open database; its methods may be called from any thread.

    Messages name the database by its `address`; `directory` holds its files on this machine. `changes` grows with each
    write transaction that this object has ended: it has written nothing between two reads of equal values.
    """

    def __init__(self, address: str, directory: Path, engine: Engine) -> None:
        self.address = address
        self.directory = directory
        self._engine = engine
        self.changes = 0
        self._epoch: int | None = None
        self._lock: StoreLock | None = None

    @contextmanager
    def read_transaction(self) -> Iterator[Connection]:
        """Begin a read transaction, which sees a single state of the database; raises `EnvironmentMissing`."""
        with store_faults(self.address), self._read_engine().begin() as connection:
            yield connection

    def rows(self, statement: AnySelect) -> Sequence[Any]:
        """Return the rows of a statement, read in a transaction of its own; raises as `reading` does."""
        with self.read_transaction() as connection:
            return connection.execute(statement).all()

    def first(self, statement: AnySelect) -> Any | None:
        """Return the first row of a statement."""
        with self.read_transaction() as connection:
            return connection.execute(statement).first()

    def values(self, statement: AnySelect) -> list[Any]:
        """Return the values of the first column of a statement."""
        with self.read_transaction() as connection:
            return list(connection.execute(statement).scalars())

    def value(self, statement: AnySelect) -> Any:
        """Return the first value of the first row of a statement, none where there is no row."""
        with self.read_transaction() as connection:
            return connection.execute(statement).scalar()

    def rows_with(self, statement: AnySelect, column: ColumnElement[Any], values: Iterable[Any]) -> list[Any]:
        """Return the rows of a statement in which a column has one of the values, as the function `rows_with` does."""
        with self.read_transaction() as connection:
            return rows_with(connection, statement, column, values)

    @contextmanager
    def write_transaction(self, *, is_change: bool = True) -> Iterator[Connection]:
        """Begin a write transaction; one that changes no request, result or trigger need not count in `changes`.

        Raises `EnvironmentMissing`, `UsageError` if a row lacks its parent, and `NotConductor` if `conduct` was called
        here, and by another process since.
        """
        with store_faults(self.address), uninterrupted(), self._write_engine().begin() as connection:
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
            with store_faults(self.address), uninterrupted(), self._write_engine().begin() as connection:
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
                f"another conductor works on the store {self.address}", hint="start it again: it waits as stand-by"
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
    def _read_engine(self) -> Engine: ...

    @abstractmethod
    def _write_engine(self) -> Engine: ...

    @abstractmethod
    def _lock_schema(self, connection: Connection) -> None:
        """Prevent other processes from changing the schema until the transaction ends."""

    def create_schema(self) -> None:
        """Create the tables in an empty database, and compare the revision of the tables of any other.

        Raises `EnvironmentMissing` for the database of another program or of another version of this one.
        """
        with self.read_transaction() as connection:
            stored = _stored_revision(connection, self.address)
        if stored is None:
            with self.write_transaction() as connection:
                self._lock_schema(connection)
                # Another process may have been first.
                stored = _stored_revision(connection, self.address)
                if stored is None:
                    metadata.create_all(connection, checkfirst=False)
                    connection.execute(store_revision.insert().values(revision=REVISION))
                    return
        self._require_revision(stored)

    def require_schema(self) -> None:
        """Raise `EnvironmentMissing` unless the tables exist and are those of this version."""
        with self.read_transaction() as connection:
            stored = _stored_revision(connection, self.address)
        if stored is None:
            raise EnvironmentMissing(f"the store {self.address} is empty", hint="name another store with --store")
        self._require_revision(stored)

    def _require_revision(self, stored: int) -> None:
        if stored != REVISION:
            version, other = ("a newer", "upgrade zerolap") if stored > REVISION else ("an older", "make a new store")
            raise EnvironmentMissing(
                f"the store {self.address} was written by {version} zerolap (revision {stored}, here {REVISION})",
                hint=f"{other}, or name another one with --store",
            )


def begins_with(column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    """Whether a column of the type `ID` begins with a text, as its index finds it."""
    return and_(column >= text, column < text + LAST_CHARACTER)


def has_text(column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    """Whether a text is a part of a column, in whatever case; no index finds it."""
    return column.icontains(text, autoescape=True)


def rows_with(
    connection: Connection, statement: AnySelect, column: ColumnElement[Any], values: Iterable[Any]
) -> list[Any]:
    """Return the rows of a statement in which a column has one of the values.

    Databases bound the variables of a statement: many values are read in parts, each in the statement's order.
    """
    distinct = sorted(set(values))
    parts = [distinct[first : first + VALUES_AT_ONCE] for first in range(0, len(distinct), VALUES_AT_ONCE)]
    return [row for part in parts for row in connection.execute(statement.where(column.in_(part)))]


class Records:
    """Reads and writes some tables; its methods may be called from any thread, and raise as those of `Store`."""

    def __init__(self, database: Database) -> None:
        self._database = database


class RecordsWithBlobs(Records):
    """Reads and writes tables that refer to blobs."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        super().__init__(database)
        self.blobs = blobs


def upsert(
    connection: Connection, table: Table, key: Collection[str], rows: Sequence[Mapping[str, Any]], kept: str = ""
) -> None:
    """Write rows, each in place of the one that has the same values in the columns `key`; that keeps its column `kept`.

    All rows have the same columns. No two of them have one key.
    """
    if rows:
        statement = insert_of(connection, table)
        changed = {name: statement.excluded[name] for name in rows[0] if name not in (*key, kept)}
        connection.execute(statement.on_conflict_do_update(index_elements=list(key), set_=changed), rows)


def storable(text: str) -> str:
    """Return a text without the character that PostgreSQL does not take."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


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


def _stored_revision(connection: Connection, address: str) -> int | None:
    """Return the revision of the tables, None for an empty database."""
    names = inspect(connection).get_table_names()
    if not names:
        return None
    if store_revision.name not in names:
        raise EnvironmentMissing(
            f"{address} is a database of another program, or of a zerolap before its first release",
            hint="name another store with --store",
        )
    return int(connection.execute(select(store_revision.c.revision)).scalar_one())
