"""Made-up trials: metrics that scatter as real ones do, with timelines, sampled stacks and call graphs."""

import itertools
import json
import math
import random
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from zerolap import __version__
from zerolap.demonstration.made_up_functions import BACKGROUND, SERVER, file_of, object_of, source_of
from zerolap.demonstration.made_up_server import COSTS, PLANTED, Machine, MadeUpServer, instant
from zerolap.records import Amounts, Check, Measurement, Placement, SliceRecord, Timeline, Validity, Windows
from zerolap.store import Blobs

COUNTED_BLOCKS: Final = 5
STARTS: Final = 6
PAIRS: Final = 12
SLICE_REQUESTS: Final = 4800
SAMPLES: Final = 9000
COUNTED_SCATTER: Final = 0.0003
START_SCATTER: Final = 0.004
"""Standard deviation of the times of starts, as a part; that of a pair's ratio is this times the root of two."""
WINDOWS: Final = Windows(small=64, large=288)
BACKGROUND_SAMPLES: Final = 140
LATENCY_BUCKETS: Final = 40
MADE_TWICE: Final = "createStreamIDString"
"""Makes the text of an id for the reply, and since the commit `MADE_TWICE_SINCE` once more for replicas."""
MADE_TWICE_SINCE: Final = 112
DISTURBED: Final = Check(check="steal", ok=False, value=0.37, limit="<= 0.2")
SATURATED: Final = Check(check="client_saturation", ok=False, value=0.994, limit="<= 0.98, or a server busy >= 0.9")


@dataclass(frozen=True)
class MadeUpMetrics:
    """The metrics of the trials of a case of a commit on a machine, measured from a time on."""

    server: MadeUpServer
    case: str
    position: int
    machine: Machine
    began: datetime
    subject: str
    """What the random numbers belong to: the id of the request."""

    @property
    def cpu_ns(self) -> float:
        """The CPU time of a request, in the state that the machine was in."""
        now = self.server.nanoseconds(self.case, self.position, self.machine)
        return now * self.server.platform_effect(self.machine, self.began)

    def counted(self, block: int) -> dict[str, float]:
        """Return the metrics of a counted trial; builds that execute the same count the same."""
        draw = self.server.draw(self.subject, self.case, self.last_change, "counted", block)
        instructions = self.server.instructions(self.case, self.position) * math.exp(draw.gauss(0, COUNTED_SCATTER))
        return {
            "instructions_per_op": instructions,
            "instructions_alone_per_op": 1.04 * instructions + 410,
            "instructions_per_tick": 54_800.0,
            "allocations_per_op": 6.4375 if COSTS[self.case][0] > 10_000 else 3.0625,
            "syscalls_per_op": 0.1875,
            "clock_readings_per_op": 2.296,
        }

    def timed(self, block: int) -> dict[str, float]:
        """Return the metrics of a timed start; what placement does is common to both sides of a block."""
        layout = self.server.draw(self.subject, self.case, "layout", block).gauss(0, 2.5 * START_SCATTER)
        scatter = self.server.draw(self.subject, self.case, self.position, "timed", block).gauss(0, START_SCATTER)
        cpu = self.cpu_ns * math.exp(layout + scatter)
        rate = 1e9 / (1.06 * cpu)
        latency = 16 * 20 * 1e6 / rate
        return {
            "cpu_ns_per_op": cpu,
            "whole_cpu_ns_per_op": 1.043 * cpu,
            "elapsed_ns_per_op": 1.06 * cpu,
            "main_thread_ns_per_op": cpu,
            "usec_per_call": 0.24e-3 * cpu,
            "ops_per_sec": rate,
            "latency_p50_us": latency,
            "latency_p99_us": 2.05 * latency,
            "latency_p99_9_us": 6.4 * latency,
            "latency_max_us": 13.2 * latency,
            "cycles_per_op": 2.9 * cpu,
            "control_ns": 20.2 * self.server.platform_effect(self.machine, self.began),
        }

    def mean(self, engine: str, metric: str, blocks: int) -> float:
        """Return the mean of a metric over the trials of an engine."""
        trials = map(self.timed if engine == "timed" else self.counted, range(blocks))
        return statistics.fmean(metrics[metric] for metrics in trials)

    @property
    def last_change(self) -> int:
        """The last commit that changed what the case executes."""
        return self.server.last_changes[self.case][self.position]


