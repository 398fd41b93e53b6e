"""How much a server holds, and the errors that it counts."""

from typing import Any

from zerolap.records import Held, TrialFailed
from zerolap.server import RunningServer

KEEPS_ALL = "noeviction"


def held_by(server: RunningServer) -> Held:
    """Ask a server; raises `TrialFailed` if it does not say how many keys it has."""
    memory = _info(server, "memory")
    return Held(
        keys=int(str(server.command("DBSIZE"))),
        expiring_keys=sum(int(one.get("expires", 0)) for one in _info(server, "keyspace").values()),
        data_bytes=memory.get("used_memory_dataset"),
        all_bytes=memory.get("used_memory"),
    )


def memory_limit_bytes(server: RunningServer) -> int | None:
    """Return the memory above which a server refuses writes; none where it has no limit, or drops keys instead."""
    memory = _info(server, "memory")
    limit = memory.get("maxmemory")
    return int(limit) if limit and memory.get("maxmemory_policy") == KEEPS_ALL else None


def errors_counted(server: RunningServer) -> int | None:
    """Return the errors since the start, those that scripts caught too; none before Redis 6.2, which does not count."""
    counted = _info(server, "stats").get("total_error_replies")
    return counted if isinstance(counted, int) else None


def _info(server: RunningServer, section: str) -> dict[str, Any]:
    """Return the fields of a section of INFO; empty where the server does not know it."""
    try:
        told = server.command("INFO", section)
    except TrialFailed:
        if not server.alive:
            raise
        return {}
    return told if isinstance(told, dict) else {}
