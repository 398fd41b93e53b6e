"""How much data a server holds, and the calls and errors that it counts."""

from collections.abc import Mapping, Sequence

from zerolap.records import ExecutedCalls, Held
from zerolap.server import ROW, CommandRefused, KeyLookUps, RunningServer, number_in, parts_of

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


def calls_counted(server: RunningServer) -> Mapping[str, ExecutedCalls]:
    """Return the server's own count of calls by the names of its rows in lower case, such as `xinfo|stream`.

    Empty where it does not report them.
    """
    rows = {name.removeprefix(ROW).lower(): parts_of(row) for name, row in _info(server, "commandstats").items()}
    return {
        name: ExecutedCalls(
            calls=number_in(row, "calls") or 0,
            failed=number_in(row, "failed_calls") or 0,
            rejected=number_in(row, "rejected_calls") or 0,
        )
        for name, row in rows.items()
    }


def calls_since(
    earlier: Mapping[str, ExecutedCalls], later: Mapping[str, ExecutedCalls], verbs: Sequence[str]
) -> dict[str, ExecutedCalls]:
    """Return the calls of each of the commands between two counts.

    A subcommand is counted in its own row, or in that of its container by servers that do not tell them apart.
    """
    since = {name: counts - earlier.get(name, ExecutedCalls()) for name, counts in later.items()}
    apart = {name.partition("|")[0] for name in later if "|" in name}
    found: dict[str, ExecutedCalls] = {}
    for verb in verbs:
        container, _, subcommand = verb.lower().partition(" ")
        row = f"{container}|{subcommand}" if subcommand and container in apart else container
        found[verb] = since.get(row, ExecutedCalls())
    return found


def keys_looked_up(server: RunningServer) -> KeyLookUps | None:
    """Return the keys that the server looked up to read them; none where it does not report them."""
    return KeyLookUps.of(_info(server, "stats"))


def keys_between(earlier: KeyLookUps | None, later: KeyLookUps | None) -> KeyLookUps | None:
    """Return what was looked up between two counts."""
    return None if earlier is None or later is None else later - earlier


def _info(server: RunningServer, section: str) -> dict[str, str]:
    """Return the fields of a section of INFO; empty if the server does not have the section."""
    try:
        return server.info(section)
    except CommandRefused:
        return {}