@dataclass(frozen=True)
class MeasuredBuild:
    """A case of a commit on a machine, whose trials have files."""

    of: MadeUpMetrics
    blobs: Blobs

    @property
    def server(self) -> MadeUpServer:
        """The server of which it is a commit."""
        return self.of.server

    @property
    def case(self) -> str:
        """The case."""
        return self.of.case

    def _draw(self, *parts: object) -> random.Random:
        return self.server.draw(self.of.subject, self.case, self.of.position, *parts)

    @property
    def _facts(self) -> str:
        return self.server.platform(self.of.machine, self.of.began).facts_digest

    def counted(self, block: int, graph: str | None) -> Measurement:
        """Return a counted trial."""
        return Measurement(
            metrics=self.of.counted(block),
            validity=Validity.of(_checks(352)),
            amounts=Amounts(windows=WINDOWS),
            graph=graph,
            executed_code=self.server.digits("executed", self.case, self.of.last_change, self.of.machine),
            seconds=1.7,
            method=4,
            zerolap=__version__,
            began=self._moment(4 * block),
            facts=self._facts,
            instrument="valgrind 3.19.0",
        )

    def timed(self, block: int, *, has_timeline: bool, fault: Check | None = None) -> Measurement:
        """Return a timed start with its slices; a `fault` makes it invalid."""
        draw, metrics = self._draw("timeline", block), self.of.timed(block)
        timeline = self._timeline(draw, metrics["cpu_ns_per_op"], metrics["latency_p50_us"]) if has_timeline else None
        return Measurement(
            metrics=metrics,
            validity=Validity.of([*_checks(PAIRS * SLICE_REQUESTS), fault or _checks(0)[-1]]),
            amounts=Amounts(pairs=PAIRS, slice_requests=SLICE_REQUESTS),
            timeline=timeline,
            placement=Placement(seed=draw.randrange(1 << 40)),
            seconds=0.41,
            method=5,
            zerolap=__version__,
            began=self._moment(60 + 5 * block),
            facts=self._facts,
        )

    def sampled(self) -> Measurement:
        """Return a sampled pass with its stacks."""
        return Measurement(
            metrics={},
            validity=Validity.of(_checks(240_000)),
            stacks=self.blobs.put(json.dumps(self.stack_table()).encode()),
            placement=Placement(seed=7),
            seconds=6.2,
            method=2,
            zerolap=__version__,
            began=self._moment(200),
            facts=self._facts,
        )

    def stack_table(self) -> dict[str, Any]:
        """Return sampled stacks in the form of `zerolap.stacks/1`."""
        draw = self._draw("sampled")
        weights = self.server.function_weights(self.case, self.of.position, self.of.machine)
        total = sum(weights.values())
        counts = {
            path: round(draw.gauss(expected := SAMPLES * weight / total, math.sqrt(expected)))
            for path, weight in weights.items()
        }
        names = sorted({name for path in counts for name in path})
        places = {name: place for place, name in enumerate(names)}
        sampled = [(1, [places[name] for name in path], count) for path, count in counts.items() if count > 0]
        sampled.append((0, [places["je_free"]], BACKGROUND_SAMPLES))
        return {
            "schema": "zerolap.stacks/1",
            "event": "cpu-clock",
            "samples": sum(count for _, _, count in sampled),
            "lost": 0,
            "threads": [{"name": BACKGROUND}, {"name": SERVER}],
            "frames": [
                {"function": name, "file": file_of(name), "object": object_of(name), "inlined": name == "lpSkip"}
                for name in names
            ],
            "stacks": [{"thread": thread, "frames": frames, "samples": count} for thread, frames, count in sampled],
            "lines": self._line_samples(counts),
        }

    def _line_samples(self, counts: Mapping[tuple[str, ...], int]) -> list[dict[str, Any]]:
        """Return the samples of functions by line, of those that have a made-up source."""
        own: Counter[str] = Counter()
        for path, count in counts.items():
            own[path[-1]] += max(0, count)
        return [
            {
                "function": name,
                "file": file_of(name),
                "object": object_of(name),
                "samples": samples,
                "lines": [
                    {"file": file_of(name), "line": self._first_line(name) + place, "samples": count, "text": text}
                    for place, (text, part) in enumerate(source)
                    if (count := int(part * samples)) > 0
                ],
            }
            for name, samples in sorted(own.items())
            if (source := source_of(name))
        ]

    def _first_line(self, name: str) -> int:
        """Return the first line of a function that has samples: where it was changed, else where commits move it."""
        for change in PLANTED:
            if change.function == name:
                return change.line
        return 40 + self.server.draw("line", name).randrange(1200) + self.of.last_change % 7

    def graph(self) -> str:
        """Store the call graph of a counted trial; return its digest."""
        return self.blobs.put(json.dumps(self._graph()).encode())

    def _graph(self) -> dict[str, Any]:
        weights = self.server.function_weights(self.case, self.of.position, None)
        scale = self.server.instructions(self.case, self.of.position) / sum(weights.values())
        twice = MADE_TWICE if self.of.position >= MADE_TWICE_SINCE else None
        inclusive: dict[tuple[str, str], float] = {}
        calls: dict[tuple[str, str], float] = {}
        own: dict[str, float] = dict.fromkeys(sorted({name for path in weights for name in path}), 0.0)
        for path, weight in weights.items():
            own[path[-1]] += scale * weight
            for edge in set(itertools.pairwise(path)):
                inclusive[edge] = inclusive.get(edge, 0.0) + scale * weight
                calls[edge] = 2.0 if twice in path[: path.index(edge[1]) + 1] else 1.0
        names = list(own)
        files = sorted({file for name in names if (file := file_of(name)) is not None})
        places = {name: place for place, name in enumerate(names)}
        functions = [
            {
                "name": name,
                "file": None if (file := file_of(name)) is None else files.index(file),
                "object": object_of(name),
                "instructions": round(own[name], 2),
                "syscalls": 0.0938 if name in ("read", "write") else 0.0,
                "calls": max((times for (_, callee), times in calls.items() if callee == name), default=1.0),
                "lines": [] if file is None else self._lines(name, files.index(file), own[name]),
            }
            for name in names
        ]
        edges = [
            {
                "caller": places[caller],
                "callee": places[callee],
                "calls": calls[caller, callee],
                "instructions": round(cost, 2),
                "syscalls": 0.0,
                "lines": self._call_sites(caller, files) if callee == twice else [],
            }
            for (caller, callee), cost in sorted(inclusive.items())
        ]
        total = sum(own.values())
        return {
            "schema": "zerolap.callgraph/1",
            "files": files,
            "totals": {"instructions": round(total, 2), "syscalls": 0.1876},
            "functions": functions,
            "edges": edges,
        }

    def _call_sites(self, caller: str, files: Sequence[str]) -> list[tuple[int, int, float]]:
        """Return the two places of a function that calls another one twice."""
        file = files.index(file_of(caller) or "")
        first = self._lines(caller, file, 0.0)[-1][1]
        return [(file, first, 1.0), (file, first + 14, 1.0)]

    def _lines(self, name: str, file: int, instructions: float) -> list[tuple[int, int, float]]:
        first = 40 + self.server.draw("line", name).randrange(1200)
        parts = (0.1, 0.45, 0.25, 0.2)
        return [(file, first + 2 * place, round(part * instructions, 2)) for place, part in enumerate(parts)]

    def _timeline(self, draw: random.Random, cpu: float, latency: float) -> str:
        slices = []
        factors = [math.exp(draw.gauss(0, 0.012)) for _ in range(PAIRS)]
        # The throughput of all slices together is that of the trial.
        for factor in factors:
            of_slice = cpu * factor / statistics.fmean(factors)
            slices.append(
                SliceRecord(
                    requests=SLICE_REQUESTS,
                    seconds=round(SLICE_REQUESTS * 1.06e-9 * of_slice, 7),
                    client_busy=round(draw.uniform(0.4, 0.55), 3),
                    server_busy=round(draw.uniform(0.93, 0.99), 3),
                    requests_per_read=16.0,
                    requests_per_cycle=round(draw.uniform(150, 190), 1),
                    metrics={"cpu_ns_per_op": round(of_slice, 2), "usec_per_call": round(0.24e-3 * of_slice, 4)},
                )
            )
        histogram = [
            (round(1000 * latency * 0.5 * 1.09**place), count)
            for place in range(LATENCY_BUCKETS)
            if (count := round(PAIRS * SLICE_REQUESTS * 0.11 * math.exp(-((place - 9) ** 2) / (18 + place)))) > 0
        ]
        histogram.append((round(13_000 * latency), 1))
        timeline = Timeline(slices=slices, histogram_ns=histogram)
        return self.blobs.put(timeline.model_dump_json(by_alias=True).encode())

    def _moment(self, seconds: float) -> str:
        return instant(self.of.began + timedelta(seconds=seconds))


def _checks(executed: int) -> list[Check]:
    return [
        Check(check="keys", ok=True, value=16_000.0, limit="= 16000"),
        Check(check="errors", ok=True, value=0.0, limit="<= 0"),
        Check(check="hit_rate", ok=True, value=1.0, limit=">= 0.99"),
        Check(check="executed", ok=True, value=float(executed), limit=f"= {executed}"),
        Check(check="steal", ok=True, value=0.0, limit="<= 0.2"),
    ]


def functions_by_share(weights: Mapping[tuple[str, ...], float]) -> list[tuple[str, float]]:
    """Return functions with their own part of a request, the largest first."""
    own: dict[str, float] = {}
    for path, weight in weights.items():
        own[path[-1]] = own.get(path[-1], 0.0) + weight
    total = sum(own.values())
    return sorted(((name, weight / total) for name, weight in own.items()), key=lambda entry: -entry[1])
