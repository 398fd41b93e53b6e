"""Stores of tests without what only a loss of power or a first start would show.

A new store is a copy of an empty one, and nothing is flushed to the disk: the kernel keeps what a killed process wrote.
"""

import os
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from zerolap.store import sqlite

BUSY_SECONDS = 60.0
SQLITE_SET_UP = sqlite._set_up
"""How a connection to SQLite is set up for users."""


def make_stores_quick() -> None:
    """Have all stores that this process opens, and those that it forks, made and written to without waiting."""
    created = sqlite.SqliteDatabase.open
    with tempfile.TemporaryDirectory() as directory:
        made = Path(directory, "store")
        created(made, BUSY_SECONDS).close()
        empty_store = made.read_bytes()

    def set_up_without_flushing(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        SQLITE_SET_UP(connection, _)
        cursor = connection.cursor()
        cursor.execute("PRAGMA synchronous = OFF")
        cursor.close()

    def opened(path: Path, busy_seconds: float, *, is_temporary: bool = False) -> sqlite.SqliteDatabase:
        # What cannot be put there is refused as it is elsewhere.
        with suppress(OSError):
            if not path.exists():
                _put_new(path, empty_store)
        return created(path, busy_seconds, is_temporary=is_temporary)

    def not_flushed(_: int) -> None:
        pass

    os.fsync = not_flushed  # type: ignore[assignment]
    sqlite._set_up = set_up_without_flushing
    sqlite.SqliteDatabase.open = opened  # type: ignore[method-assign]


def _put_new(path: Path, content: bytes) -> None:
    """Write a file in one step, unless there is one by then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = Path(f"{path}-{os.getpid()}-{threading.get_ident()}")
    part.write_bytes(content)
    with suppress(FileExistsError):
        os.link(part, path)
    part.unlink()
