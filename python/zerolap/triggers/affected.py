"""Which cases a change of a server's source can affect: those that send the commands in the changed files."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.build import CommandFiles
from zerolap.records import Case, Changes, is_compiled, may_be_built


@dataclass(frozen=True)
class OwnFile:
    """A file below src/ whose functions only some commands execute.

    They are the file's own, those of the files in `with_commands_of`, and `commands`. `groups` are those of cases that
    belong to them, whatever they send.
    """

    groups: tuple[str, ...]
    with_commands_of: tuple[str, ...] = ()
    commands: frozenset[str] = frozenset()


OF_ANY_TYPE: Final = frozenset({"COPY", "DEBUG", "DUMP", "MEMORY", "MIGRATE", "OBJECT", "RESTORE", "SORT", "SORT_RO"})
"""Commands that execute functions of the type of the key."""
SCRIPTING: Final = frozenset({"EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO"})
"""Commands whose scripts may call any other."""
_SCRIPTS: Final = OwnFile(("scripting",), ("eval.c", "scripting.c", "functions.c"), SCRIPTING)

OWN_FILES: Final[dict[str, OwnFile]] = {
    "t_string.c": OwnFile(("string",)),
    "t_hash.c": OwnFile(("hash",), (), OF_ANY_TYPE),
    "t_zset.c": OwnFile(("sorted-set", "geo"), ("geo.c",), OF_ANY_TYPE),
    "t_list.c": OwnFile(("list",), (), OF_ANY_TYPE),
    "t_set.c": OwnFile(("set",), (), OF_ANY_TYPE),
    "t_stream.c": OwnFile(("stream",), (), OF_ANY_TYPE),
    "t_array.c": OwnFile(("array",), (), OF_ANY_TYPE),
    "geo.c": OwnFile(("geo",)),
    "geohash.c": OwnFile(("geo",), ("geo.c",)),
    "geohash_helper.c": OwnFile(("geo",), ("geo.c",)),
    "hyperloglog.c": OwnFile(("hyperloglog",)),
    "bitops.c": OwnFile(("bitmap",)),
    "pubsub.c": OwnFile(("pubsub",)),
    "eval.c": _SCRIPTS,
    "script_lua.c": _SCRIPTS,
    "functions.c": _SCRIPTS,
    "function_lua.c": _SCRIPTS,
    "sort.c": OwnFile(("sort",)),
}
"""Files of Redis and its relatives that others use for these commands alone.

All other code may be part of any command, unless no other file names its functions: multi.c looks at each key that is
written, blocked.c at each that is new.
"""
SERVER: Final = "src/"
MOST_FILES: Final = 50
"""A change of more files may be part of any command."""

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True)
class Affected:
    """The commands, in upper case, and the groups of cases that a change can affect."""

    commands: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()

    def has(self, case: Case) -> bool:
        """Whether a case sends one of the commands, also in a script, or is in one of the groups."""
        sent = {verb.partition(" ")[0] for verb in case.verbs}
        if self.commands & sent or self.groups & {case.group, *case.groups}:
            return True
        scripts = [command.line for command in case.client.sent if command.verb.partition(" ")[0] in SCRIPTING]
        return any(word.upper() in self.commands for line in scripts for word in _WORD.findall(line))

    def with_that_of(self, other: "Affected") -> "Affected":
        """Return what this and another change can affect."""
        return Affected(self.commands | other.commands, self.groups | other.groups)


def affected_cases(cases: Sequence[Case], changes: Changes, command_files: CommandFiles | None = None) -> list[Case]:
    """Return the cases that a change can affect, in their order; in doubt, all.

    That is none for a change of documents or tests alone, and for files whose functions only some commands execute the
    cases that send these. `command_files` reads the compared commits; without it, cases are selected by their groups.
    """
    command_files = command_files or CommandFiles(())
    files = {name for file in changes.files for name in (file.old_file, file.new_file) if name and may_be_built(name)}
    if not files:
        return []
    if len(files) > MOST_FILES:
        return list(cases)
    affected = Affected()
    for file in sorted(files):
        of_file = _affected_by(file, command_files)
        if of_file is None:
            return list(cases)
        affected = affected.with_that_of(of_file)
    # Where no case has these commands, the change may still affect code that others share.
    return [case for case in cases if affected.has(case)] or list(cases)


def _affected_by(file: str, command_files: CommandFiles) -> Affected | None:
    """Return what a change of a file can affect; None if that may be any command."""
    own = OWN_FILES.get(file.removeprefix(SERVER)) if file.startswith(SERVER) else None
    if own is not None:
        files = [file, *(f"{SERVER}{other}" for other in own.with_commands_of)]
        commands = own.commands.union(*(command_files.commands(name) for name in files))
        return Affected(commands, frozenset(own.groups))
    if is_compiled(file) and command_files.is_own(file):
        commands = command_files.commands(file)
        return Affected(commands) if commands else None
    return None
