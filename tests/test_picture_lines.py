"""What the pictures of a case have beside its sampled stacks: source lines of some functions, and stacks of waits."""

from collections.abc import Sequence
from typing import Any

import pytest
from stored_stacks import COSTS, HSET, lined, recorded_stacks, stack_table, traced_case, wait_tables

from zerolap.documents import read_comparison, read_pictures
from zerolap.documents.picture_lines import MOST_LINES, LineBounds
from zerolap.records import CasePictures, Finding, Pictures, SampledLines
from zerolap.store import Store

BASE_LINES = [(10, "hash(key);", 300), (11, "return it;", 200)]
HEAD_LINES = [(10, "check(key);", 100), (12, "hash(key);", 250), (13, "return it;", 50)]
GREW = Finding(kind="culprit", rank=1, function="gone", file="server.c", text="It is not called any more.")


def tables() -> dict[str, Any]:
    """The stacks of HSET on both sides, with the lines of `dictFind`, of the base also those of `gone`."""
    base = lined(stack_table(HSET["base"]), *BASE_LINES)
    gone = lined(stack_table(HSET["base"]), (70, "old_way();", 100), function="gone")
    return {
        "base": {**base, "lines": [*base["lines"], *gone["lines"]]},
        "head": lined(stack_table(HSET["head"]), *HEAD_LINES),
    }


def pictures_of(store: Store, *, findings: Sequence[Finding] = (), **changes: Any) -> Pictures:
    identity = recorded_stacks(store, {"hset": tables()}, COSTS, findings={"hset": list(findings)}, **changes)
    return read_pictures(read_comparison(store, identity), store)


def texts(pictures: Pictures, lines: SampledLines) -> list[str | None]:
    return [pictures.sources[place].text for place in lines.source]


def case_of(pictures: Pictures) -> CasePictures:
    return pictures.cases["hset"]


def test_functions_with_the_most_own_samples_have_their_lines_beside_each_other(store: Store) -> None:
    pictures = pictures_of(store)
    found, gone = case_of(pictures).lines
    assert (found.function, found.file, gone.function) == ("dictFind", "server.c", "gone")
    assert texts(pictures, found) == ["check(key);", "hash(key);", "return it;"]
    assert found.line == {"base": [None, 10, 11], "head": [10, 12, 13]}
    assert found.own == {"base": [0, 300, 200], "head": [100, 250, 50]}
    assert {side: (of.own, of.samples, of.passes, of.lined_passes) for side, of in found.sides.items()} == {
        "base": (500, 1000, 1, 1),
        "head": (400, 1000, 1, 1),
    }
    assert gone.line == {"base": [70], "head": [None]}


def test_functions_that_findings_name_come_first(store: Store) -> None:
    pictures = pictures_of(store, findings=[GREW])
    assert [lines.function for lines in case_of(pictures).lines] == ["gone", "dictFind"]


def test_a_line_of_several_cases_has_its_text_once(store: Store) -> None:
    cases = {"hset": tables(), "get": tables()}
    identity = recorded_stacks(store, cases, COSTS)
    pictures = read_pictures(read_comparison(store, identity), store)
    assert pictures.cases["get"].lines == pictures.cases["hset"].lines
    assert len(pictures.sources) == 4


def test_functions_whose_source_was_at_hand_come_before_others(store: Store) -> None:
    sides = {side: lined(stack_table(HSET[side]), (10, None, 90)) for side in ("base", "head")}
    write = lined(stack_table(HSET["base"]), (5, "write(fd);", 100), function="write")
    sides["base"]["lines"] += write["lines"]
    pictures = read_pictures(read_comparison(store, recorded_stacks(store, {"hset": sides}, COSTS)), store)
    assert [lines.function for lines in case_of(pictures).lines] == ["write", "dictFind"]


def test_functions_without_debug_information_are_not_listed(store: Store) -> None:
    sides = {side: lined(stack_table(HSET[side]), (10, "hash(key);", 90)) for side in ("base", "head")}
    write = lined(stack_table(HSET["base"]), function="write")
    sides["base"]["lines"] += write["lines"]
    assert write["lines"][0]["samples"] > 0
    pictures = read_pictures(read_comparison(store, recorded_stacks(store, {"hset": sides}, COSTS)), store)
    assert [lines.function for lines in case_of(pictures).lines] == ["dictFind"]


def test_of_many_lines_those_with_the_most_samples_are_kept_and_the_others_counted(store: Store) -> None:
    many = [(number, f"step({number});", 2 if number % 2 else 1) for number in range(100, 300)]
    sides = {side: lined(stack_table(HSET[side]), *many) for side in ("base", "head")}
    identity = recorded_stacks(store, {"hset": sides}, COSTS)
    pictures = read_pictures(read_comparison(store, identity), store)
    lines = case_of(pictures).lines[0]
    assert len(lines.source) == LineBounds.of(1).lines == 100
    assert lines.left_out == 100
    assert "step(101);" in texts(pictures, lines)
    assert "step(100);" not in texts(pictures, lines)


@pytest.mark.parametrize("cases", [1, 7, 100, 200])
def test_lines_of_all_cases_are_bounded(cases: int) -> None:
    bounds = LineBounds.of(cases)
    assert cases * bounds.functions * bounds.lines <= MOST_LINES


def test_the_fewest_lines_are_kept_however_many_cases_there_are() -> None:
    assert LineBounds.of(100_000) == LineBounds(functions=2, lines=16)


def test_stacks_without_lines_have_none(store: Store) -> None:
    sides = {side: stack_table(lines) for side, lines in HSET.items()}
    pictures = read_pictures(read_comparison(store, recorded_stacks(store, {"hset": sides}, COSTS)), store)
    assert case_of(pictures).lines == []
    assert case_of(pictures).stacks is not None


# Waits.


def test_waits_are_drawn_with_the_time_off_the_processor(store: Store) -> None:
    identity = recorded_stacks(store, {"hset": wait_tables()}, engine="traced", traced=traced_case(700.0, 50.0))
    pictures = read_pictures(read_comparison(store, identity), store)
    case = case_of(pictures)
    assert (case.stacks, case.lines, case.missing) == (None, [], None)
    assert case.waits is not None
    assert {side: (of.event, of.samples, of.cpu_ns_per_op) for side, of in case.waits.items()} == {
        "base": ("off-cpu", 4_000_000, 750.0),
        "head": ("off-cpu", 5_000_000, 750.0),
    }


def test_a_traced_pass_that_is_not_valid_has_no_waits(store: Store) -> None:
    identity = recorded_stacks(
        store, {"hset": wait_tables()}, engine="traced", traced=traced_case(1.0), invalid=("hset",)
    )
    assert read_pictures(read_comparison(store, identity), store) == Pictures()
