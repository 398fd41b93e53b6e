"""Which functions a change is said to have changed, of changes that were written with the answer known beforehand."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sources import tree_source

from zerolap.build import changes_between
from zerolap.documents.changed_functions import compared_functions
from zerolap.documents.executed_code import ComparedCode
from zerolap.records import BASE, HEAD, Changes, Side, SourceFunction
from zerolap.sandbox import confined_reader

HEADER = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define LIMIT 12
#define check(what) ((what) ? (void)0 : failed(#what, __FILE__, __LINE__))
struct item {
    int kind;
    long size;
};
extern long total;
void failed(const char *what, const char *file, int line) __attribute__((noreturn, cold));
long first(struct item *item);
long second(struct item *item);
long third(struct item *item, int turns);
static inline long doubled(long value) {
    return value * 2;
}
"""
ONE = """\
#include "all.h"

long total;
static const char *const kinds[] = {"none", "some", "many"};

void failed(const char *what, const char *file, int line) {
    fprintf(stderr, "%s %s:%d\\n", what, file, line);
    abort();
}

static inline int checked(int kind) {
    check(kind < LIMIT);
    return kind + 1;
}

static __attribute__((noinline)) long folded(struct item *item, int step) {
    long sum = 0;
    for (int at = 0; at < item->kind; at += step) sum += at ^ (sum << 3);
    return sum;
}

static void report(const struct item *item) {
    static int reported;
    if (item->kind < 3) printf("%s %d\\n", kinds[item->kind], ++reported);
}

long first(struct item *item) {
    total += checked(item->kind);
    return folded(item, 3) + doubled(item->size);
}

__attribute__((noinline)) long second(struct item *item) {
    if (__builtin_expect(item->size < 0, 0)) {
        fprintf(stderr, "negative\\n");
        abort();
    }
    report(item);
    return total + item->size;
}
"""
OTHER = """\
#include "all.h"

static __attribute__((noinline)) long folded(struct item *item, int step) {
    static int calls;
    calls += step;
    return item->size / 7 + calls;
}

long third(struct item *item, int turns) {
    while (turns-- > 0) total += folded(item, turns);
    switch (item->kind) {
    case 1: return doubled(total);
    case 2: return total - 1;
    case 3: return total * 5;
    case 4: puts("four"); return 4;
    case 5: puts("five"); return total / 3;
    default: return 0;
    }
}

long triple(long count) {
    return count * 3 + 1;
}

long triple_of(long number) {
    return number * 3 + 1;
}

long (*const triples[])(long) = {triple, triple_of};

int main(int argc, char **argv) {
    struct item item = {argc, (long)strlen(argv[0])};
    total += triples[argc & 1](argc);
    return (int)(first(&item) + second(&item) + third(&item, argc));
}
"""
SOURCES = {"all.h": HEADER, "one.c": ONE, "other.c": OTHER}


ACROSS_FILES = ("-O3", "-flto=auto")
NOT_INLINED = ("-O0",)


@dataclass(frozen=True)
class Planted:
    """Edits of (file, old, new), and the changed functions that they come to: names with files.

    With these flags of the compiler they come to `other` functions, as code is inlined elsewhere; None: not compared.
    """

    edits: list[tuple[str, str, str]]
    changed: set[tuple[str, str]]
    other: Mapping[tuple[str, ...], set[tuple[str, str]] | None] = field(default_factory=dict)


