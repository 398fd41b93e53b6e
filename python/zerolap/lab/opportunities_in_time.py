"""Opportunities of a version within a time: what is kept is used, and the rest is looked through until time is up."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from zerolap.lab.graph_search import GraphSearch, all_detectors
from zerolap.lab.lab import Lab
from zerolap.lab.version_opportunities import CountedVersion, found_opportunities
from zerolap.records import Opportunities, OpportunityWeights
from zerolap.store import CountedGraph

AT_ONCE: Final = 8
"""Call graphs between two looks at the clock."""


def opportunities_in_time(
    version: CountedVersion,
    weights: tuple[OpportunityWeights, Mapping[str, float]],
    lab: Lab,
    seconds: float,
) -> tuple[Opportunities, tuple[str, ...]]:
    """Return the opportunities of a version, and its cases of which time was up before they were looked through.

    At least `AT_ONCE` further call graphs are looked through, so that asking again comes to an end. Raises as
    `found_opportunities` does.
    """
    ends = time.monotonic() + seconds
    search = GraphSearch(lab.builds.find(version.server.build), all_detectors(), lab)
    commands = {name: case.verbs for name, case in version.cases.items()}
    kept = lab.store.work.found_by([graph.graph for graph in version.graphs])

    def is_known(graph: CountedGraph) -> bool:
        found_by, is_by_source = kept.get(graph.graph, ("", False))
        return found_by == search.found_by and (is_by_source or search.build is None)

    waiting = [graph for graph in version.graphs if not is_known(graph)]
    while waiting:
        search.search(waiting[:AT_ONCE], commands, lambda done, expected: None)
        waiting = waiting[AT_ONCE:]
        if time.monotonic() > ends:
            break
    unknown = {graph.case for graph in waiting}
    ready = [graph for graph in version.graphs if graph.case not in unknown]
    document = found_opportunities(replace(version, graphs=ready), weights, lab, "")
    return document, tuple(graph.case for graph in waiting)
