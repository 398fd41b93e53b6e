"""The call graphs of a side's counted trials, as one."""

from collections.abc import Mapping, Sequence
from typing import Final

from zerolap import _core
from zerolap.records import CallGraph, Measurement
from zerolap.store import Blobs

TIMER_COST: Final = "instructions_per_tick"
GRAPHS: Final[Mapping[str, str]] = {TIMER_COST: "graph_tick", "instructions_alone_per_op": "graph_alone"}
"""Of which call graph of a measurement the functions behind a metric are, where that is not the graph of requests."""


def graph_kind(metric: str) -> str:
    """Return the name of a measurement's graph with the functions behind a metric."""
    return GRAPHS.get(metric, "graph")


def merged_graph(measurements: Sequence[Measurement], blobs: Blobs, kind: str = "graph") -> CallGraph:
    """Return the mean of the call graphs of counted trials; `kind` is the name of one of a measurement's graphs."""
    digests = [getattr(measurement, kind) for measurement in measurements]
    graphs = [blobs.get(digest) for digest in digests if digest is not None]
    return CallGraph.model_validate_json(_core.merge_call_graphs(graphs))
