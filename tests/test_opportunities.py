"""Opportunities over all cases: weights, overlap, what is kept, and the verb that shows them."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import Zerolap
from made_records import a_measurement, an_opportunity, counted_work
from stored_opportunities import counted_run, planted_graph, record_counted
from stored_run import REQUEST, RESOLVED, RUN, record_trials, stored_run

from zerolap.build import functions_of_build
from zerolap.explain import CaseEvidence, WeightedWork, costly_functions, gain, ranked_opportunities
from zerolap.explain.categories import category_of
from zerolap.opportunities import counted_version, version_opportunities
from zerolap.plugins import PluginFault
from zerolap.records import (
    NO_SAVING,
    CaseOpportunity,
    CaseWeights,
    Estimate,
    FunctionWork,
    Opportunities,
    RemovedCost,
    StatedWeights,
    UsageError,
)
from zerolap.sheets import bounds_of_case, saving_of_case
from zerolap.store import Store

EQUAL = StatedWeights(kind="equal")


def saving(
    function: str, saved: float, removed: Mapping[str, tuple[float, float]], uncounted: Estimate = NO_SAVING
) -> CaseOpportunity:
    """Return an opportunity that saves so many instructions: by function, and as a part of the function's own."""
    return an_opportunity(
        function,
        saved,
        saved_instructions_per_op=Estimate(low=saved / 2, expected=saved, high=saved).plus(uncounted),
        uncounted_instructions_per_op=uncounted,
        removed=tuple(
            RemovedCost(function=name, file="libc.so.6", instructions_per_op=instructions, share=share)
            for name, (instructions, share) in removed.items()
        ),
    )


# Over all cases.


def test_a_place_is_one_opportunity_over_all_cases_with_the_weighted_mean_of_its_parts() -> None:
    works = [
        WeightedWork("incr", ("INCR",), 0.75, counted_work(1000.0, saving("write", 100.0, {"snprintf": (100.0, 0.8)}))),
        WeightedWork("zadd", ("ZADD",), 0.25, counted_work(1000.0, saving("write", 500.0, {"snprintf": (500.0, 0.8)}))),
    ]
    ranked = ranked_opportunities(works)
    (opportunity,) = ranked.opportunities
    assert opportunity.saved_share.expected == pytest.approx(0.75 * 0.1 + 0.25 * 0.5)
    assert opportunity.saved_share.low == pytest.approx(0.5 * opportunity.saved_share.expected)
    # The case where it brings most comes first, and lends its words.
    assert [case.case for case in opportunity.cases] == ["zadd", "incr"]
    assert opportunity.text == "wastes 500 instructions"
    assert opportunity.cases[0].gain.expected == pytest.approx(1.0)


def test_what_two_changes_save_both_is_not_counted_twice() -> None:
    # One change halves the calls of the other's function, which then has half as much to save.
    halves = saving("twice", 300.0, {"snprintf": (300.0, 0.5)})
    cheaper = saving("write", 240.0, {"snprintf": (240.0, 0.4)})
    apart = saving("sort", 200.0, {"qsort": (200.0, 1.0)})
    ranked = ranked_opportunities([WeightedWork("x", ("X",), 1.0, counted_work(1000.0, halves, cheaper, apart))])
    assert [(of.function, of.rank) for of in ranked.opportunities] == [("twice", 1), ("sort", 2), ("write", 3)]
    assert [of.additional_share for of in ranked.opportunities] == pytest.approx([0.3, 0.2, 0.12])
    assert ranked.saved_share == pytest.approx(0.3 + 0.2 + 0.12)
    assert ranked.saved_by_case == pytest.approx({"x": ranked.saved_share})


def test_two_findings_of_a_detector_in_a_function_are_one_of_the_case() -> None:
    doubles = saving("write", 300.0, {"snprintf": (300.0, 0.5)})
    parsed = saving("write", 100.0, {"strtod": (100.0, 0.8)})
    ranked = ranked_opportunities([WeightedWork("x", ("X",), 1.0, counted_work(1000.0, parsed, doubles))])
    (opportunity,) = ranked.opportunities
    (case,) = opportunity.cases
    assert case.text == opportunity.text == "wastes 300 instructions; wastes 100 instructions"
    assert opportunity.saved_share.expected == opportunity.additional_share == pytest.approx(0.4)
    assert case.saved_instructions_per_op.expected == pytest.approx(400.0)


