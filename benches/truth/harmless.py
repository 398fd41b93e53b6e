"""Edits to Redis 7.0.15 that change nothing that a request does; each is a function of the directory `src`."""

import functools
import re
from collections.abc import Callable, Mapping
from pathlib import Path

UNUSED_LINES = {
    "adlist.c": 1,
    "networking.c": 3,
    "sds.c": 8,
    "dict.c": 20,
    "object.c": 50,
    "t_zset.c": 2,
    "util.c": 5,
    "db.c": 12,
    "listpack.c": 30,
    "rax.c": 80,
}
"""The lines of an unused function, by the file that it is added to."""
ROTATIONS = (1, 4, 9, 15)
COMMENTED = ("server.c", "networking.c", "t_string.c", "t_stream.c")
EXECUTED = {
    "networking.c": "void addReply(client *c, robj *obj) {\n",
    "db.c": "robj *lookupKey(redisDb *db, robj *key, int flags) {\n",
    "server.c": "void call(client *c, int flags) {\n",
    "t_string.c": "int getGenericCommand(client *c) {\n",
    "t_hash.c": "void hsetCommand(client *c) {\n",
}
"""The first line of a function that requests execute, by its file."""
STATICS = {
    "dict.c": "_dictKeyIndex",
    "networking.c": "_writevToClient",
    "t_stream.c": "streamParseAddOrTrimArgsOrReply",
    "server.c": "updateCachedTimeWithUs",
}
FUNCTION = re.compile(r"^(?!static|typedef|struct|#)\w[^\n;=]*\([^;{}]*\)\s*\{\n.*?^\}\n", re.MULTILINE | re.DOTALL)

Edit = Callable[[Path], None]


def harmless_edits() -> Mapping[str, Edit]:
    """Return the edits by name, each for a tree as it was released."""
    edits: dict[str, Edit] = {}
    for file, lines in UNUSED_LINES.items():
        edits[f"unused function of {lines} lines in {file}"] = functools.partial(_add_unused, file, lines)
    for by in ROTATIONS:
        edits[f"functions of adlist.c in turn by {by}"] = functools.partial(_rotate_functions, "adlist.c", by)
    for file in COMMENTED:
        edits[f"comments in {file}"] = functools.partial(_comment, file)
    for file, head in EXECUTED.items():
        edits[f"cold branch in {file}"] = functools.partial(_add_cold_branch, file, head)
    for file, name in STATICS.items():
        edits[f"{name} under another name"] = functools.partial(_rename, file, name)
    edits["another version"] = functools.partial(replace, "version.h", "7.0.15", "7.0.16")
    edits["unused variable in server.c"] = functools.partial(append, "server.c", "char unusedBytes[200];\n")
    edits["unused functions in all"] = _add_unused_to_all
    return edits


def append(file: str, text: str, source: Path) -> None:
    """Add text at the end of a file."""
    with (source / file).open("a", encoding="latin-1") as opened:
        opened.write(text)


def replace(file: str, old: str, new: str, source: Path) -> None:
    """Replace each occurrence of a text in a file; raises `ValueError` where there is none."""
    text = (source / file).read_text("latin-1")
    if old not in text:
        raise ValueError(f"{file} does not hold {old!r}")
    (source / file).write_text(text.replace(old, new), "latin-1")


def _add_unused(file: str, lines: int, source: Path) -> None:
    name = "unusedIn" + file.removesuffix(".c").replace("_", "")
    steps = "".join(f"    sum = (sum ^ {number}) * 31 + (sum >> {number % 13 + 1});\n" for number in range(lines))
    append(file, f"\nunsigned long {name}(unsigned long sum) {{\n{steps}    return sum;\n}}\n", source)


def _add_unused_to_all(source: Path) -> None:
    for file in UNUSED_LINES:
        _add_unused(file, 7, source)


def _rotate_functions(file: str, by: int, source: Path) -> None:
    """Move each function to the place of another; all of them have to be declared in a header."""
    text = (source / file).read_text("latin-1")
    functions = [match.group() for match in FUNCTION.finditer(text)]
    moved = iter(functions[by:] + functions[:by])
    (source / file).write_text(FUNCTION.sub(lambda _: next(moved), text), "latin-1")


def _comment(file: str, source: Path) -> None:
    text = (source / file).read_text("latin-1")
    commented = FUNCTION.sub(lambda match: "/* A remark that is new. */\n\n" + match.group(), text)
    (source / file).write_text(commented, "latin-1")


def _add_cold_branch(file: str, head: str, source: Path) -> None:
    branch = '    if (__builtin_expect(server.port == -77, 0)) serverLog(LL_WARNING, "no such port");\n'
    replace(file, head, head + branch, source)


def _rename(file: str, name: str, source: Path) -> None:
    replace(file, name, name + "Renamed", source)
