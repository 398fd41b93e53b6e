"""The sampled engine on a real server: stacks by thread, and what happens where perf does not work."""

import gzip
import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import Zerolap, path_without
from demonstrated_lab import Demonstration
from engine_place import CHECK_CASES, job_of, measured, place_in
from machine import CHECKS_OF_THE_MACHINE, failed_by_the_server
from report_page import embedded, inflated
from toy_server import CASES, SOURCE, ToySource

from zerolap import _core
from zerolap.build import Builder, resolve
from zerolap.cases import load_cases
from zerolap.documents import read_pictures
from zerolap.engines import missing_for_sampling, perf, sampled
from zerolap.engines.sampled import Sampled
from zerolap.records import BASE, HEAD, Block, Case, Measurement, PooledChange, TrialDone, TrialFailed
from zerolap.store import Store


@pytest.fixture(scope="module")
def sampling() -> None:
    missing = missing_for_sampling()
    if missing is not None:
        pytest.skip(missing.reason)


@pytest.fixture(scope="module")
def cases(sampling: None, cases: dict[str, Case]) -> dict[str, Case]:
    return cases


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes with as many samples as it takes to see what they are of."""
    monkeypatch.setattr(sampled, "SAMPLED_SECONDS", 0.2)


def sample(case: Case, server: Path, directory: Path) -> tuple[Measurement, bytes]:
    """Carry out a pass; return its measurement and its stacks."""
    place = place_in(directory)
    measurement = measured(Sampled(), job_of("sampled", case, server, place), place)
    assert measurement.stacks is not None
    return measurement, place.blobs.get(measurement.stacks)


ROUND = "word = word * 6364136223846793005ULL + 1442695040888963407ULL;"


BY_CASE = {".cases"}
REPORTED_PARTS = ("calls_per_op.base", "calls_per_op.head", "file", "function", "share_of_change", "text")
UP_TO_MACHINE_AND_SERVER = {
    # What the judge and the explainer find in other comparisons: reasons of several functions, slow starts, failures.
    *(f".cases[].findings[].parts[].{part}" for part in (*REPORTED_PARTS, "instructions_changed_per_op")),
    *(f".cases[].verdicts[].wild_starts.{part}" for part in ("base", "head", "largest", "mean_change")),
    ".cases[].failed_sides[]",
    # Only of four cases or more.
    *(f".suite[].{part}" for part in PooledChange.model_fields),
    # What a time comes to depends on how busy the machine is.
    ".cases[].time",
    ".cases[].time_deciding",
    ".cases[].confirmed",
    # The toy server reports none.
    ".base.allocator",
    ".head.allocator",
    # Facts that a platform may have, and notes.
    ".platform.facts.governor",
    ".platform.facts.turbo",
    ".platform.facts.made up",
    ".notes[]",
}


def skip_without_stacks(document: dict[str, Any]) -> None:
    """Skip where the machine is too busy for enough samples, which the document reports."""
    texts = [finding["text"] for case in document["cases"] for finding in case["findings"]]
    too_few = [text for text in texts if text.startswith("No stacks: ")]
    if too_few:
        assert any(check in too_few[0] for check in CHECKS_OF_THE_MACHINE), too_few
        pytest.skip(too_few[0])


def same_servers(server: Path, zerolap: Zerolap) -> list[str | Path]:
    """Return the words of a comparison of a server with itself."""
    return ["compare", server, server, "good", "--cases", CHECK_CASES, "--store", zerolap.store]


@pytest.mark.usefixtures("short")
def test_a_pass_has_the_stacks_of_the_servers_threads(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path
) -> None:
    measurement, stacks = sample(cases["good"], redis_server, tmp_path / "t")
    checks = {check.check: check for check in measurement.validity.checks}
    assert failed_by_the_server(checks.values()) == []
    assert measurement.metrics["cpu_ns_per_op"] > 0
    assert measurement.metrics["ops_per_sec"] > 0
    table = json.loads(stacks)
    assert table["event"] == perf.sampling_event()
    assert table["samples"] == sum(stack["samples"] for stack in table["stacks"]) > 0
    assert checks["stack_samples"].value == table["samples"]
    assert checks["lost_samples"].value == table["lost"] / (table["samples"] + table["lost"])
    # The kernel's part is where a server that answers small requests spends much of its time.
    objects = {table["frames"][frame]["object"] for stack in table["stacks"] for frame in stack["frames"]}
    assert "server" in objects
    assert {thread["name"] for thread in table["threads"]} >= {"server"}
    rows = _core.function_samples(stacks)
    assert sum(own for _, _, _, own, _ in rows) == table["samples"]


@pytest.mark.slow
@pytest.mark.usefixtures("sampling", "short")
def test_samples_of_a_build_have_lines_with_their_text(toy: ToySource, tmp_path: Path) -> None:
    place = place_in(tmp_path / "t")
    built = Builder(place.builds.directory).build(resolve(toy.first, toy.path))
    case = next(case for case in load_cases(CASES) if case.name == "toy-work")
    job = job_of("sampled", case, built.program.path, place)
    server = job.servers[HEAD].model_copy(update={"build": built.record.build})
    measurement = measured(Sampled(), job.model_copy(update={"servers": {HEAD: server}}), place)
    assert measurement.stacks is not None
    functions = json.loads(place.blobs.get(measurement.stacks))["lines"]
    sources = {path.name: path.read_text().splitlines() for path in (SOURCE / "src").iterdir()}
    lines = [line for function in functions for line in function["lines"] if line["file"] in sources]
    assert lines
    for line in lines:
        assert line["text"] == sources[line["file"]][line["line"] - 1].rstrip()[:200]


def filled_paths(value: Any, at: str = "") -> set[str]:
    """Return the paths of a document at which there is something, those of all entries of a list or of cases as one."""
    if isinstance(value, dict):
        names = dict.fromkeys(value, "*") if at in BY_CASE else {name: name for name in value}
        return set().union(*(filled_paths(part, f"{at}.{names[name]}") for name, part in value.items()))
    if isinstance(value, list):
        return set().union(*(filled_paths(part, f"{at}[]") for part in value))
    return set() if value is None or value is False or value == "" else {at}


@pytest.fixture(scope="module")
def compared(sampling: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Zerolap, Any, Path]:
    """A comparison of two commits by all engines that every machine has: the program, its document and its page."""
    directory = tmp_path_factory.mktemp("compared")
    toy, zerolap = ToySource(directory / "toy"), Zerolap(directory)
    page, cases = directory / "report.html", directory / "cases.yml"
    head = toy.changed(("commands.c", ROUND, f"{{\n        {ROUND}\n        word ^= word >> 9;\n    }}"))
    cases.write_text("group: toy\ncases:\n  - {name: work, commands: [WORK key 20000], expect: {reply: integer}}\n")
    common = ["compare", toy.first, head, "--repo", toy.path, "--cases", cases, "--store", zerolap.store]
    asked = ["--engine", "counted,timed,sampled", "--budget", "1m", "--html", page, "--json", "-"]
    ended = zerolap(*common, *asked)
    assert ended.code == 0, ended
    skip_without_stacks(ended.document())
    return zerolap, ended.document(), page


@pytest.mark.slow
def test_comparisons_of_commits_have_the_lines_of_what_changed(
    compared: tuple[Zerolap, Any, Path], tmp_path: Path
) -> None:
    """They are sampled in placements, which are linked without debug information."""
    zerolap, _, page = compared
    pictures = json.loads(embedded(page.read_text(), "lines"))
    [case] = pictures["cases"].values()
    [work] = [of for of in case if of["function"] == "work_command"]
    assert work["file"] == "commands.c"
    texts = [pictures["sources"][place]["text"] for place in work["source"]]
    assert any("word ^= word >> 9;" in text for text in texts if text is not None)

    lines = zerolap("profile", "--stored", "latest", "--store", zerolap.store, "--lines", "work_command")
    assert "word ^= word >> 9;" in lines.out
    for name in ("stacks.callgrind", "stacks.pb.gz"):
        zerolap("profile", "--stored", "latest", "--store", zerolap.store, "--output", tmp_path / name)
    assert "commands.c" in (tmp_path / "stacks.callgrind").read_text()
    assert b"commands.c" in gzip.decompress((tmp_path / "stacks.pb.gz").read_bytes())


@pytest.mark.slow
def test_what_the_demonstration_shows_is_in_a_real_comparison(
    compared: tuple[Zerolap, Any, Path], demonstration: Demonstration, tmp_path: Path
) -> None:
    zerolap, document, _ = compared
    if not any(verdict["engine"] == "timed" for case in document["cases"] for verdict in case["verdicts"]):
        pytest.skip("this machine was too busy to time anything")
    with demonstration.opened_in(tmp_path / "store") as store:
        rows = [row for row in store.comparisons(200) if row.kind == "compare" and row.state == "done"]
        comparisons = [store.comparison(row.id) for row in rows]
        shown = set().union(*(filled_paths(of.model_dump(mode="json", by_alias=True)) for of in comparisons))
        drawn = set().union(*(filled_paths(read_pictures(of, store).model_dump(mode="json")) for of in comparisons))
    with Store.open_to_read(str(zerolap.store)) as store:
        pictures = read_pictures(store.comparison(document["id"]), store).model_dump(mode="json")
    assert shown - filled_paths(document) - UP_TO_MACHINE_AND_SERVER == set()
    assert drawn - filled_paths(pictures) == set()


@pytest.mark.usefixtures("short")
def test_a_pass_whose_replies_are_wrong_is_not_valid(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path
) -> None:
    measurement, _ = sample(cases["misses"], redis_server, tmp_path / "t")
    assert failed_by_the_server(measurement.validity.checks) == ["hit_rate"]
    assert not measurement.validity.valid


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_the_sides_are_sampled_in_turns(cases: dict[str, Case], redis_server: Path, tmp_path: Path) -> None:
    place = place_in(tmp_path / "t")
    job = job_of("sampled", cases["good"], redis_server, place)
    server = job.servers[HEAD]
    blocks = tuple(Block(number=number, seed=number + 1) for number in range(3))
    both = job.model_copy(update={"servers": {BASE: server, HEAD: server}, "blocks": blocks})
    done = [event for event in Sampled().carry_out(both, place) if isinstance(event, TrialDone)]
    order = [(event.block, side) for event in done for side in event.measurements]
    assert order == [(0, BASE), (0, HEAD), (1, HEAD), (1, BASE), (2, BASE), (2, HEAD)]
    # What an earlier attempt has recorded is not taken again.
    again = replace(place, recorded=done[:3])
    left = [event for event in Sampled().carry_out(both, again) if isinstance(event, TrialDone)]
    assert [(event.block, side) for event in left for side in event.measurements] == order[3:]


def test_a_perf_that_is_killed_ends_the_pass(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = perf.PerfRecorder.begin

    def begin_and_die(recorder: perf.PerfRecorder) -> None:
        begin(recorder)
        os.kill(recorder.process.number, signal.SIGKILL)

    monkeypatch.setattr(perf.PerfRecorder, "begin", begin_and_die)
    with pytest.raises(TrialFailed, match="perf"):
        sample(cases["good"], redis_server, tmp_path / "t")


@pytest.mark.usefixtures("short")
def test_too_few_samples_and_lost_ones_are_reported(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How many there are is up to the machine: the limits are set so that they are too few, and too many are lost."""
    monkeypatch.setattr(sampled, "FEWEST_SAMPLES", 10**9)
    monkeypatch.setattr(sampled, "MOST_LOST", -1.0)
    measurement, _ = sample(cases["good"], redis_server, tmp_path / "t")
    assert {check.check for check in measurement.validity.failed} >= {"stack_samples", "lost_samples"}