def test_two_findings_in_a_function_do_not_save_the_same_instructions_twice() -> None:
    parts = [saving("write", saved, {"snprintf": (saved, saved / 400)}) for saved in (300.0, 200.0)]
    rest = saving("other", 80.0, {"snprintf": (80.0, 0.2)})
    ranked = ranked_opportunities([WeightedWork("x", ("X",), 1.0, counted_work(1000.0, *parts, rest))])
    # The second saves a half of the quarter that the first leaves; of the eighth that is left then, `other` a fifth.
    assert [of.additional_share for of in ranked.opportunities] == pytest.approx([0.35, 0.01])
    assert ranked.saved_share == pytest.approx(0.36)


def test_work_that_is_not_counted_is_saved_whatever_else_is() -> None:
    uncounted = Estimate(low=50.0, expected=100.0, high=200.0)
    calls = [saving(name, 0.0, {}, uncounted) for name in ("first", "second")]
    ranked = ranked_opportunities([WeightedWork("x", ("X",), 1.0, counted_work(800.0, *calls))])
    assert [of.additional_share for of in ranked.opportunities] == pytest.approx([0.1, 0.1])


def test_more_uncounted_work_than_counted_is_still_a_part_of_the_request() -> None:
    # Five system calls of a request of 900 instructions.
    system_calls = saving("call", 0.0, {}, Estimate(low=1500.0, expected=5000.0, high=15_000.0))
    write = saving("write", 590.0, {"snprintf": (590.0, 0.8)})
    ranked = ranked_opportunities([WeightedWork("x", ("X",), 1.0, counted_work(900.0, system_calls, write))])
    of_calls, of_write = ranked.opportunities
    saved = of_calls.saved_share
    assert (saved.low, saved.expected, saved.high) == pytest.approx((1500 / 2400, 5000 / 5900, 15_000 / 15_900))
    assert of_write.saved_share.expected == pytest.approx(0.1)
    assert ranked.saved_share == pytest.approx(5590 / 5900)
    (case,) = of_calls.cases
    assert (case.instructions_per_op, case.uncounted_instructions_per_op.expected) == (900.0, 5000.0)
    assert saving_of_case(case) == "85 % less work, 0 % fewer counted instructions, up to +556 % throughput"
    bounds = bounds_of_case(case)
    assert bounds.startswith("5,000 (1,500 to 15,000) instructions of 900, 0 of them counted; throughput +166.7 % to ")
    # All of the instructions that this opportunity saves are counted.
    assert saving_of_case(of_write.cases[0]) == "66 % fewer instructions, up to +11 % throughput"


@pytest.mark.parametrize(("share", "grows"), [(0.0, 0.0), (0.5, 1.0), (-0.1, 0.0), (2.0, 19.0)])
def test_throughput_grows_by_what_is_left(share: float, grows: float) -> None:
    assert gain(share) == pytest.approx(grows)


def test_functions_have_their_part_of_all_cases_and_the_number_of_cases_where_it_shows() -> None:
    def function(own: float) -> FunctionWork:
        return FunctionWork(
            function="copy", file="libc.so.6", category="strings", self_instructions_per_op=own, instructions_per_op=own
        )

    works = [
        WeightedWork("a", ("A",), 0.5, counted_work(1000.0, functions=(function(100.0),))),
        WeightedWork("b", ("B",), 0.5, counted_work(1000.0, functions=(function(5.0),))),
    ]
    (costly,) = costly_functions(works)
    assert (costly.self_share, costly.cases) == (pytest.approx(0.0525), 1)


