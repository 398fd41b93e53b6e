"""Opening the database: where it lies, how SQLite is set up, and bringing its schema up to date."""

import os
import sqlite3
import time
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from zerolap.records import EnvironmentMissing, UsageError
from zerolap.store.faults import told
from zerolap.store.tables import REVISION

DEFAULT_DIRECTORY = ".zerolap"
DATABASE_FILE = "zerolap.db"
URL_PREFIX = "sqlite:///"
MIGRATIONS = Path(__file__).parent / "migrations"


def database_path(location: str | None) -> Path:
    """Return the database file that `location` names: a directory, or a `sqlite:///FILE` URL.

    Raises `UsageError` for another kind of URL.
    """
    if location is None:
        return Path(DEFAULT_DIRECTORY) / DATABASE_FILE
    if location.startswith(URL_PREFIX):
        name = location.removeprefix(URL_PREFIX)
        if name and name != ":memory:":
            return Path(name)
    if not location or "://" in location or location.startswith("sqlite:"):
        raise UsageError(f"no such kind of store: {location!r}", hint="name a directory, or a file as sqlite:///FILE")
    return Path(location) / DATABASE_FILE


def open_database(path: Path, busy_seconds: float) -> Engine:
    """Open the database at `path`, creating it where there is none, with its schema up to date.

    `busy_seconds` is how long to wait for another process's write. Raises `EnvironmentMissing`.
    """
    with told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.parent.name == DEFAULT_DIRECTORY and not (path.parent / ".gitignore").exists():
            (path.parent / ".gitignore").write_text("*\n")
        _use_write_ahead_log(path, busy_seconds)
    engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": busy_seconds})
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    with ExitStack() as unless_opened:
        unless_opened.callback(engine.dispose)
        with told(path):
            _bring_up_to_date(engine, path)
        unless_opened.pop_all()
    return engine


def open_to_read(path: Path) -> Engine:
    """Open a database that this user cannot write to, as it is; raises `EnvironmentMissing`.

    Immutable to SQLite: reading in WAL mode would write beside it otherwise. What is recorded meanwhile is not seen.
    """
    location = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
    engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(location, uri=True))
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    with told(path), engine.begin() as connection:
        stored = _stored_revision(connection, path)
    if stored != REVISION:
        raise EnvironmentMissing(
            f"the store {path} was written by another version of zerolap, and this user cannot bring it up to date",
            hint="let its owner open it with this version",
        )
    return engine


def can_write(path: Path) -> bool:
    """Whether this user can write to the database, or make it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK) if path.exists() else True


def writing(engine: Engine) -> Engine:
    """Return the engine whose transactions take the write lock when they begin, so that none fails half-way for it."""
    return engine.execution_options(zerolap_writes=True)


def _use_write_ahead_log(path: Path, busy_seconds: float) -> None:
    """Switch the file to WAL, which stays; SQLite does not wait for locks here, so this does."""
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
    # The driver is to begin no transactions by itself, so that DDL is transactional too: `_begin` does it.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("zerolap_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _bring_up_to_date(engine: Engine, path: Path) -> None:
    with engine.begin() as connection:
        if _stored_revision(connection, path) == REVISION:
            return
    with writing(engine).begin() as connection:
        _upgrade(connection, path)


def _stored_revision(connection: Connection, path: Path) -> str | None:
    """Return the revision in the database, None in an empty one; raises for a database of something else."""
    names = {row.name for row in connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'"))}
    if "alembic_version" not in names:
        if names:
            raise EnvironmentMissing(f"{path} is a database of another program", hint="name another store with --store")
        return None
    revision: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return revision


def _upgrade(connection: Connection, path: Path) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    stored = _stored_revision(connection, path)
    if stored is not None and stored not in known:
        raise EnvironmentMissing(
            f"the store {path} was written by a newer zerolap (revision {stored}, newest known {REVISION})",
            hint="upgrade zerolap, or name another store with --store",
        )
    command.upgrade(config, "head")
