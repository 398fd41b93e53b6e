"""Detectors of waste in one version, on call graphs made by hand: what they report, and what they leave alone."""

from collections.abc import Iterable, Mapping

import pytest
from call_graphs import FILE, call_graph, definitions

from zerolap.explain import BUILT_IN_DETECTORS, CaseEvidence, Detector, case_work
from zerolap.explain.call_index import CallIndex, Calls as IndexedCalls
from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.detectors.block_sizes import BlockSizes
from zerolap.explain.detectors.clock_readings import ClockReadings
from zerolap.explain.detectors.command_lookups import CommandLookups
from zerolap.explain.detectors.costly_formatting import CostlyFormatting
from zerolap.explain.detectors.detector import often
from zerolap.explain.detectors.further_system_calls import SystemCalls
from zerolap.explain.detectors.growing_memory import GrowingMemory
from zerolap.explain.detectors.key_lookups import KeyLookups
from zerolap.explain.detectors.mathematics import LIBM, Mathematics
from zerolap.explain.detectors.repeated_calls import RepeatedCalls
from zerolap.explain.detectors.repeated_checks import RepeatedChecks
from zerolap.explain.detectors.short_lived_memory import ShortLivedMemory
from zerolap.records import CallGraph, CaseOpportunity, SourceFunctions

LIBRARY = frozenset(
    {"snprintf", "__printf_fp", "vfprintf", "vsnprintf", "strtod", "sin", "gettimeofday", "getrusage", "read"}
    | {"malloc", "realloc", "free", "malloc_usable_size", "fwrite"}
)
Calls = Mapping[tuple[str, str], float]
COMMAND = {("main", "call"): 1.0, ("call", "xCommand"): 1.0}


def graph(calls: Calls, costs: Mapping[str, float] | None = None, **lines: list[int]) -> CallGraph:
    """A request of `xCommand`; each function costs 100 instructions a call unless `costs` has it.

    `lines` are those of the calls of a function, a line for each call.
    """
    made = {**COMMAND, **calls}
    names = dict.fromkeys(name for pair in made for name in pair)
    whole = call_graph({name: (costs or {}).get(name, 100.0) for name in names}, made)
    functions = [
        function.model_copy(update={"object": "libc.so.6"}) if function.name in LIBRARY else function
        for function in whole.functions
    ]
    edges = [
        edge.model_copy(
            update={
                "lines": [
                    (0, line, edge.calls / len(lines[whole.functions[edge.callee].name]))
                    for line in lines[whole.functions[edge.callee].name]
                ]
            }
        )
        if whole.functions[edge.callee].name in lines
        else edge
        for edge in whole.edges
    ]
    return whole.model_copy(update={"functions": functions, "edges": edges})


def evidence(counted: CallGraph, *commands: str) -> CaseEvidence:
    names = [function.name for function in counted.functions if function.name not in LIBRARY]
    return CaseEvidence(CallIndex(counted, SourceFunctions(definitions(*names))), commands)


def detected(detector: Detector, counted: CallGraph, *commands: str) -> list[CaseOpportunity]:
    return detector.detect(evidence(counted, *commands))


def test_formatting_of_doubles_is_the_servers_function_that_asks_libc_for_it() -> None:
    counted = graph(
        {("xCommand", "addReplyDouble"): 10.0, ("addReplyDouble", "snprintf"): 1.0, ("snprintf", "__printf_fp"): 1.0},
        {"__printf_fp": 3000.0},
        snprintf=[861],
    )
    (opportunity,) = detected(CostlyFormatting(), counted)
    assert (opportunity.function, opportunity.confidence) == ("addReplyDouble", "high")
    assert opportunity.frames == ("xCommand", "addReplyDouble")
    assert opportunity.lines == (f"{FILE}:861",)
    assert opportunity.evidence == {"calls_per_op": 10.0, "instructions_per_op": 31_000.0}
    saved = opportunity.saved_instructions_per_op
    assert (saved.low, saved.expected, saved.high) == pytest.approx((21_700.0, 26_350.0, 27_900.0))
    assert sum(removed.instructions_per_op for removed in opportunity.removed) == pytest.approx(saved.expected)
    assert opportunity.text.startswith("formats floating-point numbers by `snprintf` 10 times per request")