@pytest.mark.parametrize(
    ("name", "file", "category"),
    [
        ("je_malloc", "deps/jemalloc/src/jemalloc.c", "allocation"),
        ("zmalloc_usable", "zmalloc.c", "allocation"),
        ("arena_bin_malloc_hard", "deps/jemalloc/src/arena.c", "allocation"),
        ("sallocx", "libjemalloc.so.2", "allocation"),
        ("mi_usable_size", "libmimalloc.so.2", "allocation"),
        ("reallocarray", "libc.so.6", "allocation"),
        ("_int_free", "libc.so.6", "allocation"),
        ("valkey_malloc", "valkey-server", "allocation"),
        ("__printf_fp_l", "stdio-common/printf_fp.c", "formatting"),
        ("sdscatfmt", "sds.c", "formatting"),
        ("____strtod_l_internal", "stdlib/strtod_l.c", "parsing"),
        ("processMultibulkBuffer", "networking.c", "parsing"),
        ("siphash", "siphash.c", "dictionary"),
        ("hashtableFind", "hashtable.c", "dictionary"),
        ("kvstoreDictFind", "kvstore.c", "dictionary"),
        ("sdslen", "sds.h", "strings"),
        ("__memcpy_avx_unaligned_erms", "string/memmove-vec-unaligned-erms.S", "strings"),
        ("_addReplyToBufferOrList", "networking.c", "reply"),
        ("aeProcessEvents", "ae.c", "event loop"),
        ("epoll_wait", "libc.so.6", "event loop"),
        ("write", "libc.so.6", "system calls"),
        ("ustime", "server.c", "time"),
        ("ACLCheckAllPerm", "acl.c", "statistics and access checks"),
        ("hdr_record_value", "deps/hdr_histogram/hdr_histogram.c", "statistics and access checks"),
        ("zaddCommand", "t_zset.c", "command"),
        ("lpInsert", "listpack.c", "command"),
        ("luaV_execute", "redis-server", "command"),
        ("_dl_fixup", "ld-linux-x86-64.so.2", "other"),
    ],
)
def test_categories(name: str, file: str, category: str) -> None:
    assert category_of(name, file) == category


def test_no_pattern_is_held_against_the_whole_of_a_long_name() -> None:
    assert category_of("f", "a/" * 90 + "networking.c") == "reply"
    assert category_of("f", "a/" * 100 + "networking.c") == "other"
    assert category_of("x" * 200 + "Command", "networking.c") == "reply"


# In a store.


def found(store: Store, by_case: Mapping[str, float], **options: Any) -> Opportunities:
    version = counted_version(store, None, **options)
    weights = CaseWeights(EQUAL, by_case)
    return version_opportunities(version, weights, store, functions_of_build, "zerolap opportunities")


def test_opportunities_of_a_store_are_found_once_and_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    counted_run(store)
    document = found(store, {"get-100B": 1.0, "hset": 1.0})
    assert [(case.case, case.weight, case.result) for case in document.cases] == [
        ("get-100B", 0.5, RUN.id),
        ("hset", 0.5, RUN.id),
    ]
    (opportunity,) = document.opportunities
    assert (opportunity.function, [case.case for case in opportunity.cases]) == ("addReplyDouble", ["hset", "get-100B"])
    assert document.limits == (
        "The build of all cases is not on this machine, or has no debug information: what is inlined counts as part "
        "of the function that it is inlined into.",
    )
    monkeypatch.setattr("zerolap.opportunities.graph_search.case_work", None)
    again = found(store, {"get-100B": 1.0, "hset": 1.0})
    assert again.opportunities == document.opportunities


@pytest.mark.parametrize(
    "instruction", ["xchg qword ptr [rbx+740h],rax", "xchg byte ptr [@],al", "lock inc dword ptr [rdi]"]
)
def test_instructions_that_lock_memory_are_known_by_their_text(store: Store, instruction: str) -> None:
    stored_run(store)
    graph = store.blobs.put(planted_graph())
    texts = ["xchg ax,ax", instruction]
    node = {
        "name": "xCommand",
        "code": True,
        "lines": [[0, [90, 0, 0], []], [1, [30, 0, 0], [0] * instruction.count("@")]],
    }
    executed = {"schema": "zerolap.executed/2", "requests": [10, 0, 0], "image": "", "instructions": [120, 0, 0]}
    listed = {"texts": texts, "nodes": [node], "unknown": None, "libraries": []}
    blob = store.blobs.put(json.dumps(executed | listed).encode())
    record_trials(store, "hset", "counted", [a_measurement(graph=graph, executed=blob)])
    atomics = [of for of in found(store, {"hset": 1.0}).opportunities if of.detector == "atomics"]
    assert [(of.function, of.cases[0].evidence) for of in atomics] == [
        ("xCommand", {"locked_instructions_per_op": 3.0})
    ]


def test_a_call_graph_that_cannot_be_read_costs_its_case_alone(store: Store) -> None:
    counted_run(store)
    (damaged,) = [graph.graph for graph in counted_version(store, None).graphs if graph.case == "hset"]
    store.blobs.remove(damaged)
    document = found(store, {"get-100B": 1.0, "hset": 1.0})
    assert [(case.case, case.weight) for case in document.cases] == [("get-100B", 1.0)]
    assert document.limits[0].startswith("The call graph of hset cannot be read: ")


