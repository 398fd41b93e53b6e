"""Which commands and settings a server supports."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from zerolap.build import Program
from zerolap.records import CONTAINERS, Abilities, KnownCommand, TrialFailed, container_of
from zerolap.resp_frames import Reply
from zerolap.server.connection import CommandRefused
from zerolap.server.running_server import RunningServer, start

NOT_LISTED = frozenset({"include", "loadmodule", "rename-command", "user"})
"""Settings that every server accepts but CONFIG GET does not list."""
SUBCOMMANDS = 9
"""Where they stand in an entry of the reply to COMMAND."""
HELPED = re.compile(r"[A-Z][A-Z-]+(?= |$)")
MOST_NAMES = 10_000
NAME = re.compile(r"[!-~]{1,128}( [!-~]{1,128})?")
"""Of a command, with its subcommand, or a setting."""


def server_abilities(program: Program, settings: Mapping[str, str], directory: Path) -> Abilities:
    """Start the server briefly in the empty `directory` and query it; raises `TrialFailed` if it does not start."""
    server_directory = directory / "server"
    server_directory.mkdir()
    with start(program, settings, server_directory, log=directory / "server.log") as server:
        return Abilities(commands=frozenset(command_names(server)), settings=_settings(server))


def command_flags(server: RunningServer) -> dict[str, frozenset[str]]:
    """Return the flags of all commands, such as `write`, by name in upper case.

    Raises `TrialFailed` if the reply to COMMAND has an unknown form.
    """
    flags = dict(map(_name_and_flags, _listed_commands(server)))
    _require_names(flags, "COMMAND")
    return flags


def _listed_commands(server: RunningServer) -> list[Reply]:
    reply = server.command("COMMAND")
    if not isinstance(reply, list):
        raise TrialFailed("the server's reply to COMMAND is no list")
    return reply


def command_names(server: RunningServer) -> list[str]:
    """Return the names of all commands in upper case, each followed by those of its subcommands: `XINFO STREAM`.

    Servers before Redis 7 do not list subcommands; they are read from the replies to `XINFO HELP` and the like.
    Raises `TrialFailed` if the reply to COMMAND has an unknown form.
    """
    names: list[str] = []
    for entry in _listed_commands(server):
        name, _flags = _name_and_flags(entry)
        subcommands = entry[SUBCOMMANDS] if isinstance(entry, list) and len(entry) > SUBCOMMANDS else None
        if isinstance(subcommands, list):
            inner = [_name_and_flags(one)[0].replace("|", " ", 1) for one in subcommands]
        else:
            inner = _helped(server, name) if name in CONTAINERS else []
        names += [name, *sorted(inner)]
    _require_names(names, "COMMAND")
    return names


def known_commands(server: RunningServer) -> list[KnownCommand]:
    """Return all commands and subcommands with the groups that `COMMAND DOCS` names, which servers before 7 lack.

    Raises `TrialFailed` as `command_names` does.
    """
    groups = _documented_groups(server)
    return [KnownCommand(name=name, group=groups.get(container_of(name), "")) for name in command_names(server)]


def _documented_groups(server: RunningServer) -> dict[str, str]:
    try:
        reply = server.command("COMMAND", "DOCS")
    except CommandRefused:
        return {}
    words = reply if isinstance(reply, list) else []
    groups = {}
    for name, facts in zip(words[::2], words[1::2], strict=False):
        if not isinstance(name, bytes) or not isinstance(facts, list) or b"group" not in facts[::2]:
            continue
        group = facts[facts.index(b"group") + 1]
        if isinstance(group, bytes) and NAME.fullmatch(word := group.decode(errors="replace")):
            groups[name.decode(errors="replace").upper()] = word
    return groups


def _helped(server: RunningServer, container: str) -> list[str]:
    """Return the subcommands that a container's help names: lines that begin with a word in upper case."""
    try:
        reply = server.command(container, "HELP")
    except CommandRefused:
        return []
    lines = (
        [line.decode(errors="replace") for line in reply if isinstance(line, bytes)] if isinstance(reply, list) else []
    )
    words = [match[0] for line in lines[1:] if (match := HELPED.match(line))]
    return [f"{container} {word}" for word in dict.fromkeys(words)]


def _name_and_flags(entry: Reply) -> tuple[str, frozenset[str]]:
    match entry:
        case [bytes(name), _, [*flags], *_]:
            words = (flag.decode(errors="replace") for flag in flags if isinstance(flag, bytes))
            return name.decode(errors="replace").upper(), frozenset(words)
    raise TrialFailed("the server's reply to COMMAND has an entry of an unknown form")


def _settings(server: RunningServer) -> frozenset[str]:
    reply = server.command("CONFIG", "GET", "*")
    words = reply[::2] if isinstance(reply, list) else []
    names = {word.decode(errors="replace").lower() for word in words if isinstance(word, bytes)}
    _require_names(names, "CONFIG GET")
    return frozenset(names) | NOT_LISTED


def _require_names(names: Collection[str], command: str) -> None:
    """Raise `TrialFailed` for more names than servers have, or others: they are sent to the conductor and kept."""
    if len(names) > MOST_NAMES:
        raise TrialFailed(f"the server's reply to {command} has {len(names):,} names; {MOST_NAMES:,} are read")
    wrong = next((name for name in names if not NAME.fullmatch(name)), None)
    if wrong is not None:
        raise TrialFailed(f"the server's reply to {command} has a name {wrong[:40]!r}")
