"""Which cases a change of a server's source can affect: those of the commands in the changed files."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from zerolap.records import Case, Changes

GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "t_string.c": ("string",),
    "t_hash.c": ("hash",),
    "t_zset.c": ("sorted-set", "geo"),
    "t_list.c": ("list",),
    "t_set.c": ("set",),
    "t_stream.c": ("stream",),
    "t_array.c": ("array",),
    "geo.c": ("geo",),
    "geohash.c": ("geo",),
    "geohash_helper.c": ("geo",),
    "hyperloglog.c": ("hyperloglog",),
    "bitops.c": ("bitmap",),
    "pubsub.c": ("pubsub",),
    "multi.c": ("transactions",),
    "eval.c": ("scripting",),
    "script.c": ("scripting",),
    "script_lua.c": ("scripting",),
    "functions.c": ("scripting",),
    "function_lua.c": ("scripting",),
    "sort.c": ("sort", "list", "set", "sorted-set"),
    "blocked.c": ("list", "sorted-set", "stream"),
}
"""The groups of cases by the files whose functions only they execute; all other code may be part of any command."""
BUILT: Final = frozenset({".c", ".h", ".cc", ".cpp", ".hpp", ".S", ".s", ".def", ".json", ".lua", ".mk", ".inc"})
BUILDS: Final = frozenset({"Makefile", "CMakeLists.txt", "mkreleasehdr.sh"})
NOT_BUILT: Final = ("tests/", "utils/", "doc/", "docs/", ".github/", "src/unit/")


def affected_cases(cases: Sequence[Case], changes: Changes) -> list[Case]:
    """Return the cases that a change can affect, in their order.

    That is none for a change of documents or tests alone, those of some groups for one of these commands' own files,
    and all for any other.
    """
    files = {name for file in changes.files for name in (file.old_file, file.new_file) if name and _is_built(name)}
    if not files:
        return []
    names = {PurePosixPath(file).name for file in files}
    if not names <= GROUPS.keys():
        return list(cases)
    groups = {group for name in names for group in GROUPS[name]}
    known = {group for case in cases for group in (case.group, *case.groups)}
    if not groups & known:
        # No case is of these commands: what they share with others is better looked at than nothing.
        return list(cases)
    return [case for case in cases if groups & {case.group, *case.groups}]


def _is_built(file: str) -> bool:
    path = PurePosixPath(file)
    if file.startswith(NOT_BUILT):
        return False
    return path.suffix in BUILT or path.name in BUILDS