@pytest.mark.parametrize(("part", "confidence"), [(1.0, "high"), (0.25, "medium")])
def test_formatting_of_doubles_for_one_of_several_callers(part: float, confidence: str) -> None:
    counted = graph(
        {
            ("xCommand", "addReplyDouble"): 1.0,
            ("xCommand", "addReplyText"): 3.0,
            ("addReplyDouble", "snprintf"): 1.0,
            ("addReplyText", "snprintf"): 1.0,
            ("snprintf", "__printf_fp"): part,
        },
        {"__printf_fp": 3000.0},
    )
    both = detected(CostlyFormatting(), counted)
    assert len(both) == 2
    for opportunity in both:
        assert opportunity.confidence == confidence
        does = "formats numbers by" if part < 1 else "formats floating-point numbers by"
        assert opportunity.text.startswith(does)


def test_formatting_of_some_doubles_for_one_caller_alone() -> None:
    calls = {("xCommand", "reply"): 4.0, ("reply", "snprintf"): 1.0, ("snprintf", "vfprintf"): 1.0}
    calls |= {("vfprintf", "__printf_fp"): 0.25}
    (alone,) = detected(CostlyFormatting(), graph(calls))
    assert alone.text.startswith("formats floating-point numbers by `snprintf`")
    # Another function of libc leads to the same digits: for which of both they are is not known.
    shared = graph({**calls, ("xCommand", "log"): 1.0, ("log", "vsnprintf"): 4.0, ("vsnprintf", "vfprintf"): 1.0})
    assert {opportunity.text.partition(" by ")[0] for opportunity in detected(CostlyFormatting(), shared)} == {
        "formats numbers"
    }


def test_formatting_of_whole_numbers_and_twice_in_one_function() -> None:
    counted = graph({("xCommand", "incrReply"): 1.0, ("incrReply", "snprintf"): 2.0}, {"snprintf": 900.0})
    (opportunity,) = detected(CostlyFormatting(), counted)
    assert "formats text and whole numbers by `snprintf` twice per request, twice each time" in opportunity.text
    assert opportunity.evidence["calls_per_call"] == 2.0


def test_what_libc_calls_itself_is_part_of_what_the_server_called() -> None:
    calls = {("xCommand", "fwrite"): 1.0, ("fwrite", "vfprintf"): 1.0, ("xCommand", "parse"): 1.0}
    assert detected(CostlyFormatting(), graph(calls, {"vfprintf": 5000.0})) == []
    (opportunity,) = detected(CostlyFormatting(), graph({**calls, ("parse", "strtod"): 1.0}, {"strtod": 500.0}))
    assert opportunity.function == "parse"


@pytest.mark.parametrize(("first", "second"), [(1.0, 1.0), (2.0, 0.0)])
def test_a_function_called_again_from_another_place(first: float, second: float) -> None:
    calls = {("xCommand", "makeText"): first, ("xCommand", "reply"): 1.0, ("makeText", "copyText"): 1.0}
    calls |= {("reply", "makeText"): second} if second else {}
    counted = graph(calls, {"makeText": 400.0}, makeText=[10, 20])
    (opportunity,) = detected(RepeatedCalls(), counted)
    # What it calls is called as often, and is no repetition of its own.
    assert (opportunity.function, opportunity.confidence) == ("makeText", "medium")
    assert opportunity.evidence == {"calls_per_op": 2.0, "calls_per_call": 2.0, "instructions_per_call": 500.0}
    saved = opportunity.saved_instructions_per_op
    assert (saved.low, saved.expected, saved.high) == pytest.approx((0.0, 500.0, 500.0))
    assert opportunity.text.startswith("is called twice each time that `xCommand` is called")


