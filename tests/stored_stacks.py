"""Comparisons with sampled stacks in a store: planted ones, and as large ones as graphs get."""

import json
import random
from collections.abc import Mapping
from typing import Any

from made_records import VALID, a_measurement, a_time
from stored_comparison import COMPARISON, recorded_comparison
from stored_run import record_job

from zerolap.records import (
    BASE,
    HEAD,
    Case,
    CaseResult,
    Finding,
    Measurement,
    Side,
    TracedCase,
    TracedThread,
    Validity,
    WrittenClient,
)
from zerolap.store import Store

HOSTILE = "</script><img src=x onerror=\"document.title='acted'\">; 5\n"
"""What a program under test may name a function."""
COSTS = {"get": (1000.0, 1000.0), "hset": (3000.0, 4500.0)}
GET = {
    "base": {"main;processCommand;get;dictFind": 400, "main;processCommand;get": 100, "main;write": 500},
    "head": {"main;processCommand;get;dictFind": 400, "main;processCommand;get": 100, "main;write": 500},
}
HSET = {
    "base": {"main;processCommand;hset;dictFind": 500, "main;processCommand;hset;gone": 100, "main;write": 400},
    "head": {"main;processCommand;hset;dictFind": 400, f"main;processCommand;hset;{HOSTILE}": 400, "main;write": 200},
}


