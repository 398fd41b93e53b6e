"""The load generators: the arguments of each for a load, and what it reports of it."""

import csv
import json
import math
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches.load.data import FIRST_NUMBER, KEYS, NUMBER_PREFIX
from zerolap.load.generator import packaged

OWN = "zerolap-load"
MEMTIER = "memtier_benchmark"
REDIS = "redis-benchmark"
VALKEY = "valkey-benchmark"


@dataclass(frozen=True)
class Load:
    """What every tool is asked for: GETs of random keys by one thread, at a rate or as fast as replies come."""

    requests: int
    connections: int = 50
    pipeline: int = 1
    per_second: int | None = None


@dataclass(frozen=True)
class Reported:
    """What a tool reports of its run."""

    per_second: float
    p50_us: float
    p99_us: float


@dataclass(frozen=True)
class Tool:
    """A load generator: its program, its arguments for a load, and how its output is read."""

    name: str
    program: str
    arguments: Callable[[int, Load], list[str]]
    read: Callable[[str], Reported]
    writes_document: bool
    """Whether there is more to read in a document than in the output."""

    def command(self, port: int, load: Load, document: Path) -> list[str]:
        """Return the command line that puts a load on the server at a port."""
        output = ["--json-out-file", str(document)] if self.writes_document else []
        return [self.program, *self.arguments(port, load), *output]


def memtier_arguments(port: int, load: Load) -> list[str]:
    """Arguments that `zerolap-load` takes as well."""
    arguments = ["-s", "127.0.0.1", "-p", str(port), "-t", "1", "-c", str(load.connections)]
    arguments += ["-n", str(math.ceil(load.requests / load.connections)), "--pipeline", str(load.pipeline)]
    arguments += ["--ratio", "0:1", "--key-pattern", "R:R", "--key-prefix", NUMBER_PREFIX]
    arguments += ["--key-minimum", str(FIRST_NUMBER), "--key-maximum", str(FIRST_NUMBER + KEYS - 1)]
    arguments += ["--hide-histogram"]
    if load.per_second is not None:
        arguments += ["--rate-limiting", str(load.per_second // load.connections)]
    return arguments


def benchmark_arguments(port: int, load: Load) -> list[str]:
    """Arguments of redis-benchmark and its descendant."""
    arguments = ["-h", "127.0.0.1", "-p", str(port), "-t", "get", "-r", str(KEYS), "-n", str(load.requests)]
    arguments += ["-c", str(load.connections), "-P", str(load.pipeline), "--csv"]
    if load.per_second is not None:
        arguments += ["--rps", str(load.per_second)]
    return arguments


def read_own(output: str) -> Reported:
    """Read the document of zerolap-load; raises `ValueError` if not every GET found its key."""
    lab: dict[str, Any] = json.loads(output)["lab"]
    if lab["hits"] != lab["requests"] or lab["failure"] is not None:
        raise ValueError(f"{lab['hits']} hits of {lab['requests']} requests, failure: {lab['failure']}")
    latency = lab["schedule"]["service_us"] if lab["schedule"] else lab["latency_us"]
    return Reported(lab["ops_per_sec"], latency["p50"], latency["p99"])


def read_memtier(output: str) -> Reported:
    """Read the document of memtier_benchmark."""
    totals = json.loads(output)["ALL STATS"]["Totals"]
    percentiles = totals["Percentile Latencies"]
    return Reported(totals["Ops/sec"], 1000 * percentiles["p50.00"], 1000 * percentiles["p99.00"])


def read_benchmark(output: str) -> Reported:
    """Read the table of redis-benchmark."""
    lines = output[output.index('"test"') :].splitlines()
    (row,) = csv.DictReader(lines)
    return Reported(float(row["rps"]), 1000 * float(row["p50_latency_ms"]), 1000 * float(row["p99_latency_ms"]))


def own_tool() -> Tool:
    """Return the load generator of this project, as it is shipped."""
    return Tool(OWN, str(packaged(OWN)), memtier_arguments, read_own, writes_document=True)


def peers() -> list[Tool]:
    """Return the other load generators that are on the PATH; raises `SystemExit` if none is."""
    known = [
        (MEMTIER, memtier_arguments, read_memtier),
        (REDIS, benchmark_arguments, read_benchmark),
        (VALKEY, benchmark_arguments, read_benchmark),
    ]
    found = []
    for name, arguments, read in known:
        program = shutil.which(name)
        if program is not None:
            found.append(Tool(name, program, arguments, read, writes_document=name == MEMTIER))
    if not found:
        raise SystemExit(
            f"no other load generator on the PATH; hint: install one of {', '.join(row[0] for row in known)}"
        )
    return found


def missing_notes(tools: list[Tool]) -> list[str]:
    """Return a note for each peer that is not on the PATH."""
    names = {tool.name for tool in tools}
    return [f"{name} is not on the PATH" for name in (MEMTIER, REDIS, VALKEY) if name not in names]


def can_limit_rate(tool: Tool) -> bool:
    """Whether a tool knows an argument for a rate."""
    if tool.name in (OWN, MEMTIER):
        return True
    return "--rps" in subprocess.run([tool.program, "--help"], capture_output=True, text=True, check=False).stdout
