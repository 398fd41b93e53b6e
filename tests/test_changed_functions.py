"""Which functions differ between two programs, whatever a linker and shifted lines do to them."""

import subprocess
from pathlib import Path

import pytest

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
def digests(tmp_path: Path) -> "Digests":
    return Digests(tmp_path)


class Digests:
    """Compiles programs and reads the digests of their functions."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.program = directory / "program"

    def __call__(self, source: str, *flags: str) -> dict[str, str]:
        file = self.directory / "program.c"
        file.write_text(source)
        subprocess.run(["gcc", "-O2", "-g", "-fpie", "-pie", *flags, "-o", self.program, file], check=True)
        return confined_reader.function_digests(str(self.program), str(self.directory))


def differing(base: dict[str, str], head: dict[str, str]) -> set[str]:
    return {name for name in base.keys() | head.keys() if base.get(name) != head.get(name)}


def test_what_a_linker_and_other_lines_move_does_not_differ(digests: Digests) -> None:
    base = digests(SOURCE)
    assert {"first", "second", "third", "main"} <= base.keys()
    assert "inlined" not in base
    moved = "/* a comment\n * of several\n * lines */\n" + SOURCE.replace(
        "int main(", "int added(int value) {\n    return value ^ 0x55;\n}\n\nint main("
    )
    assert differing(base, digests(moved)) == {"added"}
    assert differing(base, digests(SOURCE, "-ffunction-sections", "-Wl,--sort-section=name")) == set()


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
    digests: Digests, old: str, new: str, changed: set[str]
) -> None:
    assert SOURCE.count(old) == 1
    assert differing(digests(SOURCE), digests(SOURCE.replace(old, new))) == changed


def test_lines_with_code_are_known_by_file(digests: Digests) -> None:
    digests(SOURCE)
    lines = confined_reader.code_lines(str(digests.program), str(digests.directory), ["program.c", "absent.c"])
    texts = SOURCE.splitlines()
    with_code = {texts[line - 1].strip() for line in lines["program.c"]}
    assert {"counter += value;", "return value * 17;"} <= with_code
    assert with_code.isdisjoint({"", "static int counter;", "#include <string.h>"})
    assert lines.keys() == {"program.c"}


def test_a_file_that_is_no_program_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"\x7fELF" + bytes(200))
    with pytest.raises(confined_reader.UnreadableFile):
        confined_reader.function_digests(str(file), "/")
