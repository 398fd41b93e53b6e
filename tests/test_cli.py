"""The command line: help, versions, what goes to which output, settings that last, exit codes."""

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
import yaml
from command_line import Zerolap
from jsonschema import Draft202012Validator
from made_records import BOTH_ASKED, a_case, a_comparison, a_time, a_work, an_invalid_case
from stored_opportunities import counted_run
from toy_server import CASES, ToySource

from zerolap import __version__, cases as zerolap_cases
from zerolap.cases import case_file_of, load_cases, packaged_suites
from zerolap.cli.exit_code import exit_code
from zerolap.cli.option_values import min_effects, seconds, server_settings
from zerolap.cli.options import Reports
from zerolap.cli.output import write
from zerolap.cli.verbs import VERBS
from zerolap.fail_on import FailOn
from zerolap.judge import DEFAULT_MIN_EFFECT
from zerolap.lab import Options, run_request
from zerolap.records import BinarySource, CaseResult, RequestedServer, RequestState
from zerolap.store import Store

EXAMPLES = {
    "run": "zerolap run",
    "compare": "zerolap compare",
    "explain": "zerolap explain",
    "doctor": "zerolap doctor",
}


def test_version(zerolap: Zerolap) -> None:
    ended = zerolap("--version")
    assert (ended.code, ended.out, ended.err) == (0, f"zerolap {__version__}\n", "")


def test_help_shows_where_to_begin(zerolap: Zerolap) -> None:
    ended = zerolap("--help")
    assert ended.code == 0
    assert "zerolap run" in ended.out
    for verb in VERBS:
        assert verb in ended.out


GROUPS = {
    "suites": ["list", "show"],
    "agent": ["bench", "build"],
    "fleet": ["init", "status", "retry", "cancel", "drain"],
    "store": ["prune", "usage"],
    "token": ["add", "list", "remove"],
}
"""Verbs that only list those below them."""


@pytest.mark.parametrize(
    "words", [[verb] for verb in VERBS] + [[group, verb] for group, verbs in GROUPS.items() for verb in verbs]
)
def test_help_of_each_verb_has_an_example(zerolap: Zerolap, words: list[str]) -> None:
    ended = zerolap(*words, "--help")
    assert ended.code == 0
    if words[-1] not in GROUPS:
        assert ended.out.count(f"zerolap {' '.join(words)}") >= 2, "the usage and an example"
    assert ended.err == ""


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("verb", VERBS)
def test_a_help_shows_all_texts_as_they_are_written_in_the_width_of_the_terminal(
    zerolap: Zerolap, verb: str, columns: int
) -> None:
    command = typer.main.get_command(importlib.import_module(f"zerolap.cli.{verb}").app)
    shown = zerolap(verb, "--help", environment={"COLUMNS": str(columns)}).out
    texts = " ".join(shown.split())
    shown_command = command.commands["show"] if verb == "history" else command
    for text in filter(None, (getattr(each, "help", None) for each in (command, *shown_command.params))):
        assert " ".join(text.split("\n\n")[0].split()) in texts
    for noise in ("<", "{", "\u2026", "[["):
        assert noise not in shown
    too_long = [line for line in shown.splitlines() if len(line) > columns and not line.startswith("    ")]
    assert not too_long


def test_the_options_of_a_comparison_are_in_panels(zerolap: Zerolap) -> None:
    panels = re.split(r"^(What|How|On a lab|Reports|Options)$", zerolap("compare", "--help").out, flags=re.MULTILINE)
    assert panels[1::2] == ["What", "How", "On a lab", "Reports", "Options"]
    for option, text in zip(("--repo", "--engine", "--platform", "--json", "--store"), panels[2::2], strict=True):
        assert f"  {option} " in text


def test_without_arguments(zerolap: Zerolap) -> None:
    for words in ([], ["fleet"]):
        ended = zerolap(*words)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.removesuffix("\n") == zerolap(*words, "--help").out.removesuffix("\n")
    assert "BASE" in zerolap("compare").out + zerolap("compare").err


