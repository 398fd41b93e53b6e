"""Who has signed in to the pages, and until when."""

import time
from dataclasses import asdict, dataclass
from typing import Final

from sqlalchemy import delete, insert, select

from zerolap.store.database import Database
from zerolap.store.tables import session

MOST_SESSIONS: Final = 10_000
"""The most sessions that are kept, the newest: signing in again and again does not fill the disk."""


@dataclass(frozen=True)
class StoredSession:
    """Who has signed in, until `expires`, in seconds since the epoch.

    `digest` is the SHA-256 of the session. It is that of a person at GitHub, with a `login`, or of the token of the
    HTTP API that has the digest `token`; the other is empty.
    """

    digest: str
    login: str
    token: str
    created: float
    expires: float


class SessionRecords:
    """The sessions of a lab; its methods may be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, new: StoredSession) -> None:
        """Record a session; those that have expired, and the oldest beyond 10,000, are removed."""
        beyond = select(session.c.digest).order_by(session.c.created.desc()).offset(MOST_SESSIONS - 1)
        with self._database.write_transaction(is_change=False) as connection:
            connection.execute(delete(session).where(session.c.expires < time.time()))
            connection.execute(delete(session).where(session.c.digest.in_(beyond.scalar_subquery())))
            connection.execute(insert(session).values(**asdict(new)))

    def session(self, digest: str) -> StoredSession | None:
        """Return the session with that digest, none where there is none or it has expired."""
        is_meant = (session.c.digest == digest, session.c.expires >= time.time())
        with self._database.read_transaction() as connection:
            row = connection.execute(select(session).where(*is_meant)).first()
        return None if row is None else StoredSession(**row._mapping)

    def digests(self) -> set[str]:
        """Return the digests of all sessions that have not expired."""
        statement = select(session.c.digest).where(session.c.expires >= time.time())
        with self._database.read_transaction() as connection:
            return set(connection.execute(statement).scalars())

    def remove(self, digest: str) -> None:
        """End a session."""
        with self._database.write_transaction(is_change=False) as connection:
            connection.execute(delete(session).where(session.c.digest == digest))
