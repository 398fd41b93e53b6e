"""Client programs of the public format, as command lines of the load generator."""

import re
import shlex

from zerolap.cases._arguments import read_client
from zerolap.cases.public.field_values import Fields
from zerolap.cases.public.helpers import HELPERS
from zerolap.records import Client, UsageError

PLACEHOLDERS = frozenset({"__key__", "__data__"})
USUAL_WARNING = "--distinct-client-seed"
"""memtier_benchmark needs it for different random streams; the lab's load generator always uses different ones."""
_PLACEHOLDER = re.compile(r"__[a-z][a-z0-9_]*?__")
_MONITOR_LINE = re.compile(r"__monitor_line(\d+|@)__")


class UnsupportedTool(UsageError):
    """A program that the lab has no substitute for."""


def client_of(entry: Fields) -> list[Client]:
    """Return the clients that an entry of `clientconfig`, `clientconfigs` or `preload_tool` asks for.

    Raises `UnsupportedTool` for a program without a substitute, `UsageError` for arguments that cannot be read.
    """
    entry.lose_misspelt(frozenset({"tool", "arguments"}))
    tool = entry.text("tool")
    if not tool:
        raise UsageError("no tool is given that sends requests", hint="give clientconfig a tool and its arguments")
    words = _words(entry)
    if tool == "memtier_benchmark":
        return [_memtier(words, entry)]
    helper = HELPERS.get(tool)
    if helper is None:
        raise UnsupportedTool(f"`{tool}` is a program that the lab has no substitute for")
    entry.warn(("tool",), f"`{tool}` is not installed with the lab: its load generator sends the same commands instead")
    try:
        lines = helper(words)
    except ValueError as wrong:
        raise UsageError(f"the arguments of `{tool}` hold an invalid number: {wrong}") from wrong
    return [read_client(line) for line in lines]


def _words(entry: Fields) -> list[str]:
    text = entry.text("arguments")
    if "\0" in text:
        raise UsageError("the arguments hold a zero byte, which no program can be given")
    try:
        return shlex.split(text)
    except ValueError as wrong:
        raise UsageError(f"the arguments cannot be split: {wrong}") from wrong


def _memtier(words: list[str], entry: Fields) -> Client:
    client = read_client(words)
    faults = [warning for warning in client.warnings if not warning.startswith(USUAL_WARNING)]
    for command in client.sent:
        faults += [
            f"`{placeholder}` is no placeholder: it is sent as it stands"
            for placeholder in _PLACEHOLDER.findall(command.line)
            if placeholder not in PLACEHOLDERS and not _MONITOR_LINE.fullmatch(placeholder)
        ]
    if faults:
        entry.warn(("arguments",), "; ".join(dict.fromkeys(faults)))
    return client
