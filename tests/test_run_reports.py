"""A run's reports: what its trials left in the store is drawn, and Markdown holds the same as the table."""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import Zerolap
from made_records import FAILED, a_function, a_run, a_run_case, changed
from report_page import embedded
from stored_run import RUN, SLICES, STARTS, a_pass, record_trials, stored_run

from zerolap.cli.exit_code import run_exit_code
from zerolap.documents import read_pictures
from zerolap.records import Check, Pictures, RunReport, Validity
from zerolap.report import html
from zerolap.report.document import run_markdown
from zerolap.report.html import run_html
from zerolap.store import Store

CASES = Path(__file__).parent / "servers" / "toy" / "cases.yml"
BUILT = pytest.mark.skipif(not html.TEMPLATE.exists(), reason="the page is not built: make web")


# Pictures


def test_pictures_are_those_of_the_trials_that_were_not_disturbed(store: Store) -> None:
    pictures = read_pictures(stored_run(store), store)
    assert list(pictures.cases) == ["get-100B"]
    case = pictures.cases["get-100B"]
    assert case.missing is None
    assert case.latency is not None
    assert case.throughput is not None
    assert case.latency.keys() == case.throughput.keys() == {"head"}
    latency = dict(case.latency["head"])
    assert (latency[0.5], latency[0.95], latency[1.0]) == (100.0, 400.0, 400.0)
    points = case.throughput["head"]
    assert len(points) == STARTS * SLICES
    assert points[0] == (0.01, 100_000.0)
    assert points[-1] == (0.06, 220_000.0)
    assert case.starts_at == [0.0, 0.03]


def test_stacks_have_the_cost_that_was_timed(store: Store) -> None:
    pictures = read_pictures(stored_run(store), store)
    stacks = pictures.cases["get-100B"].stacks
    assert stacks is not None
    assert stacks.keys() == {"head"}
    tree = stacks["head"]
    assert (tree.samples, sum(tree.nodes.samples), tree.threads) == (100, 100, ["redis-server"])
    assert (tree.cpu_ns_per_op, tree.cpu_error) == (1211.2, 0.0)
    own = {
        pictures.frames[frame].function: samples
        for frame, samples in zip(tree.nodes.frame, tree.nodes.samples, strict=True)
    }
    assert own == {"main": 0, "lookupKey": 10, "dictFind": 60, "writeToClient": 30}


def test_stacks_of_a_case_that_was_not_timed_have_no_cost(store: Store) -> None:
    untimed = RUN.cases[0].model_copy(update={"metrics": {"instructions_per_op": 1.0}})
    stacks = read_pictures(stored_run(store).model_copy(update={"cases": [untimed]}), store).cases["get-100B"].stacks
    assert stacks is not None
    assert stacks["head"].cpu_ns_per_op is None


def test_a_case_that_is_not_valid_has_no_pictures(store: Store) -> None:
    broken = RUN.cases[0].model_copy(update={"validity": RUN.cases[-1].validity})
    assert read_pictures(stored_run(store).model_copy(update={"cases": [broken]}), store) == Pictures()


def test_a_lost_blob_is_reported_and_costs_only_its_case(store: Store, tmp_path: Path) -> None:
    report = stored_run(store)
    record_trials(store, "hset", "sampled", [a_pass(store)])
    lost = next(one.timeline for trial, one in store.measurements(report.id) if trial.engine == "timed")
    assert lost is not None
    (tmp_path / "store" / "blobs" / lost[:2] / lost[2:]).unlink()
    cases = read_pictures(report, store).cases
    assert "no blob" in (cases["get-100B"].missing or "")
    assert cases["get-100B"].stacks is None
    assert cases["hset"].stacks is not None
    assert cases["hset"].missing is None


# The page


