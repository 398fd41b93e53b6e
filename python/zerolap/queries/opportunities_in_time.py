"""Opportunities of a version within a time: what is kept is used, and the rest is looked through until time is up."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from zerolap.lab import CountedVersion, Lab, found_opportunities
from zerolap.plugins import PluginFault
from zerolap.records import Opportunities, OpportunityWeights, UsageError
from zerolap.store import CountedGraph, Store

AT_ONCE: Final = 8
"""Call graphs between two looks at the clock."""


class _TooManyAtOnce(Exception):
    """More call graphs than `AT_ONCE` have to be looked through."""


def opportunities_in_time(
    version: CountedVersion,
    weights: tuple[OpportunityWeights, Mapping[str, float]],
    store: Store,
    seconds: float,
) -> tuple[Opportunities, tuple[str, ...]]:
    """Return the opportunities of a version, and its cases of which time was up before they were looked through.

    At least `AT_ONCE` further call graphs are looked through, so that asking again comes to an end. Raises `UsageError`
    where what was recorded cannot be read.
    """
    lab, ends = Lab(store), time.monotonic() + seconds

    def found(graphs: Sequence[CountedGraph], most: int) -> Opportunities:
        def listen(_: int, expected: int) -> None:
            if expected > most:
                raise _TooManyAtOnce

        return found_opportunities(replace(version, graphs=graphs), weights, lab, "", listen)

    with _readable():
        try:
            return found(version.graphs, AT_ONCE), ()
        except _TooManyAtOnce:
            pass
        done, waiting = list(version.graphs[:AT_ONCE]), list(version.graphs[AT_ONCE:])
        document = found(done, AT_ONCE)
        found_by = store.work.found_by([graph.graph for graph in version.graphs])
        # What these were found by now is what others have to be found by to count as known.
        newest = found_by.get(done[0].graph)
        if newest is None:
            return document, _names(waiting)
        done += [graph for graph in waiting if found_by.get(graph.graph) == newest]
        waiting = [graph for graph in waiting if found_by.get(graph.graph) != newest]
        while waiting:
            found(waiting[:AT_ONCE], AT_ONCE)
            done, waiting = done + waiting[:AT_ONCE], waiting[AT_ONCE:]
            if time.monotonic() > ends:
                break
        return found(done, len(done)), _names(waiting)


def _names(graphs: Sequence[CountedGraph]) -> tuple[str, ...]:
    return tuple(graph.case for graph in graphs)


@contextmanager
def _readable() -> Iterator[None]:
    """Have what cannot be read, and detectors that fail, reported as such."""
    try:
        yield
    except PluginFault as fault:
        raise UsageError(fault.message, hint=fault.hint) from fault
    except ValueError as fault:
        raise UsageError("a call graph was recorded by another version, or is damaged") from fault
