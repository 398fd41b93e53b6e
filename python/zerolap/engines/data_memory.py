"""The bytes of the data in a counted trial: what the server uses with it, and no longer uses without it."""

from collections.abc import Callable
from typing import Final

from zerolap.server import RunningServer, UsedMemory, read_client_memory, read_used_memory, remove_all_keys

READINGS: Final = 2
"""Readings of the empty server: the first makes it allocate what it keeps for each command that it has ever had."""


class DataMemory:
    """Reads the memory of a server whose clock stands still, so that the same build gives the same bytes.

    The lab has one connection whenever all of the memory is read, so that what clients take is not in the difference.
    """

    def __init__(self, server: RunningServer) -> None:
        self._server = server
        self._empty: UsedMemory | None = None
        self._clients: int | None = None

    def read_empty(self) -> None:
        """Note what the server uses before it has any data."""
        remove_all_keys(self._server)
        for _ in range(READINGS):
            self._empty = read_used_memory(self._server)
            self._server.count_keys()

    def read_clients(self) -> None:
        """Note what the clients of the load take while they are connected."""
        self._clients = None if self._empty is None else read_client_memory(self._server)

    def metrics(self, settle: Callable[[], object]) -> dict[str, float]:
        """Return the figures of the data, which are removed; nothing where the server does not report its memory.

        All clients have left. `settle` lets the server's timers finish what they do to its data, such as a table half
        way to its new size. What the server used more than when it was empty may be lost, and no key's: the bytes of a
        key are those that are free without the keys. Where a server does not remove them, they are all that it uses.
        """
        if self._empty is None:
            return {}
        settle()
        full, keys = read_used_memory(self._server), self._server.count_keys()
        if full is None:
            return {}
        used = max(0, full.used - self._empty.used)
        metrics = {"used_memory_bytes": float(used)}
        if full.peak is not None:
            metrics["peak_memory_bytes"] = float(max(used, full.peak - self._empty.used))
        if full.fragmented is not None:
            metrics["allocator_overhead_bytes"] = float(full.fragmented)
        if self._clients is not None:
            metrics["client_memory_bytes"] = float(self._clients)
        if keys > 0:
            without = read_used_memory(self._server) if remove_all_keys(self._server) else self._empty
            of_keys = 0 if without is None else full.used - without.used
            metrics["memory_bytes_per_key"] = max(0, of_keys) / keys
        return metrics
