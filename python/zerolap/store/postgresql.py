"""The store of several machines: a PostgreSQL database."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, func, make_url, select, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from zerolap.records import UsageError
from zerolap.store.database import Database, StoreLock
from zerolap.store.default_directory import DEFAULT_DIRECTORY
from zerolap.store.store_errors import RequestBusy, store_faults

SCHEMA_LOCK: Final = 0x7A65726F6C6170
"""The key of the lock that a process holds while it changes the schema: "zerolap" in ASCII."""
IDLE_TRANSACTION_SECONDS: Final = 60
"""How long a transaction may be idle, such as that of a process that was stopped, before the server ends its session.
"""
SILENT_SECONDS: Final = 30
"""How long a server may acknowledge no packet before the connection to it is given up."""


class PostgresqlDatabase(Database):
    """A database on a server. Readers see a single state throughout a transaction; claims are session locks."""

    def __init__(self, url: URL, busy_seconds: float) -> None:
        # Options may be secret, so only the host, or the socket's directory, and the port are shown.
        query = {name: value for name, value in url.query.items() if name in ("host", "port")}
        shown = url.set(drivername="postgresql", query=query).render_as_string()
        engine = _engine(url, busy_seconds, pool_pre_ping=True)
        super().__init__(shown, Path(DEFAULT_DIRECTORY), engine)
        self._reader = engine.execution_options(isolation_level="REPEATABLE READ")
        self._sessions = _engine(url, busy_seconds, poolclass=NullPool, isolation_level="AUTOCOMMIT")

    @classmethod
    def open(cls, url: URL, busy_seconds: float) -> "PostgresqlDatabase":
        """Connect, and create the tables if they do not exist.

        `busy_seconds` is how long to wait for the server and for locks of other sessions. Raises
        `EnvironmentMissing`.
        """
        database = cls(url, busy_seconds)
        with ExitStack() as unless_opened:
            unless_opened.callback(database.close)
            database.create_schema()
            unless_opened.pop_all()
        return database

    @contextmanager
    def claim(self, identity: str) -> Iterator[StoreLock]:
        """Hold an advisory lock on a separate connection; the server releases it when the connection ends."""
        with store_faults(self.address):
            session = self._sessions.connect()
        try:
            claim = _SessionClaim(session)
            with store_faults(self.address):
                # With these settings the server detects a lost client machine within two minutes.
                for setting, seconds in (("idle", 60), ("interval", 15), ("count", 4)):
                    session.execute(text(f"SET tcp_keepalives_{setting} = {seconds}"))
                locked = session.execute(select(func.pg_try_advisory_lock(_key_of(identity)))).scalar_one()
                claim.server_process = session.execute(select(func.pg_backend_pid())).scalar_one()
            if not locked:
                raise RequestBusy(identity)
            yield claim
        finally:
            claim.close()

    def size_bytes(self) -> int:
        """Return what the server says of the database."""
        with self.read_transaction() as connection:
            return int(connection.execute(select(func.pg_database_size(func.current_database()))).scalar_one())

    def _read_engine(self) -> Engine:
        return self._reader

    def _write_engine(self) -> Engine:
        return self._engine

    def _lock_schema(self, connection: Connection) -> None:
        connection.execute(select(func.pg_advisory_xact_lock(SCHEMA_LOCK)))


class _SessionClaim:
    """A lock that lasts as long as a session with the server."""

    def __init__(self, session: Connection) -> None:
        self.server_process = 0
        self._session = session
        self._is_lost = False
        self._in_use = threading.Lock()

    def is_held(self) -> bool:
        """Ask the server whether the session is the one that took the lock."""
        with self._in_use:
            if not self._is_lost:
                try:
                    process = self._session.execute(select(func.pg_backend_pid())).scalar_one()
                    self._is_lost = process != self.server_process
                except SQLAlchemyError:
                    self._is_lost = True
            return not self._is_lost

    def close(self) -> None:
        """End the session, unless a thread still waits for the server's answer: that ends with the process."""
        if self._in_use.acquire(blocking=False):
            self._session.close()


def parse_url(location: str) -> tuple[URL, str | None]:
    """Return the URL of a database, and that of its blobs if it names one; raises `UsageError`."""
    try:
        url = make_url(location)
    except (ArgumentError, ValueError) as fault:
        raise UsageError(
            f"not the URL of a database: {location!r}", hint="write postgresql://USER:PASSWORD@HOST/DATABASE"
        ) from fault
    blobs = url.query.get("blobs")
    if isinstance(blobs, tuple):
        raise UsageError("a store has one place for blobs", hint="give blobs= once")
    return url.difference_update_query(["blobs"]).set(drivername="postgresql+psycopg"), blobs


def _engine(url: URL, busy_seconds: float, **options: Any) -> Engine:
    seconds = max(1, round(busy_seconds))
    arguments = {
        "connect_timeout": seconds,
        "client_encoding": "utf8",
        "application_name": "zerolap",
        "keepalives_idle": SILENT_SECONDS,
        "keepalives_interval": SILENT_SECONDS // 3,
        "keepalives_count": 3,
        "tcp_user_timeout": SILENT_SECONDS * 1000,
    }
    engine = create_engine(url, connect_args={**arguments, **url.query}, **options)

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {max(1, round(busy_seconds * 1000))}")
            cursor.execute(f"SET idle_in_transaction_session_timeout = '{IDLE_TRANSACTION_SECONDS}s'")
        connection.commit()

    return engine


def _key_of(identity: str) -> int:
    """Return the 64-bit key of the lock of a request."""
    return int.from_bytes(hashlib.sha256(identity.encode()).digest()[:8], "big", signed=True)