MODULES = """
import atexit, sys
from zerolap.cli import main
sys.argv[0] = "zerolap"
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
main()
"""
"""The program, which then lists on standard error what it has imported."""


@pytest.mark.parametrize(
    ("words", "unneeded"),
    [
        (["--help"], {"pydantic", "sqlalchemy"}),
        (["suites", "list"], {"sqlalchemy", "zerolap.engines"}),
        (["explain"], {"zerolap.engines", "zerolap.lab"}),
        (["explain", "latest"], {"zerolap.engines", "zerolap.lab"}),
        (["opportunities"], {"zerolap.build", "zerolap.engines", "zerolap.judge", "zerolap.lab", "zerolap.sandbox"}),
    ],
)
def test_verbs_that_answer_from_what_is_stored_import_nothing_else(
    zerolap: Zerolap, words: list[str], unneeded: set[str]
) -> None:
    with Store.open(str(zerolap.store)) as store:
        counted_run(store)
    stored = ["--store", str(zerolap.store)] if words[0] in ("explain", "opportunities") else []
    # The second time, nothing has to be looked through.
    for _ in range(2):
        command = [sys.executable, "-c", MODULES, *words, *stored]
        ended = subprocess.run(command, cwd=zerolap.directory, capture_output=True, text=True, check=True)
    assert ended.stdout
    assert not unneeded & set(ended.stderr.split())


def test_suites(zerolap: Zerolap) -> None:
    listed = zerolap("suites", "list", "--cases", CASES)
    assert listed.code == 0
    assert all(name in listed.out for name in ("toy-get", "toy-set", "toy-work"))
    shown = zerolap("suites", "show", "toy-get", "--cases", CASES)
    assert json.loads(shown.out)["commands"] == ["GET __key__"]
    zerolap("suites", "show", "toy-got", "--cases", CASES).fails_with(2, "toy-get")


def test_brackets_of_others_are_no_markup(zerolap: Zerolap, tmp_path: Path) -> None:
    file = tmp_path / "cases.yml"
    file.write_text('group: a\ncases:\n  - {name: b, description: "LPOP key [count] [/y]", commands: ["PING"]}\n')
    listed = zerolap("suites", "list", "--cases", file)
    assert listed.code == 0
    assert "LPOP key [count] [/y]" in listed.out


