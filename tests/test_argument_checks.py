"""Arguments of calls that opportunities suppose to be equal: what is looked at, what is seen, what it comes to."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from call_graphs import FILE, call_graph
from command_line import Zerolap
from made_records import a_measurement, an_opportunity, counted_work
from stored_run import RUN, record_trials, stored_run

from zerolap.build import Builds, BuiltServer, Parameter, Program
from zerolap.engines import ARGUMENT_METHOD, FunctionSymbol, PinnedTrial, ProbedCalls, ProbedEntry
from zerolap.engines.argument_probes import ArgumentCounts
from zerolap.engines.program_symbols import with_symbols
from zerolap.explain import (
    WeightedWork,
    command_of,
    ranked_opportunities,
    supposition,
    with_argument_checks,
)
from zerolap.host import Obstacle
from zerolap.lab import Lab, checked_arguments, checked_opportunities
from zerolap.opportunities import counted_version
from zerolap.records import (
    ArgumentCheck,
    Build,
    CaseOpportunity,
    CaseWeights,
    CountedWork,
    EnvironmentMissing,
    Estimate,
    Opportunities,
    RemovedCost,
    SourceFunction,
    StatedWeights,
    TrialFailed,
)
from zerolap.sheets import opportunities_sheet
from zerolap.store import Store

TWICE = {"calls_per_op": 2.0, "calls_per_call": 2.0, "instructions_per_call": 400.0}
IF_EQUAL = "; where the arguments are the same, once would do"


def repeated(detector: str = "repeated-calls", **fields: Any) -> CaseOpportunity:
    """Return an opportunity of calls that are made twice."""
    removed = RemovedCost(function="snprintf", file="libc.so.6", instructions_per_op=400.0, share=0.5)
    usual = {
        "detector": detector,
        "file": "t_stream.c",
        "category": "command",
        "frames": ("xaddCommand", "addReplyStreamID", "createStreamIDString"),
        "confidence": "medium",
        "evidence": TWICE,
        "text": f"is called twice{IF_EQUAL}",
        "removed": (removed,),
    }
    bounds = Estimate(low=0.0, expected=400.0, high=400.0)
    return an_opportunity("createStreamIDString", 400.0, **{"saved_instructions_per_op": bounds, **usual, **fields})


def a_check(repeated_per_op: float = 1.0, calls_per_op: float = 2.0, **fields: Any) -> ArgumentCheck:
    return ArgumentCheck(
        **{
            "detector": "repeated-calls",
            "function": "createStreamIDString",
            "file": "t_stream.c",
            "method": ARGUMENT_METHOD,
            "requests": 500,
            "calls_per_op": calls_per_op,
            "repeated_per_op": repeated_per_op,
            **fields,
        }
    )


def work(*opportunities: CaseOpportunity, checks: Sequence[ArgumentCheck] = ()) -> CountedWork:
    return counted_work(4000.0, *opportunities, argument_checks=tuple(checks))


def checked(opportunity: CaseOpportunity, check: ArgumentCheck) -> CaseOpportunity:
    (only,) = with_argument_checks(work(opportunity, checks=[check])).opportunities
    return only


# What an opportunity supposes, and what was seen says of it.


@pytest.mark.parametrize(
    ("opportunity", "repeated_per_op"),
    [
        (repeated(), 1.0),
        (repeated(evidence=TWICE | {"calls_per_op": 6.0, "calls_per_call": 3.0}), 4.0),
        (repeated("repeated-checks", evidence={"calls_per_op": 301.0, "commands_per_op": 1.0}), 300.0),
        # A script sends three commands.
        (repeated("repeated-checks", evidence={"calls_per_op": 301.0, "commands_per_op": 4.0}), 297.0),
        (repeated("key-lookups", evidence={"lookups_per_op": 3.0, "keys_per_op": 1.0}), 2.0),
    ],
)
def test_a_detector_supposes_so_many_calls_with_equal_arguments(
    opportunity: CaseOpportunity, repeated_per_op: float
) -> None:
    supposed = supposition(opportunity)
    assert supposed is not None
    assert supposed.repeated_per_op == pytest.approx(repeated_per_op)


@pytest.mark.parametrize(
    "opportunity",
    [
        repeated("costly-formatting"),
        repeated("a-plugin"),
        # A plugin's detector may have any figures.
        repeated(evidence={}),
        repeated(evidence={"calls_per_op": 1.0, "calls_per_call": 0.0}),
        repeated("repeated-checks", evidence={"calls_per_op": 1.0, "commands_per_op": 1.0}),
    ],
)
def test_other_opportunities_suppose_nothing(opportunity: CaseOpportunity) -> None:
    assert supposition(opportunity) is None


def test_calls_of_inlined_functions_are_those_of_a_count_build() -> None:
    calls = {"calls_without_inlining_per_op": 4.0, "calls_without_inlining_per_call": 2.0}
    supposed = supposition(repeated(evidence=calls))
    assert supposed is not None
    assert (supposed.repeated_per_op, supposed.of_count_build) == (2.0, True)
    lookups = {"lookups_without_inlining_per_op": 4.0, "keys_without_inlining_per_op": 1.0}
    supposed = supposition(repeated("key-lookups", evidence=lookups))
    assert supposed is not None
    assert (supposed.repeated_per_op, supposed.of_count_build) == (3.0, True)


def test_keys_are_those_that_tables_hash() -> None:
    supposed = supposition(repeated("key-lookups", evidence={"lookups_per_op": 3.0, "keys_per_op": 1.0}))
    assert supposed is not None
    names = ("dictSdsHash", "hashtableSdsHash", "dictSdsKeyHash", "dictSdsCaseHash", "siphash", "dictObjHash")
    assert [name for name in names if supposed.functions.fullmatch(name)] == list(names[:3])


def test_equal_arguments_leave_no_doubt() -> None:
    opportunity = checked(repeated(), a_check())
    assert opportunity.confidence == "high"
    assert opportunity.text == (
        "is called twice; checked in 500 requests: of 2 calls in a request, 1 has the arguments of an earlier call"
    )
    assert opportunity.saved_instructions_per_op == repeated().saved_instructions_per_op
    figures = {"checked_requests": 500.0, "checked_calls_per_op": 2.0, "checked_repeated_per_op": 1.0}
    assert opportunity.evidence == TWICE | figures


def test_other_arguments_each_time_save_nothing() -> None:
    opportunity = checked(repeated(), a_check(0.0))
    assert (opportunity.confidence, opportunity.saved_instructions_per_op.high) == ("low", 0.0)
    assert opportunity.removed[0].instructions_per_op == 0.0
    assert opportunity.text.endswith("of 2 calls in a request, 0 have the arguments of an earlier call")


def test_equal_arguments_in_a_part_of_the_requests_save_that_part() -> None:
    opportunity = checked(repeated(), a_check(0.25))
    assert (opportunity.confidence, opportunity.saved_instructions_per_op.expected) == ("medium", 100.0)
    assert (opportunity.removed[0].instructions_per_op, opportunity.removed[0].share) == (100.0, 0.125)


def test_more_repetitions_than_supposed_save_no_more() -> None:
    opportunity = checked(repeated(), a_check(3.0, 4.0))
    assert (opportunity.confidence, opportunity.saved_instructions_per_op.expected) == ("high", 400.0)


def test_what_cannot_be_seen_is_stated_and_changes_nothing() -> None:
    opportunity = checked(repeated(), a_check(obstacle="it was not called within its command"))
    assert opportunity.text == f"is called twice{IF_EQUAL}; not checked: it was not called within its command"
    assert opportunity.model_copy(update={"text": ""}) == repeated(text="")


def test_keys_are_read_as_keys() -> None:
    lookups = repeated("key-lookups", evidence={"lookups_per_op": 2.0, "keys_per_op": 1.0}, text="looks up")
    opportunity = checked(lookups, a_check(detector="key-lookups"))
    assert opportunity.text == (
        "looks up; checked in 500 requests: of 2 keys that are hashed in a request, 1 has been hashed in it before"
    )


def test_a_check_is_of_its_opportunity_alone() -> None:
    for other in ({"detector": "repeated-checks"}, {"function": "f"}, {"file": "g.c"}):
        assert checked(repeated(), a_check(0.0, **other)) == repeated()


def test_what_is_seen_at_the_place_of_two_commands_is_seen_of_both_together() -> None:
    lookups = [
        repeated("key-lookups", evidence={"lookups_per_op": 3.0, "keys_per_op": 1.0}, text=text)
        for text in ("first", "second")
    ]
    seen = with_argument_checks(work(*lookups, checks=[a_check(2.0, 6.0, detector="key-lookups")]))
    # Of the four look-ups that are supposed to be of the same key, two are.
    saved = [opportunity.saved_instructions_per_op.expected for opportunity in seen.opportunities]
    assert saved == pytest.approx([200.0, 200.0])
    (opportunity,) = ranked_opportunities([WeightedWork("sort", ("SORT",), 1.0, seen)]).opportunities
    evidence = opportunity.cases[0].evidence
    assert (evidence["lookups_per_op"], evidence["keys_per_op"]) == (6.0, 2.0)
    assert (evidence["checked_calls_per_op"], evidence["checked_repeated_per_op"]) == (6.0, 2.0)


def test_an_opportunity_that_arguments_refute_is_last_and_brings_nothing() -> None:
    refuted = with_argument_checks(work(repeated(), checks=[a_check(0.0)]))
    works = [
        WeightedWork("xadd", ("XADD",), 0.5, refuted),
        # What was not looked at in this case still has its saving, but is not believed.
        WeightedWork("xadd-maxlen", ("XADD",), 0.5, work(repeated(), repeated("a-plugin"))),
    ]
    ranked = ranked_opportunities(works)
    assert [(of.detector, of.is_refuted) for of in ranked.opportunities] == [
        ("a-plugin", False),
        ("repeated-calls", True),
    ]
    assert ranked.saved_share == pytest.approx(0.5 * 400.0 / 4000.0)


def test_the_cases_that_were_looked_at_decide_how_sure_it_is() -> None:
    seen = WeightedWork("xadd", ("XADD",), 0.5, with_argument_checks(work(repeated(), checks=[a_check()])))
    other = WeightedWork("xadd-maxlen", ("XADD",), 0.5, work(repeated()))
    (opportunity,) = ranked_opportunities([seen, other]).opportunities
    assert opportunity.confidence == "high"
    (unseen,) = ranked_opportunities([other]).opportunities
    assert unseen.confidence == "medium"


def test_a_command_is_the_first_of_the_functions_down_to_a_place() -> None:
    assert command_of(repeated()) == "xaddCommand"
    # Of a long way, only the end is kept.
    assert command_of(repeated(frames=("addReply", "prepareClientToWrite"))) is None
    assert command_of(repeated(frames=())) is None


# In a store, of whose build there is a program.

COSTS = {"main": 100.0, "call": 200.0, "xCommand": 300.0, "shouldPropagate": 200.0}
CALLS = {("main", "call"): 1.0, ("call", "xCommand"): 1.0, ("xCommand", "shouldPropagate"): 3.0}
WEIGHTS = CaseWeights(StatedWeights(kind="equal"), {"hset": 1.0})
SYMBOLS = {"xCommand": 0x1000, "shouldPropagate": 0x2000}


def count_of(store: Store, costs: Mapping[str, float], calls: Mapping[tuple[str, str], float]) -> None:
    """Record a run with a counted case whose requests execute this."""
    stored_run(store)
    graph = store.blobs.put(call_graph(costs, calls).model_dump_json(by_alias=True).encode())
    record_trials(store, "hset", "counted", [a_measurement(graph=graph)])


@pytest.fixture
def counted(store: Store) -> Store:
    """A store with a counted case that asks three times."""
    count_of(store, COSTS, CALLS)
    return store


class Probes:
    """Stands in for probes of bpftrace: counts what it is told, and keeps what it was asked."""

    def __init__(self) -> None:
        self.counts = [ArgumentCounts(500, [ProbedCalls(1500, 1000)], 500)]
        self.asked: list[tuple[list[str], list[list[ProbedEntry]]]] = []

    def count(
        self,
        trial: PinnedTrial,
        content: bytes,
        commands: Sequence[FunctionSymbol],
        functions: Sequence[Sequence[ProbedEntry]],
    ) -> ArgumentCounts:
        assert trial.directory.is_dir()
        self.asked.append(([command.name for command in commands], [list(entries) for entries in functions]))
        return self.counts.pop(0) if len(self.counts) > 1 else self.counts[0]


@pytest.fixture
def probes(monkeypatch: pytest.MonkeyPatch) -> Probes:
    stand_in = Probes()
    monkeypatch.setattr(checked_arguments, "count_repeated", stand_in.count)
    monkeypatch.setattr(checked_arguments, "probing_obstacle", lambda: None)
    monkeypatch.setattr(checked_arguments, "source_functions", lambda built: [])
    return stand_in


def keep_program(store: Store, monkeypatch: pytest.MonkeyPatch, symbols: Mapping[str, int], **fields: Any) -> None:
    """Have the build of the run on this machine, with a program of these symbols."""
    path = store.builds_directory.parent / "program"
    program = Path(os.path.realpath("/bin/true")).read_bytes()
    path.write_bytes(
        with_symbols(program, {name: FunctionSymbol(name, address, 16, True) for name, address in symbols.items()})
    )
    record = Build(build="b-1", version="7.2.4", build_id="", flags="")
    built = BuiltServer(record, Program(path, **fields))
    (store.builds_directory / RUN.server.build).mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(Builds, "find", lambda self, digest: built)
    monkeypatch.setattr(Builds, "get", lambda self, digest: built)


def look(store: Store, most: int = 10) -> Opportunities:
    version = counted_version(store, None)
    return checked_opportunities(version, WEIGHTS, Lab(store), "zerolap opportunities", most)


def test_what_is_seen_is_kept_for_the_next_question(
    counted: Store, probes: Probes, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_program(counted, monkeypatch, SYMBOLS)
    assert "checked" not in look(counted, 0).opportunities[0].text
    (opportunity,) = look(counted).opportunities
    assert opportunity.text.endswith(
        "checked in 500 requests: of 3 calls in a request, 2 have the arguments of an earlier call"
    )
    ((commands, functions),) = probes.asked
    assert commands == ["xCommand"]
    assert [[entry.symbol.address for entry in entries] for entries in functions] == [[SYMBOLS["shouldPropagate"]]]
    # Neither without asking for it nor with is it looked at again.
    assert look(counted, 0).opportunities == look(counted).opportunities == (opportunity,)
    assert len(probes.asked) == 1


def test_what_another_method_has_seen_is_looked_at_again(
    counted: Store, probes: Probes, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_program(counted, monkeypatch, SYMBOLS)
    look(counted)
    monkeypatch.setattr(checked_arguments, "ARGUMENT_METHOD", ARGUMENT_METHOD + 1)
    probes.counts = [ArgumentCounts(400, [ProbedCalls(1200, 800)], 400)]
    (opportunity,) = look(counted).opportunities
    assert "checked in 400 requests" in opportunity.text
    assert len(probes.asked) == 2


def know_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the source of the build at hand, with the definition of the check."""
    source = SourceFunction(FILE, "shouldPropagate", 10, 20)
    monkeypatch.setattr(checked_arguments, "source_functions", lambda built: [source])
    text = {(FILE, 10): "int shouldPropagate(int target) {"}
    monkeypatch.setattr(Builds, "source_lines", lambda self, digest, wanted, archives: text)


