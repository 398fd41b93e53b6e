"""Comparisons of real builds of a small server: what changed is found, with its reason, and nothing else is blamed."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_line import Ended, Zerolap
from toy_server import CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, NOTED, RULE, WORK_BEGINS, ToySource, compile_toy

from zerolap.judge import DEFAULT_MIN_EFFECT, MIN_BLOCKS

pytestmark = pytest.mark.usefixtures("valgrind")

BUSY = WORK_BEGINS + "\n    for (volatile int turn = 0; turn < 300; turn++);"
CLEARS = (
    WORK_BEGINS + "\n    char cleared[4096], *to = cleared; long left = sizeof cleared;"
    '\n    __asm__ volatile("rep stosb" : "+D"(to), "+c"(left) : "a"(0) : "memory");'
)


@pytest.fixture
def compare(zerolap: Zerolap, toy: ToySource, shared_store: Path) -> Any:
    """Runs a quick comparison over the toy's repository."""

    def run(base: str | Path, head: str | Path, *arguments: str | Path) -> Ended:
        common = [
            "--repo",
            toy.path,
            "--cases",
            CASES,
            "--store",
            shared_store,
            "--quick",
            "--json",
            "-",
            "--seed",
            "1",
        ]
        ended = zerolap("compare", base, head, *common, *arguments)
        zerolap.leaves_nothing()
        return ended

    return run


def case_of(document: Any, name: str) -> Any:
    return next(case for case in document["cases"] if case["case"] == name)


def reasons(case: Any) -> list[Any]:
    """Return the findings but for whether both sides execute the same instructions."""
    return [finding for finding in case["findings"] if finding["kind"] != "identity"]


def words(document: Any) -> dict[str, str]:
    return {case["case"]: case["verdict"] for case in document["cases"]}


def test_function_called_twice(compare: Any, toy: ToySource) -> None:
    head = toy.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    ended = compare(toy.first, head, "toy-get", "toy-set")
    assert ended.code == 0, ended.err
    document = ended.document()
    assert words(document) == {"toy-get": "regression", "toy-set": "same"}
    culprit = case_of(document, "toy-get")["findings"][0]
    assert culprit["kind"] == "culprit"
    assert culprit["rank"] == 1
    assert (culprit["function"], culprit["file"]) == ("checksum_value", "format.c")
    assert culprit["calls_per_op"] == pytest.approx({"base": 1.0, "head": 2.0})
    assert culprit["in_diff"] is True
    assert culprit["share_of_change"] > 0.8
    assert culprit["callers"][0]["function"] == "get_command"
    assert culprit["callers"][0]["in_diff"] is True
    assert culprit["callers"][0]["calls_per_op"] == pytest.approx({"base": 1.0, "head": 2.0})
    assert "checksum_value" in culprit["text"]
    assert_is_the_documented_comparison(document, toy.first, head)
    assert reasons(case_of(document, "toy-set")) == []