NOTHING: set[tuple[str, str]] = set()
CHECKED = "static inline int checked("
PLANTED = {
    "a comment between lines": Planted([("one.c", "    report(item);", "    // it is\n    report(item);")], NOTHING),
    "a comment at the end of a line of what is inlined": Planted(
        [("one.c", "    return kind + 1;", "    return kind + 1; // the next one")], NOTHING
    ),
    "a comment in what is inlined, beside another change": Planted(
        [("one.c", "return kind + 1;", "return kind + 1; /* next */"), ("one.c", "sum << 3", "sum << 4")],
        {("folded", "one.c")},
    ),
    "other white space in a loop": Planted(
        [("one.c", "at += step) sum += at ^ (sum << 3);", "at += step)\n        sum += at ^ (sum<<3);")], NOTHING
    ),
    "another name of a variable": Planted([("one.c", "long sum = 0;", "long all = 0;"),
        ("one.c", "sum += at ^ (sum << 3);\n    return sum;", "all += at ^ (all << 3);\n    return all;")], NOTHING),
    "what is inlined": Planted([("one.c", "return kind + 1;", "return kind + 2;")], {("checked", "one.c")}),
    "what a header defines": Planted([("all.h", "value * 2", "value * 3")], {("doubled", "all.h")}),
    "a cold part": Planted([("one.c", '"negative\\n"', '"less than 0\\n"')], {("second", "one.c")}),
    "a clone": Planted([("one.c", "sum << 3", "sum << 5")], {("folded", "one.c")}),
    "one of two functions of a name": Planted(
        [("other.c", "item->size / 7", "item->size / 9"), ("one.c", "long sum = 0;", "long sum = 0L;")],
        {("folded", "other.c")},
    ),
    "a macro": Planted([("all.h", "#define LIMIT 12", "#define LIMIT 15")], {("first", "one.c")},
        {ACROSS_FILES: {("main", "other.c")}, NOT_INLINED: {("checked", "one.c")}}),
    "a table": Planted([("one.c", '"many"}', '"all"}')], {("second", "one.c")}, {NOT_INLINED: {("report", "one.c")}}),
    "a type": Planted(
        [("all.h", "    int kind;\n", "    int kind;\n    long since;\n")],
        # What gets a member instead of the structure does not know where it lies.
        {("first", "one.c"), ("second", "one.c"), ("third", "other.c"), ("main", "other.c")},
        {
            ACROSS_FILES: {("second", "one.c"), ("main", "other.c")},
            NOT_INLINED: {("first", "one.c"), ("second", "one.c"), ("main", "other.c"), ("folded", "other.c")},
        },
    ),
    "a macro that nothing uses": Planted([("all.h", "#define LIMIT 12", "#define LIMIT 12\n#define MOST 9")], NOTHING),
    "lines before an assert": Planted(
        [("one.c", "long total;\n", "long total;\n#define MANY 300\n\n\n")], NOTHING
    ),
    "another name of a function": Planted(
        [("one.c", "static void report(", "static void tell("), ("one.c", "    report(item);", "    tell(item);")],
        NOTHING,
    ),
    "a function that moves": Planted(
        [
            ("one.c", ONE[ONE.index("__attribute__((noinline)) long second") :], ""),
            ("one.c", ONE[ONE.index("static void report") : ONE.index("long first(")], ""),
            ("one.c", 'static const char *const kinds[] = {"none", "some", "many"};\n', ""),
            ("other.c", "int main(", 'static const char *const kinds[] = {"none", "some", "many"};\n'
             + ONE[ONE.index("static void report") : ONE.index("long first(")]
             + ONE[ONE.index("__attribute__((noinline)) long second") :] + "\nint main("),
        ],
        NOTHING,
        # A literal behind a variable is not told from its end.
        {NOT_INLINED: None},
    ),
    "a static variable before others": Planted(
        [("other.c", "    calls += step;", "    static int most;\n    most += step > 4;\n    calls += step;")],
        {("folded", "other.c")},
    ),
    "static variables of one name": Planted(
        [
            ("one.c", "    long sum = 0;\n", "    static int reported;\n    long sum = ++reported;\n"),
            ("one.c", "long total;\n", "long total;\n#define MANY 300\n"),
        ],
        {("folded", "one.c")},
    ),
    "a function that is gone": Planted(
        [("one.c", "    report(item);\n", ""),
         ("one.c", ONE[ONE.index("static void report") : ONE.index("long first(")], "")],
        {("report", "one.c"), ("second", "one.c")},
    ),
    "code that is not compiled": Planted(
        [("one.c", "    report(item);", "#ifdef TOLD\n    puts(\"told\");\n#endif\n    report(item);")], NOTHING
    ),
    "another word in one of two functions of the same code": Planted(
        [("other.c", "long number) {\n    return number * 3", "long value) {\n    return value * 3")], NOTHING
    ),
    "two functions of the same code": Planted(
        [("other.c", "long number) {\n    return number * 3 + 1;", "long number) {\n    return number * 5 + 1;"),
         ("other.c", "long count) {\n    return count * 3 + 1;", "long count) {\n    return count * 5 + 1;")],
        {("triple_of", "other.c"), ("triple", "other.c")},
    ),
    "code that becomes a comment": Planted(
        [("one.c", "    report(item);\n", "    /*\n    report(item);\n    */\n")], {("second", "one.c")}
    ),
    "a case of a switch": Planted([("other.c", "total * 5", "total * 6")], {("third", "other.c")}),
}  # fmt: skip