@pytest.mark.slow
def test_without_perf_stacks_are_left_out_unless_they_were_asked_for(redis_server: Path, tmp_path: Path) -> None:
    zerolap = Zerolap(tmp_path)
    without = path_without(tmp_path / "bin", "perf", "python3-perf", "perf_6.1")
    common = same_servers(redis_server, zerolap)
    asked = zerolap(*common, "--engine", "timed,sampled", environment=without)
    reason = "the engine `sampled` cannot be used: perf is not installed"
    asked.fails_with(3, reason, "hint: apt-get install linux-perf")
    ended = zerolap(*common, "--budget", "0.1s", "--json", "-", environment=without)
    assert ended.code == 0, ended
    assert "warning: no stacks of what changed: perf is not installed" in ended.err
    assert "sampled" not in ended.document()["settings"]["engines"]
    assert any("perf is not installed" in note for note in ended.document()["notes"])


def test_a_perf_that_may_not_record_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What perf prints and how it ends where kernel.perf_event_paranoid forbids recording."""
    script = tmp_path / "perf"
    script.write_text("#!/bin/sh\necho 'Error:' >&2\necho 'No permission to enable cpu-clock event.' >&2\nexit 255\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    missing = perf.missing_for_sampling()
    assert missing is not None
    assert "No permission to enable cpu-clock event." in missing.reason
    assert "perf_event_paranoid" in missing.remedy


@pytest.mark.slow
@pytest.mark.usefixtures("sampling")
def test_stacks_of_all_cases_reach_the_page(redis_server: Path, tmp_path: Path) -> None:
    zerolap = Zerolap(tmp_path)
    page = tmp_path / "report.html"
    common = same_servers(redis_server, zerolap)
    ended = zerolap(*common, "--engine", "counted,sampled", "--stacks", "all", "--html", page, "--json", "-")
    assert ended.code == 0, ended
    assert ended.document()["settings"]["engines"] == ["counted", "sampled"]
    written = page.read_text().partition('data-case="good">')[2].partition("</script>")[0]
    stacks = json.loads(inflated(written)) if written else None
    [case] = ended.document()["cases"]
    too_few = [one["text"] for one in case["findings"] if one["text"].startswith("No stacks: ")]
    if too_few:
        # A machine that is too busy for enough samples is no fault, but it is reported.
        assert any(check in too_few[0] for check in CHECKS_OF_THE_MACHINE), too_few
        assert stacks is None
    else:
        assert stacks is not None
        assert stacks["waits"] is None
        assert stacks["stacks"].keys() == {"base", "head"}
        for tree in stacks["stacks"].values():
            assert sum(tree["nodes"]["samples"]) == tree["samples"] > 0
    zerolap.leaves_nothing()
