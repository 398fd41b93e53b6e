"""Made-up trials: metrics that scatter as real ones do, with timelines, sampled stacks and call graphs."""

import itertools
import json
import math
import random
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from zerolap import __version__
from zerolap.demonstration.made_up_functions import BACKGROUND, SERVER, file_of, function_tree, object_of, source_of
from zerolap.demonstration.made_up_server import COSTS, Machine, MadeUpServer, instant
from zerolap.records import Amounts, Block, Check, Measurement, Placement, SliceRecord, Timeline, Validity, Windows
from zerolap.store import Blobs

PAIRS: Final = 8
SLICE_REQUESTS: Final = 4800
SAMPLES: Final = 9000
COUNTED_SCATTER: Final = 0.0003
SLICE_SCATTER: Final = 0.006
START_SCATTER: Final = 0.003
UNSTEADY_SCATTER: Final = 0.04
"""Standard deviation of the times of starts, as a part; that of a pair's ratio is this times the root of two."""
WINDOWS: Final = Windows(small=64, large=288)
BACKGROUND_SAMPLES: Final = 140
LATENCY_BUCKETS: Final = 40
MADE_TWICE: Final = "createStreamIDString"
"""Makes the text of an id for the reply, and since the commit `MADE_TWICE_SINCE` once more for replicas."""
MADE_TWICE_SINCE: Final = 112
DISTURBED: Final = Check(check="steal", ok=False, value=0.37, limit="<= 0.2")
MISSED: Final = Check(check="hit_rate", ok=False, value=0.87, limit=">= 0.99")
COMPARES: Final = "processCommand"
"""The function in which each change of what is executed shows."""
WINDOWS_REQUESTS: Final = 224


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
    scatter: float = START_SCATTER

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

    def timed_ns(self, block: int, *, as_built: bool) -> float:
        """Return the CPU time of a request in a start; what placement does is common to both sides of a block."""
        subject = (self.subject, self.case, "as built" if as_built else "placed", block)
        layout = self.server.draw(*subject).gauss(0, 2.5 * START_SCATTER)
        scatter = self.server.draw(*subject, self.position).gauss(0, self.scatter)
        return self.cpu_ns * math.exp(layout + scatter)

    def of_slice(self, cpu_ns: float) -> dict[str, float]:
        """Return the metrics of a slice, or of a start, of which a request took so much CPU time."""
        elapsed_ns = 1.06 * cpu_ns
        return {
            "cpu_ns_per_op": round(cpu_ns, 2),
            "usec_per_call": round(0.24e-3 * cpu_ns, 4),
            "ops_per_sec": round(1e9 / elapsed_ns, 1),
            "latency_p50_us": round(16 * 20 * elapsed_ns / 1e3, 3),
        }

    def of_start(self, cpu_ns: float) -> dict[str, float]:
        """Return the metrics of a start as a whole."""
        metrics = self.of_slice(cpu_ns)
        return metrics | {
            "whole_cpu_ns_per_op": 1.043 * cpu_ns,
            "elapsed_ns_per_op": 1.06 * cpu_ns,
            "main_thread_ns_per_op": cpu_ns,
            "latency_p99_us": 2.05 * metrics["latency_p50_us"],
            "latency_p99_9_us": 6.4 * metrics["latency_p50_us"],
            "latency_max_us": 13.2 * metrics["latency_p50_us"],
            "control_ns": 20.2 * self.server.platform_effect(self.machine, self.began),
        }

    @property
    def last_change(self) -> int:
        """The last commit that changed what the case executes."""
        return self.server.last_changes[self.case][self.position]