@pytest.fixture
def trees(tmp_path: Path) -> "Trees":
    return Trees(tmp_path)


class Trees:
    """Compiles two trees and compares them as a comparison does."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def compared(self, base: Mapping[str, str], head: Mapping[str, str], *flags: str) -> ComparedCode:
        sides: dict[Side, Mapping[str, str]] = {BASE: base, HEAD: head}
        functions, programs, roots = {}, {}, {}
        for side, sources in sides.items():
            roots[side] = self.directory / side
            # Both are compiled in one place, as the lab does.
            tree = self.directory / "tree"
            for place in (roots[side], tree):
                (place / "src").mkdir(parents=True, exist_ok=True)
                for name, text in sources.items():
                    (place / "src" / name).write_text(text)
            names = [f"{name}" for name in sources if name.endswith(".c")]
            program = self.directory / f"{side}.program"
            subprocess.run(["gcc", "-g", "-fpie", "-pie", *flags, "-o", program, *names], cwd=tree / "src", check=True)
            functions[side] = [
                SourceFunction(file, name, first, last)
                for file, name, first, last in confined_reader.source_functions(str(program), str(tree))
            ]
            programs[side] = confined_reader.function_code(str(program), str(tree))
        changes = changes_between(tree_source("base", roots[BASE]), tree_source("head", roots[HEAD]))
        assert isinstance(changes, Changes)
        lines = {
            side: confined_reader.code_lines(str(self.directory / f"{side}.program"), str(tree), sorted(sources))
            for side, sources in sides.items()
        }
        return ComparedCode(functions, programs, lines, changes)

    def assert_told(self, planted: Planted, flags: tuple[str, ...]) -> None:
        """Compare the sources without and with the edits."""
        sources = dict(SOURCES)
        for file, old, new in planted.edits:
            assert sources[file].count(old) == 1, (file, old)
            sources[file] = sources[file].replace(old, new)
        wanted = planted.other.get(flags, planted.changed)
        if wanted is not None:
            changed = list(compared_functions(self.compared(SOURCES, sources, *flags)))
            assert sorted(function.definition.key for function in changed) == sorted(wanted)


@pytest.mark.parametrize("name", PLANTED)
def test_changed_functions_are_those_that_a_change_was_written_to_change(trees: Trees, name: str) -> None:
    trees.assert_told(PLANTED[name], ("-O2",))


@pytest.mark.slow
@pytest.mark.parametrize("flags", [ACROSS_FILES, NOT_INLINED], ids=" ".join)
@pytest.mark.parametrize("name", PLANTED)
def test_so_they_are_where_more_or_less_is_inlined(trees: Trees, name: str, flags: tuple[str, ...]) -> None:
    trees.assert_told(PLANTED[name], flags)
