"""Which functions differ between two programs, whatever a linker and shifted lines do to them."""

import subprocess
from pathlib import Path

import pytest

from zerolap.documents.program_differences import differing_functions
from zerolap.records import FunctionCode
from zerolap.sandbox import confined_reader

SOURCE = """\
#include <assert.h>
#include <string.h>

static const int TABLE[] = {3, 5, 7, 11};
static int counter;

__attribute__((noinline)) int first(int value) {
    assert(value < 1000);
    counter += value;
    return TABLE[value & 3];
}

__attribute__((noinline)) int second(int value) {
    return first(value) + (int)strlen("second");
}

static inline int inlined(int value) {
    return value * 17;
}

__attribute__((noinline)) int third(int value) {
    return inlined(value) + counter;
}

int main(int argc, char **argv) {
    (void)argv;
    return second(argc) + third(argc);
}
"""


@pytest.fixture
def programs(tmp_path: Path) -> "Programs":
    return Programs(tmp_path)


class Programs:
    """Compiles programs and reads the code of their functions."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.program = directory / "program"

    def __call__(self, source: str, *flags: str) -> dict[tuple[str, str], FunctionCode]:
        file = self.directory / "program.c"
        file.write_text(source)
        subprocess.run(["gcc", "-O2", "-g", "-fpie", "-pie", *flags, "-o", self.program, file], check=True)
        return confined_reader.function_code(str(self.program), str(self.directory))


def differing_names(base: dict[tuple[str, str], FunctionCode], head: dict[tuple[str, str], FunctionCode]) -> set[str]:
    return {name for name, _ in differing_functions(base, head)}


def test_what_a_linker_and_other_lines_move_does_not_differ(programs: Programs) -> None:
    base = programs(SOURCE)
    assert {(name, "program.c") for name in ("first", "second", "third", "main")} <= base.keys()
    assert ("inlined", "program.c") not in base
    assert base["third", "program.c"].inlined == {("inlined", "program.c")}
    moved = "/* a comment\n * of several\n * lines */\n" + SOURCE.replace(
        "int main(", "int added(int value) {\n    return value ^ 0x55;\n}\n\nint main("
    )
    assert differing_names(base, programs(moved)) == {"added"}
    assert differing_names(base, programs(SOURCE, "-ffunction-sections", "-Wl,--sort-section=name")) == set()


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("value < 1000", "value < 1001", {"first"}),
        ("{3, 5, 7, 11}", "{3, 5, 7, 13}", {"first"}),
        ('strlen("second")', 'strlen("2nd")', {"second"}),
        ("value * 17", "value * 19", {"third"}),
        ("second(argc) + third(argc)", "second(argc) + first(argc)", {"main"}),
        ("+ counter", "- counter", {"third"}),
    ],
)
def test_a_function_differs_by_its_instructions_what_it_calls_and_constants_that_it_reads(
    programs: Programs, old: str, new: str, changed: set[str]
) -> None:
    assert SOURCE.count(old) == 1
    assert differing_names(programs(SOURCE), programs(SOURCE.replace(old, new))) == changed


def test_what_is_renamed_does_not_differ(programs: Programs) -> None:
    renamed = SOURCE
    # The name of `first` is a constant of its assert.
    for old, new in (("second(", "next("), ("third(", "last("), ("counter", "tally")):
        renamed = renamed.replace(old, new)
    assert differing_names(programs(SOURCE), programs(renamed)) == set()
    changed = renamed.replace("value * 17", "value * 19")
    assert differing_names(programs(SOURCE), programs(changed)) == {"third", "last"}
    # Another function is no other name of this one.
    other = SOURCE.replace("second(argc) + third(argc)", "second(argc) + first(argc)")
    assert differing_names(programs(SOURCE), programs(other)) == {"main"}


def test_lines_with_code_are_known_by_file(programs: Programs) -> None:
    programs(SOURCE)
    lines = confined_reader.code_lines(str(programs.program), str(programs.directory), ["program.c", "absent.c"])
    texts = SOURCE.splitlines()
    with_code = {texts[line - 1].strip() for line in lines["program.c"]}
    assert {"counter += value;", "return value * 17;"} <= with_code
    assert with_code.isdisjoint({"", "static int counter;", "#include <string.h>"})
    assert lines.keys() == {"program.c"}


def test_a_file_that_is_no_program_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"\x7fELF" + bytes(200))
    with pytest.raises(confined_reader.UnreadableFile):
        confined_reader.function_code(str(file), "/")