@pytest.mark.parametrize(
    ("list_of", "field", "value"),
    [
        ("functions", "file", 9),
        ("functions", "file", -1),
        ("functions", "lines", [[9, 1, 1.0]]),
        ("functions", "instructions", 1e300),
        ("edges", "caller", 9),
        ("edges", "callee", -1),
        ("edges", "lines", [[-1, 1, 1.0]]),
        ("edges", "calls", math.nan),
        ("edges", "calls", math.inf),
    ],
)
def test_a_call_graph_that_refers_to_nothing_or_has_no_numbers_is_refused(
    list_of: str, field: str, value: object, store: Store
) -> None:
    document = json.loads(planted_graph())
    document[list_of][0][field] = value
    stored_run(store)
    for case, graph in (("get-100B", json.loads(planted_graph())), ("hset", document)):
        blob = store.blobs.put(json.dumps(graph).encode())
        record_trials(store, case, "counted", [a_measurement(graph=blob)])
    found_in_others = found(store, {"get-100B": 1.0, "hset": 1.0})
    assert [case.case for case in found_in_others.cases] == ["get-100B"]
    assert found_in_others.limits[0].startswith("The call graph of hset cannot be read: ")


def test_where_no_call_graph_can_be_read_there_is_no_answer(store: Store) -> None:
    counted_run(store)
    for graph in counted_version(store, None).graphs:
        store.blobs.remove(graph.graph)
    with pytest.raises(UsageError, match="no call graph can be read"):
        found(store, {"get-100B": 1.0, "hset": 1.0})


def test_a_stripped_program_is_stated(store: Store) -> None:
    counted_run(store)
    store.record_run(RUN.model_copy(update={"server": RUN.server.model_copy(update={"stripped": True})}))
    (limit,) = found(store, {"get-100B": 1.0, "hset": 1.0}).limits
    assert limit.startswith("The program is stripped: ")


def test_what_another_version_has_kept_is_found_anew(store: Store) -> None:
    counted_run(store)
    document = found(store, {"get-100B": 1.0, "hset": 1.0})
    digests = [graph.graph for graph in counted_version(store, None).graphs]
    store.work.keep({digest: counted_work(1.0) for digest in digests}, "another version", has_build=False)
    assert found(store, {"get-100B": 1.0, "hset": 1.0}).opportunities == document.opportunities


def test_weights_decide_what_comes_first_and_what_it_brings(store: Store) -> None:
    counted_run(store)
    by_get = found(store, {"get-100B": 1.0, "hset": 0.0}).opportunities[0].saved_share.expected
    by_hset = found(store, {"get-100B": 0.0, "hset": 1.0}).opportunities[0].saved_share.expected
    assert by_get == pytest.approx(0.8 * 1900 / 2600)
    assert by_hset == pytest.approx(0.8 * 3800 / 4500)


def test_cases_of_the_same_build_are_taken_from_all_results(store: Store) -> None:
    counted_run(store)
    later = REQUEST.model_copy(update={"id": "r-5b2c"})
    store.begin(RESOLVED.model_copy(update={"request": later}))
    store.record_run(RUN.model_copy(update={"id": later.id}))
    case = next(case for case in later.cases if case.name == "get-100B")
    record_counted(store, later.id, case, planted_graph(3.0))
    assert [graph.case for graph in counted_version(store, later.id).graphs] == ["get-100B"]
    everywhere = counted_version(store, later.id, everywhere=True).graphs
    # The newest of a case.
    assert [(graph.case, graph.result) for graph in everywhere] == [("get-100B", later.id), ("hset", RUN.id)]
    assert counted_version(store, later.id, everywhere=True).left_out == 0


OTHERWISE = {
    "other settings": {"server": RUN.server.model_copy(update={"config": {"io-threads": "4"}})},
    "another platform": {"platform": RUN.platform.model_copy(update={"fingerprint": "p-2"})},
    "less data": {"settings": RUN.settings.model_copy(update={"quick": True})},
    "another topology": {"cases": [case.model_copy(update={"topology": "tcp"}) for case in RUN.cases]},
}


