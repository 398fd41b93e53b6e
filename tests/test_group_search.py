"""How groups of cases are looked through: once each, with what the call graphs show alone, until time is up."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from call_graphs import call_graph
from stored_opportunities import run_of_many_cases

from zerolap.build import functions_of_build
from zerolap.explain import CaseEvidence, CaseGroup
from zerolap.opportunities import counted_version, opportunities_in_time, version_opportunities
from zerolap.plugins import PluginFault
from zerolap.records import (
    Case,
    CaseOpportunity,
    CaseWeights,
    Estimate,
    GroupWork,
    Opportunities,
    Opportunity,
    StatedWeights,
    WrittenClient,
)
from zerolap.store import NotConductor, Retention, Store

EQUAL = StatedWeights(kind="equal")
SIZES = (10, 100, 1000)


def planted_graph(size: int) -> bytes:
    """Return the call graph of a command that seeks each element from the beginning, and checks the client for it."""
    costs = {"main": 100.0, "call": 200.0, "lrangeCommand": 300.0, "seek": 20.0 + 4 * size, "addReplyBulk": 30.0}
    calls = {("main", "call"): 1.0, ("call", "lrangeCommand"): 1.0, ("lrangeCommand", "seek"): float(size)}
    calls |= {("lrangeCommand", "addReplyBulk"): float(size), ("addReplyBulk", "prepareClientToWrite"): 3.0}
    graph = call_graph({**costs, "prepareClientToWrite": 25.0}, calls)
    return graph.model_dump_json(by_alias=True).encode()


def stored_sizes(store: Store, sizes: Sequence[int] = SIZES, commands: Sequence[str] = ("LRANGE list 0 -1",)) -> None:
    """Record a run of a case for each command and size; how large the data is, only the replies show."""

    def case_of(place: int) -> tuple[Case, bytes]:
        command, size = commands[place // len(sizes)], sizes[place % len(sizes)]
        client = WrittenClient(commands=[command]).client
        case = Case(name=f"{command.split()[0].lower()}-of-{size}", group="any", client=client)
        # Each has a graph of its own.
        return case, planted_graph(size) + b" " * (place // len(sizes))

    run_of_many_cases(store, len(sizes) * len(commands), case_of)


def weights(store: Store) -> CaseWeights:
    return CaseWeights(EQUAL, {graph.case: 1.0 for graph in counted_version(store, None).graphs})


def opportunities(store: Store) -> Opportunities:
    return version_opportunities(
        counted_version(store, None), weights(store), store, functions_of_build, "zerolap opportunities"
    )


def of_detector(document: Opportunities, detector: str) -> Opportunity:
    (opportunity,) = [of for of in document.opportunities if of.detector == detector]
    return opportunity


def test_what_grows_too_fast_is_an_opportunity_of_the_version(store: Store) -> None:
    stored_sizes(store)
    document = opportunities(store)
    assert {"super-linear", "repeated-checks"} <= set(document.detectors)
    assert len(set(document.detectors)) == len(document.detectors)
    seek = of_detector(document, "super-linear")
    assert (seek.function, seek.confidence, [case.case for case in seek.cases]) == (
        "seek",
        "high",
        ["lrange-of-1000", "lrange-of-100"],
    )
    assert "600, 42,000 and 4,020,000 instructions per request at 10, 100 and 1,000 parts of the reply" in seek.text
    # It is counted with all others: together they save no more than all of a request.
    assert seek.additional_share == pytest.approx(seek.saved_share.expected)
    assert document.saved_share < 1.0


def test_a_check_of_a_case_is_stated_with_its_group_and_not_twice(store: Store) -> None:
    stored_sizes(store)
    check = of_detector(opportunities(store), "repeated-checks")
    assert len(check.cases) == len(SIZES)
    assert check.text.endswith("called 3.00 times per part of the reply (fit over 3 sizes)")
    evidence = {case.case: case.evidence for case in check.cases}
    assert evidence["lrange-of-10"]["calls_per_part_of_the_reply"] == pytest.approx(3.0)


def test_groups_are_looked_through_once_and_kept_until_the_store_is_pruned(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored_sizes(store)
    document = opportunities(store)
    searched: list[str] = []

    def detect_group(self: object, group: CaseGroup) -> Mapping[str, Sequence[CaseOpportunity]]:
        searched.append(group.unit)
        return {}

    monkeypatch.setattr("zerolap.explain.detectors.super_linear.SuperLinear.detect_group", detect_group)
    assert (opportunities(store).opportunities, searched) == (document.opportunities, [])
    store.prune(Retention())
    opportunities(store)
    assert searched == ["parts of the reply"]


def test_a_group_with_another_graph_is_another_one(store: Store) -> None:
    stored_sizes(store)
    version = counted_version(store, None)
    version_opportunities(version, weights(store), store, functions_of_build, "")
    fewer = dataclasses.replace(version, graphs=version.graphs[:2])
    document = version_opportunities(fewer, weights(store), store, functions_of_build, "")
    assert of_detector(document, "super-linear").confidence == "medium"


def test_a_call_graph_that_cannot_be_read_any_more_leaves_the_others(store: Store) -> None:
    stored_sizes(store, (*SIZES, 10_000))
    version = counted_version(store, None)
    # What each case shows alone is kept already, but the group is not.
    for graph in version.graphs:
        version_opportunities(
            dataclasses.replace(version, graphs=[graph]), weights(store), store, functions_of_build, ""
        )
    (damaged,) = [graph.graph for graph in version.graphs if graph.case == "lrange-of-10000"]
    store.blobs.remove(damaged)
    for _ in range(2):
        document = opportunities(store)
        assert of_detector(document, "super-linear").cases[0].case == "lrange-of-1000"
        assert any("lrange-of-10000 cannot be read" in limit for limit in document.limits)


def test_who_is_not_the_conductor_any_more_answers_all_the_same(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = store.work.keep

    def refused(works: Any, revision: str, *, has_build: bool) -> None:
        if any(isinstance(work, GroupWork) for work in works.values()):
            raise NotConductor("another conductor works on the store")
        keep(works, revision, has_build=has_build)

    stored_sizes(store)
    monkeypatch.setattr(store.work, "keep", refused)
    assert of_detector(opportunities(store), "super-linear").function == "seek"


def test_groups_wait_when_time_is_up_and_asking_again_comes_to_an_end(store: Store) -> None:
    stored_sizes(store, commands=("LRANGE list 0 -1", "SMEMBERS set", "HKEYS hash"))

    def asked() -> tuple[Opportunities, tuple[str, ...]]:
        return opportunities_in_time(counted_version(store, None), weights(store), store, functions_of_build, 0.0)

    waiting = []
    for _ in range(5):
        document, cases = asked()
        waiting.append(len(cases))
        assert len(document.cases) + len(cases) == 3 * len(SIZES)
    # Eight call graphs first, then the ninth and one group of three cases each time.
    assert waiting == [1, 6, 3, 0, 0]


# Detectors of plugins.


class EachSize:
    """Reports the command's function of each case of a group."""

    name = "each-size"
    purpose = "to report what there is"
    revision = 1

    def detect_group(self, group: CaseGroup) -> Mapping[str, Sequence[CaseOpportunity]]:
        return {sized.case: [self.opportunity(group, sized.size)] for sized in group.cases}

    def opportunity(self, group: CaseGroup, size: float) -> CaseOpportunity:
        return CaseOpportunity(
            detector=self.name,
            function="lrangeCommand",
            file="t_list.c",
            category="command",
            saved_instructions_per_op=Estimate(low=0.0, expected=size, high=size),
            confidence="low",
            evidence={"size": size},
            text=f"has {size:.0f} {group.unit}",
        )


