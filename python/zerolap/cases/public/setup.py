"""Init commands of the public format as lines of a case's setup."""

import shlex
from typing import Any

from zerolap.cases._values import shown
from zerolap.cases.public.field_values import Fields
from zerolap.records import UsageError, command_line, parse_command


def setup_lines(database: Fields) -> list[str]:
    """Return the init commands and the init script, in that order, each as one line."""
    lines = []
    for index, item in enumerate(_items(database)):
        words = _words(item, database, index)
        if words:
            lines.append(command_line(words))
    script = database.text("init_lua")
    if script:
        lines.append(command_line(["EVAL", script, "0"]))
    return lines


def _items(database: Fields) -> list[Any]:
    commands = database.raw("init_commands")
    if commands is None:
        return []
    if isinstance(commands, str):
        return [line for line in commands.splitlines() if line.strip()]
    if not isinstance(commands, list):
        database.lose(("init_commands",), f"expected commands; found {shown(commands)}")
        return []
    return commands


def _words(item: Any, database: Fields, index: int) -> list[str]:
    at = ("init_commands", index)
    if isinstance(item, list):
        return _listed(item, database, index)
    if not isinstance(item, str):
        database.lose(at, f"expected a command; found {shown(item)}")
        return []
    if '"' not in item:
        return item.split()
    try:
        return shlex.split(item)
    except ValueError as wrong:
        database.lose(at, f"the quotes do not match ({wrong}); the command is left out")
        return []


def _listed(item: list[Any], database: Fields, index: int) -> list[str]:
    words = []
    for number, word in enumerate(item):
        if isinstance(word, bool) or not isinstance(word, str | int | float):
            text = f"expected a word of the command; found {shown(word)}; the command is left out"
            database.lose(("init_commands", index, number), text, "put it in quotes")
            return []
        words.append(str(word))
    return words


def verb_or_none(line: str) -> str | None:
    """Return a line's first word in upper case, or None if the line cannot be read."""
    try:
        words = parse_command(line)
    except UsageError:
        return None
    return words[0].decode(errors="replace").upper() if words else None
