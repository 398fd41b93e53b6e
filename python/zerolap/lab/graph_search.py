"""Looks through the call graphs of cases for what they waste, and keeps what it finds."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from zerolap import __version__, _core
from zerolap.build import BuiltServer
from zerolap.explain import (
    BUILT_IN_DETECTORS,
    CaseEvidence,
    Detector,
    ExecutedKinds,
    SourceFunction,
    SourceFunctions,
    case_work,
)
from zerolap.lab.lab import Lab
from zerolap.lab.reasons import source_functions
from zerolap.plugins import DETECTORS, PluginFault, load_plugin, plugin_names
from zerolap.records import CallGraph, CaseOpportunity, CountedWork, EnvironmentMissing
from zerolap.store import BlobDamaged, CountedGraph

FOUND_BY: Final = f"{__version__}, 4"
"""The revision of what is found besides the detectors, which have their own."""
LOCKED: Final = ("lock ", "xchg [")
STRING_STORES: Final = ("rep stos",)
"""Beginnings of instructions in Intel's notation; an exchange with memory is locked without the word."""
KEPT_AT_ONCE: Final = 50
"""Cases after which what was found is kept: an interruption loses no more."""


@dataclass
class SearchedGraphs:
    """What is in call graphs, by their digests, as far as they can be read; `limits` are what could not be, and why."""

    works: dict[str, CountedWork]
    limits: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class GraphSearch:
    """Looks through the call graphs of one build."""

    build: BuiltServer | None
    detectors: Sequence[Detector]
    lab: Lab

    @property
    def found_by(self) -> str:
        """The revision of what is found: with another detector, or another revision of one, it is found anew."""
        return "; ".join([FOUND_BY, *(f"{detector.name} {detector.revision}" for detector in self.detectors)])

    def search(
        self,
        graphs: Sequence[CountedGraph],
        commands: Mapping[str, Sequence[str]],
        listen: Callable[[int, int], None],
    ) -> SearchedGraphs:
        """Return what is in call graphs: what is kept, or found now; `commands` are those of each case.

        What was found without the build is found anew where that is at hand. Raises `PluginFault`.
        """
        by_digest = {graph.graph: graph for graph in graphs}
        searched = SearchedGraphs(self.lab.store.work.kept(list(by_digest), self.found_by))
        missing = [
            graph
            for digest, graph in by_digest.items()
            if digest not in searched.works or (self.build is not None and not searched.works[digest].has_build)
        ]
        if not missing:
            return searched
        functions = SourceFunctions(self._source_functions(searched))
        new: dict[str, CountedWork] = {}
        for done, graph in enumerate(missing, start=1):
            try:
                new[graph.graph] = self._found(graph, functions, commands[graph.case])
            except (BlobDamaged, ValueError) as fault:
                # The other cases are known all the same.
                searched.limits.append(f"The call graph of {graph.case} cannot be read: {_reason(fault)}")
            listen(done, len(missing))
            if len(new) % KEPT_AT_ONCE == 0 or done == len(missing):
                self._keep(new)
        searched.works.update(new)
        return searched

    def _source_functions(self, searched: SearchedGraphs) -> list[SourceFunction]:
        if self.build is None:
            return []
        try:
            return source_functions(self.build)
        except (OSError, ValueError) as fault:
            searched.limits.append(f"The debug information of the build cannot be read: {fault}")
            return []

    def _found(self, graph: CountedGraph, functions: SourceFunctions, commands: Sequence[str]) -> CountedWork:
        counted = CallGraph.model_validate_json(self.lab.store.blobs.get(graph.graph))
        work = case_work(counted, functions, self.detectors, commands, self._executed_kinds(graph))
        return work.model_copy(update={"has_build": self.build is not None})

    def _executed_kinds(self, graph: CountedGraph) -> ExecutedKinds | None:
        """Return the kinds of instructions that detectors ask for; none where what was executed is not known."""
        if graph.executed is None:
            return None
        kinds: tuple[dict[str, float], dict[str, float]] = ({}, {})
        beginnings = [*LOCKED, *STRING_STORES]
        counts = _core.executed_beginning_with(self.lab.store.blobs.get(graph.executed), beginnings)
        for function, beginning, times in counts:
            of_kind = kinds[0 if beginning < len(LOCKED) else 1]
            of_kind[function] = of_kind.get(function, 0.0) + times
        return ExecutedKinds(*kinds)

    def _keep(self, works: Mapping[str, CountedWork]) -> None:
        # The answer stands, though a user who may only read has to find it again.
        with suppress(EnvironmentMissing):
            self.lab.store.work.keep(works, self.found_by)


def _reason(fault: BlobDamaged | ValueError) -> str:
    return fault.message if isinstance(fault, BlobDamaged) else "another version has recorded it, or it is damaged"


def all_detectors() -> list[Detector]:
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
