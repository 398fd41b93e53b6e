"""The server's own statistics: calls and time of the case's commands, reads and cycles of its event loop."""

import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from zerolap.records import TrialFailed

REPLY_SECONDS = 60
LONGEST_REPLY_BYTES = 1 << 20
"""Far more than servers send; a longer reply is refused."""
QUESTION = b"*2\r\n$4\r\nINFO\r\n$12\r\ncommandstats\r\n*2\r\n$4\r\nINFO\r\n$5\r\nstats\r\n"

QUESTION_VERB, QUESTIONS = "info", 2
ROW = "cmdstat_"

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
class ServerStatistics:
    """Totals since the server started; `reads` and `cycles` are None if the server does not report them."""

    calls: int
    usec: int
    reads: int | None
    cycles: int | None


class StatisticsReader:
    """Queries a server over a separate connection, as cheaply as possible: before and after every slice."""

    def __init__(self, path: Path, verbs: Sequence[str]) -> None:
        self._verbs = [verb.lower() for verb in verbs]
        self._buffer = b""
        self._own_calls = 0
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(REPLY_SECONDS)
        try:
            self._socket.connect(str(path))
        except OSError as fault:
            raise self._silent(fault) from fault

    def read(self) -> ServerStatistics:
        """Query the server; raises `TrialFailed` if it does not report the statistics."""
        try:
            self._socket.sendall(QUESTION)
            statistics = self._parsed(self._reply(), self._reply())
        except (OSError, KeyError, ValueError) as fault:
            raise self._silent(fault) from fault
        if QUESTION_VERB in self._verbs:
            # INFO is counted once it is answered, so the next query reports it.
            statistics = replace(statistics, calls=statistics.calls - self._own_calls)
            self._own_calls += QUESTIONS
        return statistics

    def _parsed(self, commands: dict[str, str], totals: dict[str, str]) -> ServerStatistics:
        calls = usec = 0
        for figures in rows_of(self._verbs, commands):
            fields = dict(part.split("=", 1) for part in figures.split(",") if "=" in part)
            calls += int(fields["calls"])
            usec += int(fields["usec"])
        reads, cycles = totals.get("total_reads_processed"), totals.get("eventloop_cycles")
        return ServerStatistics(
            calls=calls,
            usec=usec,
            reads=None if reads is None else int(reads),
            cycles=None if cycles is None else int(cycles),
        )

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _reply(self) -> dict[str, str]:
        """Return the fields of one bulk reply; raises `ValueError` for a reply of another type."""
        end = time.monotonic() + REPLY_SECONDS
        while b"\r\n" not in self._buffer:
            self._receive(end)
        head, _, self._buffer = self._buffer.partition(b"\r\n")
        if not head.startswith(b"$"):
            raise ValueError(head.decode(errors="replace"))
        length = int(head[1:])
        if not 0 <= length <= LONGEST_REPLY_BYTES:
            raise ValueError(f"a reply of {length} bytes")
        while len(self._buffer) < length + 2:
            self._receive(end)
        text, self._buffer = self._buffer[:length], self._buffer[length + 2 :]
        lines = (line.partition(":") for line in text.decode(errors="replace").splitlines())
        return {name: value for name, colon, value in lines if colon}

    def _receive(self, end: float) -> None:
        data = self._socket.recv(65536)
        if not data:
            raise ConnectionError("it closed the connection")
        self._buffer += data
        if time.monotonic() > end or len(self._buffer) > 3 * LONGEST_REPLY_BYTES:
            raise ValueError("no reply that could be read")

    def _silent(self, fault: Exception) -> TrialFailed:
        return TrialFailed(f"the server does not report what it executed: {fault}")


class SummedStatistics:
    """Queries several servers and sums their statistics."""

    def __init__(self, paths: Sequence[Path], verbs: Sequence[str]) -> None:
        self._readers = [StatisticsReader(path, verbs) for path in paths]

    def read(self) -> ServerStatistics:
        """Query all servers; raises `TrialFailed` if one does not report the statistics."""
        statistics = [reader.read() for reader in self._readers]
        return ServerStatistics(
            calls=sum(server.calls for server in statistics),
            usec=sum(server.usec for server in statistics),
            reads=_sum_of_all([server.reads for server in statistics]),
            cycles=_sum_of_all([server.cycles for server in statistics]),
        )

    def close(self) -> None:
        """Close the connections."""
        for reader in self._readers:
            reader.close()


def _sum_of_all(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
