"""Looks through cases that send the same commands with data of different sizes, and keeps what it finds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from zerolap.explain import (
    BUILT_IN_GROUP_DETECTORS,
    CaseGroup,
    GroupDetector,
    SizedCase,
    SizeGroup,
    size_groups,
    with_opportunities_of_group,
)
from zerolap.opportunities.graph_search import SEARCH_REVISION, GraphSearch, detectors_of_plugins, faults_of_plugin
from zerolap.records import Case, CaseOpportunity, CountedWork, EnvironmentMissing, GroupWork, digest_of
from zerolap.store import CountedGraph, NotConductor


@dataclass(frozen=True)
class MeasuredGroup:
    """A group of cases with their call graphs, by case."""

    group: SizeGroup
    graphs: Mapping[str, CountedGraph]

    @property
    def digest(self) -> str:
        """A digest of all that detectors get of it, which does not begin as the digest of a call graph does."""
        parts = [
            part
            for case, size in self.group.sizes.items()
            for part in (case, f"{size:.6g}", self.graphs[case].graph, self.graphs[case].call_counts or "")
        ]
        return f"g-{digest_of(self.group.unit, *parts)}"


@dataclass
class GroupSearch:
    """Looks through the groups of a version whose call graphs `search` has looked through; `works` is by group."""

    search: GraphSearch
    cases: Mapping[str, Case]
    detectors: Sequence[GroupDetector]
    works: dict[str, GroupWork] = field(default_factory=dict)
    _grouped: dict[frozenset[CountedGraph], list[MeasuredGroup]] = field(default_factory=dict)

    @property
    def revision(self) -> str:
        """The revision of the search: with another detector, or another revision of a detector, it is made anew."""
        return "; ".join([SEARCH_REVISION, *(f"{detector.name} {detector.revision}" for detector in self.detectors)])

    @property
    def detector_names(self) -> tuple[str, ...]:
        """The names of the detectors of cases and of groups, each once."""
        of_cases = [detector.name for detector in self.search.detectors]
        return tuple(dict.fromkeys([*of_cases, *(detector.name for detector in self.detectors)]))

    def groups(self, graphs: Iterable[CountedGraph]) -> list[MeasuredGroup]:
        """Return the groups of the cases whose call graphs were looked through."""
        works = self.search.works
        searched = [graph for graph in graphs if graph.graph in works and works[graph.graph].is_searched]
        known = frozenset(searched)
        if known not in self._grouped:
            self._grouped[known] = self._groups_of(searched)
        return self._grouped[known]

    def _groups_of(self, graphs: Iterable[CountedGraph]) -> list[MeasuredGroup]:
        by_case = {graph.case: graph for graph in graphs}
        parts = {case: self.search.works[graph.graph].reply_parts_per_op for case, graph in by_case.items()}
        grouped = size_groups({case: self.cases[case] for case in by_case}, parts)
        return [MeasuredGroup(group, {case: by_case[case] for case in group.sizes}) for group in grouped]

    def take_kept(self, groups: Sequence[MeasuredGroup]) -> list[MeasuredGroup]:
        """Take what is kept of groups, and return the others, as `GraphSearch.take_kept` does."""
        kept, digests = self.search.store.work.kept, [group.digest for group in groups]
        self.works |= kept(GroupWork, digests, self.revision, needs_build=True)
        missing = [digest for digest in digests if digest not in self.works]
        if missing and not self.search.has_functions:
            self.works |= kept(GroupWork, missing, self.revision)
        return [group for group in groups if group.digest not in self.works]

    def look_through(
        self, groups: Sequence[MeasuredGroup], listen: Callable[[int, int], None] = lambda done, expected: None
    ) -> None:
        """Find what is in groups, as far as their call graphs can be read, and keep it; raises `PluginFault`."""
        for done, group in enumerate(groups, start=1):
            cases = self._read(group)
            work = GroupWork(opportunities=self._opportunities(CaseGroup(group.group.unit, cases)))
            self.works[group.digest] = work
            if len(cases) == len(group.graphs):
                self._keep(group, work)
            listen(done, len(groups))

    def _read(self, measured: MeasuredGroup) -> list[SizedCase]:
        evidence = {case: self.search.evidence_of(graph) for case, graph in measured.graphs.items()}
        sizes = measured.group.sizes
        return [SizedCase(case, sizes[case], known) for case, known in evidence.items() if known is not None]

    def _opportunities(self, group: CaseGroup) -> dict[str, tuple[CaseOpportunity, ...]]:
        by_case: dict[str, tuple[CaseOpportunity, ...]] = {}
        for detector in self.detectors if len(group.cases) > 1 else ():
            for case, opportunities in detector.detect_group(group).items():
                by_case[case] = (*by_case.get(case, ()), *opportunities)
        return by_case

    def _keep(self, group: MeasuredGroup, work: GroupWork) -> None:
        # The answer stands, though who may only read, or is not the conductor any more, has to look for it again.
        with suppress(EnvironmentMissing, NotConductor):
            has_build = self.search.has_functions
            self.search.store.work.keep({group.digest: work}, self.revision, has_build=has_build)

    def works_of_cases(self, graphs: Sequence[CountedGraph]) -> dict[str, CountedWork]:
        """Return what is known of cases by name, with what detectors report of their groups."""
        works = {graph.case: self.search.works[graph.graph] for graph in graphs if graph.graph in self.search.works}
        for group in self.groups(graphs):
            known = self.works.get(group.digest, GroupWork(opportunities={}))
            for case, opportunities in known.opportunities.items():
                works[case] = with_opportunities_of_group(works[case], opportunities)
        return works


def all_group_detectors() -> list[GroupDetector]:
    """Return the detectors of groups, those of the lab and of plugins; raises `PluginFault`."""
    plugins = [detector for detector in detectors_of_plugins() if isinstance(detector, GroupDetector)]
    return [*BUILT_IN_GROUP_DETECTORS, *map(_PluginGroupDetector, plugins)]


class _PluginGroupDetector:
    """A detector of a plugin, whose errors are reported as the plugin's."""

    def __init__(self, detector: GroupDetector) -> None:
        self._detector = detector
        self.name = detector.name
        self.purpose = detector.purpose
        self.revision = detector.revision

    def detect_group(self, group: CaseGroup) -> Mapping[str, Sequence[CaseOpportunity]]:
        with faults_of_plugin(self.name):
            reported = self._detector.detect_group(group)
            return {
                sized.case: [CaseOpportunity.model_validate(of) for of in reported.get(sized.case, ())]
                for sized in group.cases
            }
