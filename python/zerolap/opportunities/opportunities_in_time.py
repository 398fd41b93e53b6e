"""Opportunities of a version within a time: what is kept is used, and the rest is looked through until time is up."""

import time
from dataclasses import replace
from typing import Final

from zerolap.opportunities.group_search import GroupSearch, MeasuredGroup
from zerolap.opportunities.version_opportunities import CountedVersion, ranked_version, search_of
from zerolap.records import CaseWeights, FunctionsOfBuild, Opportunities
from zerolap.store import Store

AT_ONCE: Final = 8
"""Call graphs between two looks at the clock."""


def opportunities_in_time(
    version: CountedVersion,
    weights: CaseWeights,
    store: Store,
    functions_of_build: FunctionsOfBuild,
    seconds: float,
) -> tuple[Opportunities, tuple[str, ...]]:
    """Return the opportunities of a version, and its cases of which time was up before they were looked through.

    At least `AT_ONCE` further call graphs that can be read are looked through, then a group of them, so that asking
    again comes to an end. Raises as `version_opportunities` does.
    """
    ends = time.monotonic() + seconds
    of_groups = search_of(version, store, functions_of_build)
    search = of_groups.search
    waiting = search.take_kept(version.graphs)
    least = len(search.works) + AT_ONCE
    while waiting and (len(search.works) < least or time.monotonic() < ends):
        search.look_through(waiting[:AT_ONCE])
        waiting = waiting[AT_ONCE:]
    unknown = {graph.graph for graph in waiting}
    if not waiting:
        of_waiting = [group.graphs.values() for group in _waiting_groups(of_groups, version, ends)]
        unknown = {graph.graph for graphs in of_waiting for graph in graphs}
    ready = [graph for graph in version.graphs if graph.graph not in unknown]
    document = ranked_version(replace(version, graphs=ready), weights, of_groups, "")
    return document, tuple(graph.case for graph in version.graphs if graph.graph in unknown)


def _waiting_groups(of_groups: GroupSearch, version: CountedVersion, ends: float) -> list[MeasuredGroup]:
    """Look through groups of cases until time is up, at least one of them; return the others."""
    waiting = of_groups.take_kept(of_groups.groups(version.graphs))
    of_groups.look_through(waiting[:1])
    waiting = waiting[1:]
    while waiting and time.monotonic() < ends:
        of_groups.look_through(waiting[:1])
        waiting = waiting[1:]
    return waiting