def test_a_report_goes_through_a_link_and_into_a_pipe(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    link.symlink_to(real)
    write(str(link), "→ new")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "→ new\n"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    Reports(json=str(pipe))
    write(str(pipe), "text")
    assert os.read(reader, 100) == b"text\n"
    assert pipe.is_fifo()
    os.close(reader)


def test_a_file_of_cases_is_checked(zerolap: Zerolap, tmp_path: Path) -> None:
    ended = zerolap("suites", "check", "--no-run", CASES)
    assert (ended.code, ended.out) == (0, "3 cases, all well-formed\n")
    wrong = tmp_path / "wrong.yml"
    wrong.write_text("group: g\ncases:\n  - {name: a, comands: [PING]}\n")
    zerolap("suites", "check", CASES, wrong).fails_with(2, f"{wrong}:3", "comands")


@pytest.mark.slow
def test_settings_of_a_side_are_recorded(zerolap: Zerolap, toy_program: Path, quick: list[str | Path]) -> None:
    toy = [toy_program, toy_program, "toy-get", *quick]
    ended = zerolap("compare", *toy, "--engine", "counted", "--head-config", "dir=.", "--json", "-")
    document = ended.document()
    assert (document["base"]["config"], document["head"]["config"]) == ({}, {"dir": "."})
    assert "dir=." in zerolap("explain", "latest", "--store", zerolap.store).out


def test_an_empty_store(zerolap: Zerolap) -> None:
    ended = zerolap("explain")
    assert ended.code == 0
    assert "empty" in ended.out


# What runs print


@pytest.fixture
def quick(zerolap: Zerolap) -> list[str | Path]:
    return ["--cases", CASES, "--quick", "--store", zerolap.store]


@pytest.mark.usefixtures("valgrind")
def test_run_of_the_toy(zerolap: Zerolap, toy_program: Path, quick: list[str | Path]) -> None:
    ended = zerolap("run", "toy-get", "--server", toy_program, *quick, "--json", "-")
    assert ended.code == 0, ended.err
    document = ended.document()
    assert "trials" in ended.err
    assert document["schema"] == "zerolap.run/1"
    assert document["server"]["version"] == "1.0.0"
    [case] = document["cases"]
    assert case["validity"]["valid"] is True
    assert case["metrics"]["instructions_per_op"] > 100
    assert case["samples"] == 1
    names = {function["function"] for function in case["functions"]}
    assert "checksum_value" in names
    assert sum(function["share"] for function in case["functions"]) <= 1.0 + 1e-9
    for named in (document["id"], "latest"):
        again = zerolap("explain", named, "--store", zerolap.store, "--json", "-")
        assert again.document() == document
    zerolap.leaves_nothing()


def test_run_of_the_installed_server(zerolap: Zerolap, redis_server: Path) -> None:
    """By its name on the PATH, as one would try it first."""
    ended = zerolap("run", "set-ex-100B", "--quick", "--json", "-")
    assert ended.code == 0, ended.err
    document = ended.document()
    assert document["server"]["name"] == "redis-server"
    [case] = document["cases"]
    assert case["failure"] is None
    assert case["validity"]["valid"] is True
    assert case["metrics"]["instructions_per_op"] > 100
    zerolap.leaves_nothing()


@pytest.mark.usefixtures("valgrind")
def test_quiet_prints_nothing(zerolap: Zerolap, toy_program: Path, quick: list[str | Path], tmp_path: Path) -> None:
    two = ["compare", toy_program, toy_program, "toy-work", *quick]
    quiet = zerolap(*two, "--quiet", "--json", "report.json")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    assert json.loads((tmp_path / "report.json").read_text())["summary"]["same"] == 1
    assert not list(tmp_path.glob(".report.json.*"))


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_exit_code_of_a_regression(zerolap: Zerolap, toy_program: Path, quick: list[str | Path]) -> None:
    slower = ["compare", toy_program, toy_program, "toy-get", *quick, "--head-config", "rounds=2", "--quiet"]
    for when, reason in (
        ("unsure", "regression in toy-get"),
        ("work", "regression in toy-get"),
        ("time", "nothing was timed, so a regression cannot be ruled out"),
    ):
        ended = zerolap(*slower, "--fail-on", when)
        assert (ended.code, ended.out) == (1, ""), when
        assert ended.err == f"--fail-on {when} applies: {reason}\n"


@pytest.mark.usefixtures("valgrind")
def test_a_budget_ends_the_work(zerolap: Zerolap, toy_program: Path, quick: list[str | Path]) -> None:
    # Each processor begins with a case: one of them has other work on both sides, and is not decided at once.
    sides = [toy_program, toy_program, "--head-config", "rounds=2"]
    ended = zerolap("compare", *sides, *quick, "--budget", "0.001s", "--json", "-")
    document = ended.document()
    assert ended.code == 0, ended.err
    assert document["settings"]["budget_seconds"] == 0.001
    # What has begun when time is up may still be decided, where both sides execute the same.
    undecided = [case for case in document["cases"] if case["work"] != "identical"]
    assert {case["verdict"] for case in undecided} == {"unsure"}
    assert all("budget" in case["failure"] for case in undecided)


@pytest.mark.usefixtures("valgrind")
def test_a_large_seed(zerolap: Zerolap, toy_program: Path, quick: list[str | Path]) -> None:
    ended = zerolap("run", "toy-work", "--server", toy_program, *quick, "--seed", str(2**64 - 1), "--json", "-")
    assert ended.code == 0, ended.err
    assert ended.document()["settings"]["seed"] == 2**64 - 1


# zerolap.toml


@pytest.mark.usefixtures("valgrind")
def test_settings_that_last(zerolap: Zerolap, toy: ToySource, tmp_path: Path) -> None:
    (tmp_path / "zerolap.toml").write_text(f"""
repo = "{toy.path}"
cases = "{CASES}"
command = ["WORK"]
quick = true
quiet = true
seed = 7
store = "here"

[compare]
min-effect = "counted=3%"
fail-on = "work"
json = "report.json"
""")
    ended = zerolap("compare", toy.first, toy.first)
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    document = json.loads((tmp_path / "report.json").read_text())
    assert [case["case"] for case in document["cases"]] == ["toy-work"]
    assert document["settings"]["seed"] == 7
    assert document["settings"]["quick"] is True
    assert document["settings"]["min_effect"] == {**DEFAULT_MIN_EFFECT, "counted": 0.03}
    assert (tmp_path / "here").is_dir()
    assert "toy-work" in zerolap("suites", "list").out
    over = zerolap("suites", "list", "--command", "GET")
    assert "toy-get" in over.out
    assert "toy-work" not in over.out


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"sed = 7\n", "`sed`"),
        (b"sed = 7\n", "did you mean `seed`?"),
        (b"[compair]\nseed = 7\n", "`compair`"),
        (b"[compair]\nseed = 7\n", "did you mean `compare`?"),
        (b"zzz = 7\n", "options: base-config, "),
        (b"[compare]\nsed = 7\n", "`sed`"),
        (b"seed = \n", "not valid TOML"),
        (b"\xff\xfe", "not valid TOML"),
    ],
)
def test_settings_that_are_wrong(zerolap: Zerolap, tmp_path: Path, content: bytes, part: str) -> None:
    (tmp_path / "zerolap.toml").write_bytes(content)
    zerolap("suites", "list").fails_with(2, "`zerolap.toml`", part)


