"""What can go wrong with a store, told so that the user knows what to do."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from zerolap.records import EnvironmentMissing, ZerolapError

FULL_DISK_HINT = "free some space, or name a store on another disk with --store"
WRITABLE_HINT = "make it writable for this user, or name another store with --store"
DAMAGED_HINT = "move the file away to start a new store, or name another one with --store"
LOCKED_HINT = "wait for the other zerolap process to finish, or name another store with --store"

_UNWRITABLE = ("cannot write to the store {place}: {reason}", WRITABLE_HINT)
_LOCKED = ("the store {place} is locked by another process", LOCKED_HINT)
_SQLITE_FAULTS: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: ("the disk is full: cannot write to {place}", FULL_DISK_HINT),
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_NOTADB: ("{place} is not a SQLite database", DAMAGED_HINT),
    sqlite3.SQLITE_CORRUPT: ("the store {place} is damaged: {reason}", DAMAGED_HINT),
    sqlite3.SQLITE_READONLY: _UNWRITABLE,
    sqlite3.SQLITE_CANTOPEN: _UNWRITABLE,
    sqlite3.SQLITE_IOERR: _UNWRITABLE,
    sqlite3.SQLITE_PERM: _UNWRITABLE,
}


class AlreadyRecorded(ZerolapError):
    """The store holds this trial, comparison or run already; nothing was written."""


class BlobDamaged(ZerolapError):
    """A blob is missing or its content is not what its digest says."""


@contextmanager
def told(place: Path) -> Iterator[None]:
    """Turn faults of the disk and of SQLite at `place` into `EnvironmentMissing`; other faults pass unchanged."""
    try:
        yield
    except DBAPIError as fault:
        known = _of_sqlite(fault.orig, place)
        if known is None:
            raise
        raise known from fault
    except sqlite3.Error as fault:
        known = _of_sqlite(fault, place)
        if known is None:
            raise
        raise known from fault
    except OSError as fault:
        raise _of_system(fault, place) from fault


def _of_sqlite(fault: BaseException | None, place: Path) -> EnvironmentMissing | None:
    code = getattr(fault, "sqlite_errorcode", None)
    if code is None:
        return None
    # The low byte of an extended result code is the primary one: https://sqlite.org/rescode.html#pve
    primary = code & 0xFF
    if primary not in _SQLITE_FAULTS:
        return None
    message, hint = _SQLITE_FAULTS[primary]
    return EnvironmentMissing(message.format(place=place, reason=fault), hint=hint)


def _of_system(fault: OSError, place: Path) -> EnvironmentMissing:
    if fault.errno in (errno.ENOSPC, errno.EDQUOT):
        return EnvironmentMissing(f"the disk is full: cannot write to {place}", hint=FULL_DISK_HINT)
    reason = fault.strerror or str(fault)
    return EnvironmentMissing(f"cannot write to the store {place}: {reason}", hint=WRITABLE_HINT)
