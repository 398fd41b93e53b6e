"""Looks through the call graphs of cases for what they waste, and keeps what it finds."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Protocol, runtime_checkable

from zerolap import __version__, _core
from zerolap.explain import (
    BUILT_IN_DETECTORS,
    CaseEvidence,
    Detector,
    ExecutedKinds,
    GroupDetector,
    case_evidence,
    case_work,
)
from zerolap.plugins import DETECTORS, PluginFault, load_plugin, plugin_names
from zerolap.records import (
    ArgumentCheck,
    CallCounts,
    CallGraph,
    CaseOpportunity,
    CountedWork,
    EnvironmentMissing,
    FunctionsOfBuild,
    SourceFunctions,
)
from zerolap.store import BlobDamaged, CountedGraph, NotConductor, Store

SEARCH_REVISION: Final = f"{__version__}, 8"
"""Of what a search returns besides the detectors, which have revisions of their own."""
LOCKED: Final = ("lock ", *(f"xchg {size} ptr " for size in ("byte", "word", "dword", "qword")))
STRING_STORES: Final = ("rep stos",)
"""Beginnings of instructions in Intel's notation; an exchange with memory is locked without the word."""
KEPT_AT_ONCE: Final = 50
"""Cases after which what is known of them is kept: an interruption loses no more."""


@dataclass
class GraphSearch:
    """Looks through the call graphs of one version; `commands` are those of each case.

    `digest` is that of its build, whose functions `functions_of_build` reads. `works` is what is known of call graphs,
    by their digests; `limits` state what cannot be read, and why.
    """

    digest: str
    detectors: Sequence[Detector]
    commands: Mapping[str, Sequence[str]]
    store: Store
    functions_of_build: FunctionsOfBuild
    works: dict[str, CountedWork] = field(default_factory=dict)
    limits: list[str] = field(default_factory=list)

    @property
    def revision(self) -> str:
        """The revision of the search: with another detector, or another revision of a detector, it is made anew."""
        return "; ".join([SEARCH_REVISION, *(f"{detector.name} {detector.revision}" for detector in self.detectors)])

    def take_kept(self, graphs: Sequence[CountedGraph]) -> list[CountedGraph]:
        """Take what is kept of call graphs, and return those to look through: the others, each once.

        What is known without the build is looked for anew where that can be read now.
        """
        by_digest = {graph.graph: graph for graph in graphs}
        self._take(by_digest, needs_build=True)
        if not by_digest.keys() <= self.works.keys() and not self.has_functions:
            # Looking through them again without the build's debug information would show no more.
            self._take(by_digest, needs_build=False)
        return [graph for digest, graph in by_digest.items() if digest not in self.works]

    def _take(self, by_digest: Mapping[str, CountedGraph], *, needs_build: bool) -> None:
        """Take what is kept of call graphs, if it was found with the same calls of a count build, or with none too."""
        missing = list(by_digest.keys() - self.works.keys())
        kept = self.store.work.kept(CountedWork, missing, self.revision, needs_build=needs_build)
        counts = {digest: graph.call_counts or "" for digest, graph in by_digest.items()}
        self.works |= {digest: work for digest, work in kept.items() if work.call_counts == counts[digest]}

    def look_through(
        self,
        graphs: Sequence[CountedGraph],
        listen: Callable[[int, int], None] = lambda done, expected: None,
    ) -> None:
        """Find what is in call graphs, as far as they can be read, and keep it; raises `PluginFault`."""
        new: dict[str, CountedWork] = {}
        for done, graph in enumerate(graphs, start=1):
            recorded = self._recorded(graph)
            if recorded is not None:
                functions = self._functions or SourceFunctions([])
                counted, executed, counts = recorded
                commands = self.commands[graph.case]
                work = case_work(counted, functions, self.detectors, commands, executed, counts)
                new[graph.graph] = work.model_copy(update={"call_counts": graph.call_counts or ""})
            listen(done, len(graphs))
            if len(new) == KEPT_AT_ONCE:
                self._keep(new)
                new = {}
        if new:
            self._keep(new)

    def evidence_of(self, graph: CountedGraph) -> CaseEvidence | None:
        """Return a call graph ready for questions; none where it cannot be read, which is a limit."""
        recorded = self._recorded(graph)
        if recorded is None:
            return None
        counted, executed, counts = recorded
        functions = self._functions or SourceFunctions([])
        return case_evidence(counted, functions, self.commands[graph.case], executed, counts)

    def keep_checks(self, digest: str, checks: Sequence[ArgumentCheck]) -> None:
        """Keep what was seen of arguments in the case of a call graph, in place of what was seen of the same before."""
        work = self.works[digest]
        places = {(check.detector, check.function, check.file) for check in checks}
        others = [old for old in work.argument_checks if (old.detector, old.function, old.file) not in places]
        self._keep({digest: work.model_copy(update={"argument_checks": (*others, *checks)})})

    @property
    def has_functions(self) -> bool:
        """Whether the build's debug information could be read."""
        return self._functions is not None

    @cached_property
    def _functions(self) -> SourceFunctions | None:
        """Those of the build; none where it is not at hand, or where its debug information cannot be read."""
        try:
            functions = self.functions_of_build(self.store.builds_directory, self.digest)
        except (OSError, ValueError) as fault:
            self.limits.append(f"The debug information of the build cannot be read: {fault}")
            return None
        return None if functions is None else SourceFunctions(functions)

    def _recorded(self, graph: CountedGraph) -> tuple[CallGraph, ExecutedKinds | None, CallCounts | None] | None:
        """Return what a trial has recorded of a case; none where it cannot be read, which is a limit."""
        blobs = self.store.blobs
        try:
            counted = CallGraph.model_validate_json(blobs.get(graph.graph))
            counts = None
            if graph.call_counts is not None:
                counts = CallCounts.model_validate_json(blobs.get(graph.call_counts))
            return counted, self._executed_kinds(graph), counts
        except (BlobDamaged, ValueError) as fault:
            # The other cases are known all the same.
            self.limits.append(f"The call graph of {graph.case} cannot be read: {_reason(fault)}")
            return None

    def _executed_kinds(self, graph: CountedGraph) -> ExecutedKinds | None:
        """Return the kinds of instructions that detectors ask for; none where what was executed is not known."""
        if graph.executed is None:
            return None
        kinds: tuple[dict[str, float], dict[str, float]] = ({}, {})
        beginnings = [*LOCKED, *STRING_STORES]
        counts = _core.executed_beginning_with(self.store.blobs.get(graph.executed), beginnings)
        for function, beginning, times in counts:
            of_kind = kinds[0 if beginning < len(LOCKED) else 1]
            of_kind[function] = of_kind.get(function, 0.0) + times
        return ExecutedKinds(*kinds)

    def _keep(self, new: Mapping[str, CountedWork]) -> None:
        self.works |= new
        # The answer stands, though who may only read, or is not the conductor any more, has to look for it again.
        with suppress(EnvironmentMissing, NotConductor):
            self.store.work.keep(new, self.revision, has_build=self._functions is not None)


