"""What a request costs the load generator, and how long it seems to take, beside its peers."""

import os
import statistics
from pathlib import Path

from benches.figures import Figure
from benches.load.data import data_server
from benches.load.effort import Effort
from benches.load.process import peak_memory_mib
from benches.load.rounds import Rounds, Run, run_rounds
from benches.load.tools import OWN, Load, can_limit_rate, missing_notes, own_tool, peers

PACED_PER_SECOND = 20_000
MANY_CONNECTIONS = 1000
MEMORY_REQUESTS = 200_000
MEMORY_RUNS = 3
UNIT = "x the requests per client CPU second of the best peer"
LATENCY_UNIT = "x the latency reported by the best peer"


def closed_loop(suffix: str, load: Load, effort: Effort) -> dict[str, Figure]:
    """Compare all tools as fast as replies come."""
    rounds = run_rounds([own_tool(), *peers()], load, effort)
    return {
        f"ratio_{suffix}": rounds.higher_is_better(UNIT, Run.requests_per_cpu_second),
        f"p50_ratio_{suffix}": rounds.lower_is_better(LATENCY_UNIT, Run.p50_us),
        f"p99_ratio_{suffix}": rounds.lower_is_better(LATENCY_UNIT, Run.p99_us),
        f"throughput_{suffix}": rounds.throughput(),
    }


def pipelined(pipeline: int, effort: Effort) -> dict[str, Figure]:
    """Compare all tools over 50 connections."""
    return closed_loop(f"p{pipeline}", Load(0, pipeline=pipeline), effort)


def two_connections(effort: Effort) -> dict[str, Figure]:
    """Compare all tools where the server waits for them."""
    return closed_loop("two_connections", Load(0, connections=2), effort)


def paced(effort: Effort) -> dict[str, Figure]:
    """Compare the tools that can send at a fixed rate, at the same one."""
    others = peers()
    able = [tool for tool in others if can_limit_rate(tool)]
    notes = [f"{tool.name} cannot send at a fixed rate" for tool in others if tool not in able]
    if not able:
        return {}
    rounds = run_rounds([own_tool(), *able], Load(0, per_second=PACED_PER_SECOND), effort)
    rounds = Rounds(rounds.load, rounds.runs, [*notes, *effort.notes])
    return {
        "ratio_paced_p1": rounds.higher_is_better(UNIT, Run.requests_per_cpu_second),
        "throughput_paced_p1": rounds.throughput(),
    }


def memory(effort: Effort) -> dict[str, Figure]:
    """Look up the peak memory of each tool with many connections."""
    load = Load(MEMORY_REQUESTS, connections=MANY_CONNECTIONS)
    tools = [own_tool(), *peers()]
    with data_server() as server:
        commands = {tool.name: tool.command(server.port, load, Path(os.devnull)) for tool in tools}
        peaks = {name: [peak_memory_mib(command) for _ in range(MEMORY_RUNS)] for name, command in commands.items()}
    own = peaks.pop(OWN)
    notes = [f"{name} {statistics.median(values):.1f} MiB" for name, values in peaks.items()]
    return {
        "rss_mib_1000_connections": Figure(
            value=statistics.median(own),
            unit="MiB",
            samples=own,
            trials=len(own),
            peers=peaks,
            notes=[*notes, *missing_notes(tools), *effort.notes],
        )
    }