def test_calls_are_stated_per_request_of_any_command_of_the_case(
    counted: Store, probes: Probes, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_program(counted, monkeypatch, SYMBOLS)
    know_parameters(monkeypatch)
    # Another command of the case is not probed, as no opportunity lies in it.
    probes.counts = [ArgumentCounts(250, [ProbedCalls(750, 500)], 500)]
    (opportunity,) = look(counted).opportunities
    assert opportunity.text.endswith(
        "checked in 500 requests: of 1.5 calls in a request, 1 has the arguments of an earlier call"
    )
    # As many are supposed to be repeated as there are calls beyond the first: two.
    assert opportunity.confidence == "medium"


def test_what_arguments_refute_is_not_counted(counted: Store, probes: Probes, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_program(counted, monkeypatch, SYMBOLS)
    know_parameters(monkeypatch)
    assert opportunities_sheet(look(counted, 0), 10).title.startswith("1 opportunity in 1 case: together ")
    probes.counts = [ArgumentCounts(500, [ProbedCalls(1500, 0)], 500)]
    document = look(counted)
    sheet = opportunities_sheet(document, 10)
    assert sheet.title == "nothing detected to optimise in 1 case; 1 more is refuted by arguments"
    [kind] = [sentence.text for sentence in sheet.sections[0].sentences if sentence.label == "kind"]
    assert kind.startswith("`repeated-checks`, refuted by arguments; ")
    assert document.saved_share == 0.0


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        (ArgumentCounts(0, [ProbedCalls(0, 0)], 500), "its command was not called"),
        (ArgumentCounts(500, [ProbedCalls(0, 0)], 500), "it was not called within its command"),
        # Without its parameters, registers that hold no argument may differ.
        (
            ArgumentCounts(500, [ProbedCalls(1500, 700)], 500),
            "its parameters are not known, and not all registers were equal",
        ),
    ],
)
def test_counts_that_prove_nothing_are_stated(
    counts: ArgumentCounts, reason: str, counted: Store, probes: Probes, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_program(counted, monkeypatch, SYMBOLS)
    probes.counts = [counts]
    (opportunity,) = look(counted).opportunities
    assert opportunity.text.endswith(f"; not checked: {reason}")
    assert opportunity.confidence == "high"


@pytest.mark.parametrize(
    ("symbols", "reason"),
    [
        ({"xCommand": 0x1000}, "the program has no symbol of its name, as of a function that is inlined everywhere"),
        (
            SYMBOLS | {"shouldPropagate.lto_priv.0": 0x3000},
            "several functions of the program have its name",
        ),
        ({"shouldPropagate": 0x2000}, "the function of its command is not known"),
    ],
)
def test_what_has_no_place_in_the_program_is_stated(
    symbols: Mapping[str, int], reason: str, counted: Store, probes: Probes, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_program(counted, monkeypatch, symbols)
    (opportunity,) = look(counted).opportunities
    assert opportunity.text.endswith(f"; not checked: {reason}")
    assert probes.asked == []
    assert look(counted, 0).opportunities == (opportunity,)


CHECKS = ("shouldPropagate", "getClientType")
TWO_CHECKS = (
    COSTS | {"getClientType": 200.0},
    CALLS | {("xCommand", "getClientType"): 3.0},
    SYMBOLS | {"getClientType": 0x3000},
)


@pytest.mark.parametrize(("most_probed", "passes"), [(1, [1, 1]), (2, [2])])
def test_functions_that_do_not_fit_one_pass_are_looked_at_in_several(
    most_probed: int, passes: list[int], store: Store, probes: Probes, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs, calls, symbols = TWO_CHECKS
    count_of(store, costs, calls)
    keep_program(store, monkeypatch, symbols)
    monkeypatch.setattr(checked_arguments, "MOST_PROBED", most_probed)
    probes.counts = [ArgumentCounts(500, [ProbedCalls(1500, 1000)] * number, 500) for number in passes]
    document = look(store)
    assert [len(functions) for _, functions in probes.asked] == passes
    assert {opportunity.function for opportunity in document.opportunities} == set(CHECKS)
    assert all("checked in 500 requests" in opportunity.text for opportunity in document.opportunities)


def test_a_function_with_more_entries_than_fit_a_pass_is_stated(
    counted: Store, probes: Probes, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_program(counted, monkeypatch, SYMBOLS | {"shouldPropagate.constprop.0": 0x3000})
    monkeypatch.setattr(checked_arguments, "MOST_PROBED", 1)
    (opportunity,) = look(counted).opportunities
    assert "; not checked: the program has more than" in opportunity.text
    assert probes.asked == []


def test_parameters_are_those_of_the_source(counted: Store, probes: Probes, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_program(counted, monkeypatch, SYMBOLS | {"shouldPropagate.constprop.0": 0x3000})
    know_parameters(monkeypatch)
    look(counted)
    ((_, functions),) = probes.asked
    # A clone need not take them.
    assert [entry.parameters for entry in functions[0]] == [(Parameter.SHORT_NUMBER,), None]


def test_of_a_check_of_the_client_the_client_decides(
    store: Store, probes: Probes, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = {name.replace("shouldPropagate", "getClientType"): cost for name, cost in COSTS.items()}
    calls = {(caller, callee.replace("shouldPropagate", "getClientType")): n for (caller, callee), n in CALLS.items()}
    count_of(store, costs, calls)
    keep_program(store, monkeypatch, {"xCommand": 0x1000, "getClientType": 0x2000})
    look(store)
    ((_, functions),) = probes.asked
    assert [entry.parameters for entry in functions[0]] == [(Parameter.HANDLE,)]


def test_a_failure_costs_the_case_and_no_more(counted: Store, probes: Probes, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_program(counted, monkeypatch, SYMBOLS)

    def fail(*arguments: object) -> ArgumentCounts:
        raise TrialFailed("bpftrace does not start", details="a line of its own")

    monkeypatch.setattr(checked_arguments, "count_repeated", fail)
    document = look(counted)
    assert "Arguments of calls in hset could not be looked at: bpftrace does not start" in document.limits
    assert "checked" not in document.opportunities[0].text
    # It is tried again.
    monkeypatch.setattr(checked_arguments, "count_repeated", probes.count)
    assert "checked" in look(counted).opportunities[0].text


def test_a_server_with_a_start_command_is_not_probed(
    counted: Store, probes: Probes, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_program(counted, monkeypatch, SYMBOLS, arguments=("--loadmodule", "/a.so"))
    assert any("the server was given with arguments" in limit for limit in look(counted).limits)
    assert probes.asked == []


def test_a_program_that_cannot_be_read_is_stated(
    counted: Store, probes: Probes, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_program(counted, monkeypatch, SYMBOLS)
    (counted.builds_directory.parent / "program").write_bytes(b"#!/bin/sh\n")
    assert any("the program's symbols cannot be read" in limit for limit in look(counted).limits)


def test_what_this_machine_lacks_is_stated_with_what_helps(
    counted: Store, probes: Probes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EnvironmentMissing, match="is not on this machine"):
        look(counted)
    obstacle = Obstacle("bpftrace is not installed", "apt-get install bpftrace")
    monkeypatch.setattr(checked_arguments, "probing_obstacle", lambda: obstacle)
    with pytest.raises(EnvironmentMissing, match="bpftrace is not installed") as fault:
        look(counted)
    assert fault.value.hint == "apt-get install bpftrace"
    # Without asking for it, nothing is needed.
    assert len(look(counted, 0).opportunities) == 1


def test_where_nothing_depends_on_arguments_nothing_is_needed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {("main", "call"): 1.0, ("call", "xCommand"): 1.0, ("xCommand", "snprintf"): 1.0}
    costs = {"main": 100.0, "call": 200.0, "xCommand": 300.0, "snprintf": 900.0}
    count_of(store, costs, calls)
    monkeypatch.setattr(checked_arguments, "probing_obstacle", lambda: pytest.fail("it was asked"))
    assert [opportunity.detector for opportunity in look(store).opportunities] == ["costly-formatting"]


def test_the_verb_ends_with_what_is_missing(zerolap: Zerolap, tmp_path: Path) -> None:
    with Store.open(str(zerolap.store)) as store:
        count_of(store, COSTS, CALLS)
    # Whatever this machine has, the build is not on it.
    ended = zerolap("opportunities", "--check-arguments", "--store", zerolap.store)
    ended.fails_with(3, "arguments cannot be looked at")
    assert zerolap("opportunities", "--store", zerolap.store).code == 0
