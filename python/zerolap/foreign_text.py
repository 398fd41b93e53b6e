"""Text of others, of code under test, repositories, clients and files, as it may be shown."""

import re
import unicodedata
from typing import Final

IGNORABLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""What takes no place or shows nothing, of the categories of letters, marks and symbols: Unicode's
`Default_Ignorable_Code_Point`, and the empty pattern of Braille."""

UNUSUAL: Final = re.compile(r"[^\n\t -~]")
FORMULA_SIGNS: Final = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes a cell for a formula that begins with one of these."""


def printable(text: str) -> str:
    """Return foreign text without what would steer a terminal or hide in a page; line ends and tabs stay."""
    return UNUSUAL.sub(lambda match: match[0] if is_shown(match[0]) else "\N{REPLACEMENT CHARACTER}", text)


def one_line(text: str) -> str:
    """Return foreign text on one line, as `printable` does."""
    return printable(" ".join(text.split()))


def spreadsheet_text(text: str) -> str:
    """Return foreign text as a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA_SIGNS) else text


def is_shown(character: str) -> bool:
    """Whether a character is shown, or ends a line or is a tab, and has no other effect."""
    is_control = unicodedata.category(character).startswith("C") or IGNORABLE.match(character) is not None
    return character in "\n\t" or not is_control
