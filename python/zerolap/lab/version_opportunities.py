"""What could be optimised in one version of a server, from the call graphs that a store holds of it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from zerolap import __version__, _core
from zerolap.explain import (
    BUILT_IN_DETECTORS,
    CaseEvidence,
    Detector,
    ExecutedKinds,
    SourceFunctions,
    WeightedWork,
    case_work,
    costly_categories,
    costly_functions,
    gain,
    ranked_opportunities,
)
from zerolap.lab.lab import Lab
from zerolap.lab.reasons import source_functions
from zerolap.plugins import DETECTORS, PluginFault, load_plugin, plugin_names
from zerolap.records import (
    BASE,
    CallGraph,
    Case,
    CaseOpportunity,
    CountedWork,
    DrawnSide,
    EnvironmentMissing,
    MeasuredServer,
    Opportunities,
    OpportunityWeights,
    Platform,
    UsageError,
    WeighedCase,
    now,
)
from zerolap.store import CountedGraph, Store

FOUND_BY: Final = f"{__version__}, 1"
"""The revision of what is found besides the detectors, which have their own."""
MOST_LISTED: Final = 200
"""Functions in a document."""
LOCKED: Final = ("lock ", "xchg [")
STRING_STORES: Final = ("rep stos",)
"""Beginnings of instructions in Intel's notation; an exchange with memory is locked without the word."""
KEPT_AT_ONCE: Final = 50
"""Cases after which what was found is kept: an interruption loses no more."""


@dataclass(frozen=True)
class CountedVersion:
    """One version of a server with the call graphs that were counted of it, and their cases by name."""

    server: MeasuredServer
    platform: Platform
    graphs: Sequence[CountedGraph]
    cases: Mapping[str, Case]


def counted_version(
    store: Store, identity: str | None, *, side: DrawnSide = "head", everywhere: bool = False
) -> CountedVersion:
    """Return the version that a comparison or run has counted: of an id, its beginning, or the newest that counted.

    `everywhere` takes in all cases that were counted of the same build in other results too. Raises `UsageError` where
    there is none, or nothing was counted.
    """
    if identity is None:
        identity = store.work.newest_result() or store.latest().id
    elif identity == "latest":
        identity = store.latest().id
    server, platform, identity = _described(store, identity, side)
    graphs = store.work.graphs_of_build(server.build) if everywhere else store.work.graphs_of_result(identity, side)
    if not graphs:
        raise UsageError(
            f"{identity} has no call graphs of its {side}",
            hint="zerolap run --engine counted counts; opportunities are found in what it counts",
        )
    cases = store.work.cases([graph.job for graph in graphs])
    return CountedVersion(server, platform, [graph for graph in graphs if graph.case in cases], cases)


def _described(store: Store, identity: str, side: DrawnSide) -> tuple[MeasuredServer, Platform, str]:
    """Return a side of a comparison, or the server of a run, with the platform and the whole id."""
    if identity.startswith("r-"):
        report = store.run_without_cases(identity)
        if side == BASE:
            raise UsageError(f"{report.id} is a run, which has one server", hint="leave --side out")
        return report.server, report.platform, report.id
    comparison = store.comparison_without_cases(identity)
    return (comparison.base if side == BASE else comparison.head), comparison.platform, comparison.id


def found_opportunities(
    version: CountedVersion,
    weights: tuple[OpportunityWeights, Mapping[str, float]],
    lab: Lab,
    command_line: str,
    listen: Callable[[int, int], None] = lambda done, expected: None,
) -> Opportunities:
    """Return what could be optimised in a version; `weights` are stated, and given by case.

    What is found in a call graph is kept in the store, as far as that can be written to. `listen` is told how many of
    the others are done, and of how many. Raises `PluginFault`.
    """
    stated, by_case = weights
    detectors = _detectors()
    found = _works(version, detectors, lab, listen)
    whole = sum(by_case[graph.case] for graph in version.graphs) or 1.0
    works = [
        WeightedWork(
            graph.case,
            tuple(version.cases[graph.case].verbs),
            by_case[graph.case] / whole,
            found[graph.graph],
        )
        for graph in version.graphs
        if found[graph.graph].instructions_per_op > 0
    ]
    ranked = ranked_opportunities(works)
    results = {graph.case: graph.result for graph in version.graphs}
    return Opportunities(
        created=now(),
        command_line=command_line,
        server=version.server,
        platform=version.platform,
        results=tuple(dict.fromkeys(graph.result for graph in version.graphs)),
        weights=stated,
        cases=tuple(
            WeighedCase(
                case=of_case.case,
                commands=of_case.commands,
                result=results[of_case.case],
                weight=of_case.weight,
                instructions_per_op=of_case.work.instructions_per_op,
                gain=gain(ranked.saved_by_case[of_case.case]),
            )
            for of_case in works
        ),
        detectors=tuple(detector.name for detector in detectors),
        saved_share=ranked.saved_share,
        opportunities=ranked.opportunities,
        functions=tuple(costly_functions(works)[:MOST_LISTED]),
        categories=tuple(costly_categories(works)),
        limits=tuple(_limits(works, is_stripped=version.server.stripped)),
    )


