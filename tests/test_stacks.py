"""What Python sees of stacks that perf samples; how they are read is tested in the crate."""

import json
import shutil
from pathlib import Path

import pytest

from zerolap import _core
from zerolap.engines.perf import read_stacks
from zerolap.records import TrialFailed

KEPT = Path(__file__).parent.parent / "crates/profile/tests/data/recording"
"""A recording of page faults, which are as many on every machine, and its program; `record` beside it made both."""
SOURCE_ROOT = "/zerolap"
RECORDED_PATH = b"/tmp/" + 200 * b"0" + b"/program"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the kept recording that refers to a copy of its program, and to no library of this machine."""
    directory = tmp_path_factory.mktemp("recording")
    program = shutil.copy(KEPT / "program", directory)
    bytes_ = (KEPT / "debug_information.data").read_bytes()
    # A path may have any number of slashes.
    bytes_ = bytes_.replace(RECORDED_PATH, str(program).encode().rjust(len(RECORDED_PATH), b"/"))
    data = directory / "perf.data"
    data.write_bytes(bytes_.replace(b"/usr/lib", b"/u~r/lib"))
    return data


@pytest.fixture(scope="module")
def table(recording: Path) -> bytes:
    return _core.read_stacks(str(recording), SOURCE_ROOT)


def test_table_of_a_recording(table: bytes) -> None:
    stacks = json.loads(table)
    assert list(stacks) == ["schema", "event", "samples", "lost", "threads", "frames", "stacks", "lines"]
    assert (stacks["schema"], stacks["event"], stacks["lost"]) == ("zerolap.stacks/1", "page-faults", 0)
    assert {"name": "main-thread"} in stacks["threads"]
    assert {"name": "bio;worker"} in stacks["threads"]
    # 71 pages of the main thread, 21 of the other one.
    assert stacks["samples"] == sum(stack["samples"] for stack in stacks["stacks"]) >= 92
    for name, file, is_inlined in [
        ("main", "main.c", False),
        ("serve", "main.c", False),
        ("costly", "main.c", False),
        ("folded_in", "work.h", True),
    ]:
        assert {"function": name, "file": file, "object": "program", "inlined": is_inlined} in stacks["frames"]
    names = [[stacks["frames"][frame]["function"] for frame in stack["frames"]] for stack in stacks["stacks"]]
    assert any(stack[-3:] == ["main", "serve", "costly"] for stack in names)


def test_samples_of_functions_follow_their_work(table: bytes) -> None:
    rows = _core.function_samples(table)
    by_name = {(thread, function): (file, own, inclusive) for thread, function, file, own, inclusive in rows}
    assert len(by_name) == len(rows)
    assert by_name["main-thread", "costly"] == ("main.c", 40, 40)
    assert by_name["main-thread", "cheap"] == ("main.c", 20, 20)
    assert by_name["main-thread", "folded_in"] == ("work.h", 10, 10)
    assert by_name["main-thread", "serve"] == ("main.c", 1, 71)
    assert by_name["bio;worker", "background"] == ("main.c", 1, 21)


def test_what_has_no_name_is_that_of_its_object() -> None:
    """The table of a run and that of a profile have the same shares of it."""
    frame = {"function": "[unknown]", "file": None, "inlined": False}
    frames = [{**frame, "object": name} for name in ("server", "libc.so.6")]
    stacks = [{"thread": 0, "frames": [0], "samples": 2}, {"thread": 0, "frames": [0, 1], "samples": 3}]
    counts = {
        "schema": "zerolap.stacks/1",
        "event": "cpu-clock",
        "samples": 5,
        "lost": 0,
        "threads": [{"name": "main"}],
    }
    rows = _core.function_samples(json.dumps({**counts, "frames": frames, "stacks": stacks}).encode())
    assert sorted(rows) == [("main", "[unknown]", "libc.so.6", 3, 3), ("main", "[unknown]", "server", 2, 5)]


def test_tree_has_the_samples_of_the_stacks(table: bytes) -> None:
    stacks, tree = json.loads(table), json.loads(_core.stack_tree(table))
    assert list(tree) == ["event", "samples", "lost", "threads", "frames", "nodes"]
    assert (tree["event"], tree["samples"], tree["lost"]) == ("page-faults", stacks["samples"], 0)
    assert tree["threads"] == [thread["name"] for thread in stacks["threads"]]
    assert tree["frames"] == stacks["frames"]
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
    assert any(line.startswith("main-thread;") and ";main;serve;costly " in line for line in lines)


def test_lines_have_the_samples_of_their_code(table: bytes) -> None:
    functions = {function["function"]: function for function in json.loads(table)["lines"]}
    costly = functions["costly"]
    assert (costly["file"], costly["object"], costly["samples"]) == ("main.c", "program", 40)
    assert costly["lines"] == [{"file": "main.c", "line": 9, "samples": 40}]
    assert {(line["file"], line["line"]) for line in functions["folded_in"]["lines"]} == {("work.h", 5)}
    assert ("main.c", 9) in _core.source_lines(table)


def test_lines_get_their_texts(table: bytes) -> None:
    texts = {("main.c", 9): "x" * 500, ("elsewhere.c", 9): "y"}
    functions = {
        function["function"]: function for function in json.loads(_core.with_line_texts(table, texts))["lines"]
    }
    assert [line["text"] for line in functions["costly"]["lines"]] == ["x" * 200]
    assert all("text" not in line for line in functions["cheap"]["lines"])


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


def test_a_trial_fails_where_its_recording_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TrialFailed, match=r"cannot be read.*No such file"):
        read_stacks(tmp_path / "no-recording", "", [])