# Values


def test_lengths_of_time() -> None:
    assert [seconds(text) for text in ("90s", "8m", "1.5h", "30", None)] == [90, 480, 5400, 30, None]


def test_smallest_effects() -> None:
    assert min_effects("") == DEFAULT_MIN_EFFECT
    assert {"counted": 0.005, "timed": 0.02, "tail": 0.1, "memory": 0.0025}.items() <= DEFAULT_MIN_EFFECT.items()
    given = {"counted": pytest.approx(0.02), "timed": pytest.approx(0.03), "tail": pytest.approx(0.2)}
    assert min_effects("counted=2%,timed=3%,tail=20%") == {**DEFAULT_MIN_EFFECT, **given}
    assert min_effects("counted=0.02") == {**DEFAULT_MIN_EFFECT, "counted": 0.02}


def test_server_settings() -> None:
    pairs = ["maxmemory=100mb", "save=900 1", "empty=", "user=a b='c d'"]
    assert server_settings(pairs) == {"maxmemory": "100mb", "save": "900 1", "empty": "", "user": "a b='c d'"}
    assert server_settings(None) == {}


def answered(work: str | None, time: str | None = None, name: str = "a", **fields: Any) -> CaseResult:
    """Return a case with these answers."""
    verdicts = [*([a_work(work, 0.0)] if work else []), *([a_time(time, 0.0)] if time else [])]
    return a_case(name, *verdicts, **{"memory": "identical", **fields})


def failing_on(*sides: str, failure: str | None = None) -> CaseResult:
    return an_invalid_case("b", failure, failed_sides=[*sides])


SAME = answered("same", "same")
GATES = set(get_args(FailOn)) - {"never", "suite", "unmeasured"}
"""Those that look at single cases."""