def _limits(works: Sequence[WeightedWork], *, is_stripped: bool) -> list[str]:
    limits = []
    if is_stripped:
        limits.append(
            "The program is stripped: functions that are not exported have no names, and detectors recognise few. "
            "Build it with symbols, or give a source tree as the server."
        )
    by_symbol = sum(not of_case.work.is_by_source for of_case in works)
    if by_symbol and not is_stripped:
        limits.append(
            f"The build of {_part(by_symbol, works)} is not on this machine, or has no debug information: what is "
            "inlined counts as part of the function that it is inlined into."
        )
    unsearched = sum(not of_case.work.is_searched for of_case in works)
    if unsearched:
        limits.append(f"Requests of {_part(unsearched, works)} execute too many functions for detectors.")
    return limits


def _part(number: int, works: Sequence[WeightedWork]) -> str:
    return "all cases" if number == len(works) else f"{number:,} of {len(works):,} cases"


def _works(
    version: CountedVersion, detectors: Sequence[Detector], lab: Lab, listen: Callable[[int, int], None]
) -> dict[str, CountedWork]:
    """Return what is in each call graph, by its digest: what is kept, or found now."""
    found_by = "; ".join([FOUND_BY, *(f"{detector.name} {detector.revision}" for detector in detectors)])
    digests = dict.fromkeys(graph.graph for graph in version.graphs)
    works = lab.store.work.kept(list(digests), found_by)
    build = lab.builds.find(version.server.build)
    missing = [
        graph
        for graph in {graph.graph: graph for graph in version.graphs}.values()
        if graph.graph not in works or (build is not None and not works[graph.graph].is_by_source)
    ]
    if not missing:
        return works
    functions = SourceFunctions([] if build is None else source_functions(build))
    new: dict[str, CountedWork] = {}
    for done, graph in enumerate(missing, start=1):
        if graph.graph in works and not functions.are_known:
            continue
        counted = CallGraph.model_validate_json(lab.store.blobs.get(graph.graph))
        commands = version.cases[graph.case].verbs
        new[graph.graph] = case_work(counted, functions, detectors, commands, _executed_kinds(graph, lab))
        listen(done, len(missing))
        if len(new) % KEPT_AT_ONCE == 0:
            _keep(new, found_by, lab)
    _keep(new, found_by, lab)
    return works | new


def _executed_kinds(graph: CountedGraph, lab: Lab) -> ExecutedKinds | None:
    """Return the kinds of instructions that detectors ask for; none where what was executed is not known."""
    if graph.executed is None:
        return None
    kinds: tuple[dict[str, float], dict[str, float]] = ({}, {})
    beginnings = [*LOCKED, *STRING_STORES]
    counts = _core.executed_beginning_with(lab.store.blobs.get(graph.executed), beginnings)
    for function, beginning, times in counts:
        of_kind = kinds[0 if beginning < len(LOCKED) else 1]
        of_kind[function] = of_kind.get(function, 0.0) + times
    return ExecutedKinds(*kinds)


def _keep(works: Mapping[str, CountedWork], found_by: str, lab: Lab) -> None:
    # The answer stands, though a user who may only read has to find it again.
    with suppress(EnvironmentMissing):
        lab.store.work.keep(works, found_by)


def _detectors() -> list[Detector]:
    """Return the detectors of the lab and of plugins; raises `PluginFault`."""
    plugins = [
        _PluginDetector(load_plugin(DETECTORS, name, Detector))  # type: ignore[type-abstract]
        for name in plugin_names(DETECTORS)
    ]
    return [*BUILT_IN_DETECTORS, *plugins]


class _PluginDetector:
    """A detector of a plugin, whose errors are reported as the plugin's."""

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self.name = detector.name
        self.purpose = detector.purpose
        self.revision = detector.revision

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        try:
            return [CaseOpportunity.model_validate(one) for one in self._detector.detect(evidence)]
        except Exception as fault:  # foreign code, which may raise anything
            raise PluginFault(
                f"the detector `{self.name}` of a plugin fails: {type(fault).__name__}: {fault}",
                hint="fix the plugin, or remove it",
            ) from fault
