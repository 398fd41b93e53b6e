"""How much data a server holds, and the errors that it counts."""

from zerolap.records import Held
from zerolap.server import CommandRefused, RunningServer, number_in, parts_of

KEEPS_ALL = "noeviction"
MOST_COUNTED_KEYS = 100
"""Of more keys the elements are not counted."""
LENGTHS = {
    b"string": "STRLEN",
    b"list": "LLEN",
    b"set": "SCARD",
    b"zset": "ZCARD",
    b"hash": "HLEN",
    b"stream": "XLEN",
}
"""Commands that count the elements of a key, by its type."""


def held_by(server: RunningServer) -> Held:
    """Return what a server holds; raises `TrialFailed` if it does not report its number of keys."""
    memory = _info(server, "memory")
    databases = map(parts_of, _info(server, "keyspace").values())
    keys = server.count_keys()
    return Held(
        keys=keys,
        expiring_keys=sum(number_in(database, "expires") or 0 for database in databases),
        elements=_elements(server) if keys <= MOST_COUNTED_KEYS else None,
        data_bytes=number_in(memory, "used_memory_dataset"),
        all_bytes=number_in(memory, "used_memory"),
    )


def _elements(server: RunningServer) -> int | None:
    """Return the elements of all keys; None where the server does not count those of one."""
    total = 0
    try:
        keys = server.command("KEYS", "*")
        for key in keys if isinstance(keys, list) else []:
            if not isinstance(key, bytes):
                return None
            kind = server.command("TYPE", key)
            length = LENGTHS.get(kind) if isinstance(kind, bytes) else None
            count = None if length is None else server.command(length, key)
            if not isinstance(count, int):
                return None
            total += count
    except CommandRefused:
        return None
    return total


def memory_limit_bytes(server: RunningServer) -> int | None:
    """Return the memory above which a server refuses writes; None if it has no limit or evicts keys instead."""
    memory = _info(server, "memory")
    limit = number_in(memory, "maxmemory")
    return limit if limit and memory.get("maxmemory_policy") == KEEPS_ALL else None


def errors_counted(server: RunningServer) -> int | None:
    """Return the errors since the start, including those that scripts caught; None before Redis 6.2."""
    return number_in(_info(server, "stats"), "total_error_replies")


def _info(server: RunningServer, section: str) -> dict[str, str]:
    """Return the fields of a section of INFO; empty if the server does not have the section."""
    try:
        return server.info(section)
    except CommandRefused:
        return {}
