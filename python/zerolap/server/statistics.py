"""The server's own statistics: calls and time of the case's commands, reads and cycles of its event loop."""

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from zerolap.records import TrialFailed
from zerolap.server.connection import CommandConnection, info_fields, number_in, parts_of
from zerolap.server.server_login import ServerLogin

QUESTION = b"*2\r\n$4\r\nINFO\r\n$12\r\ncommandstats\r\n*2\r\n$4\r\nINFO\r\n$5\r\nstats\r\n"

QUESTION_VERB, QUESTIONS = "info", 2
ROW = "cmdstat_"
SILENT = "the server does not report what it executed"

RowT = TypeVar("RowT")


def rows_of(verbs: Sequence[str], commands: Mapping[str, RowT]) -> list[RowT]:
    """Return the rows of `INFO commandstats` that count these commands, each once.

    A subcommand is counted in its own row, `cmdstat_xinfo|stream`, or in that of its container, `cmdstat_xinfo`, by
    servers that do not count subcommands, as before Redis 7. A command without a subcommand is counted in its row and
    in those of its subcommands.
    """
    rows = {name.removeprefix(ROW).lower(): row for name, row in commands.items() if name.startswith(ROW)}
    counted = {name.partition("|")[0] for name in rows if "|" in name}
    wanted: set[str] = set()
    for verb in map(str.lower, verbs):
        container, _, subcommand = verb.partition(" ")
        if not subcommand:
            wanted.update(name for name in rows if name.partition("|")[0] == verb)
        elif container in counted:
            wanted.add(f"{container}|{subcommand}")
        else:
            wanted.add(container)
    return [row for name, row in rows.items() if name in wanted]


@dataclass(frozen=True)
class KeyLookUps:
    """Keys that the server looked up to read them, by its own count: those that were there, and those that were not."""

    hits: int
    misses: int

    def __add__(self, other: "KeyLookUps") -> "KeyLookUps":
        return KeyLookUps(self.hits + other.hits, self.misses + other.misses)

    def __sub__(self, earlier: "KeyLookUps") -> "KeyLookUps":
        return KeyLookUps(self.hits - earlier.hits, self.misses - earlier.misses)

    @classmethod
    def of(cls, totals: Mapping[str, str]) -> "KeyLookUps | None":
        """Return what `INFO stats` reports; none where it does not."""
        hits, misses = number_in(totals, "keyspace_hits"), number_in(totals, "keyspace_misses")
        return None if hits is None or misses is None else cls(hits, misses)

    @property
    def missing_share(self) -> float:
        """The share of keys that were not there; 0 where none was looked up."""
        return self.misses / max(1, self.hits + self.misses)


@dataclass(frozen=True)
class ServerStatistics:
    """Totals since the server started; `keys`, `reads` and `cycles` are None if the server does not report them."""

    calls: int
    usec: int
    keys: KeyLookUps | None
    reads: int | None
    cycles: int | None

    def __add__(self, other: "ServerStatistics") -> "ServerStatistics":
        return self._combined(operator.add, other)

    def __sub__(self, earlier: "ServerStatistics") -> "ServerStatistics":
        return self._combined(operator.sub, earlier)

    def _combined(self, combine: Callable[[Any, Any], Any], other: "ServerStatistics") -> "ServerStatistics":
        pairs = [(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)]
        values: list[Any] = [None if None in pair else combine(*pair) for pair in pairs]
        return ServerStatistics(*values)


class StatisticsReader:
    """Queries a server over a separate connection, as cheaply as possible: before and after every slice."""

    def __init__(self, path: Path, verbs: Sequence[str], login: ServerLogin | None = None) -> None:
        self._verbs = [verb.lower() for verb in verbs]
        self._own_calls = 0
        self._connection = CommandConnection(path, login=login)

    def read(self) -> ServerStatistics:
        """Query the server; raises `TrialFailed` if it does not report the statistics."""
        try:
            self._connection.send(QUESTION)
            commands, totals = info_fields(self._connection.reply()), info_fields(self._connection.reply())
        except TrialFailed as fault:
            raise TrialFailed(f"{SILENT}: {fault.message}") from fault
        statistics = self._parsed(commands, totals)
        if QUESTION_VERB in self._verbs:
            # INFO is counted once it is answered, so the next query reports it.
            statistics = replace(statistics, calls=statistics.calls - self._own_calls)
            self._own_calls += QUESTIONS
        return statistics

    def _parsed(self, commands: Mapping[str, str], totals: Mapping[str, str]) -> ServerStatistics:
        calls = usec = 0
        for figures in rows_of(self._verbs, commands):
            parts = parts_of(figures)
            calls_of_row, usec_of_row = number_in(parts, "calls"), number_in(parts, "usec")
            if calls_of_row is None or usec_of_row is None:
                raise TrialFailed(f"{SILENT}: {figures[:80]!r} has no calls and time")
            calls += calls_of_row
            usec += usec_of_row
        return ServerStatistics(
            calls=calls,
            usec=usec,
            keys=KeyLookUps.of(totals),
            reads=number_in(totals, "total_reads_processed"),
            cycles=number_in(totals, "eventloop_cycles"),
        )

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class SummedStatistics:
    """Queries several servers and sums their statistics."""

    def __init__(self, readers: Sequence[StatisticsReader]) -> None:
        self._readers = readers

    def read(self) -> ServerStatistics:
        """Query all servers; raises `TrialFailed` if one does not report the statistics."""
        return functools.reduce(operator.add, [reader.read() for reader in self._readers])

    def close(self) -> None:
        """Close the connections."""
        for reader in self._readers:
            reader.close()