@pytest.mark.parametrize(
    ("cases", "failing"),
    [
        ([answered("regression", "same")], {"work", "regression", "unsure"}),
        ([answered("same", "regression")], {"time", "regression", "unsure"}),
        ([answered("unsure", "same")], {"unsure"}),
        ([answered("improvement", "improvement")], set()),
        ([answered("identical", "improvement")], set()),
        # Of an answer that is not decided, a certain change of the other one decides.
        ([answered("regression", "unsure"), SAME], {"work", "regression", "unsure"}),
        ([answered("improvement", "unsure"), SAME], {"unsure"}),
        # A sample of identical cases is timed, and may stay undecided.
        ([answered("identical", "unsure")], set()),
        # The head fails, the base does not; both fail; the machine is the reason.
        ([failing_on("head"), SAME], GATES),
        ([failing_on("base", "head"), SAME], {"unsure"}),
        ([failing_on("base"), SAME], {"unsure"}),
        ([failing_on(), SAME], {"unsure"}),
        # Nothing was measured of what is asked.
        ([], GATES),
        ([failing_on("base", "head")], GATES),
        ([answered(None, "unsure", verdicts=[], time_deciding=None, memory=None)], GATES),
        ([answered("same")], {"time"}),
        ([answered(None, "same")], {"work"}),
        ([answered("identical")], set()),
        ([answered("identical", "same", memory="regression")], {"memory", "regression", "unsure"}),
        ([answered("identical", "same", memory="unsure")], {"unsure"}),
        ([answered("identical", "same", memory=None)], {"memory"}),
    ],
)
def test_when_a_comparison_counts_as_failed(cases: list[CaseResult], failing: set[FailOn]) -> None:
    comparison = a_comparison(cases)
    assert {when for when in GATES if exit_code(comparison, when) == 1} == failing
    assert {when for when in GATES if comparison.fails_on(when)} == failing
    assert not comparison.fails_on("never")


def test_a_time_that_was_asked_for_and_not_measured_is_not_decided() -> None:
    cases = [answered("same"), answered("identical"), SAME]
    assert [case.work for case in a_comparison(cases, settings=BOTH_ASKED).failing_cases("unsure")] == ["same"]
    assert a_comparison(cases, settings=BOTH_ASKED).failing_cases("regression") == []
    assert not a_comparison(cases).fails_on("unsure")


