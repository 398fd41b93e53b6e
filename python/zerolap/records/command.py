"""Command lines in the syntax of redis-cli, and the rules for placeholders in them."""

import re

from zerolap.errors import UsageError

KEY = "__key__"
DATA = "__data__"
CONTAINERS = frozenset(
    {
        *("ACL", "CLIENT", "CLUSTER", "COMMAND", "COMMANDLOG", "CONFIG", "DEBUG", "FUNCTION", "LATENCY"),
        *("MEMORY", "MODULE", "OBJECT", "PUBSUB", "SCRIPT", "SLOWLOG", "XGROUP", "XINFO"),
    }
)
"""Commands that have subcommands."""

_SPACE = " \n\r\t\v\f\0"
_ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "b": b"\b", "a": b"\a"}
_HEX = re.compile(r"\\x([0-9a-fA-F]{2})")
_PLAIN = frozenset("!#$%&()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~")


def parse_command(line: str) -> list[bytes]:
    r"""Split a command line into arguments by redis-cli's rules of quoting.

    Double quotes support ``\n \r \t \b \a \xHH`` and ``\"``, single quotes only ``\'``; outside quotes a backslash is
    an ordinary character. A closing quote must be followed by a space or the end of the line.

    Raises:
        UsageError: The quotes are unbalanced, or something follows a closing quote.
    """
    arguments: list[bytes] = []
    at = 0
    while True:
        while at < len(line) and line[at] in _SPACE:
            at += 1
        if at == len(line):
            return arguments
        argument, at = _argument(line, at)
        arguments.append(argument)


def _argument(line: str, at: int) -> tuple[bytes, int]:
    parts = bytearray()
    while at < len(line) and line[at] not in _SPACE:
        if line[at] in "\"'":
            at = _quoted(line, at, parts)
            if at < len(line) and line[at] not in _SPACE:
                raise UsageError(f"a closing quote must be followed by a space: {_around(line, at)}")
            break
        parts += line[at].encode()
        at += 1
    return bytes(parts), at


def _quoted(line: str, start: int, parts: bytearray) -> int:
    """Append the text between the quotes that open at `start`; return the index after the closing quote."""
    quote = line[start]
    at = start + 1
    while at < len(line):
        character = line[at]
        if character == quote:
            return at + 1
        if character == "\\" and at + 1 < len(line) and (quote == '"' or line[at + 1] == "'"):
            following = line[at + 1]
            if quote == '"' and (match := _HEX.match(line, at)):
                parts.append(int(match[1], 16))
                at = match.end()
                continue
            parts += _ESCAPES.get(following, following.encode()) if quote == '"' else b"'"
            at += 2
            continue
        parts += character.encode()
        at += 1
    raise UsageError(f"unbalanced quotes: nothing closes {_around(line, start)}")


def _around(line: str, at: int) -> str:
    excerpt = line[max(0, at - 8) : at + 12]
    return excerpt.replace("\n", " ")


def command_line(words: list[str]) -> str:
    """Return words as a line that `parse_command` splits into the same words."""
    return " ".join(_quoted_word(word) for word in words)


def _quoted_word(word: str) -> str:
    if word and _PLAIN.issuperset(word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def verb_of(line: str) -> str:
    """Return the command's name in upper case: its first word, and the second for a container (`XINFO STREAM`)."""
    name, *arguments = (argument.decode(errors="replace").upper() for argument in parse_command(line)[:2])
    is_filled_in = any(word.upper() in argument for argument in arguments for word in (KEY, DATA))
    has_subcommand = name in CONTAINERS and arguments and not is_filled_in
    return f"{name} {arguments[0]}" if has_subcommand else name


def container_of(verb: str) -> str:
    """Return the container of a subcommand (`XINFO` of `XINFO STREAM`), or the name of another command."""
    return verb.partition(" ")[0]


def fault_of_command(line: str, placeholders: bool) -> str | None:
    """Return the fault of a command line, or None; `placeholders` is whether it may contain placeholders."""
    try:
        arguments = parse_command(line)
    except UsageError as error:
        return error.message
    if not arguments or not arguments[0]:
        return "the command is empty"
    if not placeholders:
        used = [word for word in (KEY, DATA) if word in line]
        return f"{used[0]} is filled in only under commands and load; setup is sent as it is" if used else None
    return _fault_of_placeholders([argument.decode(errors="replace") for argument in arguments])


def _fault_of_placeholders(arguments: list[str]) -> str | None:
    if KEY in arguments[0] or DATA in arguments[0]:
        return "the first word must be a command, not a placeholder"
    for argument in arguments[1:]:
        if DATA in argument and argument != DATA:
            return f'{DATA} must be a whole argument; found "{argument}"'
        if argument.count(KEY) > 1:
            return f'an argument takes {KEY} once; found "{argument}"'
    return None
