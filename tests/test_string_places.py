"""Instructions that depend on where strings lie in their pages are no change of the work."""

import json
import math
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from call_graphs import call_graph
from command_line import Zerolap
from toy_server import CASES, WORK_BEGINS, ToySource

from zerolap.judge import (
    REPORTED,
    SMALLEST_CHANGE,
    Ledger,
    WorkStep,
    difference_by_string_places,
    drifts_of,
    is_by_string_places,
)
from zerolap.records import CallGraph, CaseResult
from zerolap.sheets import case_sentences

CASE_INSENSITIVE = "__strcasecmp_avx2"


def comparing(costs_per_call: Mapping[str, float], calls: Mapping[str, float] | None = None) -> CallGraph:
    """Return the graph of a command that calls each function eight times, unless `calls` has another number."""
    times = {("command", name): (calls or {}).get(name, 8.0) for name in costs_per_call}
    graph = call_graph({"main": 100.0, "command": 1_000.0, **costs_per_call}, {("main", "command"): 1.0, **times})
    functions = [
        function.model_copy(update={"object": "libc.so.6"}) if function.name.startswith("__") else function
        for function in graph.functions
    ]
    return graph.model_copy(update={"functions": functions})


@pytest.mark.parametrize(
    ("function", "dearer", "placed"),
    [
        (CASE_INSENSITIVE, 5.0, True),
        ("__strncasecmp_l_avx2_rtm", 150.0, True),
        (CASE_INSENSITIVE, 170.0, False),
        ("__strcmp_sse2_unaligned", 100.0, True),
        ("__strcmp_sse2_unaligned", 120.0, False),
        ("__memcmp_evex_movbe", 8.0, True),
        ("__strlen_avx2", 20.0, True),
        ("__strlen_avx2", 30.0, False),
        ("__strchrnul_avx2", 20.0, True),
        ("__strrchr_avx2", 20.0, True),
        ("__strstr_sse2_unaligned", 35.0, True),
        # They copy, which is work.
        ("__strncpy_avx2", 5.0, False),
        ("__strcat_avx2", 5.0, False),
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
    assert difference_by_string_places(base, head) == pytest.approx(expected)
    assert difference_by_string_places(head, base) == pytest.approx(-expected)
    assert difference_by_string_places(head, head) == 0.0


def test_functions_of_a_server_are_its_work_whatever_their_names() -> None:
    base, head = comparing({CASE_INSENSITIVE: 40.0}), comparing({CASE_INSENSITIVE: 45.0})
    for object_file, expected in (
        ("libc.so.6", 40.0),
        ("libc-2.31.so", 40.0),
        ("server", 0.0),
        ("libcrypto.so.3", 0.0),
    ):
        sides = [
            graph.model_copy(
                update={"functions": [one.model_copy(update={"object": object_file}) for one in graph.functions]}
            )
            for graph in (base, head)
        ]
        assert difference_by_string_places(*sides) == pytest.approx(expected)


def test_calls_that_are_made_more_often_are_work() -> None:
    base = comparing({CASE_INSENSITIVE: 40.0, "__strlen_avx2": 20.0})
    more = comparing({CASE_INSENSITIVE: 45.0, "__strlen_avx2": 21.0}, {CASE_INSENSITIVE: 9.0})
    assert difference_by_string_places(base, more) == pytest.approx(8.0)
    assert difference_by_string_places(more, base) == pytest.approx(-8.0)


def test_functions_that_one_side_does_not_call_are_work() -> None:
    base, head = comparing({"__strlen_avx2": 20.0}), comparing({"__strnlen_avx2": 21.0})
    assert difference_by_string_places(base, head) == difference_by_string_places(head, base) == 0.0


@pytest.mark.parametrize(
    ("change", "by_places", "expected"),
    [
        (0.006, 0.006, True),
        (0.006, 0.004, True),
        (0.006, 0.008, True),
        # More than half is of something else, or what is left is large enough by itself, in either direction.
        (0.006, 0.002, False),
        (0.012, 0.0065, False),
        (0.006, 0.02, False),
        (0.006, -0.004, False),
        (0.006, 0.0, False),
    ],
)
def test_places_account_for_most_of_a_change(change: float, by_places: float, expected: bool) -> None:
    assert is_by_string_places(change, by_places, 0.005) == expected
    assert is_by_string_places(-change, -by_places, 0.005) == expected


def test_places_of_strings_are_summed_and_neither_reported_nor_a_part_of_a_drift() -> None:
    steps = [WorkStep(at, at + 1, 0.006, by_string_places=True) for at in range(5)]
    assert not any(step.is_reported for step in steps)
    assert drifts_of(steps, 0) == []
    assert Ledger.of(steps, 0).unreported == pytest.approx(0.03)
    small = [WorkStep(at, at + 1, 0.0045) for at in range(5, 10)]
    [drift] = drifts_of([*steps, *small], 0)
    assert drift.after == 5
    assert drift.log_change == pytest.approx(0.0225)


def test_a_drift_has_no_part_of_the_places_of_strings() -> None:
    """Also of steps that are mostly of something else."""
    steps = [WorkStep(at, at + 1, 0.0045, log_by_places=0.002) for at in range(6)]
    assert drifts_of(steps, 0) == []
    [drift] = drifts_of([*steps, *(WorkStep(at, at + 1, 0.0045) for at in range(6, 9))], 0)
    assert drift.log_change == pytest.approx(6 * 0.0025 + 3 * 0.0045)
    ledger = Ledger.of(steps, 0)
    assert (ledger.total, ledger.unreported) == pytest.approx((0.027, 0.027))
    assert (ledger.by_string_places, ledger.slope) == pytest.approx((0.012, 0.0025))


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


ROUNDS = "long rounds = strtol("


def comparing_options(directory: Path, rounds: int = 1) -> ToySource:
    """Return a server that compares options: `placed` moves the option to the end of a page, `more` adds one.

    All else that it does, it does in so many times as many rounds.
    """
    if shutil.which("valgrind") is None:
        pytest.skip("not installed: valgrind")
    source = ToySource(directory / "s")
    source.replace("commands.c", WORK_BEGINS, COMPARING + WORK_BEGINS)
    source.replace("commands.c", "static void work_command(", PLACES)
    source.replace("commands.c", ROUNDS, ROUNDS.replace("=", f"= {rounds} *"))
    source.commit("compares options")
    source.git("tag", "before")
    source.replace("commands.c", "#define PLACE 64", "#define PLACE 4090")
    source.commit("another place")
    source.git("tag", "placed")
    source.replace("commands.c", "#define OPTIONS 6", "#define OPTIONS 7")
    source.commit("one more option")
    source.git("tag", "more")
    return source


@pytest.fixture
def placed(compiler: None, tmp_path: Path) -> ToySource:
    """A server of which another place changes the work by more than what is reported."""
    return comparing_options(tmp_path)


@pytest.fixture
def slightly_placed(compiler: None, tmp_path: Path) -> ToySource:
    """A server of which another place changes the work by less than that."""
    return comparing_options(tmp_path, rounds=600)


def require_effect(change: float) -> None:
    """Skip where another place of a string does not matter: the C library's functions for strings differ."""
    if change <= 0.005:
        pytest.skip(f"not so on this machine: another place of a string changes the work by {change:+.2%} alone")


@pytest.mark.slow
def test_another_place_of_a_string_is_no_step_and_no_culprit(zerolap: Zerolap, placed: ToySource) -> None:
    arguments = ("toy-work", "--repo", placed.path, "--cases", CASES, "--store", zerolap.store)
    counted = ("--engine", "counted", "--json", "-")
    document = zerolap("history", *arguments, "--measure", "before..more", *counted).document()
    [series] = [one for one in document["series"] if one["metric"] == "instructions_per_op"]
    require_effect(series["points"][1]["step"])
    assert [point["by_string_places"] for point in series["points"]] == [False, True, False]
    # The ledger has all of it.
    whole = math.log(series["points"][2]["value"] / series["points"][0]["value"])
    assert series["points"][2]["level"] == pytest.approx(whole, abs=1e-9)
    assert [change["position"] for change in series["changes"]] == [2]
    [note] = [note for note in document["notes"] if "where strings lie" in note]
    assert "`toy-work` instructions per request +" in note
    assert f"at {document['commits'][1]['commit'][:12]}" in note
    assert document["commits"][2]["commit"][:12] not in note
    bisected = zerolap("bisect", "before", "more", *arguments, *counted).document()
    assert [culprit["child"] for culprit in bisected["culprits"]] == [2]
    assert zerolap("bisect", "before", "placed", *arguments, *counted).document()["outcome"] == "no difference"


@pytest.mark.slow
def test_another_place_of_a_string_is_no_change_of_work_in_a_comparison(zerolap: Zerolap, placed: ToySource) -> None:
    arguments = ("toy-work", "--repo", placed.path, "--cases", CASES, "--store", zerolap.store, "--engine", "counted")
    ended = zerolap("compare", "before", "placed", *arguments, "--json", "result.json", "--markdown", "result.md")
    [case] = json.loads((zerolap.directory / "result.json").read_text())["cases"]
    [verdict] = [one for one in case["verdicts"] if one["metric"] == "instructions_per_op"]
    require_effect(verdict["change"])
    assert (case["verdict"], case["work"], verdict["verdict"]) == ("same", "same", "same")
    [sentence, *_] = case_sentences(CaseResult.model_validate(case))
    assert "as many instructions per request as before: the difference of +" in sentence
    assert "depends on where strings lie in memory" in sentence
    reasons = [finding["text"] for finding in case["findings"] if finding["kind"] == "cause"]
    assert reasons[0].startswith("Instructions per request +")
    for shown in (*reasons, " ".join(ended.out.split()), (zerolap.directory / "result.md").read_text()):
        assert "functions of the C library for strings" in shown
    [case] = zerolap("compare", "placed", "more", *arguments, "--json", "-").document()["cases"]
    assert (case["verdict"], case["work"]) == ("regression", "regression")
    assert [finding for finding in case["findings"] if "C library for strings" in finding["text"]] == []


@pytest.mark.slow
def test_another_place_of_a_string_is_no_small_change_either(zerolap: Zerolap, slightly_placed: ToySource) -> None:
    common = ("toy-work", "--repo", slightly_placed.path, "--cases", CASES, "--store", zerolap.store)
    ended = zerolap("compare", "--each-commit", "before..more", *common, "--json", "r.json", "--markdown", "r.md")
    document, markdown = (json.loads((zerolap.directory / "r.json").read_text()), zerolap.directory / "r.md")
    [series] = [one for one in document["series"] if one["metric"] == "instructions_per_op"]
    step = series["points"][1]["step"]
    if not SMALLEST_CHANGE < step < REPORTED:
        pytest.skip(f"not so on this machine: another place of a string changes the work by {step:+.2%}")
    assert [point["by_string_places"] for point in series["points"]] == [False, True, False]
    assert [point["share"] for point in series["points"]] == [0.0, None, 1.0]
    small = [commit["commit"][:12] for commit in document["commits"]][1]
    for shown in (ended.out, markdown.read_text()):
        assert "1 of 2 commits changes the work of 1 case" in shown
        notes = [line for line in shown.splitlines() if small in line]
        assert ["where strings lie" in note for note in notes] == [True]
    ledger = series["ledger"]
    assert ledger["by_string_places"] == pytest.approx(step, abs=SMALLEST_CHANGE)
    assert ledger["slope"] == pytest.approx(series["points"][2]["step"] / 2, abs=SMALLEST_CHANGE)
    compared = zerolap("compare", "before", "placed", *common, "--engine", "counted", "--json", "-").document()
    [case] = compared["cases"]
    assert case["work"] == "same"
    [reason, *_] = [finding["text"] for finding in case["findings"]]
    assert "functions of the C library for strings" in reason
