"""The sampled engine on a real server: stacks by thread, and what happens where perf does not work."""

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from command_line import Zerolap, path_without

from zerolap import _core
from zerolap.build import Program
from zerolap.cases import load_cases
from zerolap.engines import SampledTrial, ServerProgram, missing_for_sampling, perf, sample
from zerolap.host import choose_pinning, read_processors
from zerolap.records import Case, TrialFailed

CASES = """
group: checks
datasets:
  strings:
    load: ["SET __key__ __data__"]
    keys: {minimum: 1, maximum: 200}
cases:
  - {name: good, dataset: strings, commands: ["GET __key__"], expect: {reply: bulk, hit_rate: ">= 0.99"}}
  - {name: misses, commands: ["GET __key__"], expect: {hit_rate: ">= 0.99"}}
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cases") / "cases.yml"
    path.write_text(CASES)
    return path


@pytest.fixture(scope="module")
def cases(file: Path) -> dict[str, Case]:
    missing = missing_for_sampling()
    if missing is not None:
        pytest.skip(missing.reason)
    return {case.name: case for case in load_cases(file)}


def trial(case: Case, server: Path, directory: Path) -> SampledTrial:
    directory.mkdir()
    return SampledTrial(ServerProgram(Program(server), {}), "/", case, 1, directory, choose_pinning(read_processors()))


def test_a_pass_has_the_stacks_of_the_servers_threads(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path
) -> None:
    found = sample(trial(cases["good"], redis_server, tmp_path / "t"))
    assert found.measurement.validity.failed == []
    assert found.measurement.metrics["cpu_ns_per_op"] > 0
    table = json.loads(found.stacks)
    assert table["samples"] == sum(stack["samples"] for stack in table["stacks"])
    # The kernel's part is where a server that answers small requests spends much of its time.
    objects = {table["frames"][frame]["object"] for stack in table["stacks"] for frame in stack["frames"]}
    assert "server" in objects
    assert {thread["name"] for thread in table["threads"]} >= {"server"}
    rows = _core.function_samples(found.stacks)
    assert sum(own for _, _, _, own, _ in rows) == table["samples"]


def test_a_pass_whose_replies_are_wrong_is_not_valid(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path
) -> None:
    found = sample(trial(cases["misses"], redis_server, tmp_path / "t"))
    assert [check.check for check in found.measurement.validity.failed] == ["hit_rate"]


def test_a_perf_that_is_killed_ends_the_pass(cases: dict[str, Case], redis_server: Path, tmp_path: Path) -> None:
    directory = tmp_path / "t"
    killer = threading.Thread(target=kill_when_there, args=("perf record", str(directory)))
    killer.start()
    with pytest.raises(TrialFailed, match="perf"):
        sample(trial(cases["good"], redis_server, directory))
    killer.join()


def kill_when_there(*words: str) -> None:
    for _ in range(3000):
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if all(word in line for word in words) and int(path.parent.name) != os.getpid():
                time.sleep(0.5)
                os.kill(int(path.parent.name), signal.SIGKILL)
                return
        time.sleep(0.01)


def test_without_perf_stacks_are_left_out_unless_they_were_asked_for(
    cases: dict[str, Case], file: Path, redis_server: Path, tmp_path: Path
) -> None:
    zerolap = Zerolap(tmp_path)
    without = path_without(tmp_path / "bin", "perf", "python3-perf", "perf_6.1")
    common = ["compare", redis_server, redis_server, "good", "--cases", file, "--store", zerolap.store]
    asked = zerolap(*common, "--engine", "timed,sampled", environment=without)
    asked.fails_with(3, "no stacks: perf is not installed", "hint: apt-get install linux-perf")
    ended = zerolap(*common, "--budget", "0.1s", "--json", "-", environment=without)
    assert ended.code == 0, ended
    assert "warning: no stacks of what changed: perf is not installed" in ended.err
    assert "sampled" not in ended.document()["settings"]["engines"]
    assert any("perf is not installed" in note for note in ended.document()["notes"])


def test_a_perf_that_may_not_record_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What perf says and how it ends where kernel.perf_event_paranoid forbids recording."""
    script = tmp_path / "perf"
    script.write_text("#!/bin/sh\necho 'Error:' >&2\necho 'No permission to enable cpu-clock event.' >&2\nexit 255\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    missing = perf.missing_for_sampling()
    assert missing is not None
    assert "No permission to enable cpu-clock event." in missing.reason
    assert "perf_event_paranoid" in missing.remedy


@pytest.mark.slow
def test_stacks_of_all_cases_reach_the_page(
    cases: dict[str, Case], file: Path, redis_server: Path, tmp_path: Path
) -> None:
    zerolap = Zerolap(tmp_path)
    page = tmp_path / "report.html"
    common = ["compare", redis_server, redis_server, "good", "--cases", file, "--store", zerolap.store]
    ended = zerolap(*common, "--engine", "counted,sampled", "--stacks", "all", "--html", page, "--json", "-")
    assert ended.code == 0, ended
    assert ended.document()["settings"]["engines"] == ["counted", "sampled"]
    stacks = json.loads(page.read_text().partition('data-case="good">')[2].partition("</script>")[0])
    assert stacks.keys() == {"base", "head"}
    for tree in stacks.values():
        assert sum(tree["nodes"]["samples"]) == tree["samples"] > 0
    zerolap.leaves_nothing()
