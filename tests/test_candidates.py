"""What builds differ in: flags, compilers and the layout of structures, made up and of real programs."""

from pathlib import Path

import pytest
from toy_server import ToySource, compile_toy

from zerolap.explain import BuildFacts, Structure, Structures, explain_build, explain_layout, explain_placement
from zerolap.sandbox import confined_reader

PLAIN = BuildFacts(compiler="GNU C11 12.2.0", flags="-mtune=generic -g -O2", allocator="jemalloc", libc="glibc 2.36")


def test_equal_builds_have_nothing_to_name() -> None:
    assert explain_build(PLAIN, PLAIN) == []
    elsewhere = BuildFacts(PLAIN.compiler, PLAIN.flags + " -fdebug-prefix-map=/a=/b -Wall", "jemalloc", "")
    assert explain_build(PLAIN, elsewhere) == []
    assert explain_placement(is_placed=True) == []


def test_flags_and_tools_that_differ_are_named() -> None:
    other = BuildFacts("Debian clang version 19.1.7", "-mtune=generic -g -O3 -flto", "libc", "glibc 2.36")
    findings = explain_build(PLAIN, other)
    assert {finding.kind for finding in findings} == {"cause"}
    assert [finding.text for finding in findings] == [
        "The builds differ in their compiler: base GNU C11 12.2.0, head Debian clang version 19.1.7.",
        "The builds differ in their allocator: base jemalloc, head libc.",
        "The builds differ in their flags: base `-O2`, head `-O3 -flto`.",
    ]


def test_a_flag_on_one_side_only() -> None:
    more = BuildFacts(PLAIN.compiler, PLAIN.flags + " -fno-omit-frame-pointer", PLAIN.allocator, PLAIN.libc)
    [finding] = explain_build(PLAIN, more)
    assert finding.text.endswith("base none of these, head `-fno-omit-frame-pointer`.")


def test_programs_that_were_not_linked_again_are_named() -> None:
    [finding] = explain_placement(is_placed=False)
    assert finding.kind == "cause"
    assert "as they are linked" in finding.text


ENTRY = ("entry", "table.c")


def structures_of(toy: ToySource) -> Structures:
    program = compile_toy(toy.path)
    return {
        (name, file): Structure(
            size_bytes, tuple((part, int(at)) for part, _, at in (word.rpartition("@") for word in members.split()))
        )
        for file, name, size_bytes, members in confined_reader.structures(str(program), str(toy.path))
    }


@pytest.fixture
def base(tmp_path: Path) -> Structures:
    return structures_of(ToySource(tmp_path / "base"))


def test_a_structure_of_a_real_program_that_grew(base: Structures, tmp_path: Path) -> None:
    assert base[ENTRY] == Structure(40, (("next", 0), ("key", 8), ("value", 24)))
    assert explain_layout(base, base) == []
    head = ToySource(tmp_path / "head")
    head.replace("table.c", "struct entry *next;\n", "struct entry *next;\n    char padding[64];\n")
    [finding] = explain_layout(base, structures_of(head))
    assert finding.kind == "cause"
    assert "`entry` (table.c) has 104 bytes instead of 40." in finding.text


def test_members_of_a_real_program_that_changed_places(base: Structures, tmp_path: Path) -> None:
    head = ToySource(tmp_path / "head")
    head.replace("table.c", "    struct entry *next;\n    struct slice key, value;\n", "")
    head.replace(
        "table.c", "struct entry {\n", "struct entry {\n    struct slice key, value;\n    struct entry *next;\n"
    )
    [finding] = explain_layout(base, structures_of(head))
    assert "`entry` (table.c) has `key` at byte 0 instead of 8." in finding.text


def test_members_without_a_name_are_not_matched() -> None:
    extent = Structure(80, (("bits", 0), ("", 16), ("", 64)))
    assert explain_layout({ENTRY: extent}, {ENTRY: extent}) == []
    [finding] = explain_layout({ENTRY: extent}, {ENTRY: Structure(80, (("bits", 0), ("", 16), ("", 72)))})
    assert "`entry` (table.c) has other members in the same size." in finding.text