@pytest.mark.parametrize(
    ("cases", "when", "reason"),
    [
        ([answered("regression"), failing_on("head")], "work", "on the head only, b fails; regression in a"),
        ([answered("unsure"), failing_on()], "unsure", "undecided or invalid: a, b"),
        ([answered("regression", name=name) for name in "abcdefg"], "work", "regression in a, b, c, d, e, 2 more"),
        ([failing_on()], "regression", "nothing was measured, so a regression cannot be ruled out"),
        ([answered("same")], "time", "nothing was timed, so a regression cannot be ruled out"),
    ],
)
def test_the_reason_of_exit_code_1(
    cases: list[CaseResult], when: FailOn, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(a_comparison(cases), when) == 1
    assert capsys.readouterr().err == f"--fail-on {when} applies: {reason}\n"


def test_a_failed_trial_goes_before_a_regression() -> None:
    comparison = a_comparison([answered("regression"), failing_on("head", failure="head: it died")])
    assert {exit_code(comparison, when) for when in get_args(FailOn)} == {4}


def submitted(store: Path, name: str, state: RequestState | None = None) -> str:
    """Submit a run, as a process does that is killed before it measures; `state` is how it ended instead."""
    source = BinarySource(name=name, path=Path("/bin/true"))
    request = run_request(RequestedServer(source=source), load_cases(CASES), Options(engines=["counted"]))
    with Store.open(str(store)) as results:
        results.submit([request])
        if state is not None:
            results.end(request.id, state)
    return request.id


def test_what_is_unfinished_is_listed(zerolap: Zerolap) -> None:
    killed = submitted(zerolap.store, "killed")
    failed = submitted(zerolap.store, "no-server", "failed")
    shown = zerolap("explain", "--store", zerolap.store)
    assert (shown.code, "empty" in shown.out) == (0, False), shown
    rows = {row.split()[0]: row for row in shown.out.splitlines() if row.startswith("r-")}
    assert list(rows) == [failed, killed]
    assert "failed" in rows[failed]
    assert "nothing measured yet" in rows[killed]
    assert f"zerolap resume {killed}  continues" in shown.out
    zerolap("explain", "latest", "--store", zerolap.store).fails_with(2, f"{failed} has nothing measured yet")
    with Store.open_to_read(str(zerolap.store)) as store:
        assert store.latest_interrupted() == killed


def test_what_failed_is_not_resumed_as_the_latest(zerolap: Zerolap) -> None:
    submitted(zerolap.store, "no-server", "failed")
    zerolap("resume", "latest", "--store", zerolap.store).fails_with(2, "nothing was interrupted", "zerolap explain")


@pytest.mark.parametrize("verb", ["show", "table", "report"])
def test_settings_apply_to_the_verbs_of_histories(zerolap: Zerolap, toy: ToySource, tmp_path: Path, verb: str) -> None:
    (tmp_path / "zerolap.toml").write_text(f'repo = "{toy.path}"\nstore = "elsewhere"\n')
    zerolap("history", verb).fails_with(2, "there is no store at `elsewhere`")


def test_an_id_that_is_no_text_is_wrong_usage(zerolap: Zerolap) -> None:
    zerolap("explain", "c-\udcff").fails_with(2, "not UTF-8 text")


def test_a_mistyped_verb_has_a_suggestion(zerolap: Zerolap) -> None:
    zerolap("comapre", "A", "B").fails_with(2, "there is no verb `comapre`", "did you mean `compare`?")
    zerolap("frobnicate").fails_with(2, "the verbs are run, compare")
    assert "Did you mean 'list'?" in zerolap("suites", "lst").err


def test_what_is_missing_is_named_in_a_few_lines(zerolap: Zerolap) -> None:
    ended = zerolap("compare")
    assert ended.code == 2
    assert "Missing argument 'BASE'" in ended.err
    assert ended.out == ""
    assert len(ended.err.splitlines()) < 10


@pytest.mark.parametrize("content", ["fail-on = 'never ever'", "budget = 'long'", "[run]\nseed = -1"])
def test_a_wrong_value_of_the_settings_file_names_the_file(zerolap: Zerolap, tmp_path: Path, content: str) -> None:
    (tmp_path / "zerolap.toml").write_text(content)
    ended = (
        zerolap("run", "--server", "redis-server") if "run" in content else zerolap("compare", "/bin/true", "/bin/true")
    )
    assert ended.code == 2, ended
    assert "is set in `zerolap.toml`" in " ".join(ended.err.replace("│", "").split())
    assert "Value error" not in ended.err


@pytest.mark.parametrize("suite", packaged_suites())
def test_a_case_that_is_shown_as_a_file_is_read_as_the_same_case(suite: str, tmp_path: Path) -> None:
    file = tmp_path / "case.yml"
    for case in load_cases(Path(suite)):
        file.write_text(case_file_of(case))
        [read] = load_cases(file)
        place = {"file": case.file, "line": case.line}
        assert read.model_copy(update=place) == case, file.read_text()


def test_a_case_is_shown_as_a_file(zerolap: Zerolap, tmp_path: Path) -> None:
    file = tmp_path / "hash.yml"
    file.write_text(
        "group: hash\ndatasets:\n  of-{size}:\n    load: ['SET __key__ __data__']\n    data_size: '{size}'\n"
        "cases:\n  - name: get-{size}\n    matrix: {size: [10, 200]}\n    dataset: of-{size}\n"
        "    commands: ['GET {{size}}', {command: GET __key__, ratio: 2}]\n    config: {maxmemory: 0100}\n"
        "    companions: [{commands: ['PUBLISH news x']}]\n"
    )
    ended = zerolap("suites", "show", "get-200", "--cases", file, "--yaml")
    shown = tmp_path / "shown.yml"
    shown.write_text(ended.out)
    [case] = load_cases(shown)
    [same] = [of for of in load_cases(file) if of.name == "get-200"]
    assert case.model_copy(update={"file": same.file, "line": same.line}) == same
    zerolap("suites", "show", "get-*", "--cases", file, "--yaml").fails_with(2, "names 2 cases", "get-10, get-200")


def test_the_schema_accepts_the_cases_that_are_read(zerolap: Zerolap) -> None:
    schema = json.loads(zerolap("suites", "schema").out)
    assert schema["properties"].keys() == {"group", "datasets", "regimes", "unknown_commands", "cases"}
    validate = Draft202012Validator(schema)
    core = yaml.safe_load((Path(zerolap_cases.__file__).parent / "suites" / "core.yml").read_text())
    assert list(validate.iter_errors(core)) == []
    assert list(validate.iter_errors({**core, "caess": []})) != []
