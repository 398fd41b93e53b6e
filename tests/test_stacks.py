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
#include <sys/mman.h>
#include <unistd.h>

static volatile char *next;
static long page;
#define TOUCH(pages) for (int i = 0; i < (pages); i++, next += page) *next = 1

__attribute__((noinline)) static void cheap(void) { TOUCH(CHEAP); }
__attribute__((noinline)) static void costly(void) { TOUCH(COSTLY); }
static inline __attribute__((always_inline)) void inlined(void) { TOUCH(INLINED); }
__attribute__((noinline)) static void serve(void) { cheap(); costly(); inlined(); next++; }

int main(void)
{
    page = sysconf(_SC_PAGESIZE);
    long bytes = page * (CHEAP + COSTLY + INLINED);
    char *area = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED)
        return 1;
    madvise(area, bytes, MADV_NOHUGEPAGE);
    next = area;
    serve();
    return 0;
}
"""
PAGES = {"cheap": 20, "costly": 40, "inlined": 20}
STACK_BYTES = 1024
"""So few that all samples fit into perf's buffer: none is lost, however late perf gets to read it."""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a perf that took a sample at each page that a program touches first: functions have known numbers."""
    compiler, perf = shutil.which("cc"), shutil.which("perf")
    if compiler is None or perf is None:
        pytest.skip("no C compiler" if compiler is None else "no perf")
    directory = tmp_path_factory.mktemp("recording")
    source, program, data = (directory / name for name in ("main.c", "program", "perf.data"))
    source.write_text(SOURCE)
    pages = [f"-D{function.upper()}={number}" for function, number in PAGES.items()]
    subprocess.run([compiler, "-g", "-O1", *pages, "-Wl,--build-id", "-o", program, source], check=True)
    options = ["-q", "-e", "page-faults", "-c", "1", "--call-graph", f"dwarf,{STACK_BYTES}", "-o", str(data)]
    recorded = subprocess.run([perf, "record", *options, "--", program], capture_output=True, text=True, check=False)
    if recorded.returncode != 0:
        reason = next((line for line in recorded.stderr.splitlines() if line not in ("", "Error:")), "without a reason")
        pytest.skip(f"perf cannot record here: {reason}")
    return data


@pytest.fixture(scope="module")
def table(recording: Path) -> bytes:
    return _core.read_stacks(str(recording), str(recording.parent))


def test_table_of_a_recording(table: bytes) -> None:
    stacks = json.loads(table)
    assert list(stacks) == ["schema", "event", "samples", "lost", "threads", "frames", "stacks"]
    assert (stacks["schema"], stacks["lost"]) == ("zerolap.stacks/1", 0)
    assert stacks["threads"] == [{"name": "program"}]
    assert stacks["samples"] == sum(stack["samples"] for stack in stacks["stacks"])
    assert stacks["samples"] >= sum(PAGES.values())
    for name, is_inlined in [("main", False), ("serve", False), ("costly", False), ("inlined", True)]:
        assert {"function": name, "file": "main.c", "object": "program", "inlined": is_inlined} in stacks["frames"]
    names = [[stacks["frames"][frame]["function"] for frame in stack["frames"]] for stack in stacks["stacks"]]
    assert any(stack[-3:] == ["main", "serve", "costly"] for stack in names)


def test_functions_have_the_samples_of_their_pages(table: bytes) -> None:
    rows = _core.function_samples(table)
    by_name = {(thread, function): (file, own, inclusive) for thread, function, file, own, inclusive in rows}
    assert len(by_name) == len(rows)
    own = {name: by_name["program", name][1] for name in (*PAGES, "serve", "main")}
    assert own == {**PAGES, "serve": 0, "main": 0}
    inclusive = {name: by_name["program", name][2] for name in (*PAGES, "serve")}
    assert inclusive == {**PAGES, "serve": sum(PAGES.values())}
    # Functions of the C library touch pages too.
    assert by_name["program", "main"][2] >= inclusive["serve"]
    assert {by_name["program", name][0] for name in own} == {"main.c"}


def test_tree_has_the_samples_of_the_stacks(table: bytes) -> None:
    stacks, tree = json.loads(table), json.loads(_core.stack_tree(table))
    assert list(tree) == ["event", "samples", "lost", "threads", "frames", "nodes"]
    assert (tree["event"], tree["samples"], tree["lost"]) == (stacks["event"], stacks["samples"], 0)
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
