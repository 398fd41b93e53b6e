"""`zerolap history` over real builds of a small server: steps, drifts, commits that change nothing or do not build."""

import csv
import io
import json
import math
import os
import re
import shutil
import signal
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command_line import Ended, Zerolap
from toy_server import CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, WORK_BEGINS, ToySource
from waiting import BUILD_PATIENCE_SECONDS, wait_until

from zerolap.exchange import PublicNames, public_series_of
from zerolap.records import History
from zerolap.sandbox import remove
from zerolap.store import SeriesFilter, Store

INSTRUCTIONS, ALONE = "instructions_per_op", "instructions_alone_per_op"
FIRST, DOCUMENTED, TWICE, BROKEN, REPAIRED, LAST = 0, 1, 2, 3, 4, 10
BROKEN_LINE = "\n#error not yet\n"
SLOWER_STEPS = LAST - REPAIRED


def slower(count: int) -> str:
    """Return the beginning of the work command with so many times 8 instructions more, 0.4 % each."""
    return WORK_BEGINS + (f'\n    __asm__ volatile(".rept {8 * count}\\n nop\\n.endr");' if count else "")


class Range:
    """A repository of eleven commits, the command line, and a store of its own."""

    def __init__(self, directory: Path) -> None:
        self.source = ToySource(directory / "s")
        self.source.git("tag", "1.0.0")
        self.zerolap = Zerolap(directory)
        (self.source.path / "README").write_text("What it is for.\n")
        self.source.commit("documented")
        self.source.replace("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE)
        self.source.commit("checksum | twice")
        commands = self.source.path / "src" / "commands.c"
        working = commands.read_text()
        commands.write_text(working + BROKEN_LINE)
        self.source.commit("broken")
        commands.write_text(working)
        self.source.commit("repaired")
        for count in range(1, SLOWER_STEPS + 1):
            self.source.replace("commands.c", slower(count - 1), slower(count))
            self.source.commit(f"slower {count}")

    def __call__(self, *arguments: str | Path, environment: dict[str, str] | None = None) -> Ended:
        return self.zerolap("history", *self.common(), *arguments, environment=environment)

    def common(self, cases: Path = CASES) -> list[str | Path]:
        return ["--repo", self.source.path, "--cases", cases, "--store", self.zerolap.store]

    def measured(self, *arguments: str | Path, environment: dict[str, str] | None = None) -> Any:
        """Return the document after counting what is missing."""
        ended = self(*arguments, "--engine", "counted", "--json", "-", environment=environment)
        assert ended.code == 0, ended.err
        self.zerolap.wait_for_no_process()
        return ended.document()

    def shown(self, *arguments: str | Path) -> Any:
        ended = self(*arguments, "--json", "-")
        assert ended.code == 0, ended.err
        return ended.document()

    def counted(self) -> Counter[tuple[str, str]]:
        """Return how often each case was counted of each build."""
        query = """
            select document.head_build, job."case" from trial
            join job on job.id = trial.job_id join document on document.id = trial.request_id
        """
        with closing(sqlite3.connect(self.zerolap.store / "zerolap.db")) as connection:
            return Counter(map(tuple, connection.execute(query)))

    def trials(self) -> int:
        """Return how many trials have ended; 0 while there is no store yet."""
        try:
            with closing(sqlite3.connect(self.zerolap.store / "zerolap.db")) as connection:
                return int(connection.execute("select count(*) from trial").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def made_range() -> Iterator[Range]:
    if shutil.which("valgrind") is None:
        pytest.skip("not installed: valgrind")
    # A short name: sockets lie below it.
    directory = Path(tempfile.mkdtemp(prefix="zt-")).resolve()
    yield Range(directory)
    remove(directory)


@pytest.fixture
def fresh(compiler: None) -> Iterator[Range]:
    """A range of which nothing is measured."""
    yield from made_range()


@pytest.fixture(scope="module")
def whole(compiler: None) -> Iterator[Range]:
    """A range that is counted in two cases."""
    for made in made_range():
        made.measured("toy-get", "toy-work", "--measure", "1.0.0..HEAD")
        yield made


@pytest.fixture(scope="module")
def document(whole: Range) -> Any:
    return whole.shown("toy-get", "toy-work", "--range", "1.0.0..HEAD")


def series_of(document: Any, case: str, metric: str = INSTRUCTIONS) -> Any:
    [series] = [one for one in document["series"] if (one["case"], one["metric"]) == (case, metric)]
    return series


# What is found in a range


@pytest.mark.slow
def test_requests_that_come_alone_have_a_call_graph_of_their_own(whole: Range, document: Any) -> None:
    builds = sorted({build for build, _ in whole.counted()})
    graphs: dict[str, set[str | None]] = {}
    with Store.open(str(whole.zerolap.store)) as store:
        fingerprint = document["platform"]["fingerprint"]
        for point in store.history.counted_points(builds, fingerprint, (INSTRUCTIONS, ALONE)):
            graphs.setdefault(point.series.metric, set()).add(point.graph)
    assert None not in graphs[INSTRUCTIONS] | graphs[ALONE]
    assert not graphs[INSTRUCTIONS] & graphs[ALONE]


@pytest.mark.slow
def test_a_step_is_named_with_its_commit_and_reason(document: Any) -> None:
    [step] = series_of(document, "toy-get")["changes"]
    assert (step["kind"], step["after"], step["position"]) == ("step", DOCUMENTED, TWICE)
    assert document["commits"][TWICE]["subject"] == "checksum | twice"
    assert 0.25 < step["low"] < step["change"] < step["high"] < 0.4
    assert (step["p"], step["confirmed"], step["accepted"]) == (None, True, None)
    assert "`checksum_value`" in step["reasons"][0]
    assert step["id"] == f"{document['commits'][TWICE]['commit'][:12]}:toy-get:{INSTRUCTIONS}"


@pytest.mark.slow
@pytest.mark.parametrize("change", ["reasons = 'no list'", "reasons = '[1]'", "explained_by = 'another version'"])
def test_reasons_are_found_once_and_again_where_they_are_not_of_this_version(
    whole: Range, document: Any, change: str
) -> None:
    def shown_after(changed: str) -> list[str]:
        with closing(sqlite3.connect(whole.zerolap.store / "zerolap.db")) as connection, connection:
            assert connection.execute(f"update explained_step set {changed}").rowcount > 0
        [step] = series_of(whole.shown("toy-get", "--range", "1.0.0..HEAD"), "toy-get")["changes"]
        return [*step["reasons"]]

    assert shown_after("reasons = '[\"kept\"]'") == ["kept"]
    assert shown_after(change) == series_of(document, "toy-get")["changes"][0]["reasons"]


@pytest.mark.slow
def test_a_program_that_was_counted_for_a_commit_before_the_range_is_known(whole: Range) -> None:
    document = whole.shown("toy-get", "--range", f"HEAD~{LAST - DOCUMENTED}..HEAD~{LAST - TWICE}")
    assert [point["position"] for point in series_of(document, "toy-get")["points"]] == [0, 1]


@pytest.mark.slow
def test_changes_that_are_too_small_to_be_reported_are_a_drift(document: Any) -> None:
    [drift] = series_of(document, "toy-work")["changes"]
    assert (drift["kind"], drift["after"], drift["position"]) == ("drift", REPAIRED, LAST)
    values = {point["position"]: point["value"] for point in series_of(document, "toy-work")["points"]}
    assert drift["change"] == pytest.approx(values[LAST] / values[REPAIRED] - 1, rel=1e-9)
    assert drift["change"] > 0.02
    assert any("(slower " in reason for reason in drift["reasons"])
    assert not any("documented" in reason for reason in drift["reasons"])


@pytest.mark.slow
def test_nothing_else_is_found(document: Any) -> None:
    changes = [change["id"] for series in document["series"] for change in series["changes"]]
    assert len(changes) == 2
    assert {series["metric"] for series in document["series"]} == {INSTRUCTIONS}


@pytest.mark.slow
def test_the_ledger_is_the_change_from_the_first_to_the_last_commit(document: Any) -> None:
    for case in ("toy-get", "toy-work"):
        series = series_of(document, case)
        first, last = series["points"][0], series["points"][-1]
        assert (first["position"], last["position"]) == (FIRST, LAST)
        assert series["ledger"]["since"] == FIRST
        assert series["ledger"]["total"] == pytest.approx(last["value"] / first["value"] - 1, rel=1e-9)
        assert last["level"] == pytest.approx(math.log(last["value"] / first["value"]), rel=1e-9)
    assert series_of(document, "toy-get")["ledger"]["unreported"] == pytest.approx(0.0, abs=1e-4)
    assert series_of(document, "toy-work")["ledger"]["reported"] == 0.0


@pytest.mark.slow
def test_commits_whose_programs_are_equal_are_counted_once(whole: Range, document: Any) -> None:
    nodes = [commit["node"] for commit in document["commits"]]
    assert nodes[FIRST] == nodes[DOCUMENTED]
    assert nodes[TWICE] == nodes[REPAIRED]
    assert len(set(nodes) - {None}) == 2 + SLOWER_STEPS
    assert [nodes[BROKEN], document["commits"][BROKEN]["node"]] == [None, None]
    assert set(whole.counted().values()) == {1}
    assert len(whole.counted()) == 2 * (2 + SLOWER_STEPS)
    points = series_of(document, "toy-get")["points"]
    assert [point["position"] for point in points] == [at for at in range(LAST + 1) if at != BROKEN]
    assert points[DOCUMENTED]["same_code"] is True


@pytest.mark.slow
def test_a_commit_that_does_not_build_fails_alone_and_is_not_tried_again(whole: Range, document: Any) -> None:
    assert [at for at, commit in enumerate(document["commits"]) if commit["failure"]] == [BROKEN]
    assert "does not build" in document["commits"][BROKEN]["failure"]
    before = whole.counted()
    again = whole("toy-get", "toy-work", "--measure", "1.0.0..HEAD", "--engine", "counted", "--json", "-")
    assert "building" not in again.err
    assert "counting" not in again.err
    assert again.document()["machine_seconds"] == 0
    assert whole.counted() == before


# Reports


@pytest.mark.slow
def test_the_terminal_has_the_headline_and_each_change_with_its_reason(whole: Range) -> None:
    ended = whole("toy-get", "toy-work", "--range", "1.0.0..HEAD")
    assert ended.code == 0, ended.err
    for part in (
        "1 regression by 1 commit, 1 drift",
        "1.0.0..HEAD: 11 commits, 10 measured, 8 distinct programs",
        "step at ",
        "(checksum | twice, by test)",
        "many small changes, the largest of them:",
        "does not build",
    ):
        assert part in ended.out
    report = whole.zerolap("history", "report", "toy-get", *whole.common(), "--range", "HEAD~1..HEAD")
    assert (report.code, report.out.splitlines()[0]) == (0, "nothing is open")


def exported(ranged: Range, store: Path) -> dict[str, Any]:
    """Return what each format has of both cases."""
    formats: dict[str, Any] = {}
    for name in ("json", "csv", "benchfmt", "markdown"):
        arguments = ("toy-get", "toy-work", *ranged.common()[:-1], store, "--range", "1.0.0..HEAD")
        ended = ranged.zerolap("history", *arguments, f"--{name}", "-")
        assert ended.code == 0, ended.err
        formats[name] = ended.out
    document = History.model_validate_json(formats["json"])
    formats["json"] = document.model_dump(exclude={"created", "command_line"})
    names = PublicNames("o", "r", "trunk", "ci", "v", "p")
    formats["time series"] = public_series_of(document, names)
    return formats


@pytest.mark.slow
def test_exports_are_the_same_after_comparisons_of_the_same_commits(whole: Range, tmp_path: Path) -> None:
    """Comparisons count by seeds of their own: their values are those of no history."""
    store = tmp_path / "store"
    shutil.copytree(whole.zerolap.store, store)
    before = exported(whole, store)
    counted = (*whole.common()[:-1], store, "--engine", "counted")
    assert whole.zerolap("bisect", "1.0.0", "HEAD", "toy-get", *counted).code == 0
    for ends in (("1.0.0", "HEAD~8"), ("HEAD~2", "HEAD")):
        assert whole.zerolap("compare", *ends, "toy-get", "toy-work", *counted, "--seed", "7").code == 0
    after = exported(whole, store)
    for name, content in before.items():
        assert after[name] == content, name


@pytest.mark.slow
def test_csv_and_markdown_hold_what_the_document_holds(whole: Range, document: Any) -> None:
    ended = whole("toy-get", "--range", "1.0.0..HEAD", "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    points = series_of(document, "toy-get")["points"]
    assert [row["commit"] for row in rows] == [document["commits"][point["position"]]["commit"] for point in points]
    assert [float(row["value"]) for row in rows] == pytest.approx([point["value"] for point in points], rel=1e-9)
    assert [float(row["change"]) for row in rows] == pytest.approx(
        [math.expm1(point["level"]) for point in points], abs=1e-5
    )
    assert (rows[0]["tags"], rows[0]["engine"], rows[0]["metric"]) == ("1.0.0", "counted", INSTRUCTIONS)
    markdown = whole("toy-get", "toy-work", "--range", "1.0.0..HEAD", "--markdown", "-").out
    assert markdown.startswith("**1 regression by 1 commit, 1 drift**")
    # A subject is text of others, and makes no cell of the table.
    assert " twice, by test)" in markdown
    assert len([line for line in markdown.splitlines() if line.startswith("|")]) == 4


@pytest.mark.slow
def test_ranges_of_releases_and_dates_show_what_is_measured(whole: Range, document: Any) -> None:
    releases = whole.shown("toy-get", "--range", "tags:1.0.0..HEAD")
    assert [commit["commit"] for commit in releases["commits"]] == [
        document["commits"][at]["commit"] for at in (FIRST, LAST)
    ]
    [step] = series_of(releases, "toy-get")["changes"]
    assert (step["after"], step["position"]) == (0, 1)
    dated = whole.shown("toy-get", "--range", "dates:2000-01-01..2999-12-31")
    assert dated["commits"] == document["commits"]


@pytest.mark.slow
def test_without_a_range_the_commits_from_the_first_to_the_last_built_are_shown(whole: Range, document: Any) -> None:
    built = whole.shown("toy-get", "toy-work")
    assert built["commits"] == document["commits"], "a commit between them that is not built keeps its place"
    assert built["commits"][BROKEN]["node"] is None
    [step] = series_of(built, "toy-get")["changes"]
    assert built["commits"][step["position"]]["subject"] == "checksum | twice"


@pytest.mark.slow
def test_reports_need_no_build_and_no_valgrind(whole: Range, document: Any) -> None:
    """Of changes alone the reason is looked for in builds."""
    shutil.move(whole.zerolap.store / "builds", whole.zerolap.store / "away")
    try:
        shown = whole.shown("toy-get", "toy-work", "--range", "1.0.0..HEAD")
    finally:
        shutil.rmtree(whole.zerolap.store / "builds", ignore_errors=True)
        shutil.move(whole.zerolap.store / "away", whole.zerolap.store / "builds")
    assert [one["points"] for one in shown["series"]] == [one["points"] for one in document["series"]]


# Filling


@pytest.mark.slow
def test_ends_and_middles_come_first_and_a_budget_ends_in_between(fresh: Range) -> None:
    """A budget that one commit uses up leaves the oldest commit alone measured; the next one goes on."""
    document = fresh.measured("toy-work", "--measure", "1.0.0..HEAD", "--budget", "0.001s")
    assert [point["position"] for point in series_of(document, "toy-work")["points"]] in ([0], [0, 1])
    assert "the budget is used up" in document["notes"][0]
    again = fresh.measured("toy-work", "--measure", "1.0.0..HEAD", "--budget", "0.001s")
    # The second commit's program is that of the first, which is known once it is built.
    assert [point["position"] for point in series_of(again, "toy-work")["points"]] in ([0, LAST], [0, 1, LAST])


@pytest.mark.slow
def test_filling_goes_on_after_a_kill_and_counts_nothing_twice(fresh: Range) -> None:
    asked = ["toy-get", "toy-work", "--measure", "1.0.0..HEAD", "--engine", "counted"]
    child = fresh.zerolap.start_held(3, "history", *fresh.common(), *asked)
    wait_until(lambda: fresh.trials() >= 3, seconds=BUILD_PATIENCE_SECONDS)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    # What the killed process had started ends with it.
    fresh.zerolap.wait_for_no_process()
    assert child.returncode == -signal.SIGKILL
    done = fresh.trials()
    assert done == 3
    document = fresh.measured("toy-get", "toy-work", "--measure", "1.0.0..HEAD")
    assert set(fresh.counted().values()) == {1}
    assert fresh.trials() == 2 * (2 + SLOWER_STEPS)
    assert [change["kind"] for one in document["series"] for change in one["changes"]] == ["step", "drift"]


@pytest.mark.slow
def test_a_case_with_other_content_is_a_series_of_its_own(fresh: Range, tmp_path: Path) -> None:
    """Values of before and after are not compared, and both stay."""
    other = tmp_path / "cases.yml"
    other.write_text(CASES.read_text().replace("WORK key 100", "WORK key 200"))
    ends = "1.0.0~0..1.0.0"
    old = series_of(fresh.measured("toy-work", "--measure", ends), "toy-work")
    words = ["--repo", fresh.source.path, "--cases", other, "--store", fresh.zerolap.store, "--json", "-"]
    before = fresh.zerolap("history", "toy-work", "--range", ends, *words).document()
    assert before["series"] == []
    counted = fresh.zerolap("history", "toy-work", "--measure", ends, "--engine", "counted", *words)
    new = series_of(counted.document(), "toy-work")
    assert new["points"][0]["value"] > 1.2 * old["points"][0]["value"]
    assert series_of(fresh.shown("toy-work", "--range", ends), "toy-work") == old


@pytest.mark.slow
def test_settings_of_the_server_are_a_series_of_their_own(fresh: Range) -> None:
    once = series_of(fresh.measured("toy-get", "--measure", "1.0.0..1.0.0"), "toy-get")
    thrice = series_of(fresh.measured("toy-get", "--measure", "1.0.0..1.0.0", "--config", "rounds=3"), "toy-get")
    assert thrice["points"][0]["value"] > 1.2 * once["points"][0]["value"]
    assert series_of(fresh.shown("toy-get", "--range", "1.0.0..1.0.0"), "toy-get") == once


def other_valgrind(directory: Path) -> dict[str, str]:
    """Return an environment in which valgrind is of another version."""
    directory.mkdir()
    program = directory / "valgrind"
    version = '[ "$1" = --version ] && { echo valgrind-99.0.0; exit 0; }'
    program.write_text(f'#!/bin/sh\n{version}\nexec {shutil.which("valgrind")} "$@"\n')
    program.chmod(0o755)
    return {"PATH": f"{directory}:{os.environ['PATH']}"}


@pytest.mark.slow
def test_a_change_of_tools_hides_no_change_of_work(fresh: Range) -> None:
    """Counts of two versions of valgrind are not compared: a commit is counted by both, which joins the segments."""
    fresh.measured("toy-get", "--measure", f"1.0.0..HEAD~{LAST - DOCUMENTED}")
    fresh.source.git("checkout", "--quiet", f"HEAD~{LAST - TWICE}")
    other = other_valgrind(fresh.zerolap.directory / "v")
    document = fresh.measured("toy-get", "--measure", "1.0.0..HEAD", environment=other)
    [step] = series_of(document, "toy-get")["changes"]
    assert (step["after"], step["position"]) == (DOCUMENTED, TWICE)
    assert document["notes"] == []
    # The program before the change was counted twice, the one after it once.
    assert fresh.trials() == 3


@pytest.mark.slow
def test_a_case_that_cannot_be_measured_is_told_and_not_tried_again(fresh: Range, tmp_path: Path) -> None:
    cases = tmp_path / "cases.yml"
    unknown = "  - {name: toy-unknown, description: Unknown., commands: [NOSUCH key], expect: {reply: integer}}\n"
    cases.write_text(CASES.read_text() + "\n" + unknown)
    words = ["--repo", fresh.source.path, "--cases", cases, "--store", fresh.zerolap.store, "--json", "-"]
    asked = ["history", "toy-unknown", "toy-work", "--measure", "1.0.0..1.0.0", "--engine", "counted", *words]
    document = fresh.zerolap(*asked).document()
    assert [one["case"] for one in document["series"]] == ["toy-work"]
    [note] = document["notes"]
    assert "`toy-unknown` has no valid count at 1.0.0" in note
    assert "unknown command" in note
    trials = fresh.trials()
    again = fresh.zerolap(*asked)
    assert "counting" not in again.err
    assert (again.document()["notes"], fresh.trials()) == ([note], trials)


@pytest.mark.slow
def test_a_case_that_is_invalid_as_counted_is_not_timed(fresh: Range, tmp_path: Path) -> None:
    cases = tmp_path / "cases.yml"
    cases.write_text("group: toy\ncases:\n  - {name: toy-unknown, commands: [NOSUCH key], expect: {reply: integer}}\n")
    words = ["--repo", fresh.source.path, "--cases", cases, "--store", fresh.zerolap.store, "--engine", "counted,timed"]
    ended = fresh.zerolap("history", "--measure", f"1.0.0..HEAD~{LAST - TWICE}", *words)
    # Nothing was measured, as the server does not answer the case.
    assert (ended.code, "was measured" in ended.err) == (4, True), ended.err
    # One of each program.
    assert fresh.trials() == 2


@pytest.mark.slow
def test_an_accepted_change_is_shown_and_not_open(whole: Range, document: Any) -> None:
    """The last test of this range: it leaves the store as it was."""
    words = ["--repo", whole.source.path, "--store", whole.zerolap.store]
    asked = ["toy-get", "toy-work", "--range", "1.0.0..HEAD"]
    [step] = series_of(document, "toy-get")["changes"]
    accepted = whole.zerolap("history", "ack", step["id"], "--reason", "checked twice", *words)
    assert accepted.code == 0, accepted.err
    shown = whole.shown(*asked)
    assert series_of(shown, "toy-get")["changes"][0]["accepted"] == "checked twice"
    assert series_of(shown, "toy-get")["ledger"]["since"] == TWICE
    with Store.open(str(whole.zerolap.store)) as store:
        [kept] = [kept for kept in store.published_histories.histories(10) if kept.range == "1.0.0..HEAD"]
        series = store.published_histories.series(SeriesFilter((kept.number,), ("toy-get",), (INSTRUCTIONS,)), 10)
        [change] = store.published_histories.changes_of([of_one.number for of_one in series], 10)
        assert (change.id, change.accepted, change.is_open) == (step["id"], "checked twice", False)
    # The other series is as it was.
    assert series_of(shown, "toy-work") == series_of(document, "toy-work")
    report = whole.zerolap("history", "report", *asked, *words, "--cases", CASES)
    assert (report.code, "toy-work" in report.out, "checksum | twice" in report.out) == (0, True, False), report
    withdrawn = whole.zerolap("history", "ack", step["id"], "--withdraw", *words)
    assert withdrawn.code == 0, withdrawn.err
    assert whole.shown(*asked)["series"] == document["series"]


# Wrong usage


def test_wrong_usage_is_refused_before_anything_is_measured(zerolap: Zerolap, toy: ToySource, tmp_path: Path) -> None:
    def history(*arguments: str | Path, repo: Path = toy.path) -> Ended:
        return zerolap("history", "toy-get", "--repo", repo, "--cases", CASES, "--store", zerolap.store, *arguments)

    history("--measure", "nothing..HEAD").fails_with(2, "no revision `nothing`")
    history("--measure", "HEAD").fails_with(2, "is no range of commits", "A..B")
    history("--range", "dates:yesterday..today").fails_with(2, "`yesterday` is no date")
    history("--range", "tags:1.0..2.0").fails_with(2, "no revision `1.0`")
    history("--range", "HEAD..HEAD", repo=tmp_path).fails_with(2, "is not a git repository")
    history("--measure", "HEAD..HEAD", "--range", "HEAD..HEAD").fails_with(2, "leave --range out")
    history("--measure", "HEAD..HEAD", "--engine", "sampled").fails_with(2, "sampled")
    history("--range", "HEAD..HEAD", "--json", "-", "--csv", "-").fails_with(2, "standard output")
    for option in (("--budget", "5m"), ("--engine", "counted"), ("--retry",)):
        history("--range", "HEAD..HEAD", *option).fails_with(2, f"`{option[0]}` without `--measure`")
    zerolap("history", "no-such-case", "--repo", toy.path, "--cases", CASES, "--range", "HEAD..HEAD").fails_with(
        2, "no-such-case"
    )
    assert not (zerolap.store / "builds").exists()


def test_a_range_that_is_not_measured_says_how_to_measure_it(zerolap: Zerolap, toy: ToySource) -> None:
    shown = zerolap("history", "--repo", toy.path, "--cases", CASES, "--range", f"{toy.first}..{toy.first}")
    assert shown.code == 0, shown.err
    assert f"zerolap history --measure '{toy.first}..{toy.first}'" in shown.out
    document = zerolap(
        "history", "--repo", toy.path, "--cases", CASES, "--range", f"{toy.first}..{toy.first}", "--json", "-"
    ).out
    assert json.loads(document)["series"] == []
    # Of a branch that may have thousands of commits not all are suggested.
    shown = zerolap("history", "--repo", toy.path, "--cases", CASES)
    assert "nothing of HEAD is measured: zerolap history --measure HEAD~20..HEAD" in shown.out
    report = zerolap("history", "report", "--repo", toy.path, "--cases", CASES)
    assert (report.code, "nothing of HEAD is measured" in report.out) == (0, True)


def test_what_is_accepted_by_a_wrong_name_is_told(zerolap: Zerolap, toy: ToySource) -> None:
    words = ("--repo", toy.path, "--reason", "agreed", "--store", zerolap.store)
    zerolap("history", "ack", "nothing", *words).fails_with(2, "no revision `nothing`")
    zerolap("history", "ack", f"{toy.first}:toy-get:speed", *words).fails_with(2, "does not follow `speed`", "cpu_ns")
    zerolap("history", "ack", f"{toy.first}:get-100b", *words).fails_with(2, "no case `get-100b`", "`get-100B`")
    zerolap("history", "ack", f"{toy.first}:no-such-case", *words).fails_with(2, "no case `no-such-case` is measured")
    ended = zerolap("history", "ack", f"{toy.first}:get-100B", *words)
    assert (ended.code, "no history that was shown here has this change" in ended.err) == (0, True)
    # Of a case that is not measured any more, an acceptance can be withdrawn.
    assert zerolap("history", "ack", f"{toy.first}:get-100B", "--withdraw", *words[:2], *words[4:]).code == 0


def test_the_help_of_histories_lists_the_other_commands(zerolap: Zerolap) -> None:
    shown = zerolap("history", "--help").out
    assert "Usage: zerolap history [OPTIONS]" in shown
    assert "--measure" in shown
    for name in ("ack", "table", "report", "import", "imported", "export"):
        assert re.search(rf"^\W*{name}  +\w", shown, re.MULTILINE), name
    assert "zerolap history report [OPTIONS]" in zerolap("history", "report", "--help").out


@pytest.mark.slow
def test_a_range_of_which_nothing_builds_says_so(fresh: Range, tmp_path: Path) -> None:
    broken = f"HEAD~{LAST - BROKEN}"
    ended = fresh("toy-get", "--measure", f"{broken}..{broken}", "--engine", "counted", "--markdown", "-")
    assert (ended.code, "was measured" in ended.err) == (4, True)
    assert ended.out.startswith("**1 commit, none measured, 1 failed**")
    assert "does not build" in ended.out
