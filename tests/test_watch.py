"""`zerolap watch` as a process: it follows a git repository, and tells of each commit, and of a regression once."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import PROGRAM, Zerolap
from toy_server import CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource
from waiting import BUILD_PATIENCE_SECONDS, wait_until

from zerolap.store import SeriesFilter, Store

REPORTED = "a regression is reported"
GONE = "a regression is gone"
FOLLOWING = "following "


class Watching:
    """A toy server's repository, and the program that follows it; what it tells and what it logs go to files."""

    def __init__(self, directory: Path) -> None:
        self.source = ToySource(directory / "source")
        self.branch = self.source.git("branch", "--show-current")
        self.zerolap = Zerolap(directory)
        self.told, self.log = directory / "told.jsonl", directory / "log"
        self.told.touch()
        self.process: subprocess.Popen[bytes] | None = None
        self.commits = 0

    def arguments(self, *options: str | Path) -> list[str]:
        place = ["--repo", self.source.path, "--branch", self.branch, "--store", self.zerolap.store]
        how = ["--cases", CASES, "--engine", "counted", "--regimes", "none"]
        return [*map(str, ["watch", "toy-get", *place, *how, *options])]

    def start(self, *options: str) -> None:
        """Begin to follow."""
        arguments = self.arguments("--every", "1s", "--json", self.told, *options)
        environment = {**os.environ, "TMPDIR": str(self.zerolap.trials)}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*PROGRAM, *arguments], stdout=log, stderr=log, env=environment, start_new_session=True
            )

    def until(self, text: str) -> None:
        """Wait until a text is in the log."""
        wait_until(lambda: text in self.log.read_text(), self.check, BUILD_PATIENCE_SECONDS)

    def measured(self, commit: str) -> dict[str, Any]:
        """Wait until a commit is measured, and return what is told of it."""
        wait_until(lambda: commit in self.told.read_text(), self.check, BUILD_PATIENCE_SECONDS)
        return next(line for line in self.lines() if line["commit"] == commit)

    def lines(self) -> list[dict[str, Any]]:
        """Return what was told, in order."""
        return [json.loads(line) for line in self.told.read_text().splitlines()]

    def logged(self, event: str) -> list[str]:
        """Return the commits, in short, that the log has with an event."""
        return re.findall(rf"^{event}: ([0-9a-f]{{12}}) of ", self.log.read_text(), re.MULTILINE)

    def check(self) -> None:
        """Assert that it runs."""
        assert self.process is not None
        assert self.process.poll() is None, self.log.read_text()

    def ended(self) -> int:
        """Wait for its end, and return the exit code."""
        assert self.process is not None
        return self.process.wait(2 * BUILD_PATIENCE_SECONDS)

    def interrupt(self) -> int:
        """End it as Ctrl-C does, and return the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        return self.ended()

    def harmless(self) -> str:
        """Commit a change of a source file that changes no program."""
        self.commits += 1
        path = self.source.path / "src" / "table.c"
        path.write_text(f"{path.read_text()}/* {self.commits} */\n")
        return self.source.commit(f"harmless {self.commits}")

    def document(self) -> str:
        """Commit a change of what no server is built from."""
        self.commits += 1
        (self.source.path / "NEWS.md").write_text(f"{self.commits}\n")
        return self.source.commit(f"document {self.commits}")

    def regress(self) -> str:
        """Commit a change that has reading do more."""
        self.source.replace("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE)
        return self.source.commit("regress")

    def repair(self) -> str:
        """Commit it away."""
        self.source.replace("commands.c", CHECKSUM_TWICE, CHECKSUM_ONCE)
        return self.source.commit("repair")


def short(*commits: list[str]) -> tuple[list[str], ...]:
    """Return commits as the log shows them."""
    return tuple([commit[:12] for commit in of_event] for of_event in commits)


@pytest.fixture
def watching(compiler: None, tmp_path: Path) -> Iterator[Watching]:
    prepared = Watching(tmp_path)
    yield prepared
    if prepared.process is not None and prepared.process.poll() is None:
        prepared.process.terminate()
        prepared.process.wait()


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_a_regression_in_ten_commits_is_reported_once_and_that_it_is_gone(watching: Watching) -> None:
    watching.document()
    watching.document()
    harmless = watching.harmless()
    watching.document()
    regression = watching.regress()
    watching.document()
    watching.document()
    repair = watching.repair()
    watching.document()
    watching.document()
    watching.start("--each-commit", "--since", watching.source.first, "--once")
    assert watching.ended() == 0, watching.log.read_text()
    # What only documents change is not measured.
    assert {line["commit"]: line["regressions"] for line in watching.lines()} == {
        harmless: [],
        regression: ["toy-get"],
        repair: [],
    }
    assert (watching.logged(REPORTED), watching.logged(GONE)) == short([regression], [repair])
    with Store.open(str(watching.zerolap.store)) as store:
        [history] = store.published_histories.histories(10)
        assert history.range == watching.branch
        [series] = store.published_histories.series(SeriesFilter(metrics=("instructions_per_op",)), 10)
        changes = store.published_histories.changes_of([series.number], 10)
    assert [(change.commit, change.is_worse) for change in changes] == [(regression, True), (repair, False)]
    assert not any(change.is_open for change in changes)
    # The second time there is nothing new.
    watching.start("--each-commit", "--since", watching.source.first, "--once")
    assert watching.ended() == 0
    assert len(watching.lines()) == 3
    assert (watching.logged(REPORTED), watching.logged(GONE)) == short([regression], [repair])


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_commits_are_followed_as_they_come(watching: Watching) -> None:
    watching.start()
    watching.until(FOLLOWING)
    regression = watching.regress()
    line = watching.measured(regression)
    assert (line["branch"], line["regressions"], line["failures"]) == (watching.branch, ["toy-get"], [])
    [identity] = line["comparisons"]
    shown = watching.zerolap("explain", identity, "--store", watching.zerolap.store, "--json", "-")
    assert shown.code == 0, shown
    # While the remote is away, it is asked again.
    away = watching.source.path.with_name("away")
    watching.source.path.rename(away)
    watching.until("asked again later")
    away.rename(watching.source.path)
    repair = watching.repair()
    assert watching.measured(repair)["regressions"] == []
    watching.until(GONE)
    assert watching.interrupt() == 0
    watching.zerolap.leaves_nothing()
    # Another start goes on where this one has ended.
    harmless = watching.harmless()
    watching.start()
    assert watching.measured(harmless)["regressions"] == []
    assert watching.interrupt() == 0
    assert [line["commit"] for line in watching.lines()] == [regression, repair, harmless]
    assert (watching.logged(REPORTED), watching.logged(GONE)) == short([regression], [repair])


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_what_does_not_build_is_told(watching: Watching) -> None:
    watching.source.replace("commands.c", CHECKSUM_ONCE, "this is not C;")
    broken = watching.source.commit("broken")
    watching.start("--each-commit", "--since", watching.source.first, "--once")
    assert watching.ended() == 4, "nothing was measured of what is new"
    [line] = watching.lines()
    assert (line["commit"], line["comparisons"]) == (broken, [])
    assert line["failures"][0].startswith("local: ")


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_a_tag_is_compared_with_the_one_before_it(watching: Watching) -> None:
    watching.source.git("tag", "v1.0")
    watching.start("--tag", "v*")
    watching.until(FOLLOWING)
    release = watching.regress()
    watching.source.git("tag", "--annotate", "--message", "a release", "v1.1-rc1")
    wait_until(lambda: len(watching.lines()) == 2, watching.check, BUILD_PATIENCE_SECONDS)
    told = {line.get("tag", "a branch"): line for line in watching.lines()}
    assert told["v1.1-rc1"]["regressions"] == ["toy-get"]
    assert {line["commit"] for line in watching.lines()} == {release}


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_a_push_is_shown_to_people_and_to_programs(watching: Watching) -> None:
    since = ["--since", watching.source.first, "--once", "--fail-on", "regression"]
    regression = watching.regress()
    shown = watching.zerolap(*watching.arguments(*since))
    assert shown.code == 1, "--fail-on applies"
    line, report = shown.out.splitlines()
    assert re.fullmatch(rf"{regression[:12]} {watching.branch}: GET does [0-9.]+ % more work", line)
    command = report.removeprefix("  report: zerolap ").split()
    assert watching.zerolap(*command).code == 0
    assert f"new: {regression[:12]} of {watching.branch}, after {watching.source.first[:12]}" in shown.err
    assert shown.err.count("  measuring toy-get (counted)\n") == 1
    assert "{" not in shown.err
    # Where a file gets the JSON, standard output is empty, and people read standard error.
    repair = watching.repair()
    file = watching.zerolap.trials / "pushes.jsonl"
    shown = watching.zerolap(*watching.arguments("--once", "--json", file))
    assert (shown.code, shown.out) == (0, "")
    assert f"{repair[:12]} {watching.branch}: GET does" in shown.err
    pushed = json.loads(file.read_text())
    file.unlink()
    [change] = pushed["changes"]
    assert (pushed["regressions"], pushed["improvements"], change["verdict"]) == ([], ["toy-get"], "improvement")
    assert change["metric"] == "instructions_per_op"
    assert change["low"] <= change["change"] <= change["high"] < 0
    assert pushed["headline"] in shown.err


def test_a_branch_that_is_not_there_is_an_error_whatever_was_followed_before(watching: Watching) -> None:
    assert watching.zerolap(*watching.arguments("--once")).code == 0
    arguments = watching.arguments("--once")
    arguments[arguments.index("--branch") + 1] = "mian"
    watching.zerolap(*arguments).fails_with(2, "no branch `mian`", watching.branch)
    watching.zerolap(*arguments[:-1]).fails_with(2, "no branch `mian`", watching.branch)


def test_a_branch_that_vanishes_is_reported_and_followed_again(watching: Watching) -> None:
    watching.source.git("checkout", "--quiet", "-b", "other")
    watching.start()
    watching.until(FOLLOWING)
    watching.source.git("branch", "-D", watching.branch)
    watching.until(f"has no branch {watching.branch}")
    watching.document()
    watching.source.git("branch", watching.branch)
    watching.until(f"{watching.branch}: not measured: nothing that is measured can be affected")
    assert watching.interrupt() == 0


@pytest.mark.slow
def test_one_look_at_a_remote_that_is_away_fails(watching: Watching) -> None:
    watching.start("--once")
    assert watching.ended() == 0
    watching.source.path.rename(watching.source.path.with_name("moved"))
    watching.start("--once")
    assert watching.ended() == 3
    assert "does not appear to be a git repository" in watching.log.read_text()


def test_a_second_conductor_on_a_store_is_refused(watching: Watching) -> None:
    watching.start()
    watching.until(FOLLOWING)
    second = watching.zerolap(*watching.arguments())
    second.fails_with(2, "works on the store", "--triggers")


@pytest.mark.parametrize(
    ("options", "code", "parts"),
    [
        (["--branch", "main"], 2, ["needs a repository"]),
        (["--repo", "."], 2, ["needs a branch or tags"]),
        (["--repo", "nowhere", "--branch", "main"], 3, ["nowhere", "does not appear to be a git repository"]),
        (["--repo", "source", "--branch", "mian"], 2, ["no branch `mian`", "main"]),
        (["--repo", "source", "--branch", "main", "--since", "v9"], 2, ["no revision `v9`"]),
        (["--repo", "source", "--branch", "main", "--since", "both"], 2, ["`both` is ambiguous", "refs/tags/both"]),
        (["--repo", "source", "--branch", "main", "--every", "soon"], 2, ["soon"]),
        (["--repo", "source", "--branch", "main", "--every", "0.1s"], 2, ["every_seconds"]),
        (["--repo", "ext::sh -c reboot", "--branch", "main"], 2, ["not a git remote"]),
        (["--repo", "--upload-pack=reboot", "--branch", "main"], 2, ["not a git remote"]),
        (["--repo", "source", "--branch", "main", "--engine", "guessed"], 2, ["guessed"]),
        (["--repo", "source", "--branch", "main", "no-such-case"], 2, ["no-such-case"]),
        (["--repo", "source", "--branch", "main", "--cases", "no-such-suite"], 2, ["no-such-suite"]),
    ],
)
def test_wrong_usage_is_told_at_once(watching: Watching, options: list[str], code: int, parts: list[str]) -> None:
    watching.source.git("branch", "-M", "main")
    watching.source.git("tag", "both", watching.source.first)
    watching.source.git("branch", "both", watching.source.commit("another"))
    watching.zerolap("watch", *options, "--store", watching.zerolap.store).fails_with(code, *parts)
