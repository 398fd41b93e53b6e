"""Files that users and configurations name end nothing: pipes, devices, holes, depth and numbers are bounded."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Zerolap
from sources import tree_source
from toy_server import ToySource

from zerolap.build import LARGEST_PROGRAM_BYTES, Builder
from zerolap.cases import load_cases
from zerolap.errors import UsageError, ZerolapError
from zerolap.fleet.setup import read_agent_credentials
from zerolap.named_file import read_named, read_named_text
from zerolap.records import BuildFailed, CaseFileError
from zerolap.sandbox import available, confined_reader
from zerolap.sandbox.confined_reader import ReaderLimits
from zerolap.server import case_weights
from zerolap.triggers import read_trigger_settings

MANY = 50_000
AXIS = json.dumps(list(range(1000)))


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def directory(path: Path) -> None:
    path.mkdir()


def hole(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)
    path.chmod(0o600)


NO_FILES = [pipe, device, directory, hole]
READERS: dict[str, Callable[[Path], object]] = {
    "a file": read_named,
    "text": read_named_text,
    "triggers": read_trigger_settings,
    "weights": lambda path: case_weights(str(path), []),
    "credentials": read_agent_credentials,
}


@pytest.mark.parametrize("make", NO_FILES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", READERS)
def test_what_is_no_regular_file_is_refused(tmp_path: Path, make: Callable[[Path], None], name: str) -> None:
    make(tmp_path / "named")
    with pytest.raises(UsageError, match=r"is no regular file|is larger than|cannot be read"):
        READERS[name](tmp_path / "named")


@pytest.mark.parametrize("make", [pipe, device, hole], ids=lambda make: make.__name__)
def test_a_case_file_that_is_no_regular_file_is_refused(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "cases.yml")
    with pytest.raises(UsageError, match=r"is no regular file|is larger than"):
        load_cases(tmp_path / "cases.yml")


@pytest.mark.parametrize("make", NO_FILES, ids=lambda make: make.__name__)
def test_settings_that_are_no_regular_file_are_refused(zerolap: Zerolap, make: Callable[[Path], None]) -> None:
    make(zerolap.directory / "zerolap.toml")
    zerolap("suites", "list").fails_with(2, "zerolap.toml")


@pytest.mark.parametrize("make", [pipe, device, hole], ids=lambda make: make.__name__)
def test_a_server_that_is_no_regular_file_is_refused(zerolap: Zerolap, make: Callable[[Path], None]) -> None:
    path = zerolap.directory / "server"
    make(path)
    if not path.is_symlink():
        path.chmod(0o755)
    zerolap("run", "get-100B", "--server", path, "--quick").fails_with(2, str(path))


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    assert read_named(path, 100) == b"x" * 100
    with pytest.raises(UsageError, match="is larger than"):
        read_named(path, 99)
    path.write_bytes(b"\xff")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_named_text(path)
    with pytest.raises(UsageError, match="there is no file"):
        read_named(tmp_path / "absent")


# Depth and numbers.


def refused(path: Path, text: str) -> str:
    path.write_text(text)
    with pytest.raises(CaseFileError) as failed:
        load_cases(path)
    return f"{failed.value.message}\n{failed.value.details}"


@pytest.mark.parametrize(
    "text",
    [
        f"group: {'[' * MANY}",
        f"group: {'{a: ' * MANY}",
        f"group: {'[{a: ' * MANY}",
        "".join(f"{' ' * depth}a:\n" for depth in range(5000)),
        "".join(f"{' ' * depth}- \n" for depth in range(5000)),
        f"a: &a {'[' * 60}{']' * 60}\nb: &b {'[' * 60}*a{']' * 60}\n" + f"group: {'[' * 101}",
        f"? {'[' * MANY}",
        f"--- !!python/tuple {'[' * MANY}",
    ],
    ids=["flow", "mapping", "both", "blocks", "lists", "references", "keys", "tags"],
)
def test_depth_is_a_fault_of_the_file(tmp_path: Path, text: str) -> None:
    assert "nested too deeply" in refused(tmp_path / "deep.yml", text)


def test_many_values_are_a_fault_of_the_file(tmp_path: Path) -> None:
    assert "more than 1,000,000 values" in refused(tmp_path / "wide.yml", f"group: [{'1,' * 1_000_001}]")


def case_with(matrix: str, name: str, description: str = "") -> str:
    lines = ["group: g", "cases:", f'- name: "{name}"', f'  description: "{description}"', '  commands: ["GET a"]']
    return "\n".join([*lines, f"  matrix: {matrix}"])


def test_a_matrix_is_bounded_before_it_is_expanded(tmp_path: Path) -> None:
    matrix = f"{{a: {AXIS}, b: {AXIS}, c: {AXIS}}}"
    assert "1,000,000,000 cases" in refused(tmp_path / "m.yml", case_with(matrix, "x-{a}-{b}-{c}"))
    # References stand for the same.
    referred = f"{{a: &axis {AXIS}, b: *axis, c: *axis}}"
    assert "1,000,000,000 cases" in refused(tmp_path / "m.yml", case_with(referred, "x-{a}-{b}-{c}"))


def test_a_matrix_is_bounded_by_what_its_cases_hold(tmp_path: Path) -> None:
    tags = f"group: g\ncases:\n- name: x-{{a}}\n  commands: [{','.join(['GET a'] * 1000)}]\n  matrix: {{a: {AXIS}}}"
    assert "1,000 cases" in refused(tmp_path / "m.yml", tags.replace(AXIS, json.dumps(list(range(1000)))))


def test_text_of_a_matrix_is_bounded(tmp_path: Path) -> None:
    long = json.dumps(["x" * 100_000])
    text = case_with(f"{{a: {long}}}", "x-{a}", "{a}" * 3000)
    assert "MiB of text" in refused(tmp_path / "m.yml", text)


def test_cases_are_bounded_in_number(tmp_path: Path) -> None:
    cases = "".join(f"- {{name: c{number}, commands: [GET a]}}\n" for number in range(10_001))
    assert "more than 10,000 cases" in refused(tmp_path / "many.yml", f"group: g\ncases:\n{cases}")


def test_faults_are_shown_up_to_a_number(tmp_path: Path) -> None:
    cases = "".join(f"- {{name: c{number}, commands: [GET a], bad: 1}}\n" for number in range(200))
    shown = refused(tmp_path / "many.yml", f"group: g\ncases:\n{cases}")
    assert "and 100 more" in shown
    assert len(shown.splitlines()) < 110


def test_case_files_of_a_directory_are_bounded_in_number_and_size(tmp_path: Path) -> None:
    for number in range(5):
        with (tmp_path / f"{number}.yml").open("wb") as file:
            file.truncate(15 << 20)
    with pytest.raises(UsageError, match="64 MiB"):
        load_cases(tmp_path)
    small = tmp_path / "small"
    small.mkdir()
    for number in range(5_001):
        (small / f"{number}.yml").touch()
    with pytest.raises(UsageError, match="5,000 case files"):
        load_cases(small)


# Programs with holes.


@pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")
def test_a_program_with_a_hole_does_not_build(tmp_path: Path) -> None:
    toy = ToySource(tmp_path / "tree")
    makefile = toy.path / "src" / "Makefile"
    link = "$(CC) -g -o $@ $(OBJECTS)\n"
    makefile.write_text(makefile.read_text().replace(link, f"{link}\ttruncate -s {LARGEST_PROGRAM_BYTES + 1} $@\n"))
    with pytest.raises(BuildFailed, match="has 512 MiB"):
        Builder(tmp_path / "builds").build(tree_source("sparse", toy.path))


@pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")
def test_a_file_that_is_read_as_code_has_a_limit_of_memory(tmp_path: Path) -> None:
    with (tmp_path / "program").open("wb") as file:
        file.write(b"\x7fELF\x02\x01")
        file.truncate(2 << 30)
    limits = ReaderLimits(memory_bytes=512 << 20)
    with pytest.raises(ZerolapError, match="512 MiB of memory"):
        confined_reader.binary_facts(str(tmp_path / "program"), limits)
