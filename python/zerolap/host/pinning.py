"""The processors that the server and the client of a trial run on."""

from dataclasses import dataclass
from enum import StrEnum

from zerolap.host.processors import Processors


class Sharing(StrEnum):
    """What server and client share, from best to worst."""

    CACHE = "cache"
    NOTHING = "nothing"
    CORE = "core"
    PROCESSOR = "processor"


@dataclass(frozen=True)
class Pinning:
    """The processors of server and client; `oversubscribed` if busy threads have to share one."""

    server: tuple[int, ...]
    client: tuple[int, ...]
    sharing: Sharing
    oversubscribed: bool

    @property
    def is_clean(self) -> bool:
        """Whether server and client share no processor or core, which timed verdicts need."""
        return not self.oversubscribed and self.sharing in {Sharing.CACHE, Sharing.NOTHING}


def choose_pinning(machine: Processors, server_threads: int = 1, client_threads: int = 1) -> Pinning:
    """Assign every busy thread a separate physical core, near the others, as long as there are enough.

    The server is assigned first: one processor per core, and the core of the lowest number, which serves most
    interrupts, last. If there are too few cores, siblings are used, see `sharing`; if there are too few processors,
    threads share them. Without client threads, all processors are the server's to choose from.

    Raises:
        ValueError: there are no processors, there is no server thread, or a negative number of client threads.
    """
    if server_threads < 1 or client_threads < 0:
        raise ValueError("the server has at least one thread, the client none or some")
    if not machine.processors:
        raise ValueError("no processor is usable")
    needed = server_threads + client_threads
    places = _by_core(machine)
    if len(places) < needed:
        places += _siblings(machine)
    oversubscribed = len(places) < needed
    if not client_threads:
        server = places[:server_threads]
        return Pinning(tuple(sorted(server)), (), _sharing(machine, server, []), oversubscribed)
    if len(places) == 1:
        return Pinning(tuple(places), tuple(places), Sharing.PROCESSOR, oversubscribed)
    # The client keeps at least one processor to itself: a client that waits measures nothing.
    server = places[: min(server_threads, len(places) - 1)]
    client = places[len(server) : len(server) + client_threads]
    return Pinning(tuple(sorted(server)), tuple(sorted(client)), _sharing(machine, server, client), oversubscribed)


def _by_core(machine: Processors) -> list[int]:
    """Return one processor per core: the caches with most cores first, the core of interrupts last within its cache."""
    cache_of = {processor.core: processor.cache for processor in machine.processors}
    cores_under = {cache: [core for core in cache_of if cache_of[core] == cache] for cache in cache_of.values()}
    busiest = min(machine.cores)

    def rank(core: int) -> tuple[int, int, bool, int]:
        cache = cache_of[core]
        return (-len(cores_under[cache]), cache, core == busiest, core)

    return [machine.on_core(core)[0] for core in sorted(machine.cores, key=rank)]


def _siblings(machine: Processors) -> list[int]:
    """Return the other processors of each core, those of the client's cores first."""
    first = _by_core(machine)
    core_of = {processor.number: processor.core for processor in machine.processors}
    return [number for place in reversed(first) for number in machine.on_core(core_of[place])[1:]]


def _sharing(machine: Processors, server: list[int], client: list[int]) -> Sharing:
    by_number = {processor.number: processor for processor in machine.processors}
    cores = {by_number[number].core for number in server}
    if len(cores) < len(server) or cores & {by_number[number].core for number in client}:
        return Sharing.CORE
    if {by_number[number].cache for number in server} & {by_number[number].cache for number in client}:
        return Sharing.CACHE
    return Sharing.NOTHING
