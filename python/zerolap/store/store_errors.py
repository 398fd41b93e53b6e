"""Errors of a store, with messages and hints for the user."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from sqlalchemy.exc import DBAPIError, IntegrityError, TimeoutError as PoolTimeout

from zerolap.records import EnvironmentMissing, UsageError, ZerolapError

FULL_DISK_HINT = "free some space, or name a store on another disk with --store"
WRITABLE_HINT = "make it writable for this user, or name another store with --store"
DAMAGED_HINT = "move the file away to start a new store, or name another one with --store"
LOCKED_HINT = "wait for the other zerolap process to finish, or name another store with --store"

_UNWRITABLE = ("cannot write to the store {address}: {reason}", WRITABLE_HINT)
_LOCKED = ("the store {address} is locked by another process", LOCKED_HINT)
_SQLITE_FAULTS: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: ("the disk is full: cannot write to {address}", FULL_DISK_HINT),
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_NOTADB: ("{address} is not a SQLite database", DAMAGED_HINT),
    sqlite3.SQLITE_CORRUPT: ("the store {address} is damaged: {reason}", DAMAGED_HINT),
    sqlite3.SQLITE_READONLY: _UNWRITABLE,
    sqlite3.SQLITE_CANTOPEN: _UNWRITABLE,
    sqlite3.SQLITE_IOERR: _UNWRITABLE,
    sqlite3.SQLITE_PERM: _UNWRITABLE,
}

_GRANT_HINT = "let the database's owner grant this user the right to write, or name another user in --store"
_SERVER_HINT = "start the server, or correct host and port in --store"
# By SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html
_POSTGRESQL_FAULTS: dict[str, tuple[str, str]] = {
    "53100": ("the disk of the server is full: cannot write to {address}", "free some space on the server"),
    "25006": ("cannot write to the store {address}: {reason}", _GRANT_HINT),
    "42501": ("cannot write to the store {address}: {reason}", _GRANT_HINT),
    "55P03": _LOCKED,
    "40P01": _LOCKED,
    "53300": ("the server of {address} has no free connection: {reason}", "raise its max_connections"),
}
# Faults of connecting carry no SQLSTATE, only the server's message.
_CONNECTION_HINTS: tuple[tuple[str, str], ...] = (
    ("password", "correct user and password in --store, or keep the password in ~/.pgpass or in PGPASSWORD"),
    ("authentication", "correct the user in --store, or the server's pg_hba.conf"),
    ("pg_hba.conf", "let the server's pg_hba.conf admit this user from this machine"),
    ("role", "create the user with createuser, or correct its name in --store"),
    ("database", "create the database with createdb, or correct its name in --store"),
)


class RequestBusy(UsageError):
    """Another process is working on this request."""

    def __init__(self, identity: str) -> None:
        super().__init__(
            f"{identity} is being worked on by another process", hint="wait until it has finished, or cancel it"
        )


class NotConductor(ZerolapError):
    """This process was the conductor of the store, and is not any more: it may write nothing, and has to end."""

    exit_code: ClassVar[int] = 3


class BlobDamaged(ZerolapError):
    """A blob is missing, or its content does not match its digest."""


@contextmanager
def store_faults(address: str) -> Iterator[None]:
    """Turn errors of disks, databases and servers at `address` into `EnvironmentMissing`; other errors pass unchanged.

    A row whose parent does not exist is a `UsageError`: a trial of an unknown job, a job of an unknown request.
    """
    try:
        yield
    except IntegrityError as fault:
        if not _is_parent_missing(fault.orig):
            raise
        raise UsageError(
            f"the store {address} holds no such request or job", hint="record the request and its job first"
        ) from fault
    except DBAPIError as fault:
        known = _of_sqlite(fault.orig, address) or _of_postgresql(fault, address)
        if known is None:
            raise
        raise known from fault
    except PoolTimeout as fault:
        raise EnvironmentMissing(f"the store {address} is busy: {fault}", hint="try again later") from fault
    except sqlite3.Error as fault:
        known = _of_sqlite(fault, address)
        if known is None:
            raise
        raise known from fault
    except OSError as fault:
        raise _of_system(fault, address) from fault


def _is_parent_missing(fault: BaseException | None) -> bool:
    code = getattr(fault, "sqlite_errorcode", None)
    return code == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY or getattr(fault, "sqlstate", None) == "23503"


def _of_sqlite(fault: BaseException | None, address: str) -> EnvironmentMissing | None:
    code = getattr(fault, "sqlite_errorcode", None)
    if code is None:
        return None
    # The low byte of an extended result code is the primary one: https://sqlite.org/rescode.html#pve
    primary = code & 0xFF
    if primary not in _SQLITE_FAULTS:
        return None
    message, hint = _SQLITE_FAULTS[primary]
    return EnvironmentMissing(message.format(address=address, reason=fault), hint=hint)


def _of_postgresql(fault: DBAPIError, address: str) -> EnvironmentMissing | None:
    state = getattr(fault.orig, "sqlstate", None)
    reason = str(fault.orig).strip().splitlines()[0] if str(fault.orig).strip() else type(fault.orig).__name__
    if state in _POSTGRESQL_FAULTS:
        message, hint = _POSTGRESQL_FAULTS[state]
        return EnvironmentMissing(message.format(address=address, reason=reason), hint=hint)
    # Class 08: connections; 28: authorization; 3D: database name; 57P: starting or stopping. psycopg sets no code if it
    # cannot connect.
    if not (state or "08").startswith(("08", "28", "3D", "57P")) or not any(
        kind.__name__ == "OperationalError" for kind in type(fault.orig).__mro__
    ):
        return None
    hint = next((hint for word, hint in _CONNECTION_HINTS if word in reason), _SERVER_HINT)
    return EnvironmentMissing(f"no connection to the store {address}: {reason}", hint=hint)


def _of_system(fault: OSError, address: str) -> EnvironmentMissing:
    if fault.errno in (errno.ENOSPC, errno.EDQUOT):
        return EnvironmentMissing(f"the disk is full: cannot write to {address}", hint=FULL_DISK_HINT)
    reason = fault.strerror or str(fault)
    return EnvironmentMissing(f"cannot write to the store {address}: {reason}", hint=WRITABLE_HINT)
