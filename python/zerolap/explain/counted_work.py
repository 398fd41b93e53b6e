"""Where the instructions of a case go, and which are wasted, from its call graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.explain.attribution import SourceFunctions
from zerolap.explain.call_index import CallIndex
from zerolap.explain.categories import category_of
from zerolap.explain.cost_graph import sums
from zerolap.explain.detectors import CaseEvidence, Detector
from zerolap.explain.detectors.detector import LONGEST_NAME
from zerolap.records import CallGraph, CaseOpportunity, Category, CountedWork, FunctionWork

SMALLEST_KEPT: Final = 0.002
"""The part of a case's instructions from which on a function is kept by name."""
MOST_FUNCTIONS: Final = 400
MOST_SEARCHED: Final = (1_000, 4_000)
"""Functions and calls between them that detectors look through in seconds: a request executes some hundreds."""
MOST_OPPORTUNITIES: Final = 100


@dataclass(frozen=True)
class ExecutedKinds:
    """How often a request executes locked instructions, and steps of repeated stores, by function."""

    locked: Mapping[str, float]
    string_stores: Mapping[str, float]


def case_work(
    graph: CallGraph,
    functions: SourceFunctions,
    detectors: Sequence[Detector],
    commands: Sequence[str] = (),
    executed: ExecutedKinds | None = None,
) -> CountedWork:
    """Return what a case's call graph shows; `functions` are those of the build's debug information."""
    graph = _with_bounded_names(graph)
    index = CallIndex(graph, functions)
    executed = executed or ExecutedKinds({}, {})
    evidence = CaseEvidence(index, tuple(commands), executed.locked, executed.string_stores)
    is_searched = len(graph.functions) <= MOST_SEARCHED[0] and len(graph.edges) <= MOST_SEARCHED[1]
    searching = detectors if is_searched else ()
    found = [opportunity for detector in searching for opportunity in detector.detect(evidence)]
    work = _functions(index)
    return CountedWork(
        instructions_per_op=graph.totals.instructions,
        is_by_source=functions.are_known,
        is_searched=is_searched,
        functions=tuple(work),
        categories=_categories(index),
        opportunities=tuple(sorted(found, key=_saved, reverse=True)[:MOST_OPPORTUNITIES]),
    )


def _with_bounded_names(graph: CallGraph) -> CallGraph:
    """Return the graph with names that patterns can be held against: those of C++ templates have no bound."""
    if all(len(function.name) <= LONGEST_NAME for function in graph.functions):
        return graph
    functions = [function.model_copy(update={"name": function.name[:LONGEST_NAME]}) for function in graph.functions]
    return graph.model_copy(update={"functions": functions})


def _saved(opportunity: CaseOpportunity) -> float:
    return opportunity.saved_instructions_per_op.expected


def _functions(index: CallIndex) -> list[FunctionWork]:
    """Return the functions with a part worth naming, those that cost most first."""
    bodies = {key: node.body for key, node in index.costs.nodes.items()}
    for node in index.costs.nodes.values():
        bodies = sums(bodies, node.inlined)
    work = []
    for key, own in bodies.items():
        whole = index.inclusive(key) if key in index.costs.nodes else own
        if max(own, whole) >= SMALLEST_KEPT * index.total:
            name, file = key[0][:LONGEST_NAME], key[1][:LONGEST_NAME]
            work.append(
                FunctionWork(
                    function=name,
                    file=file,
                    category=category_of(name, file),
                    self_instructions_per_op=own,
                    instructions_per_op=whole,
                )
            )
    return sorted(work, key=lambda one: (-one.instructions_per_op, one.function))[:MOST_FUNCTIONS]


def _categories(index: CallIndex) -> dict[Category, float]:
    """Return the instructions by what the functions in whose lines they stand work at."""
    categories: dict[Category, float] = {}
    for (name, file), node in index.costs.nodes.items():
        _add(categories, category_of(name[:LONGEST_NAME], file[:LONGEST_NAME]), node.body)
        for (inlined_name, inlined_file), cost in node.inlined.items():
            _add(categories, category_of(inlined_name[:LONGEST_NAME], inlined_file[:LONGEST_NAME]), cost)
    return categories


def _add(categories: dict[Category, float], category: Category, instructions: float) -> None:
    categories[category] = categories.get(category, 0.0) + instructions