@BUILT
def test_a_page_holds_the_run_and_its_pictures(store: Store) -> None:
    report = stored_run(store)
    pictures = read_pictures(report, store)
    page = run_html(report, pictures)
    assert RunReport.model_validate_json(embedded(page, "document")) == report
    document = json.loads(embedded(page, "pictures"))
    document["frames"] = json.loads(embedded(page, "frames"))
    document["cases"]["get-100B"] |= json.loads(embedded(page, "get-100B"))
    lines = json.loads(embedded(page, "lines"))
    document["sources"] = lines["sources"]
    for name, of_case in lines["cases"].items():
        document["cases"][name]["lines"] = of_case
    assert Pictures.model_validate(document) == pictures


@BUILT
def test_foreign_text_stays_within_the_page() -> None:
    hostile = a_run([a_run_case("</script><script>alert(1)</script><!--", {})], notes=["a\u2028b & <b>"])
    page = run_html(hostile)
    assert "alert(1)</script>" not in page
    assert RunReport.model_validate_json(embedded(page, "document")) == hostile


# Markdown


def test_markdown_says_what_was_measured_and_how_to_repeat_it() -> None:
    text = run_markdown(RUN)
    assert text.startswith("**3 of 5 cases measured**\n")
    assert "- measured: counted and timed and sampled, 6 min 52 s of trials\n" in text
    assert "- server: `./src/redis-server` `1f3c5a7b9d0e` 7.2.4 `io-threads=2`\n" in text
    assert (
        """\
| case | outcome | instructions/request | CPU ns/request | requests/s | p50, µs | p99, µs |
|---|---|--:|--:|--:|--:|--:|
| `get-100B` |  | 3,520 | 1,211 | 817,252 | 374.6 | 727.7 |
| `hset` |  | 6,293 |  |  |  |  |
| `get-10B` |  | 2,100 |  |  |  |  |
| `fcall` | invalid |  |  |  |  |  |
| `set-ex` | failed |  |  |  |  |  |
"""
        in text
    )
    assert (
        """\
#### `get-100B`

| share | ns | instructions | calls | function | file |
|--:|--:|--:|--:|---|---|
| 60.0 % | 726.7 | 881 | 1 | `dictFind` | `dictFind.c` |
| 30.0 % | 363.4 |  |  | `writeToClient` | `writeToClient.c` |
"""
        in text
    )
    assert (
        """\
#### `hset`

- limits: not timed: the machine was disturbed

| share | instructions | calls | function | file |
|--:|--:|--:|---|---|
| 14.0 % | 881 | 1 | `lpFind` | `lpFind.c` |
"""
        in text
    )
    assert "\nNote: the host was noisy\n" in text
    assert "#### `set-ex`: failed\n\n- the server exited with 139\n- `#` Redis 7.2.4 crashed" in text
    assert "#### `fcall`: invalid\n\n- invalid: `hit_rate` is 0.12, expected \\>= 0.99\n" in text
    assert text.index("`set-ex`: failed") < text.index("#### `get-100B`")
    assert "#### `get-10B`" not in text
    folded = text[text.index("<details>") :]
    for fact in (
        "`zerolap run --server ./src/redis-server`",
        f"seed: `{2**64 - 1}`",
        "flags `-O2 -g`",
        "run: `r-4f1a`",
    ):
        assert fact in folded


def test_markdown_has_the_columns_of_what_was_measured() -> None:
    counted = run_markdown(a_run([a_run_case("get", {"instructions_per_op": 1.5, "syscalls_per_op": 2.0})]))
    assert "| case | instructions/request |\n|---|--:|\n| `get` | 1.5 |\n" in counted
    assert "**1 case measured**" in counted
    nothing = run_markdown(a_run([]))
    assert nothing.startswith("**no case was measured**")
    assert "| case" not in nothing