def stack_table(lines: Mapping[str, int], threads: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a table of stacks from lines of `function;function` and their samples.

    `threads` names the thread of functions that a stack begins with; others are of the thread `server`. Functions that
    begin with `sys_` are the kernel's.
    """
    names = sorted({name for line in lines for name in split(line)})
    of_stack = [(threads or {}).get(split(line)[0], "server") for line in lines]
    thread_names = sorted(set(of_stack))
    frames = [
        {
            "function": name,
            "file": None if name.startswith("sys_") else "server.c",
            "object": "[kernel]" if name.startswith("sys_") else "redis-server",
            "inlined": False,
        }
        for name in names
    ]
    stacks = [
        {
            "thread": thread_names.index(thread),
            "frames": [names.index(name) for name in split(line)],
            "samples": samples,
        }
        for (line, samples), thread in zip(lines.items(), of_stack, strict=True)
    ]
    return {
        "schema": "zerolap.stacks/1",
        "event": "cpu-clock",
        "samples": sum(lines.values()),
        "lost": 0,
        "threads": [{"name": name} for name in thread_names],
        "frames": frames,
        "stacks": sorted(stacks, key=lambda stack: (stack["thread"], stack["frames"])),
    }


def lined(table: dict[str, Any], *lines: tuple[int, str | None, int], function: str = "dictFind") -> dict[str, Any]:
    """Return a table with lines of a function, by number, text and samples."""
    own = sum(
        stack["samples"] for stack in table["stacks"] if table["frames"][stack["frames"][-1]]["function"] == function
    )
    samples = [
        {"file": "server.c", "line": number, "samples": samples, **({} if text is None else {"text": text})}
        for number, text, samples in lines
    ]
    of_function = {"function": function, "file": "server.c", "object": "redis-server", "samples": own, "lines": samples}
    return {**table, "lines": [of_function]}


def split(line: str) -> list[str]:
    """Return the functions of a line; the hostile one has a separator in its name."""
    head, hostile, _ = line.partition(HOSTILE)
    names = [name for name in head.split(";") if name]
    return [*names, HOSTILE] if hostile else names


def recorded_stacks(
    store: Store,
    cases: Mapping[str, Mapping[str, Mapping[str, Any]]],
    costs: Mapping[str, tuple[float, float]] | None = None,
    *,
    invalid: tuple[str, ...] = (),
    findings: Mapping[str, list[Finding]] | None = None,
    engine: str = "sampled",
    traced: TracedCase | None = None,
    **changes: Any,
) -> str:
    """Record a comparison with a pass of each side of each case, by tables; return its id.

    Cases with costs were timed: what a request costs on both sides. A pass of those in `invalid` is not valid. Passes
    are sampled, or of another engine; `traced` is what they have traced.
    """
    results = [_case(name, (costs or {}).get(name), (findings or {}).get(name, [])) for name in cases]
    comparison = recorded_comparison(store, cases=results, **changes)
    for name, sides in cases.items():
        validity = Validity.of([VALID.checks[0].model_copy(update={"ok": False})]) if name in invalid else VALID
        record_pass(store, comparison.id, name, sides, engine, traced, validity)
    return comparison.id


def record_pass(
    store: Store,
    identity: str,
    name: str,
    sides: Mapping[str, Mapping[str, Any]],
    engine: str,
    traced: TracedCase | None = None,
    validity: Validity = VALID,
) -> None:
    """Record a pass of both sides of a case of a comparison, by tables; `traced` is what it has traced."""
    measured: dict[Side, Measurement] = {
        side: a_measurement(
            stacks=store.blobs.put(json.dumps(sides[side]).encode()),
            traced=None if traced is None else store.blobs.put(traced.model_dump_json(by_alias=True).encode()),
            validity=validity,
        )
        for side in (BASE, HEAD)
    }
    record_job(store, identity, Case(name=name, group="group", client=_CLIENT), engine, [measured])


WAITS = {
    "base": {"main;aeProcessEvents;sys_epoll_wait": 3_000_000, "main;fsync;sys_fsync": 1_000_000},
    "head": {"main;aeProcessEvents;sys_epoll_wait": 1_000_000, "main;fsync;sys_fsync": 4_000_000},
}


def wait_tables() -> dict[str, dict[str, Any]]:
    """Return the stacks of WAITS, whose samples are nanoseconds."""
    return {side: {**stack_table(lines), "event": "off-cpu"} for side, lines in WAITS.items()}


def traced_case(*off_ns_per_op: float) -> TracedCase:
    """Return what a pass has traced, in which a request has the threads off the processor for so long."""
    threads = [
        TracedThread(
            thread=f"thread{place}",
            threads=1,
            off_per_op=1.0,
            off_ns_per_op=ns,
            queue_ns_per_op=0.0,
            faults_per_op=0.0,
            block_io_per_op=None,
        )
        for place, ns in enumerate(off_ns_per_op)
    ]
    return TracedCase(threads=threads, calls=[])


def planted_stacks(store: Store, **changes: Any) -> str:
    """Record a comparison of two cases: one did not change, in the other a function of a hostile name appeared."""
    cases = {
        "get": {side: stack_table(lines) for side, lines in GET.items()},
        "hset": {side: stack_table(lines) for side, lines in HSET.items()},
    }
    return recorded_stacks(store, cases, COSTS, **changes)


def large_table(nodes: int, seed: int) -> dict[str, Any]:
    """Return a table whose call tree has so many nodes, of one shape for all seeds."""
    shape, weights = random.Random(0), random.Random(seed)
    paths: list[tuple[int, ...]] = [(0,)]
    while len(paths) < nodes:
        recent = shape.randrange(max(0, len(paths) - 4000), len(paths))
        parent = paths[recent if shape.random() < 0.5 else min(int(shape.expovariate(6 / len(paths))), len(paths) - 1)]
        if len(parent) < 55:
            # A function that its siblings do not have: each path is a node of its own.
            paths.append((*parent, len(paths)))
    frames = [
        {"function": f"function{number}", "file": f"file{number % 50}.c", "object": "redis-server", "inlined": False}
        for number in range(nodes)
    ]
    samples = [1 + int(weights.expovariate(0.25)) for _ in paths]
    stacks = [
        {"thread": 0, "frames": list(path), "samples": count}
        for path, count in sorted(zip(paths, samples, strict=True))
    ]
    return {
        **stack_table({}),
        "samples": sum(samples),
        "threads": [{"name": "server"}],
        "frames": frames,
        "stacks": stacks,
    }


_CLIENT = WrittenClient(commands=["GET key"]).client


def _case(name: str, costs: tuple[float, float] | None, findings: list[Finding]) -> CaseResult:
    verdicts = []
    if costs is not None:
        base, head = costs
        change = head / base - 1
        verdicts = [a_time("regression" if change > 0 else "same", change, base=base, half=0.02, pairs=6)]
    return COMPARISON.cases[0].model_copy(update={"case": name, "verdicts": verdicts, "findings": findings})
