"""Gathers the evidence for a changed case and has it explained."""

import functools
from collections.abc import Sequence

from zerolap import _core
from zerolap.build import BuiltServer, read_source_functions
from zerolap.explain import Evidence, SampledSide, SourceFunction, explain_change
from zerolap.lab.sampling import SampledTrials, sampled_side
from zerolap.lab.trials import CaseTrials
from zerolap.records import CallGraph, Changes, Finding, Measurement, TrialFailed, Verdict
from zerolap.sandbox import Cancellation
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

    def explain(self, trials: CaseTrials, metric: str) -> list[Finding]:
        """Return the findings on a case whose `metric` changed."""
        base_functions, head_functions = self._functions
        return explain_change(
            Evidence(
                base=self._graph(trials.measurements["base"]),
                head=self._graph(trials.measurements["head"]),
                base_functions=base_functions,
                head_functions=head_functions,
                changes=self._changes,
                base_stripped=self._base.record.stripped,
                head_stripped=self._head.record.stripped,
                metric=metric,
            )
        )

    def times(self, trials: SampledTrials, verdicts: Sequence[Verdict]) -> tuple[SampledSide, SampledSide] | None:
        """Return what functions cost in time on both sides; none where stacks are missing or not valid."""
        if not trials.usable or trials.measurements.keys() != {"base", "head"}:
            return None
        timed = next((one for one in verdicts if one.metric == "cpu_ns_per_op"), None)
        base = sampled_side(trials.measurements["base"], timed.base if timed else None, self._blobs)
        head = sampled_side(trials.measurements["head"], timed.head if timed else None, self._blobs)
        return None if base is None or head is None else (base, head)

    def _graph(self, measurements: Sequence[Measurement]) -> CallGraph:
        graphs = [self._blobs.get(one.profile) for one in measurements if one.profile is not None]
        return CallGraph.model_validate_json(_core.merge_call_graphs(graphs))


def _source_functions(server: BuiltServer) -> list[SourceFunction]:
    # What was measured is concluded also after the request was cancelled.
    with Cancellation().current():
        try:
            found = read_source_functions(server.program.path, server.source_root)
        except ValueError as wrong:
            raise TrialFailed(f"`{server.record.name}` has debug information that cannot be read: {wrong}") from wrong
    return [SourceFunction(file, name, first, last) for file, name, first, last in found]
