"""What a server says of itself: calls and time of the case's commands, reads and cycles of its event loop."""

from dataclasses import dataclass

import redis

from zerolap.cases import Case
from zerolap.records import TrialFailed
from zerolap.server import RunningServer


@dataclass(frozen=True)
class ServerStatistics:
    """Totals since the server began; `reads` and `cycles` are none where the server does not tell them."""

    calls: int
    usec: int
    reads: int | None
    cycles: int | None


def read_statistics(server: RunningServer, case: Case) -> ServerStatistics:
    """Ask the server; raises `TrialFailed` if it does not tell."""
    try:
        commands = server.client.info("commandstats")
        totals = server.client.info("stats")
    except redis.RedisError as fault:
        raise TrialFailed(f"the server does not say what it executed: {fault}") from fault
    verbs = {verb.lower() for verb in case.verbs}
    calls = usec = 0
    for name, figures in commands.items():
        if name.removeprefix("cmdstat_").split("|")[0] in verbs:
            calls += int(figures["calls"])
            usec += int(figures["usec"])
    return ServerStatistics(
        calls=calls,
        usec=usec,
        reads=_count(totals.get("total_reads_processed")),
        cycles=_count(totals.get("eventloop_cycles")),
    )


def _count(value: object) -> int | None:
    return None if value is None else int(str(value))