def test_markdown_shows_foreign_text_as_it_is() -> None:
    function = changed(a_function("a`|b", 0.5), file="x\n| y")
    hostile = a_run_case("n|`m", {"ops_per_sec": 1.0}, functions=[function], limits=["</details><script> @user"])
    text = run_markdown(a_run([hostile], notes=["<b>*x*"]))
    assert "- limits: `</details><script>` `@user`\n" in text
    assert "Note: `<b>*x*`\n" in text
    rows = [line for line in text.splitlines() if line.startswith(("| ``", "| 50.0"))]
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [3, 4]


def test_markdown_of_any_size_fits_a_comment() -> None:
    functions = [a_function(f"{'std::vector' * 20}{number}", 0.01) for number in range(10)]
    cases = [
        a_run_case(f"{'long-name-' * 7}{number}", {"ops_per_sec": 1.0}, functions=functions) for number in range(300)
    ]
    cases.append(a_run_case("crashing", {}, failure="log " * 10_000))
    text = run_markdown(a_run(cases))
    assert len(text) < 65_536
    assert "221 more are not listed." in text
    assert "#### `crashing`: failed" in text
    left_out = re.search(r"^- (\d+) more: `zerolap explain r-4f1a --all`$", text, re.MULTILINE)
    assert left_out is not None
    assert int(left_out[1]) + text.count("\n#### ") == 301


# The command line


@BUILT
@pytest.mark.usefixtures("valgrind")
def test_reports_of_a_run_and_from_the_store_alone(zerolap: Zerolap, toy_program: Path, tmp_path: Path) -> None:
    server = tmp_path / "toy"
    shutil.copy(toy_program, server)
    measured = ["toy-get", "--server", server, "--cases", CASES, "--quick", "--store", zerolap.store]
    reports = ["--json", "run.json", "--markdown", "run.md", "--html", "run.html"]
    ended = zerolap("run", *measured, *reports)
    assert ended.code == 0, ended.err
    assert "checksum_value" in ended.out
    document = json.loads((tmp_path / "run.json").read_text())
    page, markdown = ((tmp_path / name).read_text() for name in ("run.html", "run.md"))
    assert json.loads(embedded(page, "document")) == document
    assert "`checksum_value`" in markdown
    server.unlink()
    shutil.rmtree(zerolap.store / "builds", ignore_errors=True)
    for identity in ("latest", document["id"], document["id"][:6]):
        again = zerolap("explain", identity, "--store", zerolap.store, "--markdown", "-", "--html", "again.html")
        assert again.code == 0, again.err
        assert again.out == markdown
        assert (tmp_path / "again.html").read_text() == page


@BUILT
def test_a_stored_run_has_its_pictures_again(zerolap: Zerolap, tmp_path: Path) -> None:
    with Store.open(str(zerolap.store)) as store:
        report = stored_run(store)
    ended = zerolap("explain", report.id, "--store", zerolap.store, "--html", "run.html", "--quiet")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    stacks: Any = json.loads(embedded((tmp_path / "run.html").read_text(), "get-100B"))
    assert stacks["stacks"].keys() == {"head"}
    assert stacks["waits"] is None
    asked = zerolap("explain", "latest", "--store", zerolap.store, "--html", "-")
    asked.fails_with(2, "a page is not written to standard output")


def test_reports_that_cannot_be_written_are_refused_before_anything_is_measured(zerolap: Zerolap) -> None:
    zerolap("run", "--html", "-").fails_with(2, "a page is not written to standard output")
    zerolap("run", "--html", "none/run.html").fails_with(2, "cannot be written")
    zerolap("run", "--markdown", "-", "--json", "-").fails_with(2, "two reports would go to standard output")


@BUILT
@pytest.mark.usefixtures("valgrind")
def test_settings_that_last_hold_for_runs(zerolap: Zerolap, toy_program: Path, tmp_path: Path) -> None:
    (tmp_path / "zerolap.toml").write_text('[run]\nhtml = "run.html"\nmarkdown = "run.md"\nquick = true\n')
    ended = zerolap("run", "toy-work", "--server", toy_program, "--cases", CASES, "--store", zerolap.store, "--quiet")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert "--html" not in (tmp_path / "run.md").read_text()
    assert embedded((tmp_path / "run.html").read_text(), "document")


