"""Executed instructions without addresses: what a harmless edit leaves the same, and what no edit may hide."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from zerolap import _core
from zerolap.sandbox import confined_reader

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#define APART __attribute__((noinline))

typedef int wide __attribute__((vector_size(64), aligned(4)));

static const int weights[] = {3, 1, 4, 1, 5, 9, 2, 6};
static const char *const words[] = {"one", "two", "three", "four"};
static int counter = 11;
static int total;
static int other_total;

static const char *volatile allocator_settings;
static const int *volatile wide_numbers;

__attribute__((target("avx512f"), noinline)) static int sum_of_wide(const int *numbers) {
    wide sum = *(const wide *)numbers + 3;
    return sum[0] + sum[15];
}

static APART void fail(const char *what, int line) { fprintf(stderr, "%s %d\n", what, line); exit(1); }

APART int twice(int x) { return x * 2 + counter; }
APART int thrice(int x) { return x * 3 - counter; }
static APART int scaled(int x) { return x * 7 + weights[x & 7]; }

APART double halved(double x) { return x * 0.375; }

APART int chosen(int kind, int x) {
    switch (kind) {
    case 0: return scaled(x) + 1;
    case 1: return twice(x) - 5;
    case 2: return thrice(x) ^ 77;
    case 3: total += x; return total * 3;
    case 4: return x / 3;
    case 5: puts(words[x & 3]); return 4;
    default: return kind;
    }
}

APART int checked(int x) {
    if (x < 0) fail("not read", __LINE__);
    other_total += 1;
    if (x > 40) return x * 5;
    return x + 1;
}

int main(int count, char **arguments) {
    int sum = 0;
    allocator_settings = "dirty_decay_ms:10000";
    puts("7.0.15");
    if (wide_numbers) sum += sum_of_wide(wide_numbers);
    for (int at = 0; at < 60; at++) sum += chosen(at % 7, at) + checked(at + count);
    sum += (int)halved(sum);
    printf("%d %d\n", sum, (int)(arguments != NULL));
    return other_total == 0;
}
"""

UNUSED = "int unused(int x) { int sum = 0; while (x-- > 0) sum += x * x; return sum; }\n"
TWICE = "APART int twice(int x) { return x * 2 + counter; }\n"
THRICE = "APART int thrice(int x) { return x * 3 - counter; }\n"

HARMLESS = {
    "an unused function before": [("APART int twice", UNUSED + "APART int twice")],
    "an unused function behind": [("int main", UNUSED + "int main")],
    "functions in another order": [(TWICE + THRICE, THRICE + TWICE)],
    "a comment, so that lines move": [("APART int checked", "/* What\n   is checked. */\nAPART int checked")],
    "a renamed static function": [("scaled", "in_proportion")],
    "renamed static data": [("weights", "factors"), ("counter", "number_of_things")],
    "code that is not executed in a function that is": [
        ('fail("not read", __LINE__)', '{ if (x == -9) puts("minus nine"); other_total -= 2; fail("bad", 3); }')
    ],
    "a string that is not read": [('"not read"', '"not read either"')],
}

CHANGED = {
    "variables in another order": [("static int total;\nstatic int other_total;", "static int other_total, total;")],
    "an unused variable between": [("static int other_total;", "int more[100] = {1};\nstatic int other_total;")],
    "a variable of a cache line of its own": [("int total;", "int total __attribute__((aligned(64)));")],
    "instructions for wide vectors": [("numbers + 3", "numbers + 4")],
    "a constant": [("x * 7", "x * 13")],
    "a number in an operand": [("^ 77", "^ 78")],
    "a literal": [("0.375", "0.625")],
    "an entry of a table": [("3, 1, 4, 1", "3, 1, 4, 8")],
    "a string that is read": [('"three"', '"seven"')],
    "the initial value of a variable": [("counter = 11", "counter = 12")],
    "another callee": [("return twice(x) - 5", "return thrice(x) - 5")],
    "callees swapped": [("twice(x) - 5", "thrice(x) - 5"), ("thrice(x) ^ 77", "twice(x) ^ 77")],
    "another branch": [("x > 40", "x >= 40")],
    "a branch the other way round": [("x > 40", "x <= 40")],
    "another variable": [("total += x; return total * 3", "other_total += x; return other_total * 3")],
    "one more instruction": [("return x + 1;", "return (x + 1) ^ count_of(x);")],
    "counts": [("at < 60", "at < 67")],
}


class Programs:
    """Compiles the source with edits, and records what it executes."""

    def __init__(self, directory: Path, flags: list[str]) -> None:
        self._directory = directory
        self._flags = flags
        self._number = 0
        self._executed: dict[str, bytes] = {}

    def executed_once(self, edits: list[tuple[str, str]]) -> bytes:
        """Return what is executed with edits that other tests have made as well."""
        known = repr(edits)
        if known not in self._executed:
            self._executed[known] = self.executed(edits)
        return self._executed[known]

    def executed(self, edits: list[tuple[str, str]], *, is_start: bool = False) -> bytes:
        source = SOURCE.replace("APART int checked", "static int count_of(int x) { return x & 1; }\nAPART int checked")
        for old, new in edits:
            assert old in source, old
            source = source.replace(old, new)
        self._number += 1
        # The dynamic linker works through the program's path: all are of one length.
        directory = self._directory / f"{self._number:03}"
        directory.mkdir()
        (directory / "main.c").write_text(source)
        compiler = ["cc", "-O2", "-g", "-fpie", "-pie", *self._flags, "-o", "program", "main.c"]
        subprocess.run(compiler, cwd=directory, check=True)
        return executed(directory / "program", directory, is_start=is_start)