@pytest.mark.parametrize("differing", OTHERWISE)
def test_what_was_measured_in_another_way_is_left_out(differing: str, either_store: Store) -> None:
    store = either_store
    counted_run(store)
    later = REQUEST.model_copy(update={"id": "r-5b2c"})
    store.begin(RESOLVED.model_copy(update={"request": later}))
    store.record_run(RUN.model_copy(update={"id": later.id, **OTHERWISE[differing]}))
    version = counted_version(store, RUN.id, everywhere=True)
    assert [(graph.case, graph.result) for graph in version.graphs] == [("get-100B", RUN.id), ("hset", RUN.id)]
    with pytest.raises(UsageError, match=f"{later.id} has no call graphs"):
        counted_version(store, later.id, everywhere=True)
    case = later.cases[0]
    record_counted(store, later.id, case, planted_graph(3.0))
    version = counted_version(store, later.id, everywhere=True)
    assert ([(graph.case, graph.result) for graph in version.graphs], version.left_out) == ([(case.name, later.id)], 1)
    weights = CaseWeights(EQUAL, {case.name: 1.0})
    document = version_opportunities(version, weights, store, functions_of_build, "zerolap opportunities")
    assert document.limits[0].startswith("Left out: 1 further case of the same build")


def test_without_an_id_the_newest_result_that_was_counted_is_taken(store: Store) -> None:
    counted_run(store)
    later = REQUEST.model_copy(update={"id": "r-5b2c"})
    store.begin(RESOLVED.model_copy(update={"request": later}))
    store.record_run(RUN.model_copy(update={"id": later.id}))
    assert {graph.result for graph in counted_version(store, None).graphs} == {RUN.id}
    with pytest.raises(UsageError, match="r-5b2c has no call graphs"):
        counted_version(store, "latest")


def test_a_result_without_call_graphs_is_no_answer(store: Store) -> None:
    stored_run(store)
    with pytest.raises(UsageError, match="has no call graphs"):
        counted_version(store, None)


class Failing:
    """A detector of a plugin that does not know what it is given."""

    name = "failing"
    purpose = "to fail"
    revision = 1

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        raise KeyError(evidence.commands[0])


def test_a_detector_of_a_plugin_that_fails_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    counted_run(store)
    monkeypatch.setattr("zerolap.opportunities.graph_search.plugin_names", lambda group: ["failing"])
    monkeypatch.setattr("zerolap.opportunities.graph_search.load_plugin", lambda group, name, interface: Failing())
    with pytest.raises(PluginFault, match="the detector `failing` of a plugin fails: KeyError: 'GET'"):
        found(store, {"get-100B": 1.0, "hset": 1.0})


# The verb.


def test_the_verb_writes_a_table_a_document_and_markdown(zerolap: Zerolap) -> None:
    with Store.open(str(zerolap.store)) as store:
        counted_run(store)
    shown = zerolap("opportunities", "--store", zerolap.store)
    assert shown.code == 0, shown
    assert shown.out.startswith("1 opportunity in 2 cases: together ")
    for part in (
        "1. addReplyDouble",
        "in 2 of 2 cases, most in hset",
        "costly-formatting, high confidence",
        "xCommand > ",
    ):
        assert part in shown.out.replace("`", "")
    document = zerolap("opportunities", RUN.id, "--store", zerolap.store, "--json", "-").document()
    assert document["schema"] == "zerolap.opportunities/1"
    assert Opportunities.model_validate(document).weights.kind == "command"
    written = zerolap("opportunities", "--store", zerolap.store, "--markdown", "-").out
    assert "`addReplyDouble` formats text and whole numbers by `snprintf`" in written


def test_the_verb_takes_the_weights_of_a_users_own_servers(zerolap: Zerolap) -> None:
    with Store.open(str(zerolap.store)) as store:
        counted_run(store)
    usage = Path(zerolap.directory, "usage.txt")
    usage.write_text("cmdstat_get:calls=3,usec=300\ncmdstat_hset:calls=1,usec=100\n")
    document = zerolap("opportunities", "--store", zerolap.store, "--weights", "usage.txt", "--json", "-").document()
    assert {case["case"]: case["weight"] for case in document["cases"]} == {"get-100B": 0.75, "hset": 0.25}
    assert document["weights"] == {"kind": "usage", "source": "usage.txt", "covered": 1.0}
    zerolap("opportunities", "--store", zerolap.store, "--weights", "priority").fails_with(2, "no case has a priority")
    zerolap("opportunities", "--store", zerolap.store, "--weights", "none.txt").fails_with(2, "none.txt")


def test_the_verb_says_what_is_missing(zerolap: Zerolap) -> None:
    zerolap("opportunities", "--store", zerolap.store).fails_with(2, "the store is empty")
    with Store.open(str(zerolap.store)) as store:
        stored_run(store)
    zerolap("opportunities", "--store", zerolap.store).fails_with(2, "has no call graphs", "--engine counted")
    zerolap("opportunities", RUN.id, "--side", "base", "--store", zerolap.store).fails_with(2, "one server")
