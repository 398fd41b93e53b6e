"""The memory that a server says it uses: for all, at most so far, for its clients, and what its allocator adds."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from zerolap.resp_frames import Reply
from zerolap.server.connection import CommandRefused, number_in, parts_of
from zerolap.server.running_server import RunningServer

OWN_COMMANDS: Final = ("client", "info", "dbsize", "ping", "config")
"""The last commands of the lab's own connections, whose memory is no client's."""
FREEING_SECONDS: Final = 2.0
FREEING_POLL_SECONDS: Final = 0.01


@dataclass(frozen=True)
class UsedMemory:
    """What a server's allocator gave it, and at most so far; `fragmented` is what lies unused in pages of live data.

    These two are none where the server does not tell them. `pending` are objects that a thread of it still has to free.
    """

    used: int
    peak: int | None
    fragmented: int | None
    pending: int

    @classmethod
    def of(cls, fields: Mapping[str, str]) -> "UsedMemory | None":
        """Return what `INFO memory` reports; none where it does not."""
        used = number_in(fields, "used_memory")
        if used is None or used <= 0:
            return None
        allocated, active = number_in(fields, "allocator_allocated"), number_in(fields, "allocator_active")
        fragmented = None
        # Beside allocators that do not tell it, servers write what the process has.
        if "jemalloc" in fields.get("mem_allocator", "") and allocated and active is not None and active >= allocated:
            fragmented = active - allocated
        pending = number_in(fields, "lazyfree_pending_objects") or 0
        return cls(used, number_in(fields, "used_memory_peak"), fragmented, pending)


def read_used_memory(server: RunningServer) -> UsedMemory | None:
    """Return the memory that a server uses, once its threads have freed what is to be freed, or after a while.

    None where it does not report it. Raises `TrialFailed` if the server is gone.
    """
    end = time.monotonic() + FREEING_SECONDS
    while True:
        try:
            memory = UsedMemory.of(server.info("memory"))
        except CommandRefused:
            return None
        if memory is None or memory.pending <= 0 or time.monotonic() > end:
            return memory
        time.sleep(FREEING_POLL_SECONDS)


def remove_all_keys(server: RunningServer) -> bool:
    """Have a server remove all its keys before it answers; return whether it does that."""
    # Those of before 6.2 know no option for it, and always do.
    for command in (("FLUSHALL", "SYNC"), ("FLUSHALL",)):
        try:
            server.command(*command)
            return True
        except CommandRefused:
            continue
    return False


def read_client_memory(server: RunningServer) -> int | None:
    """Return what the server's clients but the lab's own take there; none where it does not report that, or has none.

    Raises `TrialFailed` if the server is gone.
    """
    try:
        return client_bytes(server.command("CLIENT", "LIST"))
    except CommandRefused:
        return None


def client_bytes(reply: Reply) -> int | None:
    """Return the sum of what clients take in a reply to `CLIENT LIST`, by their last command; none without any."""
    lines = reply.decode(errors="replace").splitlines() if isinstance(reply, bytes) else []
    clients = [parts_of(line.replace(" ", ",")) for line in lines]
    loads = [client for client in clients if client.get("cmd", "").partition("|")[0].lower() not in OWN_COMMANDS]
    sizes = [size for client in loads if (size := number_in(client, "tot-mem")) is not None]
    return sum(sizes) if sizes else None