# Runs that measured nothing

MOST_THREADS = 128
"""As many I/O threads as a server takes at most: more than nearly all machines have processors."""
DISTURBED = Validity.of([Check(check="other_load", ok=False, value=1.6, limit="<= 0.5")]).model_dump()
WRONG = Validity.of([Check(check="hit_rate", ok=False, value=0.1, limit=">= 0.99")]).model_dump()


@pytest.mark.skipif((os.cpu_count() or 1) > MOST_THREADS, reason="the machine has a processor for every thread")
def test_a_case_whose_starts_are_all_refused_has_the_reason(zerolap: Zerolap, redis_server: Path) -> None:
    reports = ("--json", "run.json", "--markdown", "run.md", "--html", "run.html")
    settings = ("--config", f"io-threads={MOST_THREADS}", "--store", zerolap.store)
    ended = zerolap("run", "get-100B", "set-ex-100B", "--engine", "timed", *settings, *reports)
    assert ended.code == 3
    assert "nothing was measured: all cases are invalid by oversubscribed" in ended.err
    report = RunReport.model_validate_json((zerolap.directory / "run.json").read_text())
    assert [case.case for case in report.cases] == ["get-100B", "set-ex-100B"]
    for case in report.cases:
        assert (case.validity.valid, case.metrics, case.limits) == (False, {}, [])
        assert [check.check for check in case.validity.failed] == ["oversubscribed"]
    for shown in (ended.out, (zerolap.directory / "run.md").read_text(), (zerolap.directory / "run.html").read_text()):
        assert shown.count("oversubscribed") >= 2
    explained = zerolap("explain", report.id, "--store", zerolap.store)
    assert explained.out.count("oversubscribed") == 2


@pytest.mark.parametrize(
    ("cases", "notes", "code", "reason"),
    [
        ([a_run_case("a", {"ops_per_sec": 1.0}), a_run_case("b", {}, validity=DISTURBED)], [], 0, ""),
        (
            [a_run_case("a", {}, validity=DISTURBED)],
            [],
            3,
            "invalid by other_load; `--wait 5m` waits for a quiet machine",
        ),
        (
            [a_run_case("a", {}, validity=WRONG), a_run_case("b", {}, validity=DISTURBED)],
            [],
            4,
            "hit_rate, other_load",
        ),
        ([a_run_case("a", {}, validity=FAILED, failure="it died")], [], 4, ""),
        ([], ["not measured, as the budget was used up: a"], 3, ": not measured, as the budget was used up: a"),
        ([], ["a note", "not measured: a"], 3, "nothing was measured: not measured: a"),
        ([], [], 3, "nothing was measured"),
    ],
)
def test_a_run_that_measured_nothing_is_no_success(
    cases: list[dict[str, Any]], notes: list[str], code: int, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_exit_code(a_run(cases, notes=notes)) == code
    written = capsys.readouterr().err
    assert reason in written
    assert bool(written) == bool(reason)


def test_a_run_of_skipped_cases_has_their_reason(capsys: pytest.CaptureFixture[str]) -> None:
    skipped = [{"case": "a", "reason": "unknown command", "text": "it does not know VADD"}]
    assert run_exit_code(a_run([], skipped=skipped)) == 3
    assert "nothing was measured: it does not know VADD" in capsys.readouterr().err


@pytest.mark.slow
def test_a_count_of_a_server_with_io_threads_has_a_note(zerolap: Zerolap, redis_server: Path) -> None:
    counted = ("--engine", "counted", "--quick", "--store", zerolap.store)
    ended = zerolap("run", "get-100B", "--topology", "io-threads-2", *counted)
    assert "counted over one connection, with which I/O threads do nothing: all cases" in ended.out
    assert "I/O threads" not in zerolap("run", "get-100B", *counted).out
