"""Bisections of real builds of a small server: the culprit is found among harmless commits, with its reason."""

import json
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import Zerolap
from toy_server import CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, WORK_BEGINS, ToySource

pytestmark = pytest.mark.usefixtures("valgrind")

DECLARED = "static uint64_t last_checksum;"
BROKEN = f"{DECLARED} this does not compile"
BUSY = f"{WORK_BEGINS}\n    for (volatile int turn = 0; turn < 300; turn++);"


def grown(source: ToySource, commits: int, edits: Mapping[int, tuple[str, str]], broken: frozenset[int]) -> list[str]:
    """Return commits, the first one of the source included; most add a function that nothing calls."""
    made = [source.first]
    for number in range(1, commits + 1):
        source.replace("commands.c", DECLARED, f"int unused_{number}(int x) {{ return x * {number}; }}\n{DECLARED}")
        if number in edits:
            source.replace("commands.c", *edits[number])
        if number in broken:
            source.replace("commands.c", DECLARED, BROKEN)
        made.append(source.commit(f"change {number}"))
        if number in broken:
            source.replace("commands.c", BROKEN, DECLARED)
    return made


@pytest.fixture
def source(compiler: None, tmp_path: Path) -> ToySource:
    return ToySource(tmp_path / "source")


def asked(source: ToySource, store: Path, good: str, bad: str, case: str, *more: str) -> list[str | Path]:
    common: list[str | Path] = ["--repo", source.path, "--cases", CASES, "--store", store, "--json", "-"]
    return ["bisect", good, bad, case, *common, *more]


@pytest.mark.slow
def test_a_search_by_counts_skips_what_does_not_build_and_survives_a_kill(zerolap: Zerolap, source: ToySource) -> None:
    commits = grown(source, 14, {9: (CHECKSUM_ONCE, CHECKSUM_TWICE)}, broken=frozenset({7, 8}))
    command = asked(source, zerolap.store, commits[0], commits[-1], "toy-get", "--engine", "counted")
    child = zerolap.start(*command)
    assert child.stderr is not None
    counted = 0
    for line in child.stderr:
        counted += line.startswith("counting")
        if counted == 2:
            child.send_signal(signal.SIGKILL)
            break
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    ended = zerolap(*command)
    assert ended.code == 0, ended.err
    document = ended.document()
    assert (document["outcome"], document["engine"]) == ("found", "counted")
    [culprit] = document["culprits"]
    # 7 and 8 cannot be built: one of the three has made the step.
    assert [document["commits"][position]["commit"] for position in culprit["positions"]] == commits[7:10]
    assert culprit["is_certain"] is True
    assert culprit["confirmed"] is True
    assert culprit["change"] > 0.1
    assert any(one["function"] == "checksum_value" for one in culprit["findings"])
    assert "does not build" in document["commits"][7]["failure"]
    # What was counted before the kill is not counted again.
    assert f"building {commits[0][:12]}" not in ended.err
    again = zerolap(*command)
    assert "counting" not in again.err
    same = again.document()
    assert same["culprits"] == document["culprits"]
    assert same["machine_seconds"] == 0


@pytest.mark.slow
def test_two_steps_of_work_are_both_found(zerolap: Zerolap, source: ToySource) -> None:
    thrice = CHECKSUM_TWICE.replace(";", "\n            + checksum_value(value->data + 2, value->length - 2);")
    edits = {3: (CHECKSUM_ONCE, CHECKSUM_TWICE), 6: (CHECKSUM_TWICE, thrice)}
    commits = grown(source, 8, edits, broken=frozenset())
    command = asked(source, zerolap.store, commits[0], commits[-1], "toy-get", "--engine", "counted")
    short = zerolap(*command, "--budget", "0.01s").document()
    assert short["outcome"] == "undecided"
    assert [culprit["is_certain"] for culprit in short["culprits"]] == [False]
    assert "the same command goes on" in short["notes"][0]
    document = zerolap(*command).document()
    assert document["outcome"] == "found"
    assert [culprit["positions"] for culprit in document["culprits"]] == [[3], [6]]
    assert [culprit["confirmed"] for culprit in document["culprits"]] == [True, True]


@pytest.mark.slow
def test_a_search_by_time(zerolap: Zerolap, source: ToySource) -> None:
    commits = grown(source, 5, {3: (WORK_BEGINS, BUSY)}, broken=frozenset({2}))
    report = zerolap.directory / "report.json"
    words = ["--engine", "timed", "--markdown", "-"]
    command = [
        word if word != "-" else report for word in asked(source, zerolap.store, commits[0], commits[-1], "toy-work")
    ]
    ended = zerolap(*command, *words)
    if ended.code == 4:
        pytest.skip("other processes disturbed the starts of an end of the range")
    assert ended.code == 0, ended.err
    document: Any = json.loads(report.read_text())
    assert document["engine"] == "timed"
    assert document["metric"] == "cpu_ns_per_op"
    assert document["change"] > 0
    # A busy machine may leave commits beside it in doubt, or suspect one that the comparison then acquits.
    culprit = max(document["culprits"], key=lambda culprit: abs(culprit["change"]))
    assert 3 in culprit["positions"]
    if not culprit["is_certain"] or not set(culprit["positions"]) <= {2, 3}:
        pytest.skip("other processes disturbed the starts of the commits")
    assert [other for other in document["culprits"] if other["confirmed"] and other != culprit] == []
    assert commits[3][:12] in ended.out


@pytest.mark.slow
def test_ends_that_execute_the_same(zerolap: Zerolap, source: ToySource) -> None:
    commits = grown(source, 2, {}, broken=frozenset())
    ended = zerolap(*asked(source, zerolap.store, commits[0], commits[-1], "toy-get"))
    assert ended.code == 0, ended.err
    document = ended.document()
    assert document["outcome"] == "identical"
    assert document["culprits"] == []
    assert "timing" not in ended.err


def test_an_end_that_does_not_build_is_an_error(zerolap: Zerolap, source: ToySource) -> None:
    commits = grown(source, 2, {}, broken=frozenset({2}))
    ended = zerolap(*asked(source, zerolap.store, commits[0], commits[-1], "toy-get"))
    ended.fails_with(4, "an end of the range, cannot be measured", "does not build", "hint: name a commit beside it")


def test_wrong_usage(zerolap: Zerolap, toy: ToySource) -> None:
    head = toy.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    for words, parts in (
        ((toy.first, toy.first, "toy-get"), ("are the same commit",)),
        ((toy.first, head, "toy-*"), ("names 3 cases, and a search is for one", "toy-get")),
        ((toy.first, head, "none"), ("none",)),
        ((toy.first, "none", "toy-get"), ("no revision `none`",)),
        ((head, toy.first, "toy-get"), ("is not newer",)),
        ((toy.first, head, "toy-get", "--engine", "sampled"), ("not searched by the engine `sampled`",)),
    ):
        zerolap(*asked(toy, zerolap.store, *words)).fails_with(2, *parts)


def test_a_search_does_not_offer_ranges_of_releases(zerolap: Zerolap, toy: ToySource) -> None:
    toy.git("checkout", "--quiet", "--orphan", "elsewhere")
    other = toy.commit("another root")
    ended = zerolap("bisect", other, toy.first, "toy-get", "--repo", toy.path, "--cases", CASES)
    ended.fails_with(2, "is no first parent of", "git merge-base")
    assert "tags:" not in ended.err
    history = zerolap("history", "--range", f"{other}..{toy.first}", "--repo", toy.path, "--cases", CASES)
    history.fails_with(2, "tags:A..B")