class Failing(EachSize):
    def detect_group(self, group: CaseGroup) -> Mapping[str, Sequence[CaseOpportunity]]:
        raise KeyError(group.unit)


class Neither:
    name = "neither"
    purpose = "to do nothing"
    revision = 1

    def look(self, evidence: CaseEvidence) -> None:
        """Do nothing."""


def with_plugin(monkeypatch: pytest.MonkeyPatch, plugin: object) -> None:
    monkeypatch.setattr("zerolap.opportunities.graph_search.plugin_names", lambda group: ["of-a-plugin"])
    monkeypatch.setattr("zerolap.opportunities.graph_search.load_plugin", lambda group, name, interface: plugin)


def test_a_detector_of_groups_can_be_a_plugin(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    stored_sizes(store)
    with_plugin(monkeypatch, EachSize())
    document = opportunities(store)
    assert "each-size" in document.detectors
    assert of_detector(document, "each-size").text == "has 10 parts of the reply"
    assert {case.case for case in of_detector(document, "each-size").cases} == {f"lrange-of-{size}" for size in SIZES}


def test_a_plugin_that_fails_or_detects_nothing_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    stored_sizes(store)
    with_plugin(monkeypatch, Failing())
    with pytest.raises(PluginFault, match="the detector `each-size` of a plugin fails: KeyError: 'parts of the reply'"):
        opportunities(store)
    with_plugin(monkeypatch, Neither())
    with pytest.raises(PluginFault, match="has neither `detect` nor `detect_group`"):
        opportunities(store)