@dataclass(frozen=True)
class MeasuredBuild:
    """A case of a commit on a machine, whose trials have files."""

    of: MadeUpMetrics
    blobs: Blobs
    shared: dict[tuple[str, str, int], str]
    """Digests of blobs that many trials share, by kind, case and the last commit that changed what it executes."""

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

    def counted(self, block: int, fault: Check | None = None) -> Measurement:
        """Return a counted trial; the first one records what was executed. A `fault` makes it invalid."""
        is_first = block == 0
        return Measurement(
            metrics=self.of.counted(block),
            validity=Validity.of([*_checks(352), *([] if fault is None else [fault])]),
            amounts=Amounts(windows=WINDOWS),
            graph=self._recorded("graph", self._graph) if is_first else None,
            executed=self._recorded("executed", self._executed) if is_first else None,
            executed_code=self.server.digits("executed", self.case, self.of.last_change, self.of.machine),
            seconds=1.7,
            method=4,
            zerolap=__version__,
            began=self._moment(4 * block),
            facts=self._facts,
            instrument="valgrind 3.19.0",
        )

    def timed(self, block: Block, amounts: Amounts, fault: Check | None = None) -> Measurement:
        """Return a timed start with its slices; a `fault` makes it invalid."""
        cpu_ns = self.of.timed_ns(block.number, as_built=amounts.as_built)
        placement = Placement(failure="it was to run as it was built") if amounts.as_built else None
        return Measurement(
            metrics=self.of.of_start(cpu_ns),
            validity=Validity.of([*_checks(PAIRS * SLICE_REQUESTS), *([] if fault is None else [fault])]),
            amounts=amounts.model_copy(update={"pairs": PAIRS, "slice_requests": SLICE_REQUESTS}),
            timeline=self._timeline(self._draw("timeline", block.number, amounts.as_built), cpu_ns),
            placement=placement or Placement(seed=block.seed),
            seconds=0.41,
            method=5,
            zerolap=__version__,
            began=self._moment(60 + 5 * block.number),
            facts=self._facts,
        )

    def sampled(self, block: int) -> Measurement:
        """Return a sampled pass with its stacks."""
        return Measurement(
            metrics={"cpu_ns_per_op": self.of.timed_ns(block, as_built=True)},
            validity=Validity.of(_checks(240_000)),
            stacks=self.blobs.put(json.dumps(self.stack_table(block)).encode()),
            placement=Placement(seed=7),
            seconds=1.6,
            method=2,
            zerolap=__version__,
            began=self._moment(200 + 2 * block),
            facts=self._facts,
        )

    def stack_table(self, block: int = 0) -> dict[str, Any]:
        """Return the sampled stacks of a pass in the form of `zerolap.stacks/1`."""
        draw = self._draw("sampled", block)
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
                    {
                        "file": file_of(name),
                        "line": first + place,
                        "samples": count,
                        "text": text,
                    }
                    for place, (text, part) in enumerate(source)
                    if (count := int(part * samples)) > 0
                ],
            }
            for name, samples in sorted(own.items())
            if (source := source_of(name)) and (first := self.server.first_line(name))
        ]

    def _recorded(self, kind: str, made_up: Callable[[], object]) -> str:
        """Return the digest of a blob that is equal for all commits at which the case executes the same."""
        key = (kind, self.case, self.of.last_change)
        if key not in self.shared:
            self.shared[key] = self.blobs.put(json.dumps(made_up()).encode())
        return self.shared[key]

    def _executed(self) -> dict[str, Any]:
        """Return what was executed in the form of `zerolap.executed/2`: an operand differs from change to change."""
        names = sorted({name for path in function_tree(self.case) for name in path if object_of(name) == SERVER})
        texts = ["mov rax, qword ptr [rdi]", "test rax, rax", "ret", f"cmp eax, {self.of.last_change}"]
        once = [WINDOWS_REQUESTS, 0, 0]
        executed = {name: [3, 0, 1, 2] if name == COMPARES else [0, 1, 2] for name in names}
        nodes = [
            {"name": name, "code": True, "lines": [[text, once, []] for text in of_function]}
            for name, of_function in executed.items()
        ]
        return {
            "schema": "zerolap.executed/2",
            "requests": once,
            "image": "",
            "instructions": [WINDOWS_REQUESTS * sum(map(len, executed.values())), 0, 0],
            "texts": texts,
            "nodes": nodes,
            "unknown": None,
            "libraries": [],
        }

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
        first = self.server.first_line(name)
        parts = (0.1, 0.45, 0.25, 0.2)
        return [(file, first + 2 * place, round(part * instructions, 2)) for place, part in enumerate(parts)]

    def _timeline(self, draw: random.Random, cpu_ns: float) -> str:
        slices = []
        factors = [math.exp(draw.gauss(0, SLICE_SCATTER)) for _ in range(PAIRS)]
        # The throughput of all slices together is that of the trial.
        for factor in factors:
            of_slice = cpu_ns * factor / statistics.fmean(factors)
            slices.append(
                SliceRecord(
                    requests=SLICE_REQUESTS,
                    seconds=round(SLICE_REQUESTS * 1.06e-9 * of_slice, 7),
                    client_busy=round(draw.uniform(0.4, 0.55), 3),
                    server_busy=round(draw.uniform(0.93, 0.99), 3),
                    requests_per_read=16.0,
                    requests_per_cycle=round(draw.uniform(165, 175), 1),
                    metrics=self.of.of_slice(of_slice),
                )
            )
        latency_us = self.of.of_slice(cpu_ns)["latency_p50_us"]
        histogram = [
            (round(1000 * latency_us * 0.5 * 1.09**place), count)
            for place in range(LATENCY_BUCKETS)
            if (count := round(PAIRS * SLICE_REQUESTS * 0.11 * math.exp(-((place - 9) ** 2) / (18 + place)))) > 0
        ]
        histogram.append((round(13_000 * latency_us), 1))
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
