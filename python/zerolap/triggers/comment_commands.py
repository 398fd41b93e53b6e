"""Commands in comments: `/zerolap ack REASON`, `/zerolap run CASE...` and `/zerolap cancel`."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, StringConstraints

from zerolap.records import Record

WORD: Final = "/zerolap"
MARKER: Final = "<!-- zerolap"
"""Comments of the lab begin with it, and contain no commands."""
LONGEST_REASON: Final = 500
LONGEST_PATTERN: Final = 100
MOST_PATTERNS: Final = 20
CODE_INDENT: Final = 4
"""Lines that are indented by so many spaces are code in Markdown."""
VERBS: Final = "`/zerolap ack REASON`, `/zerolap run CASE...` and `/zerolap cancel`"

_PATTERN: Final = re.compile(r"[A-Za-z0-9_.*?\[\]{}-]+")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_CODE_SPAN: Final = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_END_OF_LINE: Final = re.compile(r"\r\n|\r|\n")


class Acknowledge(Record):
    """A change is accepted as it is; `reason` is kept with it."""

    verb: Literal["ack"] = "ack"
    reason: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_REASON)]


class Run(Record):
    """Cases are to be measured; `patterns` are their names or globs."""

    verb: Literal["run"] = "run"
    patterns: Annotated[tuple[str, ...], Field(min_length=1, max_length=MOST_PATTERNS)]


class Cancel(Record):
    """Running work for the pull request is to be cancelled."""

    verb: Literal["cancel"] = "cancel"


class InvalidCommand(Record):
    """A line that addresses the lab but is not a valid command; `reply` is the answer to its author, as Markdown."""

    verb: Literal["misunderstood"] = "misunderstood"
    reply: str


Command: TypeAlias = Annotated[Acknowledge | Run | Cancel | InvalidCommand, Field(discriminator="verb")]


def command_in(comment: str) -> Command | None:
    """Return the first command of a comment; None without one, and for comments of the lab.

    A command is a line by itself, outside of quotes, code and HTML comments.
    """
    if comment.lstrip().startswith(MARKER):
        return None
    for line in _lines_of_text(comment):
        word, *rest = line.strip(" \t").split(maxsplit=1)[:2] or [""]
        if word == WORD:
            return _command(rest[0] if rest else "")
    return None


def _command(text: str) -> Command:
    verb, _, rest = _plain(text).partition(" ")
    match verb:
        case "ack":
            return _acknowledgement(rest.strip())
        case "run":
            return _run(rest.split())
        case "cancel" if not rest.strip():
            return Cancel()
        case "cancel":
            return InvalidCommand(reply="`/zerolap cancel` stands alone.")
        case _:
            return InvalidCommand(reply=f"This is not a command. The commands are {VERBS}.")


def _acknowledgement(reason: str) -> Command:
    if not reason:
        return InvalidCommand(reply="An acknowledgement needs a reason: `/zerolap ack REASON`.")
    if len(reason) > LONGEST_REASON:
        return InvalidCommand(reply=f"The reason has more than {LONGEST_REASON} characters.")
    return Acknowledge(reason=reason)


def _run(patterns: list[str]) -> Command:
    if not patterns:
        return InvalidCommand(reply="Name the cases, by names or globs: `/zerolap run geo*`.")
    if len(patterns) > MOST_PATTERNS:
        return InvalidCommand(reply=f"More than {MOST_PATTERNS} names of cases: use globs.")
    if any(len(pattern) > LONGEST_PATTERN or _PATTERN.fullmatch(pattern) is None for pattern in patterns):
        return InvalidCommand(
            reply="Names and globs of cases consist of letters, digits, `-`, `_`, `.`, `*`, `?`, `[]` and `{}`,"
            f" and have at most {LONGEST_PATTERN} characters."
        )
    return Run(patterns=tuple(dict.fromkeys(patterns)))


def _lines_of_text(comment: str) -> Iterator[str]:
    """Return the lines that are neither quoted, nor code, nor in an HTML comment.

    An element that is not closed extends to the end: in doubt, a line is not a command.
    """
    fence, is_in_html_comment, is_quoted = "", False, False
    # Split only where GitHub shows an end of line: a quoted text may contain other separators.
    for line in _END_OF_LINE.split(comment):
        match = _FENCE.fullmatch(line)
        if fence:
            is_end = match is not None and match[1].startswith(fence) and not match[2].strip()
            fence = "" if is_end else fence
        elif is_in_html_comment:
            is_in_html_comment = "-->" not in line
        elif match is not None and not (match[1].startswith("`") and "`" in match[2]):
            fence = match[1]
        elif line.lstrip().startswith(">") or (is_quoted and line.strip()):
            # A line directly below a quoted line continues its paragraph, and is shown as quoted.
            is_quoted = True
        else:
            is_quoted = False
            is_in_html_comment = _opens_html_comment(line)
            if "<!--" not in line and _indent(line) < CODE_INDENT:
                yield line


def _opens_html_comment(line: str) -> bool:
    _, opening, rest = _CODE_SPAN.sub("", line).rpartition("<!--")
    return bool(opening) and "-->" not in rest


def _indent(line: str) -> int:
    expanded = line.expandtabs(CODE_INDENT)
    return len(expanded) - len(expanded.lstrip(" "))


def _plain(text: str) -> str:
    """Return a text without control and format characters, which can reverse or hide text."""
    return "".join(" " if character.isspace() else character for character in text if _is_visible(character))


def _is_visible(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) not in ("Cc", "Cf", "Cs")
