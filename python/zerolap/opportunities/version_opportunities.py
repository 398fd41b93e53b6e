"""What could be optimised in one version of a server, from the call graphs that a store holds of it."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Final

from zerolap.explain import (
    BUILD_VARIANTS,
    VariantComparison,
    WeightedWork,
    build_variants,
    costly_categories,
    costly_functions,
    differ_as_builds,
    gain,
    ranked_opportunities,
    with_argument_checks,
)
from zerolap.opportunities.graph_search import GraphSearch, all_detectors
from zerolap.opportunities.group_search import GroupSearch, all_group_detectors
from zerolap.records import (
    BASE,
    HEAD,
    BuildVariant,
    Case,
    CaseWeights,
    Comparison,
    CountedWork,
    DrawnSide,
    FunctionsOfBuild,
    KnownEdit,
    KnownEdits,
    MeasuredServer,
    Opportunities,
    Platform,
    UnreadableRecord,
    UsageError,
    WeighedCase,
    now,
)
from zerolap.store import CountedGraph, Store


def version_variants(server: MeasuredServer, platform: Platform, store: Store) -> list[BuildVariant]:
    """Return the builds of the same code that comparisons on the platform have measured to be faster."""
    return build_variants(_comparisons(server, platform, store))


def _comparisons(server: MeasuredServer, platform: Platform, store: Store) -> Iterator[VariantComparison]:
    """Yield the timed comparisons of the server's build with other builds of its code, the newest first."""
    for identity in store.work.comparisons_of_build(server.build):
        try:
            comparison = store.comparison_without_cases(identity)
            is_meant = comparison.platform.fingerprint == platform.fingerprint and _is_of_variants(comparison, server)
            side: DrawnSide = "base" if comparison.base.build == server.build else "head"
            if is_meant and _is_of_one_code(identity, store):
                yield VariantComparison(store.comparison(identity), side)
        except UnreadableRecord:
            # What another version has written says nothing of others.
            continue


def _is_of_variants(comparison: Comparison, server: MeasuredServer) -> bool:
    """Return whether the builds differ, and nothing else that is known of the sides, or of the server's settings."""
    base, head = comparison.base, comparison.head
    is_alike = base.config == head.config == server.config and base.version == head.version
    return is_alike and differ_as_builds(base, head)


def _is_of_one_code(identity: str, store: Store) -> bool:
    resolved = store.resolved(identity)
    if resolved is None or BASE not in resolved.servers or HEAD not in resolved.servers:
        return False
    return resolved.servers[BASE].spec.content == resolved.servers[HEAD].spec.content


@functools.cache
def known_edits() -> tuple[KnownEdit, ...]:
    """Return all edits of which it is known what they save."""
    resource = resources.files("zerolap.explain") / "detectors" / "calibration.json"
    return KnownEdits.model_validate_json(resource.read_text(encoding="utf-8")).edits


MOST_LISTED: Final = 200
"""Functions in a document."""


@dataclass(frozen=True)
class CountedVersion:
    """One version of a server with the call graphs that were counted of it, and their cases by name.

    `left_out` is the number of cases of the same build that were asked for, but were measured in another way.
    """

    server: MeasuredServer
    platform: Platform
    graphs: Sequence[CountedGraph]
    cases: Mapping[str, Case]
    left_out: int = 0


def counted_version(
    store: Store, identity: str | None, *, side: DrawnSide = "head", everywhere: bool = False
) -> CountedVersion:
    """Return the version that a comparison or run has counted: of an id, its beginning, or the newest that counted.

    `everywhere` takes in the cases of the same build from all results that were measured alike. Raises `UsageError`
    where there is none, or nothing was counted.
    """
    if identity is None:
        identity = store.work.newest_result() or store.latest().id
    elif identity == "latest":
        identity = store.latest().id
    server, platform, identity = _described(store, identity, side)
    if everywhere:
        graphs = store.work.graphs_of_build(identity, side)
        left_out = len(store.work.counted_cases(server.build) - {graph.case for graph in graphs})
    else:
        graphs, left_out = store.work.graphs_of_result(identity, side), 0
    if not graphs:
        raise UsageError(
            f"{identity} has no call graphs of its {side}",
            hint="zerolap run --engine counted counts; opportunities are found in what it counts",
        )
    cases = store.work.cases([graph.job for graph in graphs])
    return CountedVersion(server, platform, [graph for graph in graphs if graph.case in cases], cases, left_out)