def _reason(fault: BlobDamaged | ValueError) -> str:
    return fault.message if isinstance(fault, BlobDamaged) else "another version has recorded it, or it is damaged"


@runtime_checkable
class _Described(Protocol):
    """What detectors of cases and of groups have in common."""

    name: str
    purpose: str
    revision: int


def all_detectors() -> list[Detector]:
    """Return the detectors of cases, those of the lab and of plugins; raises `PluginFault`."""
    plugins = [detector for detector in detectors_of_plugins() if isinstance(detector, Detector)]
    return [*BUILT_IN_DETECTORS, *map(_PluginDetector, plugins)]


def detectors_of_plugins() -> list[Detector | GroupDetector]:
    """Return the detectors of plugins, of cases and of groups; raises `PluginFault`."""
    detectors: list[Detector | GroupDetector] = []
    for name in plugin_names(DETECTORS):
        plugin = load_plugin(DETECTORS, name, _Described)  # type: ignore[type-abstract]
        if not isinstance(plugin, (Detector, GroupDetector)):
            raise PluginFault(
                f"the detector `{name}` of a plugin has neither `detect` nor `detect_group`",
                hint="fix the plugin, or remove it",
            )
        detectors.append(plugin)
    return detectors


@contextmanager
def faults_of_plugin(name: str) -> Iterator[None]:
    """Turn any error of a plugin's detector into a `PluginFault` that names it."""
    try:
        yield
    except Exception as fault:  # foreign code, which may raise anything
        raise PluginFault(
            f"the detector `{name}` of a plugin fails: {type(fault).__name__}: {fault}",
            hint="fix the plugin, or remove it",
        ) from fault


class _PluginDetector:
    """A detector of a plugin, whose errors are reported as the plugin's."""

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self.name = detector.name
        self.purpose = detector.purpose
        self.revision = detector.revision

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        with faults_of_plugin(self.name):
            return [CaseOpportunity.model_validate(opportunity) for opportunity in self._detector.detect(evidence)]
