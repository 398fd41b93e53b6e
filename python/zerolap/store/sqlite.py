"""The store of one machine: a SQLite database in a file."""

import fcntl
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from zerolap.store.database import Database, StoreLock
from zerolap.store.default_directory import keep_from_git
from zerolap.store.store_errors import RequestBusy, store_faults

REQUEST_ID: Final = re.compile(r"[a-z0-9]+-[a-z0-9]+")
"""Ids of requests are used as file names."""


class SqliteDatabase(Database):
    """A file in write-ahead-log mode; blobs, builds and locks of requests are stored beside it."""

    def __init__(self, path: Path, engine: Engine) -> None:
        super().__init__(str(path), path.parent, engine)
        self._path = path
        self._writer = engine.execution_options(zerolap_writes=True)

    @classmethod
    def open(cls, path: Path, busy_seconds: float, *, is_temporary: bool = False) -> "SqliteDatabase":
        """Open the file, creating it and its tables if they do not exist; a temporary one is not flushed to the disk.

        `busy_seconds` is how long to wait for another process's write. Raises `EnvironmentMissing`.
        """
        with store_faults(str(path)):
            path.parent.mkdir(parents=True, exist_ok=True)
            keep_from_git(path.parent)
            _use_write_ahead_log(path, busy_seconds)
        engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": busy_seconds})
        return cls._opened(path, engine, is_temporary=is_temporary)

    @classmethod
    def open_to_read(cls, path: Path) -> "SqliteDatabase":
        """Open a file that this user cannot write to; raises `EnvironmentMissing`.

        It is opened as immutable, since SQLite writes auxiliary files to read in WAL mode. Later changes are not
        visible.
        """
        location = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
        engine = create_engine(
            "sqlite://",
            creator=lambda: sqlite3.connect(location, uri=True, check_same_thread=False),
            poolclass=QueuePool,
        )
        return cls._opened(path, engine, read_only=True)

    @classmethod
    def _opened(
        cls, path: Path, engine: Engine, *, read_only: bool = False, is_temporary: bool = False
    ) -> "SqliteDatabase":
        event.listen(engine, "connect", _set_up)
        if is_temporary:
            event.listen(engine, "connect", _do_not_flush)
        event.listen(engine, "begin", _begin)
        database = cls(path, engine)
        with ExitStack() as unless_opened:
            unless_opened.callback(database.close)
            if read_only:
                database.require_schema()
            else:
                database.create_schema()
            unless_opened.pop_all()
        return database

    @contextmanager
    def claim(self, identity: str) -> Iterator[StoreLock]:
        """Lock a file named after the request; the kernel releases the lock when the process ends."""
        if REQUEST_ID.fullmatch(identity) is None:
            raise ValueError(f"not the id of a request: {identity!r}")
        with store_faults(self.address):
            directory = self.directory / "claims"
            directory.mkdir(exist_ok=True)
            handle = _lock(directory / identity)
        if handle is None:
            raise RequestBusy(identity)
        try:
            yield _FileClaim(handle, directory / identity)
        finally:
            # Removed before the lock is released: a process that opened the file meanwhile detects that it is gone.
            (directory / identity).unlink(missing_ok=True)
            os.close(handle)

    def size_bytes(self) -> int:
        """Return the size of the file and those beside it."""
        sizes = 0
        for suffix in ("", "-wal", "-shm"):
            # The last process that closes the database removes the two.
            with suppress(FileNotFoundError):
                sizes += self._path.with_name(self._path.name + suffix).stat().st_size
        return sizes

    def _read_engine(self) -> Engine:
        return self._engine

    def _write_engine(self) -> Engine:
        return self._writer

    def _lock_schema(self, connection: Connection) -> None:
        """Do nothing: the transaction holds the write lock already."""


@dataclass(frozen=True)
class _FileClaim:
    """A locked file; the kernel holds the lock as long as the process has it open."""

    handle: int
    path: Path

    def is_held(self) -> bool:
        """Return whether the file was not removed: another one in its place could be locked."""
        return _is_at(self.handle, self.path)


def can_write(path: Path) -> bool:
    """Whether this user can write to the database or create it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK) if path.exists() else True


def _lock(path: Path) -> int | None:
    """Return the handle of the locked file, None if another process holds the lock."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        if _is_at(handle, path):
            return handle
        os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    """Whether the open file is still the one at that path: the previous holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _use_write_ahead_log(path: Path, busy_seconds: float) -> None:
    """Switch the file to WAL mode permanently; SQLite does not wait for locks here, so this function does."""
    deadline = time.monotonic() + busy_seconds
    with closing(sqlite3.connect(path, timeout=busy_seconds)) as connection:
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as fault:
                if fault.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                    raise
            time.sleep(0.02)


def _set_up(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    # `_begin` begins transactions, not the driver, so that DDL is transactional too.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


def _do_not_flush(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous = OFF")
    cursor.close()


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("zerolap_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