@pytest.mark.slow
def test_where_make_goes_on_with_link_time_optimization_only_what_changed_is_blamed(
    compare: Any, toy: ToySource
) -> None:
    """Debug information names what is not compiled again by where the earlier tree was."""
    made = [("Makefile", RULE, NOTED), ("Makefile", "OPTIMIZATION?=-O2", "OPTIMIZATION?=-O2 -flto")]
    base, head = toy.changed(*made), toy.changed(*made, ("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    ended = compare(base, head, "toy-get")
    assert ended.code == 0, ended.err
    culprits = [finding for finding in ended.document()["cases"][0]["findings"] if finding["kind"] == "culprit"]
    assert culprits[0]["file"] in ("commands.c", "format.c")
    assert {culprit["function"] for culprit in culprits} <= {"checksum_value", "get_command"}


def assert_is_the_documented_comparison(document: Any, base: str, head: str) -> None:
    assert document["schema"] == "zerolap.comparison/1"
    assert re.fullmatch(r"c-[0-9a-f]{24}", document["id"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["created"])
    assert document["command_line"].startswith("zerolap compare ")
    assert document["state"] == "done"
    for side, commit in (("base", base), ("head", head)):
        build = document[side]
        assert {"name", "commit", "version", "build", "build_id", "flags"} <= build.keys()
        assert (build["name"], build["commit"], build["version"]) == (commit, commit, "1.0.0")
        assert re.fullmatch(r"b-[0-9a-f]+", build["build"])
        assert re.fullmatch(r"[0-9a-f]{40}", build["build_id"])
        assert "-O2" in build["flags"].split()
    assert document["base"]["build"] != document["head"]["build"]
    platform = document["platform"]
    assert platform.keys() == {"name", "fingerprint", "cpu", "cores", "kernel", "facts"}
    assert platform["cores"] >= 1
    settings = document["settings"]
    assert settings["engines"] == ["counted"]
    assert settings["min_effect"] == DEFAULT_MIN_EFFECT
    assert (settings["q"], settings["budget_seconds"], settings["seed"]) == (0.01, None, 1)
    assert (settings["level"], settings["equivalence_level"]) == (0.99, 0.05)
    assert settings["regression_rule"] == "interval beyond 0, estimate beyond the minimum effect"
    assert all(sum(shares.values()) == pytest.approx(1.0, abs=0.001) for shares in settings["look_shares"].values())
    assert document["summary"].keys() == {
        "regression", "improvement", "same", "unsure", "invalid", "machine_seconds",
        "memory_regression", "memory_improvement",
    }  # fmt: skip
    counts = [case["verdict"] for case in document["cases"]]
    for word in ("regression", "improvement", "same", "unsure", "invalid"):
        assert document["summary"][word] == counts.count(word)
    assert document["summary"]["machine_seconds"] > 0
    for case in document["cases"]:
        assert_is_a_documented_case(case)


def assert_is_a_documented_case(case: Any) -> None:
    assert {
        "case", "commands", "group", "topology", "verdict", "deciding", "confirmed", "validity", "verdicts", "findings",
    } <= case.keys()  # fmt: skip
    assert (case["group"], case["topology"], case["confirmed"]) == ("toy", "standalone", False)
    # Time was not asked for.
    assert case["time"] is None
    assert case["work"] in (("same", "identical") if case["verdict"] == "same" else (case["verdict"],))
    assert case["deciding"] == case["work_deciding"] == "instructions_per_op"
    assert case["validity"]["valid"] is True
    for check in case["validity"]["checks"]:
        assert check.keys() == {"check", "ok", "value", "limit"}
    for verdict in case["verdicts"]:
        assert verdict.keys() == {
            "metric", "engine", "verdict", "base", "head", "change", "low", "high", "q", "samples", "pairs",
            "min_effect", "detectable", "margin", "wild_starts",
        }  # fmt: skip
        assert verdict["engine"] == "counted"
        assert verdict["low"] <= verdict["change"] <= verdict["high"]
        assert (verdict["q"] is None) == (verdict["verdict"] in ("same", "identical"))
        assert verdict["samples"] >= (1 if case["work"] == "identical" else MIN_BLOCKS)
    instructions = case["verdicts"][0]
    assert instructions["metric"] == "instructions_per_op"
    assert instructions["change"] == pytest.approx(instructions["head"] / instructions["base"] - 1, abs=1e-3)
    for finding in case["findings"]:
        assert {
            "kind", "rank", "function", "file", "instructions_per_op", "calls_per_op", "share_of_change", "in_diff",
            "text",
        } <= finding.keys()  # fmt: skip


SORT = '#include "server.h"\n\nint sort_values(int value) {\n    return 3 * value;\n}\n'


@pytest.mark.slow
def test_a_changed_file_that_no_case_executes_is_named(compare: Any, toy: ToySource) -> None:
    toy.changed(("Makefile", "table.o", "table.o sort.o"), ("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    (toy.path / "src" / "sort.c").write_text(SORT)
    base = toy.commit("a file that nothing executes")
    toy.replace("sort.c", "3 * value", "4 * value")
    unseen = toy.commit("it alone is changed")
    document = compare(base, unseen, "toy-get").document()
    assert document["changed_files"] == {"compiled": ["src/sort.c"], "unexecuted": ["src/sort.c"]}
    nothing: dict[str, list[Any]] = {"functions": [], "proposed_cases": [], "tested_commands": []}
    assert document["changed_functions"] == {"number": 1, "executed": 0, **nothing}
    assert places(document["unmeasured"]) == [("sort_values", "sort.c", 3)]
    toy.replace("commands.c", CHECKSUM_TWICE, CHECKSUM_ONCE)
    (toy.path / "src" / "other_program.c").write_text("int main(void) {\n    return 0;\n}\n")
    both = compare(base, toy.commit("so is one that is executed"), "toy-get").document()
    # What is no part of the server is nothing that its cases could execute.
    assert both["changed_files"] == {"compiled": ["src/commands.c", "src/sort.c"], "unexecuted": ["src/sort.c"]}


REPLIES = "add_bulk(client, value->data, value->length);"


def places(functions: Any) -> list[tuple[str, str, int]]:
    return [(function["function"], function["file"], function["line"]) for function in functions]


def test_each_changed_function_is_executed_by_cases_or_not_measured(compare: Any, toy: ToySource) -> None:
    head = toy.changed(
        ("commands.c", REPLIES, f'if (value->length > 1 << 20)\n        add_status(client, "LARGE");\n    {REPLIES}'),
        ("commands.c", "(long long)(last_checksum >> 1)", "(long long)(last_checksum >> 2)"),
        # A comment is no change of a function.
        ("commands.c", "    table_put(arguments", "    // as before\n    table_put(arguments"),
    )
    ended = compare(toy.first, head, "toy-get", "--fail-on", "unmeasured")
    assert ended.code == 1
    assert "--fail-on unmeasured applies: no case executed 1 changed function" in ended.err
    document = json.loads(ended.out)
    changed = document["changed_functions"]
    assert (changed["number"], changed["executed"]) == (2, 1)
    (get,) = changed["functions"]
    assert (get["function"], get["in_diff"], get["cases"], get["case_count"]) == ("get_command", True, ["toy-get"], 1)
    # The condition is executed, what it guards is not.
    assert 0 < get["executed_lines"] < get["lines"]
    assert places(document["unmeasured"]) == [("work_command", "commands.c", 50)]
    # Of the package's cases, those of commands that the file carries out.
    assert changed["proposed_cases"][:2] == ["get-100B", "set-ex-100B"]
    assert len(changed["proposed_cases"]) <= 20
    reached = compare(toy.first, head, "toy-get", "toy-work", "--fail-on", "unmeasured").document()
    assert (reached["changed_functions"]["executed"], reached["unmeasured"]) == (2, [])


@pytest.mark.slow
def test_cases_of_commands_that_the_tests_of_a_change_send_are_proposed(compare: Any, toy: ToySource) -> None:
    toy.changed(("commands.c", "(long long)(last_checksum >> 1)", "(long long)(last_checksum >> 2)"))
    tests = toy.path / "tests" / "unit" / "work.tcl"
    tests.parent.mkdir(parents=True)
    tests.write_text(
        "test {work} {\n    assert_equal 1 [r work 3 4]\n    r xadd s * a b\n    r work 1 2\n    r nothing\n}\n"
    )
    toy.git("add", "--all")
    toy.git("commit", "--quiet", "--amend", "--no-edit")
    ended = compare(toy.first, toy.git("rev-parse", "HEAD"), "toy-get")
    changed = ended.document()["changed_functions"]
    assert changed["tested_commands"] == ["WORK", "XADD"]
    # Those of tests come before those of commands that the file carries out besides.
    assert changed["proposed_cases"][0] == "xadd-auto-id"


@pytest.mark.slow
def test_a_macro_changes_the_functions_that_use_it(compare: Any, toy: ToySource) -> None:
    toy.replace("server.h", "#define MAX_ARGUMENTS 64", "#define MAX_ARGUMENTS 64\n#define STEP 1")
    toy.replace("commands.c", "(long long)(last_checksum >> 1)", "(long long)(last_checksum >> STEP)")
    base = toy.commit("a macro")
    toy.replace("server.h", "#define STEP 1", "#define STEP 3")
    document = compare(base, toy.commit("another value"), "toy-get").document()
    assert document["changed_functions"]["number"] == 1
    (function,) = document["unmeasured"]
    assert (function["function"], function["in_diff"]) == ("work_command", False)


@pytest.mark.slow
def test_improvement(compare: Any, toy: ToySource) -> None:
    slower = toy.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    document = compare(slower, toy.first, "toy-get").document()
    assert words(document) == {"toy-get": "improvement"}
    assert document["summary"]["improvement"] == 1
    culprit = case_of(document, "toy-get")["findings"][0]
    assert culprit["function"] == "checksum_value"
    assert culprit["calls_per_op"] == pytest.approx({"base": 2.0, "head": 1.0})
    assert document["cases"][0]["verdicts"][0]["change"] < 0


@pytest.mark.slow
def test_another_reading_of_the_clock_is_work(compare: Any, toy: ToySource) -> None:
    head = toy.changed(("server.c", "        update_clock();\n", "        update_clock();\n        update_clock();\n"))
    case = compare(toy.first, head, "toy-get").document()["cases"][0]
    readings = next(verdict for verdict in case["verdicts"] if verdict["metric"] == "clock_readings_per_op")
    assert readings["verdict"] == "regression"
    assert readings["head"] == pytest.approx(2 * readings["base"], rel=0.05)
    assert case["work"] == "regression"
    if case["work_deciding"] == "clock_readings_per_op":
        # Its instructions may be too few to matter.
        culprit = case["findings"][0]
        assert culprit["function"] == "clock_gettime"
        assert culprit["calls_per_op"]["head"] == pytest.approx(2 * culprit["calls_per_op"]["base"], rel=0.05)


@pytest.mark.slow
def test_what_each_turn_of_the_event_loop_costs_is_work(compare: Any, toy: ToySource) -> None:
    """A pipeline shares the cost of a turn; a request that comes alone has all of it."""
    longer = "        update_clock();\n        for (volatile int turn = 0; turn < 8; turn++);\n"
    head = toy.changed(("server.c", "        update_clock();\n", longer))
    case = compare(toy.first, head, "toy-get").document()["cases"][0]
    verdicts = {verdict["metric"]: verdict for verdict in case["verdicts"]}
    pipelined, alone = verdicts["instructions_per_op"], verdicts["instructions_alone_per_op"]
    assert alone["head"] - alone["base"] == pytest.approx(16 * (pipelined["head"] - pipelined["base"]), rel=0.1)
    assert (alone["verdict"], case["work"]) == ("regression", "regression")
    assert (pipelined["verdict"], case["work_deciding"]) == ("same", "instructions_alone_per_op")
    assert case["findings"][0]["function"] == "main"


@pytest.mark.slow
def test_what_timers_execute_is_work(compare: Any, toy: ToySource) -> None:
    timer = """
        static long long ticked_us;
        if (now_us - ticked_us > 1000000) {
            ticked_us = now_us;
            for (volatile int turn = 0; turn < 200000; turn++);
        }
"""
    head = toy.changed(("server.c", "        update_clock();\n", "        update_clock();" + timer))
    case = compare(toy.first, head, "toy-get").document()["cases"][0]
    verdicts = {verdict["metric"]: verdict for verdict in case["verdicts"]}
    assert (case["work"], case["work_deciding"]) == ("regression", "instructions_per_tick")
    assert verdicts["instructions_per_tick"]["head"] > 400_000
    assert verdicts["instructions_per_op"]["verdict"] == "same"
    reason = case["findings"][0]
    assert (reason["kind"], reason["function"], reason["in_diff"]) == ("culprit", "main", True)
    assert "per tick of the timers" in reason["text"]
    assert (reason["instructions_per_op"], reason["calls_per_op"], reason["callers"]) == (None, None, [])


@pytest.mark.slow
def test_a_thread_that_never_waits_cannot_be_counted(compare: Any, toy: ToySource) -> None:
    spin = "static void *spin(void *unused) { for (volatile long turns = 0;; turns++) (void)unused; return NULL; }\n\n"
    begun = "    pthread_t thread;\n    pthread_create(&thread, NULL, spin, NULL);\n"
    head = toy.changed(
        ("server.c", "static uint64_t random_seed(void) {\n", spin + "static uint64_t random_seed(void) {\n" + begun),
        ("server.c", "#include <time.h>\n", "#include <pthread.h>\n#include <time.h>\n"),
    )
    case = compare(toy.first, head, "toy-get").document()["cases"][0]
    assert case["verdict"] == "invalid"
    assert "a thread of the server never waits" in case["failure"]


@pytest.mark.slow
def test_steps_that_a_processor_does_not_execute_one_by_one_are_named(compare: Any, toy: ToySource) -> None:
    case = compare(toy.first, toy.changed(("commands.c", WORK_BEGINS, CLEARS)), "toy-work").document()["cases"][0]
    assert case["work"] == "regression"
    culprit, limit = [finding for finding in case["findings"] if finding["kind"] in ("culprit", "limits")]
    steps = re.search(r"instructions, with \+([\d,]+) steps of `rep stos` or `rep movs`, ", culprit["text"])
    assert steps is not None, culprit
    # Callgrind counts a step for each byte, and one that finds none left.
    assert int(steps[1].replace(",", "")) in (4096, 4097)
    assert limit["text"].startswith(
        "Steps of `rep stos` and `rep movs` in `work_command` are a part of the change (0 -> "
    )


@pytest.mark.slow
def test_busy_loop_and_failing_on_it(compare: Any, toy: ToySource) -> None:
    head = toy.changed(("commands.c", WORK_BEGINS, BUSY))
    ended = compare(toy.first, head, "--fail-on", "regression")
    assert ended.code == 1, ended.err
    document = ended.document()
    assert words(document) == {"toy-get": "same", "toy-set": "same", "toy-work": "regression"}
    culprit = case_of(document, "toy-work")["findings"][0]
    assert (culprit["function"], culprit["file"], culprit["in_diff"]) == ("work_command", "commands.c", True)
    assert culprit["calls_per_op"] == pytest.approx({"base": 1.0, "head": 1.0})
    own = culprit["self_instructions_per_op"]
    assert own["head"] - own["base"] > 300
    line = (toy.path / "src" / "commands.c").read_text().splitlines().index("    " + BUSY.splitlines()[1].strip()) + 1
    assert culprit["lines"] == [line]
    assert reasons(case_of(document, "toy-get")) == reasons(case_of(document, "toy-set")) == []


GET_BEGINS = "struct slice *value = table_find(arguments[1]);"
ANSWERS_ERRORS = f'{GET_BEGINS}\n    if (value != NULL) {{ add_error(client, "ERR broken"); return; }}'


@pytest.mark.slow
def test_a_head_that_answers_errors_fails_the_gate_of_regressions(compare: Any, toy: ToySource) -> None:
    broken = toy.changed(("commands.c", GET_BEGINS, ANSWERS_ERRORS))
    cases = ("toy-get", "toy-work")
    on_head = compare(toy.first, broken, *cases, "--fail-on", "regression")
    assert on_head.code == 1, on_head.err
    case = case_of(on_head.document(), "toy-get")
    assert (case["verdict"], case["failed_sides"], case["failure"]) == ("invalid", ["head"], None)
    assert "--fail-on regression applies: on the head only, toy-get fails\n" in on_head.err
    for base, head, sides in ((broken, toy.first, ["base"]), (broken, broken, ["base", "head"])):
        ended = compare(base, head, *cases, "--fail-on", "regression")
        assert ended.code == 0, ended.err
        assert case_of(ended.document(), "toy-get")["failed_sides"] == sides
    alone = compare(broken, broken, "toy-get", "--fail-on", "regression")
    assert alone.code == 1
    assert "--fail-on regression applies: nothing was measured, so a regression cannot be ruled out\n" in alone.err


def test_the_side_that_crashes(compare: Any, toy: ToySource) -> None:
    crashes = toy.changed(("commands.c", WORK_BEGINS, f"{WORK_BEGINS}\n    abort();"))
    # The base is tried first: where it fails, nothing is known of the head.
    for base, head, sides in ((toy.first, crashes, ["head"]), (crashes, toy.first, [])):
        ended = compare(base, head, "toy-work", "--fail-on", "regression")
        assert ended.code == 4
        assert case_of(ended.document(), "toy-work")["failed_sides"] == sides


def test_pure_rename(compare: Any, toy: ToySource) -> None:
    names = {"checksum_value": "sum_of_value", "get_command": "read_command", "find_link": "link_of", "execute": "run"}
    ended = compare(toy.first, toy.renamed(names), "toy-get", "toy-set", "--fail-on", "unsure")
    assert ended.code == 0, ended.err
    document = ended.document()
    assert words(document) == {"toy-get": "same", "toy-set": "same"}
    assert [reasons(case) for case in document["cases"]] == [[], []]
    assert [case["work"] for case in document["cases"]] == ["identical", "identical"]


def test_the_same_revision_on_both_sides(compare: Any, toy: ToySource) -> None:
    ended = compare(toy.first, toy.first[:12], "toy-get", "toy-work", "--fail-on", "unsure")
    assert ended.code == 0, ended.err
    document = ended.document()
    assert set(words(document).values()) == {"same"}
    assert document["base"]["build"] == document["head"]["build"]
    for case in document["cases"]:
        assert case["verdicts"][0]["base"] == pytest.approx(case["verdicts"][0]["head"], rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("base", ["first", "noinline"])
def test_inlining_that_changes_nothing_much_is_not_blamed(compare: Any, toy: ToySource, base: str) -> None:
    plain = "static inline uint64_t mix_word"
    apart = toy.changed(("server.h", plain, "static __attribute__((noinline)) uint64_t mix_word"))
    within = toy.changed(("server.h", plain, "static inline __attribute__((always_inline)) uint64_t mix_word"))
    sides = (toy.first, within) if base == "first" else (apart, within)
    case = compare(*sides, "toy-work", "--min-effect", "counted=5%").document()["cases"][0]
    assert case["verdict"] == "same"
    assert reasons(case) == []


@pytest.mark.slow
def test_inlining_that_costs_is_explained_by_what_was_inlined(compare: Any, toy: ToySource) -> None:
    plain = "static inline uint64_t mix_word"
    head = toy.changed(("server.h", plain, "static __attribute__((noinline)) uint64_t mix_word"))
    case = compare(toy.first, head, "toy-get").document()["cases"][0]
    assert case["verdict"] == "regression"
    culprits = [finding["function"] for finding in case["findings"] if finding["kind"] == "culprit"]
    assert set(culprits) <= {"checksum_value", "mix_word"}
    assert culprits


@pytest.mark.slow
def test_an_inline_function_of_a_header_that_grew_is_named_itself(compare: Any, toy: ToySource) -> None:
    longer = "word ^= word >> 27;\n    word *= 0x94d049bb133111ebULL;\n    return word ^ (word >> 31);"
    head = toy.changed(("server.h", "return word ^ (word >> 27);", longer))
    case = compare(toy.first, head, "toy-get").document()["cases"][0]
    culprits = [finding for finding in case["findings"] if finding["kind"] == "culprit"]
    assert [(one["function"], one["file"], one["in_diff"]) for one in culprits] == [("mix_word", "server.h", True)]
    assert culprits[0]["calls_per_op"] is None
    assert "inlined into `checksum_value`" in culprits[0]["text"]


@pytest.mark.slow
def test_a_changed_caller_that_gives_an_unchanged_function_less_to_do_is_named(compare: Any, toy: ToySource) -> None:
    shorter = CHECKSUM_ONCE.replace("value->length", "value->length / 4")
    case = compare(toy.first, toy.changed(("commands.c", CHECKSUM_ONCE, shorter)), "toy-get").document()["cases"][0]
    assert case["verdict"] == "improvement"
    first = case["findings"][0]
    assert (first["function"], first["in_diff"]) == ("get_command", True)
    assert first["share_of_change"] > 0.9
    assert (first["carrier"]["function"], first["carrier"]["file"]) == ("checksum_value", "format.c")
    assert first["carrier"]["calls_per_op"] == pytest.approx({"base": 1.0, "head": 1.0})
    assert first["text"].startswith(
        "`get_command` (commands.c, changed here) makes calls of `checksum_value` (format.c)"
    )


@pytest.mark.slow
def test_two_source_trees(compare: Any, tmp_path: Path, toy: ToySource) -> None:
    base = ToySource(tmp_path / "one tree")
    head = ToySource(tmp_path / "other")
    head.replace("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE)
    shutil.rmtree(head.path / ".git")
    document = compare(base.path, head.path, "toy-get").document()
    assert words(document) == {"toy-get": "regression"}
    assert document["base"]["commit"] is None
    culprit = document["cases"][0]["findings"][0]
    assert (culprit["function"], culprit["in_diff"]) == ("checksum_value", True)
    assert culprit["callers"][0]["in_diff"] is True


@pytest.mark.slow
def test_two_binaries_one_of_them_stripped(compare: Any, tmp_path: Path, toy_program: Path) -> None:
    if shutil.which("strip") is None:
        pytest.skip("not installed: strip")
    slower = ToySource(tmp_path / "slower")
    slower.replace("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE)
    program = compile_toy(slower.path)
    subprocess.run(["strip", str(program)], check=True)
    document = compare(toy_program, program, "toy-get").document()
    assert words(document) == {"toy-get": "regression"}
    assert (document["base"]["stripped"], document["head"]["stripped"]) == (False, True)
    limits = [finding["text"] for finding in document["cases"][0]["findings"] if finding["kind"] == "limits"]
    assert any("head is stripped" in text for text in limits)


@pytest.mark.slow
def test_one_binary_under_two_settings(compare: Any, toy_program: Path) -> None:
    document = compare(toy_program, toy_program, "toy-get", "toy-set", "--head-config", "rounds=3").document()
    assert words(document) == {"toy-get": "regression", "toy-set": "same"}
    assert document["base"]["build"] == document["head"]["build"]
    culprit = document["cases"][0]["findings"][0]
    assert culprit["function"] == "checksum_value"
    assert culprit["calls_per_op"] == pytest.approx({"base": 1.0, "head": 3.0})


@pytest.mark.slow
def test_a_seed_repeats_counts_to_the_instruction(zerolap: Zerolap, toy_program: Path) -> None:
    asked = ["compare", toy_program, toy_program, "toy-get", "--cases", CASES, "--quick", "--head-config", "rounds=2"]

    def compared(*words: str | Path) -> Any:
        ended = zerolap(*words, "--store", zerolap.store, "--json", "-")
        assert ended.code == 0, ended.err
        return ended.document()

    drawn, drawn_again = compared(*asked), compared(*asked)
    seed = drawn["settings"]["seed"]
    assert seed != drawn_again["settings"]["seed"]
    assert f" --seed {seed} " in drawn["command_line"]
    repeated = compared(*asked, "--seed", str(seed))
    assert repeated["id"] != drawn["id"]
    assert repeated["cases"][0]["verdicts"] == drawn["cases"][0]["verdicts"]


@pytest.mark.slow
def test_reports_from_the_store_alone(zerolap: Zerolap, tmp_path: Path) -> None:
    source = ToySource(tmp_path / "gone")
    head = source.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    selected = ["toy-get", "--repo", source.path, "--cases", CASES, "--store", zerolap.store, "--quick"]
    reports = ["--json", "report.json", "--markdown", "report.md", "--html", "report.html"]
    ended = zerolap("compare", source.first, head, *selected, *reports)
    assert ended.code == 0, ended.err
    assert "checksum_value" in ended.out
    document = json.loads((tmp_path / "report.json").read_text())
    shutil.rmtree(source.path)
    shutil.rmtree(zerolap.store / "builds")
    for identity in ("latest", document["id"], document["id"][:6]):
        again = zerolap("explain", identity, "--store", zerolap.store, "--json", "-")
        assert again.code == 0, again.err
        assert again.document() == document
    shown = zerolap("explain", "latest", "--store", zerolap.store)
    assert "checksum_value" in shown.out
    assert document["id"] in zerolap("explain", "--store", zerolap.store).out
    markdown = zerolap("explain", "latest", "--store", zerolap.store, "--markdown", "-")
    assert markdown.out == (tmp_path / "report.md").read_text()
    assert "checksum_value" in (tmp_path / "report.html").read_text()


@pytest.mark.slow
def test_an_unused_function_leaves_the_work_identical_and_costs_no_time(
    zerolap: Zerolap, toy: ToySource, shared_store: Path
) -> None:
    toy.git("checkout", "--quiet", "--force", toy.first)
    unused = "int unused_sum(int x) { int sum = 0; while (x-- > 0) sum += x * x; return sum; }\n"
    toy.replace("commands.c", "static uint64_t last_checksum;", unused + "static uint64_t last_checksum;")
    head = toy.commit("an unused function")
    common = ["--repo", toy.path, "--cases", CASES, "--store", shared_store, "--engine", "counted,timed", "--json", "-"]
    document = zerolap("compare", toy.first, head, *common, "toy-get", "toy-set", "toy-work").document()
    assert {case["work"] for case in document["cases"]} == {"identical"}
    timed = {case["case"] for case in document["cases"] if any(one["engine"] == "timed" for one in case["verdicts"])}
    [note] = [note for note in document["notes"] if "both sides execute the same instructions" in note]
    untimed = int(note.split()[0])
    # One of them is timed, though a busy machine may leave it without a verdict.
    assert 1 <= untimed <= 2
    assert untimed + len(timed) <= len(document["cases"])
    for case in document["cases"]:
        assert any(finding["text"].startswith("Identical as counted") for finding in case["findings"])
