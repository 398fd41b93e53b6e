"""What Python sees of stacks that perf samples; how they are read is tested in the crate."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from zerolap import _core
from zerolap.engines.stack_reader import read_stacks
from zerolap.records import TrialFailed

SOURCE = """
static volatile unsigned long sink;
#define SPIN(times) for (volatile long i = 0; i < (times); i++) sink += i

__attribute__((noinline)) static void cheap(void) { SPIN(100000); }
__attribute__((noinline)) static void costly(void) { SPIN(200000); }
static inline __attribute__((always_inline)) void inlined(void) { SPIN(100000); }
__attribute__((noinline)) static void serve(void) { cheap(); costly(); inlined(); sink++; }

int main(void)
{
    for (int round = 0; round < 500; round++)
        serve();
    return 0;
}
"""
SAMPLES_PER_SECOND = 997


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a perf that ran a program whose `costly` does half of the work, `cheap` and `inlined` a quarter."""
    compiler, perf = shutil.which("cc"), shutil.which("perf")
    if compiler is None or perf is None:
        pytest.skip("no C compiler" if compiler is None else "no perf")
    directory = tmp_path_factory.mktemp("recording")
    source, program, data = (directory / name for name in ("main.c", "program", "perf.data"))
    source.write_text(SOURCE)
    subprocess.run([compiler, "-g", "-O1", "-Wl,--build-id", "-o", program, source], check=True)
    options = ["-q", "-e", "cpu-clock", "-F", str(SAMPLES_PER_SECOND), "--call-graph", "dwarf,4096", "-o", str(data)]
    recorded = subprocess.run([perf, "record", *options, "--", program], capture_output=True, text=True, check=False)
    if recorded.returncode != 0:
        pytest.skip(f"perf cannot record here: {recorded.stderr}")
    return data


@pytest.fixture(scope="module")
def table(recording: Path) -> bytes:
    return _core.read_stacks(str(recording), str(recording.parent))


def test_table_of_a_recording(table: bytes) -> None:
    stacks = json.loads(table)
    assert list(stacks) == ["schema", "event", "samples", "lost", "threads", "frames", "stacks"]
    assert (stacks["schema"], stacks["event"], stacks["lost"]) == ("zerolap.stacks/1", "cpu-clock", 0)
    assert stacks["threads"] == [{"name": "program"}]
    assert stacks["samples"] == sum(stack["samples"] for stack in stacks["stacks"]) > 100
    for name, is_inlined in [("main", False), ("serve", False), ("costly", False), ("inlined", True)]:
        assert {"function": name, "file": "main.c", "object": "program", "inlined": is_inlined} in stacks["frames"]
    names = [[stacks["frames"][frame]["function"] for frame in stack["frames"]] for stack in stacks["stacks"]]
    assert any(stack[-3:] == ["main", "serve", "costly"] for stack in names)


def test_samples_of_functions_follow_their_work(table: bytes) -> None:
    rows = _core.function_samples(table)
    by_name = {(thread, function): (file, own, inclusive) for thread, function, file, own, inclusive in rows}
    assert len(by_name) == len(rows)
    file, own, costly = by_name["program", "costly"]
    assert file == "main.c"
    assert own <= costly
    _, _, cheap = by_name["program", "cheap"]
    _, _, inlined = by_name["program", "inlined"]
    _, _, serve = by_name["program", "serve"]
    assert 1.4 < costly / cheap < 2.8
    assert serve == pytest.approx(costly + cheap + inlined, rel=0.05)


def test_tree_has_the_samples_of_the_stacks(table: bytes) -> None:
    stacks, tree = json.loads(table), json.loads(_core.stack_tree(table))
    assert list(tree) == ["event", "samples", "lost", "threads", "frames", "nodes"]
    assert (tree["event"], tree["samples"], tree["lost"]) == ("cpu-clock", stacks["samples"], 0)
    assert (tree["threads"], tree["frames"]) == (["program"], stacks["frames"])
    nodes = tree["nodes"]
    paths: list[list[int]] = []
    for parent, frame in zip(nodes["parent"], nodes["frame"], strict=True):
        paths.append([*(paths[parent] if parent >= 0 else []), frame])
    counted = [
        {"thread": thread, "frames": path, "samples": samples}
        for thread, path, samples in zip(nodes["thread"], paths, nodes["samples"], strict=True)
        if samples > 0
    ]
    assert sorted(counted, key=str) == sorted(stacks["stacks"], key=str)


def test_folded_lines_have_all_samples(table: bytes) -> None:
    lines = _core.fold_stacks(table).splitlines()
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == json.loads(table)["samples"]
    assert any(line.startswith("program;") and ";main;serve;costly " in line for line in lines)


def test_tables_add_up(table: bytes) -> None:
    assert _core.merge_stacks([table]) == table
    one, both = json.loads(table), json.loads(_core.merge_stacks([table, table]))
    assert both["samples"] == 2 * one["samples"]
    assert both["frames"] == one["frames"]
    assert len(both["stacks"]) == len(one["stacks"])


def test_tables_that_are_none_are_refused() -> None:
    for use in (_core.fold_stacks, _core.stack_tree, _core.function_samples, lambda table: _core.merge_stacks([table])):
        with pytest.raises(ValueError, match="not a stack table"):
            use(b"{}")


def test_recordings_that_cannot_be_read_are_named(recording: Path, tmp_path: Path) -> None:
    missing, cut = tmp_path / "missing", tmp_path / "cut"
    with pytest.raises(FileNotFoundError) as raised:
        _core.read_stacks(str(missing), "")
    assert raised.value.filename == str(missing)
    cut.write_bytes(recording.read_bytes()[:-4096])
    with pytest.raises(ValueError, match=f"{cut}: perf's file is cut short"):
        _core.read_stacks(str(cut), "")
    cut.write_bytes(b"")
    with pytest.raises(ValueError, match=f"{cut}: not a file of perf record"):
        _core.read_stacks(str(cut), "")


def test_modules_in_the_working_directory_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "resource.py").write_text("raise SystemExit('hijacked')\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TrialFailed) as raised:
        read_stacks(tmp_path / "no-recording", "")
    assert "hijacked" not in raised.value.details
    assert "No such file" in raised.value.details
