"""When it was that what is recorded was asked for or seen: for data that are brought in later, as made-up ones are."""

from sqlalchemy import update

from zerolap.store.database import Database
from zerolap.store.tables import agent, platform_facts, request


class DatedRecords:
    """Changes the times that the store gives to what it records; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def request(self, identity: str, submitted: float, ended: float | None) -> None:
        """Set when a request was submitted and when it ended, in seconds since the epoch."""
        with self._database.write_transaction() as connection:
            values = {"submitted": submitted, "ended": ended}
            connection.execute(update(request).where(request.c.id == identity).values(**values))

    def platform_state(self, fingerprint: str, facts_digest: str, first_seen: str) -> None:
        """Set when a state of a platform was seen first (ISO 8601, UTC)."""
        is_meant = (platform_facts.c.fingerprint == fingerprint, platform_facts.c.digest == facts_digest)
        with self._database.write_transaction() as connection:
            connection.execute(update(platform_facts).where(*is_meant).values(first_seen=first_seen))

    def seen_agents(self, names: list[str], seen: float) -> None:
        """Set when agents reported last, in seconds since the epoch."""
        with self._database.write_transaction(is_change=False) as connection:
            connection.execute(update(agent).where(agent.c.name.in_(names)).values(seen=seen))
