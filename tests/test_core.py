"""What Python sees of the Rust crates; what they compute is tested in the crates."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from zerolap import _core

SOURCE_ROOT = "/build/redis"


def write_dump(path: Path, requests: int) -> str:
    """A dump in callgrind's format: one command that appends, and what the start of the server cost once."""
    startup, command, append = 500, 20 * requests, 80 * requests
    path.write_text(f"""# callgrind format
events: Ir sysCount
summary: {startup + command + append} {requests}

ob=(1) /build/redis/src/server
fl=(1) /build/redis/src/t_stream.c
fn=(1) xaddCommand
10 {command}
cfn=(2) appendItem.constprop.0
calls={requests} 40
+2 {append} {requests}

fn=(2)
40 {append} {requests}

fn=(3) startup
70 {startup}

totals: {startup + command + append} {requests}
""")
    return str(path)


@pytest.fixture
def graph(tmp_path: Path) -> bytes:
    small, large = write_dump(tmp_path / "small", 10), write_dump(tmp_path / "large", 50)
    return _core.call_graph(small, large, 10, 50, SOURCE_ROOT)


def test_call_graph_of_one_request(graph: bytes) -> None:
    assert json.loads(graph) == {
        "schema": "zerolap.callgraph/1",
        "files": ["t_stream.c"],
        "totals": {"instructions": 100.0, "syscalls": 1.0},
        "functions": [
            {
                "name": "appendItem",
                "file": 0,
                "object": "server",
                "instructions": 80.0,
                "syscalls": 1.0,
                "calls": 1.0,
                "lines": [[0, 40, 80.0]],
            },
            {
                "name": "xaddCommand",
                "file": 0,
                "object": "server",
                "instructions": 20.0,
                "syscalls": 0.0,
                "calls": 0.0,
                "lines": [[0, 10, 20.0]],
            },
        ],
        "edges": [
            {"caller": 1, "callee": 0, "calls": 1.0, "instructions": 80.0, "syscalls": 1.0, "lines": [[0, 12, 1.0]]}
        ],
    }


def test_mean_of_equal_graphs_is_the_graph(graph: bytes) -> None:
    assert _core.merge_call_graphs([graph, graph, graph]) == graph


def test_graph_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="not a call graph"):
        _core.merge_call_graphs([b"{}"])


def test_windows_must_grow(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump", 10)
    with pytest.raises(ValueError, match="not more than the small window's 10"):
        _core.call_graph(dump, dump, 10, 10, SOURCE_ROOT)


def test_dump_cut_short_is_refused_with_its_name(tmp_path: Path) -> None:
    whole = Path(write_dump(tmp_path / "whole", 10))
    cut = tmp_path / "cut"
    cut.write_text(whole.read_text().rsplit("totals:", 1)[0])
    with pytest.raises(ValueError, match=f"{cut}: cut short"):
        _core.call_graph(str(whole), str(cut), 10, 20, SOURCE_ROOT)


def test_missing_files_are_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    for read in (
        lambda: _core.call_graph(missing, missing, 1, 2, SOURCE_ROOT),
        lambda: _core.binary_facts(missing),
        lambda: _core.source_functions(missing, SOURCE_ROOT),
    ):
        with pytest.raises(FileNotFoundError) as raised:
            read()
        assert raised.value.filename == missing


def test_binary_facts_and_functions(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    source = tmp_path / "src" / "main.c"
    source.parent.mkdir()
    source.write_text("int main(void)\n{\n    return 0;\n}\n")
    program = tmp_path / "program"
    subprocess.run([compiler, "-g", "-O1", "-Wl,--build-id", "-o", program, source], check=True)
    facts = _core.binary_facts(str(program))
    assert int(facts.build_id, 16) > 0
    assert facts.compiler
    assert isinstance(facts.flags, str)
    assert (facts.stripped, facts.debug_lines, facts.static_executable) == (False, True, False)
    assert facts.exported_functions >= 0
    [(file, name, first_line, last_line)] = _core.source_functions(str(program), str(tmp_path))
    assert (file, name, first_line) == ("main.c", "main", 1)
    assert last_line in (3, 4)
    with pytest.raises(ValueError, match="ELF"):
        _core.binary_facts(str(source))


def test_binary_facts_of_python_itself() -> None:
    assert not _core.binary_facts(sys.executable).static_executable


def test_paired_change() -> None:
    change = _core.paired_change([100.0, 102.0, 98.0], [110.0, 112.2, 107.8], 0.001, 0.99)
    assert change.change == pytest.approx(0.1)
    assert change.low < change.change < change.high
    assert change.p < 0.001
    assert change.sd == 0.001
    assert 0 < change.detectable < 0.01
    assert change.pairs == 3
    with pytest.raises(AttributeError):
        change.change = 0.0  # type: ignore[misc]


def test_zero_on_one_side_has_an_error_of_its_own() -> None:
    with pytest.raises(_core.ZeroSideError):
        _core.paired_change([0.0, 0.0], [1.0, 1.0], 0.0, 0.99)
    assert _core.paired_change([0.0, 0.0], [0.0, 0.0], 0.0, 0.99).p == 1.0
    with pytest.raises(ValueError, match="sample 1 is 0"):
        _core.paired_change([1.0, 0.0], [1.0, 1.0], 0.0, 0.99)


def test_adjusted_p_values_keep_their_order() -> None:
    assert _core.adjust_p([0.04, 0.01, 0.03]) == pytest.approx([0.04, 0.03, 0.04])
    with pytest.raises(ValueError, match="not between 0 and 1"):
        _core.adjust_p([2.0])
