"""Looks through the call graphs of cases for what they waste, and keeps what it finds."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from zerolap import __version__, _core
from zerolap.build import BuiltServer
from zerolap.explain import (
    BUILT_IN_DETECTORS,
    CaseEvidence,
    Detector,
    ExecutedKinds,
    SourceFunctions,
    case_work,
)
from zerolap.lab.lab import Lab
from zerolap.lab.reasons import source_functions
from zerolap.plugins import DETECTORS, PluginFault, load_plugin, plugin_names
from zerolap.records import CallGraph, CaseOpportunity, CountedWork, EnvironmentMissing
from zerolap.store import BlobDamaged, CountedGraph, NotConductor

FOUND_BY: Final = f"{__version__}, 5"
"""The revision of what is found besides the detectors, which have their own."""
LOCKED: Final = ("lock ", *(f"xchg {size} ptr " for size in ("byte", "word", "dword", "qword")))
STRING_STORES: Final = ("rep stos",)
"""Beginnings of instructions in Intel's notation; an exchange with memory is locked without the word."""
KEPT_AT_ONCE: Final = 50
"""Cases after which what was found is kept: an interruption loses no more."""


@dataclass
class GraphSearch:
    """Looks through the call graphs of one version; `commands` are those of each case.

    `works` is what is known of call graphs, by their digests; `limits` state what cannot be read, and why.
    """

    build: BuiltServer | None
    detectors: Sequence[Detector]
    commands: Mapping[str, Sequence[str]]
    lab: Lab
    works: dict[str, CountedWork] = field(default_factory=dict)
    limits: list[str] = field(default_factory=list)

    @property
    def found_by(self) -> str:
        """The revision of what is found: with another detector, or another revision of one, it is found anew."""
        return "; ".join([FOUND_BY, *(f"{detector.name} {detector.revision}" for detector in self.detectors)])

    def take_kept(self, graphs: Sequence[CountedGraph]) -> list[CountedGraph]:
        """Take what is kept of call graphs, and return those to look through: the others, each once.

        What was found without the build is found anew where that can be read now.
        """
        by_digest = {graph.graph: graph for graph in graphs}
        kept = self.lab.store.work.kept
        self.works |= kept(list(by_digest), self.found_by, needs_build=self.build is not None)
        if self.build is not None and not by_digest.keys() <= self.works.keys() and self._functions is None:
            # Looking through them again without the build's debug information would show no more.
            self.works |= kept(list(by_digest.keys() - self.works.keys()), self.found_by)
        return [graph for digest, graph in by_digest.items() if digest not in self.works]

    def look_through(
        self,
        graphs: Sequence[CountedGraph],
        listen: Callable[[int, int], None] = lambda done, expected: None,
    ) -> None:
        """Find what is in call graphs, as far as they can be read, and keep it; raises `PluginFault`."""
        new: dict[str, CountedWork] = {}
        for done, graph in enumerate(graphs, start=1):
            try:
                new[graph.graph] = self._found(graph)
            except (BlobDamaged, ValueError) as fault:
                # The other cases are known all the same.
                self.limits.append(f"The call graph of {graph.case} cannot be read: {_reason(fault)}")
            listen(done, len(graphs))
            if len(new) == KEPT_AT_ONCE:
                self._keep(new)
                new = {}
        if new:
            self._keep(new)

    @cached_property
    def _functions(self) -> SourceFunctions | None:
        """Those of the build; none where it is not at hand, or where its debug information cannot be read."""
        if self.build is None:
            return None
        try:
            return SourceFunctions(source_functions(self.build))
        except (OSError, ValueError) as fault:
            self.limits.append(f"The debug information of the build cannot be read: {fault}")
            return None

    def _found(self, graph: CountedGraph) -> CountedWork:
        counted = CallGraph.model_validate_json(self.lab.store.blobs.get(graph.graph))
        functions = self._functions or SourceFunctions([])
        return case_work(counted, functions, self.detectors, self.commands[graph.case], self._executed_kinds(graph))

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

    def _keep(self, new: Mapping[str, CountedWork]) -> None:
        self.works |= new
        # The answer stands, though who may only read, or is not the conductor any more, has to find it again.
        with suppress(EnvironmentMissing, NotConductor):
            self.lab.store.work.keep(new, self.found_by, has_build=self._functions is not None)


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
