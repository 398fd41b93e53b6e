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
    "eval.c": ("scripting",),
    "script_lua.c": ("scripting",),
    "functions.c": ("scripting",),
    "function_lua.c": ("scripting",),
    "sort.c": ("sort", "list", "set", "sorted-set"),
}
"""The groups of cases by the files below src/ whose functions only they execute.

All other code may be part of any command: multi.c looks at each key that is written, blocked.c at each that is new.
"""
SERVER: Final = "src/"
NOT_BUILT: Final = ("tests/", "utils/", "doc/", "docs/", ".github/", "src/unit/")
DOCUMENTS: Final = frozenset({".conf", ".md", ".pdf", ".png", ".rst", ".svg", ".tcl", ".yaml", ".yml"})
DOCUMENT_NAMES: Final = frozenset(
    {".clang-format", ".codespellrc", ".gitattributes", ".gitignore", "00-RELEASENOTES", "BUGS", "COPYING", "LICENSE"}
)


def affected_cases(cases: Sequence[Case], changes: Changes) -> list[Case]:
    """Return the cases that a change can affect, in their order.

    That is none for a change of documents or tests alone, those of some groups for one of these commands' own files,
    and all for any other.
    """
    files = {name for file in changes.files for name in (file.old_file, file.new_file) if name and _may_be_built(name)}
    if not files:
        return []
    names = {file.removeprefix(SERVER) for file in files if file.startswith(SERVER)}
    if len(names) < len(files) or not names <= GROUPS.keys():
        return list(cases)
    groups = {group for name in names for group in GROUPS[name]}
    known = {group for case in cases for group in (case.group, *case.groups)}
    if not groups & known:
        # No case has these commands; the change may still affect code that others share.
        return list(cases)
    return [case for case in cases if groups & {case.group, *case.groups}]


def _may_be_built(file: str) -> bool:
    path = PurePosixPath(file)
    return not (file.startswith(NOT_BUILT) or path.suffix in DOCUMENTS or path.name in DOCUMENT_NAMES)