def test_what_repeated_calls_cost_is_looked_up_once_for_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ladder, on each step of which a function calls both of the next: it has pairs of functions without number."""
    calls: dict[tuple[str, str], float] = {("xCommand", "left0"): 1.0, ("xCommand", "right0"): 1.0}
    for step in range(12):
        calls |= {(f"{way}{step}", f"shared{step}"): 1.0 for way in ("left", "right")}
        calls |= {(f"shared{step}", f"{way}{step + 1}"): 1.0 for way in ("left", "right")}
    given = evidence(graph(calls))
    asked: list[str] = []
    costs_of = CallIndex.costs_of

    def counting(index: CallIndex, removed: Iterable[IndexedCalls]) -> dict[FunctionKey, float]:
        made = list(removed)
        asked.append(made[0].callee[0])
        return costs_of(index, made)

    monkeypatch.setattr(CallIndex, "costs_of", counting)
    assert RepeatedCalls().detect(given)
    assert len(asked) == len(set(asked))


def test_calls_of_a_loop_from_one_place_or_of_other_cost_are_not_repeated() -> None:
    once = graph({("xCommand", "makeText"): 1.0}, {"makeText": 400.0}, makeText=[10])
    loop = graph({("xCommand", "makeText"): 40.0}, {"makeText": 400.0}, makeText=[10, 20])
    one_place = graph({("xCommand", "makeText"): 2.0}, {"makeText": 400.0}, makeText=[10])
    # `reply` makes the calls dearer: on the way through it, each costs ten times as much.
    dearer = graph({("xCommand", "makeText"): 1.0, ("xCommand", "reply"): 1.0, ("reply", "makeText"): 1.0})
    names = [function.name for function in dearer.functions]
    edges = [
        edge.model_copy(update={"instructions": 1000.0}) if names[edge.caller] == "reply" else edge
        for edge in dearer.edges
    ]
    for counted in (once, loop, one_place, dearer.model_copy(update={"edges": edges})):
        assert detected(RepeatedCalls(), counted) == []


def test_a_check_of_the_client_for_each_part_of_a_reply() -> None:
    calls = {("xCommand", "addReply"): 20.0, ("addReply", "prepareClientToWrite"): 1.0}
    counted = graph({**calls, ("prepareClientToWrite", "clientHasPendingReplies"): 1.0})
    # What a check asks itself is part of it.
    (opportunity,) = detected(RepeatedChecks(), counted)
    assert (opportunity.function, opportunity.confidence) == ("prepareClientToWrite", "high")
    assert opportunity.evidence == {"calls_per_op": 20.0, "commands_per_op": 1.0, "instructions_per_op": 4000.0}
    saved = opportunity.saved_instructions_per_op
    assert (saved.low, saved.expected, saved.high) == pytest.approx((1900.0, 3420.0, 3800.0))
    assert opportunity.text.endswith("once per request would do")
    assert detected(RepeatedChecks(), graph({**calls, ("xCommand", "addReply"): 1.0})) == []


def test_checks_outside_of_commands_are_left_out() -> None:
    within = {("xCommand", "addReply"): 4.0, ("addReply", "prepareClientToWrite"): 1.0}
    (alone,) = detected(RepeatedChecks(), graph(within))
    # The event loop has the same function send a message to each of ten clients.
    (with_others,) = detected(RepeatedChecks(), graph({**within, ("main", "addReply"): 10.0}))
    assert with_others.evidence == alone.evidence
    assert with_others.saved_instructions_per_op.expected == pytest.approx(alone.saved_instructions_per_op.expected)


def test_a_script_needs_a_check_for_each_of_its_commands() -> None:
    calls = {("call", "yCommand"): 3.0, ("yCommand", "addReply"): 4.0, ("addReply", "prepareClientToWrite"): 1.0}
    (opportunity,) = detected(RepeatedChecks(), graph(calls))
    evidence = opportunity.evidence
    assert (evidence["calls_per_op"], evidence["commands_per_op"]) == (12.0, 4.0)
    assert opportunity.text.endswith("4 times per request would do")


def test_calls_that_lead_back_to_a_caller_leave_the_others_within_the_command() -> None:
    counted = graph({("xCommand", "walk"): 2.0, ("walk", "visit"): 3.0, ("visit", "prepareClientToWrite"): 1.0})
    names = [function.name for function in counted.functions]
    back = counted.edges[0].model_copy(update={"caller": names.index("visit"), "callee": names.index("walk")})
    (opportunity,) = detected(RepeatedChecks(), counted.model_copy(update={"edges": [*counted.edges, back]}))
    assert opportunity.evidence["calls_per_op"] == pytest.approx(6.0)


LOOKUP = {("lookupKey", "dictFind"): 1.0, ("dictFind", "siphash"): 1.0}


def test_a_key_that_is_looked_up_again() -> None:
    calls = {**LOOKUP, ("xCommand", "xGeneric"): 1.0, ("xGeneric", "lookupKey"): 1.0, ("xGeneric", "setExpire"): 1.0}
    calls |= {("setExpire", "dictFind"): 2.0}
    calls |= {("xGeneric", "addReply"): 1.0}
    lines = {"lookupKey": [41], "setExpire": [47], "addReply": [50], "dictFind": [90]}
    (opportunity,) = detected(KeyLookups(), graph(calls, **lines), "SET")
    # All look-ups pass the function below the command, in these lines of its own.
    assert (opportunity.function, opportunity.frames) == ("xGeneric", ("xCommand", "xGeneric"))
    assert opportunity.lines == (f"{FILE}:41", f"{FILE}:47")
    assert (opportunity.evidence["lookups_per_op"], opportunity.evidence["keys_per_op"]) == (3.0, 1.0)
    assert opportunity.text.startswith("looks keys up 3 times where 1 would do, by `setExpire` and `lookupKey`: 400 ")


@pytest.mark.parametrize(("command", "keys"), [("GET", 1.0), ("RENAME", None)])
def test_two_lookups_of_keys_are_too_many_for_a_command_of_one_key(command: str, keys: float | None) -> None:
    counted = graph({**LOOKUP, ("xCommand", "lookupKey"): 2.0})
    found = detected(KeyLookups(), counted, command)
    assert [opportunity.evidence["keys_per_op"] for opportunity in found] == ([keys] if keys else [])
    # All that a look-up does is done again: in the function, the table and the hash.
    saved = [opportunity.saved_instructions_per_op.expected for opportunity in found]
    assert saved == pytest.approx([0.95 * 300.0] if keys else [])


MEMORY = {("sdsdup", "zmalloc"): 1.0, ("zmalloc", "malloc"): 1.0, ("sdsfree", "zfree"): 1.0, ("zfree", "free"): 1.0}


def test_memory_that_is_freed_before_the_command_ends() -> None:
    calls = {**MEMORY, ("xCommand", "collect"): 1.0, ("collect", "sdsdup"): 4.5, ("xCommand", "reply"): 4.5}
    (opportunity,) = detected(ShortLivedMemory(), graph({**calls, ("reply", "sdsfree"): 1.0}))
    assert (opportunity.function, opportunity.category) == ("xCommand", "command")
    assert opportunity.evidence == {"blocks_per_op": 4.5, "instructions_per_op": 4.5 * 600.0}
    expected = (
        "allocates memory by `sdsdup` in `collect` and frees it by `sdsfree` in `reply` before it returns, 4.5 times"
    )
    assert opportunity.text.startswith(expected)


def test_memory_of_the_data_is_not_short_lived() -> None:
    calls = {**MEMORY, ("xCommand", "dictAdd"): 1.0, ("dictAdd", "zmalloc"): 1.0, ("xCommand", "sdsfree"): 1.0}
    assert detected(ShortLivedMemory(), graph(calls)) == []


TABLE = {("xCommand", "dictAdd"): 8.0, ("dictAdd", "zmalloc"): 1.0, ("dictAdd", "siphash"): 1.0}
TABLE |= {("zmalloc", "malloc"): 1.0, ("dictRelease", "zfree"): 8.0, ("zfree", "free"): 1.0}


def test_a_table_that_is_filled_and_released_costs_all_that_is_done_for_it() -> None:
    (opportunity,) = detected(ShortLivedMemory(), graph({**TABLE, ("xCommand", "dictRelease"): 1.0}))
    # Each addition and its hash, each block and its release, and the release of the table.
    assert opportunity.evidence == {"blocks_per_op": 8.0, "instructions_per_op": 8 * 600.0 + 100.0}
    expected = "fills a table by `dictAdd` and releases it by `dictRelease` before it returns, 8 blocks of memory"
    assert (opportunity.function, opportunity.text.startswith(expected)) == ("xCommand", True)
    # The table is filled by what is called, and released by the caller.
    below = {**TABLE, ("xCommand", "fill"): 2.0, ("fill", "dictAdd"): 4.0, ("xCommand", "dictRelease"): 1.0}
    del below["xCommand", "dictAdd"]
    (opportunity,) = detected(ShortLivedMemory(), graph(below))
    assert (opportunity.function, opportunity.evidence["blocks_per_op"]) == ("xCommand", 8.0)
    assert opportunity.evidence["instructions_per_op"] == 8 * 600.0 + 100.0


def test_of_two_tables_that_are_filled_the_released_one_has_its_part_of_the_additions() -> None:
    both = {**TABLE, ("xCommand", "dictRelease"): 1.0, ("xCommand", "dictInsert"): 8.0}
    counted = graph({**both, ("dictInsert", "zmalloc"): 1.0})
    (opportunity,) = detected(ShortLivedMemory(), counted)
    # Half of the additions by either way, with 8 of 16 allocations; all that is released.
    assert opportunity.evidence == {"blocks_per_op": 8.0, "instructions_per_op": 8 * 550.0 + 100.0}
    assert "by `dictAdd` and `dictInsert`" in opportunity.text


def test_what_is_stored_beside_a_table_that_is_released_is_memory_of_its_own() -> None:
    calls = {**MEMORY, **TABLE, ("xCommand", "dictRelease"): 1.0, ("xCommand", "sdsdup"): 1.0}
    both = detected(ShortLivedMemory(), graph({**calls, ("xCommand", "sdsfree"): 1.0}))
    texts = {opportunity.text.partition(" before ")[0]: opportunity.evidence["blocks_per_op"] for opportunity in both}
    assert texts == {
        "allocates memory by `sdsdup` and frees it by `sdsfree`": 1.0,
        "fills a table by `dictAdd` and releases it by `dictRelease`": 8.0,
    }


def test_a_release_of_nothing_frees_no_block() -> None:
    calls = {**MEMORY, ("xCommand", "collect"): 1.0, ("collect", "sdsdup"): 4.0, ("collect", "sdsfree"): 4.0}
    counted = graph({**calls, ("xCommand", "sdsfree"): 4.0, ("xCommand", "sdsdup"): 4.0})
    names = [function.name for function in counted.functions]
    # What `xCommand` hands to `sdsfree` is not there: all blocks that are freed are those of `collect`.
    edges = [
        edge.model_copy(update={"instructions": 4.0})
        if (names[edge.caller], names[edge.callee]) == ("xCommand", "sdsfree")
        else edge.model_copy(update={"calls": 4.0})
        if names[edge.caller] == "sdsfree"
        else edge
        for edge in counted.edges
    ]
    (opportunity,) = detected(ShortLivedMemory(), counted.model_copy(update={"edges": edges}))
    assert (opportunity.function, opportunity.evidence["blocks_per_op"]) == ("collect", 4.0)


def test_memory_of_the_request_itself_is_not_short_lived() -> None:
    calls = {**MEMORY, ("main", "parse"): 1.0, ("parse", "sdsdup"): 3.0, ("main", "sdsfree"): 3.0}
    assert detected(ShortLivedMemory(), graph(calls)) == []


def test_memory_that_grows_while_it_is_filled() -> None:
    calls = {**MEMORY, ("xCommand", "makeText"): 1.0, ("makeText", "sdsempty"): 1.0, ("sdsempty", "zmalloc"): 1.0}
    grows = {("makeText", "sdscatlen"): 3.0, ("sdscatlen", "sdsMakeRoomFor"): 1.0, ("sdsMakeRoomFor", "zrealloc"): 1.0}
    (opportunity,) = detected(GrowingMemory(), graph({**calls, **grows, ("zrealloc", "realloc"): 1.0}))
    assert opportunity.function == "makeText"
    assert opportunity.evidence == {"allocations_per_op": 1.0, "growths_per_op": 3.0}
    assert opportunity.saved_instructions_per_op.expected == pytest.approx(0.9 * 3 * 300.0)
    assert detected(GrowingMemory(), graph(calls)) == []


def test_sizes_of_blocks_that_the_allocator_is_asked_for() -> None:
    asked = {("zmalloc", "malloc_usable_size"): 1.0, ("zfree", "malloc_usable_size"): 1.0}
    counted = graph({**MEMORY, **asked, ("main", "sdsdup"): 2.0, ("main", "sdsfree"): 2.0})
    (opportunity,) = detected(BlockSizes(), counted)
    assert opportunity.evidence == {"questions_per_op": 4.0, "instructions_per_op": 400.0}
    assert opportunity.text.startswith("is called 4 times per request by `zmalloc` and `zfree` for the sizes of blocks")
    # What the allocator asks itself is none of the server's questions.
    inside = {("main", "zmalloc"): 1.0, ("zmalloc", "realloc"): 1.0, ("realloc", "malloc_usable_size"): 1.0}
    assert detected(BlockSizes(), graph(inside)) == []


def test_lookups_of_the_commands_name() -> None:
    calls = {
        ("main", "lookupCommand"): 1.0,
        ("lookupCommand", "dictFetchValue"): 1.0,
        ("xCommand", "dictFetchValue"): 1.0,
    }
    (opportunity,) = detected(CommandLookups(), graph(calls, {"dictFetchValue": 300.0}))
    assert (opportunity.function, opportunity.evidence["instructions_per_op"]) == ("lookupCommand", 300.0)
    assert detected(CommandLookups(), graph({("xCommand", "dictFetchValue"): 1.0})) == []


def test_mathematics_of_a_library() -> None:
    counted = graph({("xCommand", "distance"): 8.0, ("distance", "sin"): 2.0})
    (opportunity,) = detected(Mathematics(), counted)
    assert (opportunity.function, opportunity.confidence) == ("distance", "low")
    assert opportunity.evidence == {"calls_per_op": 16.0, "instructions_per_op": 1600.0, "calls_per_call": 2.0}


def test_mathematics_that_is_computed_in_several_lines_for_each_element() -> None:
    calls = {("xCommand", "isNear"): 8.0, ("isNear", "distance"): 2.0, ("distance", "sin"): 2.0}
    all_of_it, further = detected(Mathematics(), graph(calls, {"sin": 400.0}, distance=[10, 20]))
    # Of 16 distances 8 are further ones: with what the function does around the mathematics.
    assert further.evidence == {"further_calls_per_op": 8.0, "further_instructions_per_op": 8 * 900.0}
    assert further.saved_instructions_per_op.expected == pytest.approx(0.9 * 8 * 900.0)
    assert all_of_it.evidence["instructions_per_op"] == 16 * 800.0
    assert further.text.startswith("is called 16 times per request by several lines of `isNear`, for 8 elements")


@pytest.mark.parametrize(
    ("times", "cost", "lines"),
    [
        pytest.param(2.0, 400.0, [10], id="a line that is executed for each element"),
        pytest.param(1.0, 400.0, [10, 20], id="lines of which a single line is executed"),
        pytest.param(2.0, 400.0, [], id="lines that are not known"),
        pytest.param(2.0, 10.0, [10, 20], id="a function that does more than mathematics"),
    ],
)
def test_mathematics_that_is_computed_once_for_each_element(times: float, cost: float, lines: list[int]) -> None:
    calls = {("xCommand", "isNear"): 8.0, ("isNear", "distance"): times, ("distance", "sin"): 2.0}
    given = {"distance": lines} if lines else {}
    (opportunity,) = detected(Mathematics(), graph(calls, {"sin": cost, "main": 10.0}, **given))
    assert "further_calls_per_op" not in opportunity.evidence


@pytest.mark.parametrize("name", ["sin", "__cos_fma", "pow@@GLIBC_2.29", "atan2f", "__ieee754_exp_avx2", "log10"])
def test_names_of_libm_on_all_processors(name: str) -> None:
    assert LIBM.fullmatch(name) is not None
    assert LIBM.fullmatch(f"my_{name}") is None


def test_clock_readings_within_a_command_and_not_those_that_measure_it() -> None:
    measured = {("call", "ustime"): 2.0, ("ustime", "gettimeofday"): 1.0}
    assert detected(ClockReadings(), graph(measured)) == []
    (opportunity,) = detected(ClockReadings(), graph({**measured, ("xCommand", "ustime"): 3.0}))
    assert (opportunity.function, opportunity.evidence) == ("xCommand", {"readings_per_op": 3.0})


def test_clock_readings_outside_of_commands_are_left_out() -> None:
    within = {("xCommand", "lookup"): 1.0, ("lookup", "ustime"): 1.0, ("ustime", "gettimeofday"): 1.0}
    (alone,) = detected(ClockReadings(), graph(within))
    # The event loop looks for what has expired, by the same function.
    (with_others,) = detected(ClockReadings(), graph({**within, ("main", "lookup"): 9.0}))
    assert with_others.evidence == alone.evidence == {"readings_per_op": 1.0}
    assert with_others.saved_instructions_per_op == alone.saved_instructions_per_op


def with_system_call(name: str, calls: Calls) -> CallGraph:
    whole = graph(calls)
    functions = [
        function.model_copy(update={"syscalls": 1.0}) if function.name == name else function
        for function in whole.functions
    ]
    return whole.model_copy(update={"functions": functions})


def test_system_calls_are_the_servers_by_whatever_ways_through_a_library_it_makes_them() -> None:
    calls = {("xCommand", "fwrite"): 1.0, ("fwrite", "malloc"): 0.5, ("fwrite", "free"): 0.5}
    calls |= {("malloc", "getrusage"): 1.0, ("free", "getrusage"): 1.0}
    (opportunity,) = detected(SystemCalls(), with_system_call("getrusage", calls))
    assert (opportunity.function, opportunity.evidence) == ("xCommand", {"syscalls_per_op": 1.0})


def test_system_calls_beyond_those_of_each_request() -> None:
    def counted(name: str) -> CallGraph:
        return with_system_call(name, {("call", name): 1.0})

    (opportunity,) = detected(SystemCalls(), counted("getrusage"))
    assert (opportunity.function, opportunity.evidence) == ("call", {"syscalls_per_op": 1.0})
    # The kernel's instructions are not counted: none of the functions' own are saved.
    assert opportunity.removed == ()
    assert opportunity.saved_instructions_per_op == opportunity.uncounted_instructions_per_op
    assert opportunity.text.startswith("calls the kernel once per request by `getrusage`")
    assert detected(SystemCalls(), counted("read")) == []


def test_functions_of_commands_are_told_from_those_about_commands() -> None:
    about = {
        ("call", name): 1.0 for name in ("afterCommand", "isInsideYieldingLongCommand", "slowlogPushCurrentCommand")
    }
    assert evidence(graph(about)).entries == {("xCommand", FILE): 1.0}
    commands = ("aclCommand", "clusterCommand", "resetCommand", "processCommand(client*, int)")
    entries = evidence(graph({("call", name): 1.0 for name in commands})).entries
    assert set(entries) == {("xCommand", FILE), *((name, FILE) for name in commands[:3])}
    # Without the names of a server of the family, all of it is looked at.
    other = call_graph({"main": 100.0, "serve": 100.0}, {("main", "serve"): 1.0})
    assert evidence(other).entries == {("main", FILE): 1.0}


@pytest.mark.parametrize(
    ("times", "words"),
    [(0.012, "0.012 times"), (0.99, "once"), (2.01, "twice"), (2.5, "2.5 times"), (42.99, "43 times")],
)
def test_how_often_something_happens(times: float, words: str) -> None:
    assert often(times) == words


def test_a_request_without_waste_is_left_alone() -> None:
    calls = {**MEMORY, **LOOKUP, ("main", "parse"): 1.0, ("parse", "sdsdup"): 3.0, ("main", "sdsfree"): 3.0}
    calls |= {("xCommand", "lookupKey"): 1.0, ("xCommand", "addReply"): 2.0, ("call", "ustime"): 2.0}
    counted = graph({**calls, ("ustime", "gettimeofday"): 1.0})
    assert not any(detected(detector, counted, "GET") for detector in BUILT_IN_DETECTORS)


def test_recursion_and_functions_without_callers_do_not_disturb_detectors() -> None:
    counted = graph({("xCommand", "walk"): 1.0, ("walk", "sin"): 1.0})
    names = [function.name for function in counted.functions]
    back = counted.edges[0].model_copy(update={"caller": names.index("walk"), "callee": names.index("xCommand")})
    looped = counted.model_copy(update={"edges": [*counted.edges, back]})
    for detector in BUILT_IN_DETECTORS:
        detected(detector, looped)
    (opportunity,) = detected(Mathematics(), looped)
    assert opportunity.frames == ("xCommand", "walk")


def test_names_and_graphs_of_hostile_programs_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "f" * 5000
    counted = graph({("xCommand", name): 1.0, (name, "snprintf"): 1.0}, {"snprintf": 900.0})
    found = case_work(counted, SourceFunctions([]), BUILT_IN_DETECTORS)
    assert {len(function.function) for function in found.functions if function.function[0] == "f"} == {200}
    (opportunity,) = found.opportunities
    assert (len(opportunity.function), max(map(len, opportunity.frames))) == (200, 200)
    monkeypatch.setattr("zerolap.explain.counted_work.MOST_SEARCHED", (1, 1))
    unsearched = case_work(counted, SourceFunctions([]), BUILT_IN_DETECTORS)
    assert (unsearched.is_searched, unsearched.opportunities) == (False, ())
    assert unsearched.functions == found.functions


def test_each_detector_has_a_name_of_its_own_and_a_purpose() -> None:
    names = [detector.name for detector in BUILT_IN_DETECTORS]
    assert len(set(names)) == len(names)
    assert all(detector.purpose and isinstance(detector, Detector) for detector in BUILT_IN_DETECTORS)
