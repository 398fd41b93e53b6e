"""How much data a server holds, and the errors that it counts."""

from typing import Any

from zerolap.records import Held, TrialFailed
from zerolap.server import RunningServer

KEEPS_ALL = "noeviction"


def held_by(server: RunningServer) -> Held:
    """Return what a server holds; raises `TrialFailed` if it does not report its number of keys."""
    memory = _info(server, "memory")
    return Held(
        keys=int(str(server.command("DBSIZE"))),
        expiring_keys=sum(int(database.get("expires", 0)) for database in _info(server, "keyspace").values()),
        data_bytes=memory.get("used_memory_dataset"),
        all_bytes=memory.get("used_memory"),
    )


def memory_limit_bytes(server: RunningServer) -> int | None:
    """Return the memory above which a server refuses writes; None if it has no limit or evicts keys instead."""
    memory = _info(server, "memory")
    limit = memory.get("maxmemory")
    return int(limit) if limit and memory.get("maxmemory_policy") == KEEPS_ALL else None


def errors_counted(server: RunningServer) -> int | None:
    """Return the errors since the start, including those that scripts caught; None before Redis 6.2."""
    errors = _info(server, "stats").get("total_error_replies")
    return errors if isinstance(errors, int) else None


def _info(server: RunningServer, section: str) -> dict[str, Any]:
    """Return the fields of a section of INFO; empty if the server does not have the section."""
    try:
        fields = server.command("INFO", section)
    except TrialFailed:
        if not server.alive:
            raise
        return {}
    return fields if isinstance(fields, dict) else {}
