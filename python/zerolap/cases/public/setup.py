"""Init commands of the public format as lines of a case's setup, and its settings of the server."""

import shlex
from typing import Any

from zerolap.cases._values import shown
from zerolap.cases.public.field_values import Fields
from zerolap.records import command_line


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


def settings_of(database: Fields) -> dict[str, str]:
    """Return the settings that a server can be started with; others are left out with a warning."""
    parameters = database.fields("configuration-parameters")
    settings = {}
    for name in parameters.names():
        value = parameters.raw(name)
        if isinstance(value, bool | int | float):
            parameters.warn((name,), f"settings are text; found {shown(value)}", "put it in quotes")
            value = ("yes" if value else "no") if isinstance(value, bool) else str(value)
        fault = _fault_of_setting(value)
        if fault is None:
            settings[name] = value
        else:
            parameters.warn((name,), f"{fault}; the setting is left out")
    return settings


def _fault_of_setting(value: Any) -> str | None:
    if not isinstance(value, str):
        return f"settings are text; found {shown(value)}"
    try:
        shlex.split(value)
    except ValueError as wrong:
        return f"the value cannot be split: {wrong}"
    return "the value holds a zero byte" if "\0" in value else None