def executed(program: Path, directory: Path, *, is_start: bool) -> bytes:
    """Return what a program executes, all of it as in one window, or as before the windows."""
    dump = directory / "dump"
    callgrind = ["valgrind", "--quiet", "--tool=callgrind", "--dump-instr=yes", "--dump-line=yes"]
    command = [*callgrind, f"--callgrind-out-file={dump}", str(program)]
    # The dynamic linker works through all variables, of which one has the name of the test.
    environment = {"PATH": os.environ["PATH"]}
    subprocess.run(command, cwd=directory, check=True, capture_output=True, env=environment)
    dumps = [] if is_start else [str(dump)]
    windows = [confined_reader.DumpedWindows(dumps, requests) for requests in (2, 1, 1)]
    return confined_reader.executed(str(dump), windows, str(program), str(program.resolve()))


def compared(base: bytes, head: bytes) -> dict[str, object]:
    outcome: dict[str, object] = json.loads(_core.compare_executed(base, head))
    return outcome


@pytest.fixture(scope="module")
def programs(valgrind: None, compiler: None, tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(tmp_path_factory.mktemp("programs").resolve(), [])


@pytest.fixture(scope="module")
def base(programs: Programs) -> bytes:
    return programs.executed([])


@pytest.mark.parametrize("edit", HARMLESS)
def test_a_harmless_edit_leaves_the_work_identical(programs: Programs, base: bytes, edit: str) -> None:
    outcome = compared(base, programs.executed_once(HARMLESS[edit]))
    assert outcome["outcome"] == "identical", outcome
    instructions = outcome["instructions"]
    assert isinstance(instructions, int)
    assert instructions > 100


@pytest.mark.parametrize("edit", HARMLESS)
def test_a_harmless_edit_leaves_the_digest_equal(programs: Programs, base: bytes, edit: str) -> None:
    digest = _core.executed_digest(base)
    assert digest is not None
    assert len(digest) == 64
    assert _core.executed_digest(programs.executed_once(HARMLESS[edit])) == digest


@pytest.mark.parametrize("edit", CHANGED)
def test_a_change_of_what_is_executed_changes_the_digest(programs: Programs, base: bytes, edit: str) -> None:
    assert _core.executed_digest(programs.executed_once(CHANGED[edit])) != _core.executed_digest(base)


@pytest.mark.parametrize("edit", CHANGED)
def test_what_is_executed_or_read_cannot_change_unseen(programs: Programs, base: bytes, edit: str) -> None:
    outcome = compared(base, programs.executed_once(CHANGED[edit]))
    assert outcome["outcome"] == "different", edit
    assert outcome["differences"]


def test_of_what_only_the_start_reads_a_version_alone_may_change(programs: Programs) -> None:
    base = programs.executed([], is_start=True)
    version = programs.executed([('"7.0.15"', '"7.0.16"')], is_start=True)
    assert compared(base, version)["outcome"] == "identical"
    settings = programs.executed([("dirty_decay_ms:10000", "dirty_decay_ms:5000")], is_start=True)
    assert compared(base, settings)["outcome"] == "different"


def test_the_difference_names_the_function_and_both_instructions(programs: Programs, base: bytes) -> None:
    outcome = compared(base, programs.executed([("^ 77", "^ 78")]))
    [difference] = outcome["differences"]  # type: ignore[misc]
    assert difference["name"] == "chosen"
    assert "4Dh" in difference["base"]
    assert "4Eh" in difference["head"]


@pytest.mark.parametrize("flags", [["-no-pie", "-fno-pie"], ["-s"]])
def test_programs_whose_addresses_cannot_be_distinguished_are_identical_to_their_copy_alone(
    valgrind: None, compiler: None, tmp_path: Path, flags: list[str]
) -> None:
    others = Programs(tmp_path, flags)
    first, again, changed = (others.executed(edits) for edits in ([], [], [("int main", UNUSED + "int main")]))
    assert compared(first, again)["outcome"] == "identical"
    assert compared(first, changed)["outcome"] == "unknown"
    assert _core.executed_digest(first) == _core.executed_digest(again)
    assert _core.executed_digest(changed) not in (None, _core.executed_digest(first))


def test_what_is_not_of_this_form_is_refused(base: bytes) -> None:
    for broken in (b"", b"{}", base.replace(b"zerolap.executed/2", b"zerolap.executed/9"), base[:-100]):
        with pytest.raises(ValueError, match="executed instructions"):
            _core.compare_executed(base, broken)
        with pytest.raises(ValueError, match="executed instructions"):
            _core.executed_digest(broken)
