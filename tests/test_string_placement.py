"""Instructions that depend on where strings lie in their pages are no change of the work."""

import math
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from call_graphs import call_graph
from command_line import Zerolap
from toy_server import CASES, WORK_BEGINS, ToySource

from zerolap.explain import difference_by_string_placement
from zerolap.judge import Ledger, WorkStep, drifts_of
from zerolap.records import CallGraph

CASE_INSENSITIVE = "__strcasecmp_avx2"


def comparing(costs_per_call: Mapping[str, float], calls: Mapping[str, float] | None = None) -> CallGraph:
    """Return the graph of a command that calls each function eight times, unless `calls` has another number."""
    times = {("command", name): (calls or {}).get(name, 8.0) for name in costs_per_call}
    return call_graph({"main": 100.0, "command": 1_000.0, **costs_per_call}, {("main", "command"): 1.0, **times})


@pytest.mark.parametrize(
    ("function", "dearer", "placed"),
    [
        (CASE_INSENSITIVE, 5.0, True),
        ("__strncasecmp_l_avx2_rtm", 150.0, True),
        (CASE_INSENSITIVE, 170.0, False),
        ("__strcmp_sse2_unaligned", 100.0, True),
        ("__strcmp_sse2_unaligned", 120.0, False),
        ("__memcmp_evex_movbe", 8.0, True),
        ("__strlen_avx2", 30.0, True),
        ("__strlen_avx2", 50.0, False),
        # Nothing is read of them beyond the end, so that pages do not matter.
        ("__memcpy_avx_unaligned_erms", 5.0, False),
        ("__memset_avx2_unaligned_erms", 5.0, False),
        # The program's own.
        ("strcasecmp", 5.0, False),
        ("sdscmp", 5.0, False),
    ],
)
def test_a_string_function_may_differ_by_so_much_a_call(function: str, dearer: float, placed: bool) -> None:
    base, head = comparing({function: 40.0}), comparing({function: 40.0 + dearer})
    expected = 8.0 * dearer if placed else 0.0
    assert difference_by_string_placement(base, head) == pytest.approx(expected)
    assert difference_by_string_placement(head, base) == pytest.approx(-expected)
    assert difference_by_string_placement(head, head) == 0.0


def test_calls_that_are_made_more_often_are_work() -> None:
    base = comparing({CASE_INSENSITIVE: 40.0, "__strlen_avx2": 20.0})
    more = comparing({CASE_INSENSITIVE: 45.0, "__strlen_avx2": 21.0}, {CASE_INSENSITIVE: 9.0})
    assert difference_by_string_placement(base, more) == pytest.approx(8.0)
    assert difference_by_string_placement(more, base) == pytest.approx(-8.0)


def test_functions_that_one_side_does_not_call_are_work() -> None:
    base, head = comparing({"__strlen_avx2": 20.0}), comparing({"__strnlen_avx2": 21.0})
    assert difference_by_string_placement(base, head) == difference_by_string_placement(head, base) == 0.0


# What a step is without them.


@pytest.mark.parametrize(
    ("change", "placed", "is_reported"),
    [
        (0.006, 0.0, True),
        (0.006, 0.006, False),
        (0.006, 0.0005, True),
        (0.006, 0.002, False),
        (0.006, -0.004, True),
        # What is left is of the other direction: the size and the sign of such a step would mislead.
        (0.006, 0.02, False),
    ],
)
def test_a_step_is_reported_by_what_is_left(change: float, placed: float, is_reported: bool) -> None:
    for sign in (1.0, -1.0):
        step = WorkStep(0, 1, sign * change, placed=sign * placed)
        assert step.is_reported == is_reported
        assert Ledger.of([step], 0).total == sign * change


