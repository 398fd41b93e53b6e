"""What a load tool gets and gives: the lab runs its program, on processors of its own, and measures the server."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from zerolap.records import Case


@dataclass(frozen=True)
class LoadWork:
    """What is to be sent, and where: so many requests of a case in all, to the server on the unix socket.

    The requests fill whole pipelines of all connections. `result` is a file that the program may write what it found
    to; `processors` are those that it runs on.
    """

    case: Case
    requests: int
    seed: int
    socket: Path
    result: Path
    processors: tuple[int, ...]


@dataclass(frozen=True)
class LoadOutcome:
    """What a program says it measured; none where it does not tell. Percentiles are of its replies, in microseconds."""

    requests: int
    ops_per_sec: float
    p50_us: float | None = None
    p99_us: float | None = None
    p99_9_us: float | None = None
    max_us: float | None = None
    errors: int | None = None

    def metrics(self) -> dict[str, float]:
        """Return the metrics by name, without those that are not told."""
        told = {
            "ops_per_sec": self.ops_per_sec,
            "latency_p50_us": self.p50_us,
            "latency_p99_us": self.p99_us,
            "latency_p99_9_us": self.p99_9_us,
            "latency_max_us": self.max_us,
        }
        return {name: value for name, value in told.items() if value is not None}


@runtime_checkable
class LoadTool(Protocol):
    """A program that puts load on a server; its name is that of its entry point."""

    def missing(self) -> str | None:
        """Return why it cannot be used on this machine, or none."""

    def command(self, work: LoadWork) -> list[str]:
        """Return the command line that sends the work; raises `CaseRefused` for what it cannot send."""

    def outcome(self, work: LoadWork, output: str) -> LoadOutcome:
        """Return what the program told, in its output or the work's result file.

        Raises `ValueError`, `KeyError`, `TypeError` or `OSError` where that is not to be found.
        """


def connection_requests(work: LoadWork) -> int:
    """Return the requests of each connection."""
    return max(1, work.requests // work.case.client.connections)