def _described(store: Store, identity: str, side: DrawnSide) -> tuple[MeasuredServer, Platform, str]:
    """Return a side of a comparison, or the server of a run, with the platform and the whole id."""
    if identity.startswith("r-"):
        report = store.run_without_cases(identity)
        if side == BASE:
            raise UsageError(f"{report.id} is a run, which has one server", hint="leave --side out")
        return report.server, report.platform, report.id
    comparison = store.comparison_without_cases(identity)
    return (comparison.base if side == BASE else comparison.head), comparison.platform, comparison.id


def version_opportunities(
    version: CountedVersion,
    weights: CaseWeights,
    store: Store,
    functions_of_build: FunctionsOfBuild,
    command_line: str,
    listen: Callable[[str, int, int], None] = lambda activity, done, expected: None,
) -> Opportunities:
    """Return what could be optimised in a version; `weights` are stated, and given by case.

    What is found in a call graph is kept in the store, as far as that can be written to. `listen` is told what is done
    with the others, how many of them are done, and of how many. Raises `UsageError` where no call graph can be read,
    and `PluginFault`.
    """
    return ranked_version(version, weights, searched_version(version, store, functions_of_build, listen), command_line)


def searched_version(
    version: CountedVersion, store: Store, functions_of_build: FunctionsOfBuild, listen: Callable[[str, int, int], None]
) -> GroupSearch:
    """Return a search that has looked through the call graphs of a version, alone and in groups, as far as needed.

    `listen` is told as by `version_opportunities`. Raises `PluginFault`.
    """
    of_groups = search_of(version, store, functions_of_build)
    looking = functools.partial(listen, "looking through call graphs")
    of_groups.search.look_through(of_groups.search.take_kept(version.graphs), looking)
    of_groups.look_through(of_groups.take_kept(of_groups.groups(version.graphs)), looking)
    return of_groups


def search_of(version: CountedVersion, store: Store, functions_of_build: FunctionsOfBuild) -> GroupSearch:
    """Return a search of the call graphs of a version and of groups of them by all detectors; raises `PluginFault`."""
    commands = {name: case.verbs for name, case in version.cases.items()}
    search = GraphSearch(version.server.build, all_detectors(), commands, store, functions_of_build)
    return GroupSearch(search, version.cases, all_group_detectors())


def ranked_version(
    version: CountedVersion,
    weights: CaseWeights,
    of_groups: GroupSearch,
    command_line: str,
) -> Opportunities:
    """Return the opportunities that a search has found in a version; raises `UsageError` where none can be read."""
    search, works_of_cases = of_groups.search, of_groups.works_of_cases(version.graphs)
    graphs = [graph for graph in version.graphs if _is_counted(works_of_cases.get(graph.case))]
    if version.graphs and not graphs and search.limits:
        raise UsageError(f"no call graph can be read. {search.limits[0]}", hint="count the cases again")
    by_case = weights.by_case
    whole = sum(by_case[graph.case] for graph in graphs) or 1.0
    works = [
        WeightedWork(
            graph.case,
            tuple(version.cases[graph.case].verbs),
            by_case[graph.case] / whole,
            with_argument_checks(works_of_cases[graph.case]),
        )
        for graph in graphs
    ]
    ranked = ranked_opportunities(works, known_edits())
    results = {graph.case: graph.result for graph in version.graphs}
    return Opportunities(
        created=now(),
        command_line=command_line,
        server=version.server,
        platform=version.platform,
        results=tuple(dict.fromkeys(graph.result for graph in version.graphs)),
        weights=weights.stated,
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
        detectors=(*of_groups.detector_names, BUILD_VARIANTS),
        saved_share=ranked.saved_share,
        opportunities=ranked.opportunities,
        variants=tuple(version_variants(version.server, version.platform, search.store)),
        functions=tuple(costly_functions(works)[:MOST_LISTED]),
        categories=tuple(costly_categories(works)),
        limits=(*search.limits, *_limits(works, version)),
    )


def _is_counted(work: CountedWork | None) -> bool:
    return work is not None and work.instructions_per_op > 0


def _limits(works: Sequence[WeightedWork], version: CountedVersion) -> list[str]:
    limits = []
    if version.left_out:
        further = "further case" if version.left_out == 1 else "further cases"
        limits.append(
            f"Left out: {version.left_out:,} {further} of the same build, counted with other settings of the server, "
            "in another topology, on another platform, or, with --quick, on other data."
        )
    if version.server.stripped:
        limits.append(
            "The program is stripped: functions that are not exported have no names, and what is inlined counts as "
            "part of the function that it is inlined into. Give a source tree as the server: it is built with all "
            "names."
        )
    by_symbol = sum(not of_case.work.is_by_source for of_case in works)
    if by_symbol and not version.server.stripped:
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
