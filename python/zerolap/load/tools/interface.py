"""The interface of load tools: the lab runs the program, on separate processors, and measures the server."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from zerolap.records import Case
from zerolap.server import ServerLogin


@dataclass(frozen=True)
class LoadWork:
    """What to send, and where: `requests` requests of a case in all, to the server on the unix socket.

    The requests fill whole pipelines of all connections. `result` is a file that the program may write its results to;
    `processors` are those that it runs on.
    """

    case: Case
    requests: int
    seed: int
    socket: Path
    result: Path
    processors: tuple[int, ...]
    login: ServerLogin | None = None


@dataclass(frozen=True)
class LoadOutcome:
    """What a program measured; None for what it does not report. Percentiles are of its replies, in microseconds."""

    requests: int
    ops_per_sec: float
    p50_us: float | None = None
    p99_us: float | None = None
    p99_9_us: float | None = None
    max_us: float | None = None
    errors: int | None = None

    def metrics(self) -> dict[str, float]:
        """Return the reported metrics by name."""
        metrics = {
            "ops_per_sec": self.ops_per_sec,
            "latency_p50_us": self.p50_us,
            "latency_p99_us": self.p99_us,
            "latency_p99_9_us": self.p99_9_us,
            "latency_max_us": self.max_us,
        }
        return {name: value for name, value in metrics.items() if value is not None}


@runtime_checkable
class LoadTool(Protocol):
    """A program that puts load on a server, named by its entry point."""

    def missing(self) -> str | None:
        """Return why the program cannot be used on this machine, or None."""

    def command(self, work: LoadWork) -> list[str]:
        """Return the command line that sends the work; raises `CaseRefused` for what it cannot send."""

    def outcome(self, work: LoadWork, output: str) -> LoadOutcome:
        """Return what the program reports in its output or in the work's result file.

        Raises `ValueError`, `KeyError`, `TypeError` or `OSError` if it reports no result.
        """


def connection_requests(work: LoadWork) -> int:
    """Return the requests of each connection."""
    return max(1, work.requests // work.case.client.connections)