def test_places_of_strings_are_no_part_of_a_drift() -> None:
    placed = [WorkStep(at, at + 1, 0.006, placed=0.006) for at in range(5)]
    assert drifts_of(placed, 0) == []
    small = [WorkStep(at, at + 1, 0.0045) for at in range(5, 10)]
    [drift] = drifts_of([*placed, *small], 0)
    assert (drift.after, drift.log_change) == (5, pytest.approx(0.0225))


# Real programs.

COMPARING = """\
__asm__ volatile("" ::: "memory");
    for (int option = 0; option < OPTIONS; option++) last_checksum += strcasecmp(first_option, second_option) == 0;
    """
PLACES = """\
#define PLACE 64
#define OPTIONS 6
static char pages[16384] __attribute__((aligned(4096)));
static char *volatile first_option = pages + PLACE, *volatile second_option = pages + 8192 + 64;
__attribute__((constructor)) static void place_options(void) {
    strcpy(pages + PLACE, "incremental");
    strcpy(pages + 8192 + 64, "INCREMENTAL");
}

static void work_command("""


@pytest.fixture
def placed(compiler: None, tmp_path: Path) -> ToySource:
    """A server that compares options: `placed` moves the option to the end of a page, `more` adds one."""
    if shutil.which("valgrind") is None:
        pytest.skip("not installed: valgrind")
    source = ToySource(tmp_path / "s")
    source.replace("commands.c", WORK_BEGINS, COMPARING + WORK_BEGINS)
    source.replace("commands.c", "static void work_command(", PLACES)
    source.commit("compares options")
    source.git("tag", "before")
    source.replace("commands.c", "#define PLACE 64", "#define PLACE 4090")
    source.commit("another place")
    source.git("tag", "placed")
    source.replace("commands.c", "#define OPTIONS 6", "#define OPTIONS 7")
    source.commit("one more option")
    source.git("tag", "more")
    return source


@pytest.mark.slow
def test_another_place_of_a_string_is_no_step_of_a_history(zerolap: Zerolap, placed: ToySource) -> None:
    arguments = ("--repo", placed.path, "--cases", CASES, "--store", zerolap.store)
    document = zerolap(
        "history", "toy-work", *arguments, "--measure", "before..more", "--engine", "counted", "--json", "-"
    ).document()
    [series] = [one for one in document["series"] if one["metric"] == "instructions_per_op"]
    changed = {document["commits"][change["position"]]["subject"] for change in series["changes"]}
    assert changed == {"one more option"}
    # The ledger has all of it.
    assert series["points"][1]["step"] > 0.005
    whole = math.log(series["points"][2]["value"] / series["points"][0]["value"])
    assert series["points"][2]["level"] == pytest.approx(whole, abs=1e-9)
    [note] = [note for note in document["notes"] if "places of strings" in note]
    assert "`toy-work` instructions per request at" in note
    assert "(another place)" in note
    assert "one more option" not in note


@pytest.mark.slow
def test_another_place_of_a_string_is_no_change_of_work_in_a_comparison(zerolap: Zerolap, placed: ToySource) -> None:
    arguments = ("--repo", placed.path, "--cases", CASES, "--store", zerolap.store, "--engine", "counted")
    [case] = zerolap("compare", "before", "placed", "toy-work", *arguments, "--json", "-").document()["cases"]
    [verdict] = [one for one in case["verdicts"] if one["metric"] == "instructions_per_op"]
    assert (case["verdict"], case["work"], verdict["verdict"]) == ("same", "same", "same")
    assert verdict["change"] > verdict["min_effect"]
    reasons = [finding["text"] for finding in case["findings"] if finding["kind"] == "cause"]
    assert reasons[0].startswith("Instructions per request +")
    assert all("by functions of the C library for strings" in reason for reason in reasons)
    [case] = zerolap("compare", "placed", "more", "toy-work", *arguments, "--json", "-").document()["cases"]
    assert (case["verdict"], case["work"]) == ("regression", "regression")
    assert [
        finding for finding in case["findings"] if "functions of the C library for strings" in finding["text"]
    ] == []
