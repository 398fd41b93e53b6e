"""Which changed functions a case executes, of functions of which that was known before they were compiled."""

import shutil
from pathlib import Path
from typing import Any, Final

import pytest
from command_line import Zerolap
from toy_server import CASES, ToySource

pytestmark = [pytest.mark.usefixtures("valgrind"), pytest.mark.slow]

PLANTED: Final = Path(__file__).parent / "servers" / "planted"
CALLED: Final = [
    ("Makefile", "format.o table.o", "format.o table.o planted.o namesake.o"),
    (
        "commands.c",
        "#include <stdio.h>",
        '#include "planted.h"\n#include <stdio.h>\nuint64_t namesake_work(uint64_t word);',
    ),
    (
        "commands.c",
        "    add_bulk(client, value->data, value->length);",
        "    last_checksum += planted_get(value->data, value->length);\n"
        "    add_bulk(client, value->data, value->length);",
    ),
    ("commands.c", "= mix_word(word);", "= mix_word(word) + planted_work(word) + namesake_work(word);"),
    ("commands.c", "    table_put(", "    planted_set(arguments[1].length);\n    table_put("),
    ("server.c", "int main(int count, char **words) {", "int main(int count, char **words) {\n    planted_start();"),
    ("server.c", '#include "server.h"', '#include "server.h"\n#include "planted.h"'),
]
EDITS: Final = {
    "planted.c": [
        ("word >> 7", "word >> 6"),
        ("word >> 9", "word >> 10"),
        ("word * 31 + turn", "word * 33 + turn"),
        ('"odd word %d', '"odd words %d'),
        ("turn * 7", "turn * 9"),
        ("word % 5", "word % 6"),
        ("word * 17 + 3", "word * 19 + 3"),
        ("word * 43", "word * 47"),
        ("state * 11", "state * 13"),
        ("TURNS 3", "TURNS 5"),
        ("state += 77", "state += 78"),
        ("length * 3", "length * 5"),
    ],
    "namesake.c": [("turn * 13", "turn * 15")],
    "planted.h": [("word * 3 + 1", "word * 5 + 1")],
}
EXECUTED: Final = {
    *((name, "planted.c") for name in ("used", "cloned", "cold_part", "step", "recursive", "twin_a", "early")),
    ("both", "planted.h"),
}
UNEXECUTED: Final = {
    # By another command, by none, or beside the counted windows: at the start, while data are loaded.
    *((name, "planted.c") for name in ("unused_here", "pointed_never", "planted_start", "planted_set")),
    ("step", "namesake.c"),
    # The compiler makes one function of it and `twin_a`.
    ("twin_b", "planted.c"),
}


@pytest.mark.parametrize("variant", ["-O2", "-O3,-flto"])
def test_changed_functions_are_executed_or_not_as_they_were_written_to_be(
    zerolap: Zerolap, toy: ToySource, shared_store: Path, variant: str
) -> None:
    for file in PLANTED.iterdir():
        shutil.copy(file, toy.path / "src" / file.name)
    for file_name, old, new in CALLED:
        toy.replace(file_name, old, new)
    base = toy.commit("planted")
    for file_name, edits in EDITS.items():
        for old, new in edits:
            toy.replace(file_name, old, new, everywhere=True)
    places: list[str | Path] = ["--repo", toy.path, "--cases", CASES, "--store", shared_store]
    how = ["--quick", "--json", "-", "--seed", "1", f"--variant={variant}"]
    ended = zerolap("compare", base, toy.commit("changed"), "toy-get", *places, *how)
    document = ended.document()
    executed = document["changed_functions"]["functions"]
    assert _in_diff(executed) == EXECUTED
    assert _in_diff(document["unmeasured"]) == UNEXECUTED
    # What differs by a macro alone is known by the functions that have its code.
    assert ("by_macro", "planted.c") in _places(executed)
    beside = {function["function"] for function in executed if function["lines"] and not function["executed_lines"]}
    assert beside == {"cold_part", "early"}


def _places(functions: list[Any]) -> set[tuple[str, str]]:
    return {(function["function"], function["file"]) for function in functions}


def _in_diff(functions: list[Any]) -> set[tuple[str, str]]:
    return _places([function for function in functions if function["in_diff"]])
