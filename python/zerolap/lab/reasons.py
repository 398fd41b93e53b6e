"""Gathers the evidence for a changed case and has it explained."""

import functools
from collections.abc import Sequence

from zerolap import _core
from zerolap.build import BuiltServer
from zerolap.explain import (
    BuildFacts,
    Evidence,
    SampledFunction,
    SampledPass,
    SampledSide,
    SourceFunction,
    Structure,
    Structures,
    explain_build,
    explain_change,
    explain_layout,
    explain_placement,
    explain_times,
)
from zerolap.lab.results import TimedTrials, Trials
from zerolap.records import BASE, HEAD, CallGraph, Changes, Finding, Measurement, Verdict
from zerolap.sandbox import reading
from zerolap.store import Blobs


class Explainer:
    """Explains cases of one comparison; what is the same for all of them is read once."""

    def __init__(self, base: BuiltServer, head: BuiltServer, changes: Changes | None, blobs: Blobs) -> None:
        self._base = base
        self._head = head
        self._changes = changes
        self._blobs = blobs

    @functools.cached_property
    def _functions(self) -> tuple[list[SourceFunction], list[SourceFunction]]:
        return _source_functions(self._base), _source_functions(self._head)

    @functools.cached_property
    def _structures(self) -> tuple[Structures, Structures]:
        return _structures_of(self._base), _structures_of(self._head)

    def _explain_build(self) -> list[Finding]:
        return explain_build(_facts_of(self._base), _facts_of(self._head))

    def explain(self, trials: Trials, metric: str) -> list[Finding]:
        """Return the findings on a case whose `metric` changed."""
        base_functions, head_functions = self._functions
        findings = explain_change(
            Evidence(
                base=merged_graph(trials.measurements[BASE], self._blobs),
                head=merged_graph(trials.measurements[HEAD], self._blobs),
                base_functions=base_functions,
                head_functions=head_functions,
                changes=self._changes,
                base_stripped=self._base.record.stripped,
                head_stripped=self._head.record.stripped,
                metric=metric,
            )
        )
        return [*findings, *self._explain_build()]

    def explain_times(self, times: tuple[SampledSide, SampledSide] | None, timed: TimedTrials | None) -> list[Finding]:
        """Return the findings on a case whose time changed otherwise than its work: functions, then the builds."""
        findings = explain_times(*times) if times is not None else []
        placed = timed is None or timed.of_cost.is_placed
        findings += [*self._explain_build(), *explain_layout(*self._structures), *explain_placement(is_placed=placed)]
        return findings

    def times(self, trials: Trials, verdicts: Sequence[Verdict]) -> tuple[SampledSide, SampledSide] | None:
        """Return what functions cost in time on both sides; none where stacks are missing or not valid."""
        if not trials.usable or trials.blocks == 0:
            return None
        timed = next((one for one in verdicts if one.metric == "cpu_ns_per_op"), None)
        base = sampled_side(trials.measurements[BASE], timed.base if timed else None, self._blobs)
        head = sampled_side(trials.measurements[HEAD], timed.head if timed else None, self._blobs)
        return None if base is None or head is None else (base, head)


def merged_graph(measurements: Sequence[Measurement], blobs: Blobs) -> CallGraph:
    """Return the mean of the call graphs of counted trials."""
    graphs = [blobs.get(measurement.graph) for measurement in measurements if measurement.graph is not None]
    return CallGraph.model_validate_json(_core.merge_call_graphs(graphs))


def sampled_side(passes: Sequence[Measurement], cpu_ns_per_op: float | None, blobs: Blobs) -> SampledSide | None:
    """Return the functions of a side's passes; their time is that of the timed trials, where there is one."""
    read = [_sampled_pass(blobs.get(one.stacks)) for one in passes if one.stacks is not None]
    taken = [one for one in read if one.samples]
    if not taken:
        return None
    measured_ns = sum(one.metrics["cpu_ns_per_op"] for one in passes) / len(passes)
    return SampledSide.of(taken, cpu_ns_per_op or measured_ns)


def _sampled_pass(stacks: bytes) -> SampledPass:
    functions: dict[tuple[str, str | None], SampledFunction] = {}
    samples = 0
    for _, name, file, own, inclusive in _core.function_samples(stacks):
        seen = functions.get((name, file), SampledFunction(0, 0))
        functions[name, file] = seen.plus(SampledFunction(own, inclusive))
        samples += own
    return SampledPass(samples, functions)


def _source_functions(server: BuiltServer) -> list[SourceFunction]:
    functions = reading.source_functions(str(server.program.path), server.record.source_root)
    return [SourceFunction(file, name, first, last) for file, name, first, last in functions]


def _facts_of(server: BuiltServer) -> BuildFacts:
    record = server.record
    return BuildFacts(record.compiler, record.flags, record.allocator, record.libc)


def _structures_of(server: BuiltServer) -> Structures:
    structures = reading.structures(str(server.program.path), server.record.source_root)
    return {(name, file): Structure(size_bytes, _members(members)) for file, name, size_bytes, members in structures}


def _members(text: str) -> tuple[tuple[str, int], ...]:
    parted = [member.rpartition("@") for member in text.split()]
    return tuple((name, int(begins)) for name, _, begins in parted)
