"""Which processors the server and the client of a trial run on."""

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
    """The processors of each part; `oversubscribed` where busy threads have to share one."""

    server: tuple[int, ...]
    client: tuple[int, ...]
    sharing: Sharing
    oversubscribed: bool

    @property
    def is_clean(self) -> bool:
        """Whether server and client stay out of each other's way: no timed verdict holds otherwise."""
        return not self.oversubscribed and self.sharing in {Sharing.CACHE, Sharing.NOTHING}


def choose_pinning(machine: Processors, server_threads: int = 1, client_threads: int = 1) -> Pinning:
    """Give every busy thread a physical core of its own, near the others, as far as there are enough.

    The server comes first, takes one processor a core and avoids the core of the lowest number, which serves most
    interrupts. Where cores run out, siblings are used and `sharing` says so; where processors run out, threads share.

    Raises:
        ValueError: there are no processors, or a number of threads is below 1.
    """
    if server_threads < 1 or client_threads < 1:
        raise ValueError("server and client have at least one thread each")
    if not machine.processors:
        raise ValueError("no processor is usable")
    needed = server_threads + client_threads
    places = _by_core(machine)
    if len(places) < needed:
        places += _siblings(machine)
    oversubscribed = len(places) < needed
    if len(places) == 1:
        return Pinning(tuple(places), tuple(places), Sharing.PROCESSOR, oversubscribed)
    # The client keeps at least one place of its own: a client that waits measures nothing.
    server = places[: min(server_threads, len(places) - 1)]
    client = places[len(server) : len(server) + client_threads]
    return Pinning(tuple(sorted(server)), tuple(sorted(client)), _sharing(machine, server, client), oversubscribed)


def _by_core(machine: Processors) -> list[int]:
    """One processor a core: the caches with most cores first, within each the core of interrupts last."""
    cache_of = {processor.core: processor.cache for processor in machine.processors}
    cores_under = {cache: [core for core in cache_of if cache_of[core] == cache] for cache in cache_of.values()}
    busiest = min(machine.cores)

    def rank(core: int) -> tuple[int, int, bool, int]:
        cache = cache_of[core]
        return (-len(cores_under[cache]), cache, core == busiest, core)

    return [machine.on_core(core)[0] for core in sorted(machine.cores, key=rank)]


def _siblings(machine: Processors) -> list[int]:
    """The further processors of each core, those of the client's cores first."""
    first = _by_core(machine)
    core_of = {processor.number: processor.core for processor in machine.processors}
    return [number for place in reversed(first) for number in machine.on_core(core_of[place])[1:]]


def _sharing(machine: Processors, server: list[int], client: list[int]) -> Sharing:
    of = {processor.number: processor for processor in machine.processors}
    if {of[number].core for number in server} & {of[number].core for number in client}:
        return Sharing.CORE
    if {of[number].cache for number in server} & {of[number].cache for number in client}:
        return Sharing.CACHE
    return Sharing.NOTHING
