"""How call graphs are looked through: once each, with the build where it can be read, and until time is up."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from stored_opportunities import counted_run, run_of_many_cases
from stored_run import RUN

from zerolap.build import Builds, functions_of_build
from zerolap.explain import CaseEvidence, case_work
from zerolap.opportunities import counted_version, opportunities_in_time, version_opportunities
from zerolap.opportunities.graph_search import KEPT_AT_ONCE
from zerolap.opportunities.opportunities_in_time import AT_ONCE
from zerolap.records import CaseOpportunity, CaseWeights, Opportunities, SourceFunction, StatedWeights
from zerolap.store import NotConductor, Store

EQUAL = StatedWeights(kind="equal")


def weights(store: Store) -> CaseWeights:
    return CaseWeights(EQUAL, {graph.case: 1.0 for graph in counted_version(store, None).graphs})


def opportunities(store: Store) -> Opportunities:
    return version_opportunities(
        counted_version(store, None), weights(store), store, functions_of_build, "zerolap opportunities"
    )


def in_no_time(store: Store) -> tuple[Opportunities, tuple[str, ...]]:
    """Return the opportunities that are known when no more is looked through than has to be."""
    return opportunities_in_time(counted_version(store, None), weights(store), store, functions_of_build, 0.0)


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return a list that grows with each call graph looked through: whether the functions of the build were known."""
    looked_through: list[bool] = []

    def counting(graph: Any, functions: Any, *further: Any) -> Any:
        looked_through.append(functions.are_known)
        return case_work(graph, functions, *further)

    monkeypatch.setattr("zerolap.opportunities.graph_search.case_work", counting)
    return looked_through


BuildAnswers = Callable[[list[SourceFunction] | Exception], None]


@pytest.fixture
def build(store: Store, monkeypatch: pytest.MonkeyPatch) -> BuildAnswers:
    """Return what puts the build on this machine: with the functions of its debug information, or a fault in it."""

    def answers(functions: list[SourceFunction] | Exception) -> None:
        def read(server: object) -> list[SourceFunction]:
            if isinstance(functions, Exception):
                raise functions
            return functions

        (store.builds_directory / RUN.server.build).mkdir(parents=True, exist_ok=True)
        monkeypatch.setattr(Builds, "find", lambda builds, digest: object())
        monkeypatch.setattr("zerolap.build.build_functions.source_functions", read)

    return answers


KNOWN = [SourceFunction("server.c", "call", 1, 50)]
UNREADABLE = ValueError("the program is damaged")


@pytest.mark.parametrize("functions", [KNOWN, [], UNREADABLE], ids=["debug information", "none", "a damaged program"])
def test_asking_again_comes_to_an_end(
    functions: list[SourceFunction] | Exception, store: Store, build: BuildAnswers, searches: list[bool]
) -> None:
    build(functions)
    number = 2 * AT_ONCE + 1
    run_of_many_cases(store, number)
    waiting = [len(in_no_time(store)[1]) for _ in range(4)]
    assert waiting == [number - AT_ONCE, number - 2 * AT_ONCE, 0, 0]
    assert len(searches) == number


def test_a_graph_is_looked_through_once_for_an_answer_that_cannot_be_kept(
    store: Store, searches: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store.work, "keep", lambda works, revision, has_build: None)
    run_of_many_cases(store, 2 * AT_ONCE)
    document, waiting = in_no_time(store)
    assert (len(document.cases), len(waiting), len(searches)) == (AT_ONCE, AT_ONCE, AT_ONCE)


def test_graphs_that_cannot_be_read_keep_no_others_waiting(store: Store) -> None:
    run_of_many_cases(store, 3 * AT_ONCE)
    graphs = counted_version(store, None).graphs
    for damaged in graphs[: 2 * AT_ONCE]:
        store.blobs.remove(damaged.graph)
    document, waiting = in_no_time(store)
    assert (len(document.cases), waiting) == (AT_ONCE, ())
    assert len([limit for limit in document.limits if "cannot be read" in limit]) == 2 * AT_ONCE


class Mistaken:
    """A detector of the lab with an error in it."""

    name = "mistaken"
    purpose = "to fail"
    revision = 1

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        raise ValueError("an error of the lab")


def test_an_error_of_the_lab_is_not_reported_as_a_graph_that_cannot_be_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted_run(store)
    monkeypatch.setattr("zerolap.opportunities.graph_search.BUILT_IN_DETECTORS", (Mistaken(),))
    with pytest.raises(ValueError, match="an error of the lab"):
        opportunities(store)


def test_cases_with_the_same_graph_wait_together(store: Store) -> None:
    run_of_many_cases(store, AT_ONCE + 2)
    version = counted_version(store, None)
    first, *others, last = version.graphs
    twin = dataclasses.replace(first, graph=last.graph)
    version = dataclasses.replace(version, graphs=[*others, twin, last])
    document, waiting = opportunities_in_time(version, weights(store), store, functions_of_build, 0.0)
    assert len(document.cases) == AT_ONCE
    assert set(waiting) == {twin.case, last.case}


@pytest.mark.parametrize("is_here", [False, True])
def test_what_was_found_without_the_build_is_found_anew_once_it_can_be_read(
    is_here: bool, store: Store, build: BuildAnswers, searches: list[bool]
) -> None:
    counted_run(store)
    if not is_here:
        opportunities(store)
    build(UNREADABLE)
    for _ in range(2):
        limits = opportunities(store).limits
        assert limits[0] == "The debug information of the build cannot be read: the program is damaged"
    build(KNOWN)
    opportunities(store)
    opportunities(store)
    assert searches == [False, False, True, True]


def test_each_graph_is_kept_once_and_no_result_has_changed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    number = 2 * KEPT_AT_ONCE + 1
    run_of_many_cases(store, number)
    parts: list[int] = []
    keep = store.work.keep

    def counting(works: Any, *further: Any, **options: Any) -> None:
        parts.append(len(works))
        keep(works, *further, **options)

    monkeypatch.setattr(store.work, "keep", counting)
    changes = store.changes
    opportunities(store)
    assert parts == [KEPT_AT_ONCE, KEPT_AT_ONCE, 1]
    assert store.changes == changes


def test_who_is_not_the_conductor_any_more_answers_all_the_same(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(works: Any, revision: str, *, has_build: bool) -> None:
        raise NotConductor("another conductor works on the store")

    counted_run(store)
    monkeypatch.setattr(store.work, "keep", refused)
    assert len(opportunities(store).cases) == 2
