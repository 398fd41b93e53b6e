"""Where the instructions of a case go, and which are wasted, from its call graph."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from zerolap.explain.call_index import CallIndex
from zerolap.explain.categories import category_of
from zerolap.explain.cost_graph import LONGEST_NAME, add_all
from zerolap.explain.detectors import CaseEvidence, Detector
from zerolap.explain.uninlined_calls import uninlined_index
from zerolap.records import (
    CallCounts,
    CalledFunction,
    CallGraph,
    Category,
    CountedWork,
    FunctionWork,
    GraphFunction,
    SourceFunctions,
)

SMALLEST_KEPT: Final = 0.002
"""The part of a case's instructions from which on a function is kept by name."""
MOST_FUNCTIONS: Final = 400
MOST_SEARCHED: Final = (1_000, 4_000)
"""Functions and calls between them that detectors look through in seconds: a request executes some hundreds."""
MOST_OPPORTUNITIES: Final = 100
ADDS_TO_REPLY: Final = re.compile(r"add(?:WritePrepared)?Reply(?!\w*(?:Len|Deferred|Prefix))\w*")
"""Functions of Redis, Valkey and KeyDB that add an element to a reply; the others add its header, or a piece."""
OF_REPLIES: Final = re.compile(r"_?add(?:WritePrepared)?Reply\w*|setDeferred\w*")
"""Functions that call those which add an element, as a part of adding one themselves."""

_Function = TypeVar("_Function", CalledFunction, GraphFunction)


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
    counts: CallCounts | None = None,
) -> CountedWork:
    """Return what a case's call graph shows; `functions` are those of the build's debug information.

    `counts` are the calls of a count build.
    """
    evidence = case_evidence(graph, functions, commands, executed, counts)
    index = evidence.index
    is_searched = _may_be_searched(len(graph.functions), len(graph.edges))
    searching = detectors if is_searched else ()
    opportunities = [opportunity for detector in searching for opportunity in detector.detect(evidence)]
    most_first = sorted(opportunities, key=lambda saving: -saving.saved_instructions_per_op.expected)
    return CountedWork(
        instructions_per_op=graph.totals.instructions,
        is_by_source=functions.are_known,
        is_searched=is_searched,
        reply_parts_per_op=_reply_parts(index),
        functions=tuple(_functions(index)),
        categories=_categories(index),
        opportunities=tuple(most_first[:MOST_OPPORTUNITIES]),
    )


def _reply_parts(index: CallIndex) -> float:
    """Return the calls per request that add an element to a reply; 0 where all of them are inlined.

    They are in proportion to the elements of the reply.
    """
    return sum(
        calls.calls
        for callee, callers in index.callers.items()
        if ADDS_TO_REPLY.fullmatch(callee[0]) is not None
        for caller, calls in callers.items()
        if OF_REPLIES.fullmatch(caller[0]) is None
    )


def case_evidence(
    graph: CallGraph,
    functions: SourceFunctions,
    commands: Sequence[str] = (),
    executed: ExecutedKinds | None = None,
    counts: CallCounts | None = None,
) -> CaseEvidence:
    """Return a case's call graph ready for questions; `functions` are those of the build's debug information.

    `counts` are the calls of a count build. They are left out where they are too many to be looked through, and where
    the build has no debug information: it is not known then what inlined functions cost.
    """
    executed = executed or ExecutedKinds({}, {})
    graph = graph.model_copy(update={"functions": _with_bounded_names(graph.functions)})
    uninlined = None
    if counts is not None and functions.are_known and _may_be_searched(len(counts.functions), len(counts.calls)):
        bounded = counts.model_copy(update={"functions": _with_bounded_names(counts.functions)})
        uninlined = uninlined_index(graph, functions, bounded)
    index = CallIndex(graph, functions)
    return CaseEvidence(index, tuple(commands), executed.locked, executed.string_stores, uninlined)


def _may_be_searched(functions: int, calls: int) -> bool:
    """Whether detectors are done with so many functions, and calls between them, within seconds."""
    return functions <= MOST_SEARCHED[0] and calls <= MOST_SEARCHED[1]


def _with_bounded_names(functions: Sequence[_Function]) -> Sequence[_Function]:
    """Return functions with names that patterns can be held against: those of C++ templates have no bound."""
    if all(len(function.name) <= LONGEST_NAME for function in functions):
        return functions
    return [function.model_copy(update={"name": function.name[:LONGEST_NAME]}) for function in functions]


def _functions(index: CallIndex) -> list[FunctionWork]:
    """Return the functions with a part worth naming, those that cost most first."""
    bodies = {key: node.body for key, node in index.costs.nodes.items()}
    for node in index.costs.nodes.values():
        add_all(bodies, node.inlined)
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
    return sorted(work, key=lambda function: (-function.instructions_per_op, function.function))[:MOST_FUNCTIONS]


def _categories(index: CallIndex) -> dict[Category, float]:
    """Return the instructions by what the functions in whose lines they stand work at."""
    categories: dict[Category, float] = {}
    for (name, file), node in index.costs.nodes.items():
        _add(categories, category_of(name, file), node.body)
        for (inlined_name, inlined_file), cost in node.inlined.items():
            _add(categories, category_of(inlined_name, inlined_file), cost)
    return categories


def _add(categories: dict[Category, float], category: Category, instructions: float) -> None:
    categories[category] = categories.get(category, 0.0) + instructions
