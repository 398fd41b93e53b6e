"""What trials recorded of a side's functions, as one: call graphs, calls, repeated steps, stacks."""

from collections.abc import Mapping, Sequence
from typing import Final

from zerolap import _core
from zerolap.records import (
    AllocationSites,
    CallCounts,
    CallGraph,
    Measurement,
    PerSide,
    SampledFunction,
    SampledPass,
    SampledSide,
)
from zerolap.store import Blobs

TIMER_COST: Final = "instructions_per_tick"
GRAPHS: Final[Mapping[str, str]] = {TIMER_COST: "graph_tick", "instructions_alone_per_op": "graph_alone"}
"""The call graph behind a metric, where it is not that of requests."""
REPEATED: Final = ("rep stos", "rep movs")
"""Beginnings of instructions in Intel's notation of which callgrind counts each step."""


def graph_kind(metric: str) -> str:
    """Return the name of a measurement's graph with the functions behind a metric."""
    return GRAPHS.get(metric, "graph")


def merged_graph(measurements: Sequence[Measurement], blobs: Blobs, kind: str = "graph") -> CallGraph:
    """Return the mean of the call graphs of counted trials; `kind` is the name of one of a measurement's graphs."""
    digests = [getattr(measurement, kind) for measurement in measurements]
    graphs = [blobs.get(digest) for digest in digests if digest is not None]
    return CallGraph.model_validate_json(_core.merge_call_graphs(graphs))


def call_counts(measurements: Sequence[Measurement], blobs: Blobs) -> CallCounts | None:
    """Return the calls of a side's count build; none where they were not counted."""
    digest = next((measurement.call_counts for measurement in measurements if measurement.call_counts), None)
    return None if digest is None else CallCounts.model_validate_json(blobs.get(digest))


def sampled_side(passes: Sequence[Measurement], cpu_ns_per_op: float | None, blobs: Blobs) -> SampledSide | None:
    """Return the functions of a side's passes; their time is that of the timed trials, where there is one."""
    read = [_sampled_pass(blobs.get(one.stacks)) for one in passes if one.stacks is not None]
    taken = [one for one in read if one.samples]
    if not taken:
        return None
    measured_ns = sum(one.metrics["cpu_ns_per_op"] for one in passes) / len(passes)
    return SampledSide.of(taken, cpu_ns_per_op or measured_ns)


def allocation_sites(measurement: Measurement, blobs: Blobs) -> AllocationSites:
    """Return where a side allocated what was left at the end of a trial; raises `ValueError` where it is not whole."""
    return AllocationSites.model_validate_json(blobs.get(measurement.allocations or ""))


def _sampled_pass(stacks: bytes) -> SampledPass:
    functions: dict[tuple[str, str | None], SampledFunction] = {}
    samples = 0
    for _, name, file, own, inclusive in _core.function_samples(stacks):
        seen = functions.get((name, file), SampledFunction(0, 0))
        functions[name, file] = seen.plus(SampledFunction(own, inclusive))
        samples += own
    return SampledPass(samples, functions)


def repeated_steps(base: Sequence[Measurement], head: Sequence[Measurement], blobs: Blobs) -> dict[str, PerSide]:
    """Return how many steps of repeated stores and copies a request executes on both sides, by function."""
    old, new = _repeated_steps(base, blobs), _repeated_steps(head, blobs)
    return {name: PerSide(base=old.get(name, 0.0), head=new.get(name, 0.0)) for name in sorted(old.keys() | new.keys())}


def _repeated_steps(measurements: Sequence[Measurement], blobs: Blobs) -> dict[str, float]:
    recorded = [blobs.get(measurement.executed) for measurement in measurements if measurement.executed is not None]
    steps: dict[str, float] = {}
    for executed in recorded:
        for function, _, times in _core.executed_beginning_with(executed, list(REPEATED)):
            steps[function] = steps.get(function, 0.0) + times / len(recorded)
    return steps
