"""Tools in turn on one server, again and again."""

import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from benches.figures import Figure
from benches.load.data import DataServer, data_server
from benches.load.effort import Effort
from benches.load.process import run_client
from benches.load.tools import OWN, Load, Reported, Tool, missing_notes

CALIBRATION_REQUESTS = 20_000


@dataclass(frozen=True)
class Run:
    """One run of a tool; `requests` were counted by the server."""

    requests: int
    cpu_seconds: float
    seconds: float
    told: Reported

    def requests_per_cpu_second(self) -> float:
        """Return how many requests the tool sent for each second of its CPU time."""
        return self.requests / self.cpu_seconds

    def p50_us(self) -> float:
        """Return the median latency that the tool reported."""
        return self.told.p50_us

    def p99_us(self) -> float:
        """Return the 99th percentile of latencies that the tool reported."""
        return self.told.p99_us


@dataclass(frozen=True)
class Rounds:
    """The runs of all tools under one load, by tool, in the order of rounds."""

    load: Load
    runs: dict[str, list[Run]]
    notes: list[str]

    def higher_is_better(self, unit: str, quantity: Callable[[Run], float]) -> Figure:
        """Return our median over the highest median of a peer."""
        return self.ratio(unit, quantity, max)

    def lower_is_better(self, unit: str, quantity: Callable[[Run], float]) -> Figure:
        """Return our median over the lowest median of a peer."""
        return self.ratio(unit, quantity, min)

    def ratio(self, unit: str, quantity: Callable[[Run], float], best: Callable[[list[float]], float]) -> Figure:
        """Return our median of a quantity over that of the best peer."""
        values = {name: [quantity(run) for run in runs] for name, runs in self.runs.items()}
        own = values.pop(OWN)
        medians = {name: statistics.median(of_peer) for name, of_peer in values.items()}
        return Figure(
            value=statistics.median(own) / best(list(medians.values())),
            unit=unit,
            samples=own,
            trials=len(own),
            peers=values,
            notes=[
                f"{OWN} {statistics.median(own):.6g}",
                *(f"{name} {median:.6g}" for name, median in medians.items()),
                *self.notes,
            ],
        )

    def throughput(self) -> Figure:
        """Return our throughput, and all that the tools reported."""
        own = self.runs[OWN]
        return Figure(
            value=statistics.median(run.told.per_second for run in own),
            unit="requests/s",
            samples=[{"tool": name, **asdict(run)} for name, runs in self.runs.items() for run in runs],
            trials=len(own),
            peers={name: [run.told.per_second for run in runs] for name, runs in self.runs.items() if name != OWN},
            notes=[f"{self.load.requests} requests a run", *self.notes],
        )


def run_tool(tool: Tool, server: DataServer, load: Load) -> Run:
    """Run a tool once; raises `ValueError` if it asked for a key that is not there."""
    hits_before, misses_before = server.lookups()
    with tempfile.TemporaryDirectory() as directory:
        document = Path(directory) / "document.json"
        finished = run_client(tool.command(server.port, load, document))
        reported = tool.read(document.read_text() if tool.writes_document else finished.output)
    hits, misses = server.lookups()
    if misses != misses_before:
        raise ValueError(f"{tool.name} asked for {misses - misses_before} keys that are not there")
    requests = hits - hits_before
    if requests < load.requests:
        raise ValueError(f"{tool.name} sent {requests} requests of {load.requests}")
    return Run(requests, finished.cpu_seconds, finished.seconds, reported)


def run_rounds(tools: list[Tool], load: Load, effort: Effort) -> Rounds:
    """Run all tools in each round, each round in another order; a load of 0 requests is made to last long enough."""
    runs: dict[str, list[Run]] = {tool.name: [] for tool in tools}
    with data_server() as server:
        if load.requests == 0:
            load = lasting(tools[0], server, load, effort.run_seconds)
        for number in range(effort.rounds):
            first = number % len(tools)
            for tool in tools[first:] + tools[:first]:
                runs[tool.name].append(run_tool(tool, server, load))
            print(f"{load}: round {number + 1} of {effort.rounds}", file=sys.stderr)
    return Rounds(load, runs, [*missing_notes(tools), *effort.notes])


def lasting(tool: Tool, server: DataServer, load: Load, seconds: float) -> Load:
    """Return the load with as many requests as a tool sends in so many seconds, in whole pipelines."""
    per_second = load.per_second
    if per_second is None:
        trial = Load(CALIBRATION_REQUESTS, load.connections, load.pipeline)
        # The first run finds cold caches.
        run_tool(tool, server, trial)
        per_second = round(run_tool(tool, server, trial).told.per_second)
    at_once = load.connections * load.pipeline
    requests = max(1, round(per_second * seconds / at_once)) * at_once
    return Load(requests, load.connections, load.pipeline, load.per_second)
