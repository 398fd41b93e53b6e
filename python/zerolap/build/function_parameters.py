"""What a function of C takes in integer registers, from the text of its definition.

The text is that of code under test: it is bounded, and what is not understood for certain is not known.
"""

import re
from collections.abc import Sequence
from enum import Enum
from typing import Final

LONGEST_DEFINITION: Final = 4_000
LONGEST_DEFINITION_LINES: Final = 20
"""Characters and lines of a definition up to its body."""
COMMENT: Final = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
QUALIFIERS: Final = frozenset(
    {"const", "volatile", "restrict", "__restrict", "register", "static", "inline", "__inline", "extern", "signed"}
)
TEXTS: Final = frozenset({"char", "void", "uint8_t", "int8_t"})
"""What a pointer to these points to is taken to end with a zero byte."""
STRINGS: Final = frozenset({"sds", "const_sds", "hisds"})
"""Types that are pointers to text themselves."""
OBJECTS: Final = frozenset({"robj", "redisObject", "serverObject", "kvobj"})
CLIENTS: Final = frozenset({"client", "redisClient"})
FLOATING: Final = frozenset({"float", "double"})
SHORT: Final = frozenset({"int", "unsigned", "short", "char", "bool", "_Bool", "uint8_t", "int8_t"})
SHORT_FIXED: Final = re.compile(r"u?int(?:8|16|32)_t")
SIZED: Final = re.compile(r"\w+_t")
"""By convention, types of numbers: sizes, times, and those of fixed width."""
ENDS_BEFORE: Final = re.compile(r"[;{}()#]")
"""What stands before the type that a function returns, if anything does."""


class Parameter(Enum):
    """What a parameter is, as far as it decides what has to be equal for two arguments to be the same."""

    NUMBER = "number"
    """All 64 bits of a register."""
    SHORT_NUMBER = "short number"
    """The lower 32 bits of a register: the upper ones may be anything."""
    TEXT = "text"
    """A pointer to text that ends with a zero byte."""
    STRUCTURE = "structure"
    """A pointer to something else."""
    OBJECT = "object"
    """A pointer to an object of the server, whose second word points to what it holds."""
    HANDLE = "handle"
    """A pointer to what stays the same thing, whatever becomes of it, such as a client."""
    FLOATING = "floating"
    """In a register of another kind."""


def parameters_of(definition: str, function: str) -> tuple[Parameter, ...] | None:
    """Return the parameters of a function, in the order of its registers; none where they are not known for certain.

    `definition` is the source text from about the line that names the function on.
    """
    text = COMMENT.sub(" ", definition[:LONGEST_DEFINITION])
    named = re.search(rf"\b{re.escape(function)}\s*\(", text)
    if named is None or not _returns_in_register(ENDS_BEFORE.split(text[: named.start()])[-1]):
        return None
    parts, after = _parts(text[named.end() :])
    if not after.lstrip().startswith("{"):
        return None
    if parts in ([""], ["void"]):
        return ()
    kinds = [_parameter(part) for part in parts]
    known = tuple(kind for kind in kinds if kind is not None)
    return known if len(known) == len(kinds) else None


def _returns_in_register(before: str) -> bool:
    """Whether what a function returns is no structure, for whose place a further register would be taken."""
    line = " ".join(before.rsplit("\n", 2)[-2:])
    if "*" in line:
        return True
    words = [word for word in line.split() if word not in QUALIFIERS]
    return bool(words) and (words[-1] in {"void", "long"} or _number(words) is not None or words[-1] in STRINGS)


def _parts(text: str) -> tuple[list[str], str]:
    """Return the declarations up to the bracket that closes one opened before, and what follows it, if it is there.

    They are between commas that do not stand in brackets of their own.
    """
    parts, depth = [""], 1
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return [" ".join(part.split()) for part in parts], text[place + 1 :]
        if letter == "," and depth == 1:
            parts.append("")
        else:
            parts[-1] += letter
    return [], ""


def _parameter(declared: str) -> Parameter | None:
    if "(" in declared:
        # A pointer to a function.
        return Parameter.NUMBER
    stars = declared.count("*") + declared.count("[")
    words = [word for word in re.findall(r"\w+", re.split(r"[*\[]", declared)[0]) if word not in QUALIFIERS]
    if "struct" in words or "union" in words:
        # By value it may take any registers.
        return _pointer(words[1:2]) if stars == 1 else Parameter.STRUCTURE if stars else None
    if stars:
        return _pointer(words) if stars == 1 else Parameter.STRUCTURE
    if words[:1] and words[0] in STRINGS:
        return Parameter.TEXT
    return _number(words)


def _pointer(words: Sequence[str]) -> Parameter:
    if set(words) & TEXTS:
        return Parameter.TEXT
    if set(words) & OBJECTS:
        return Parameter.OBJECT
    return Parameter.HANDLE if set(words) & CLIENTS else Parameter.STRUCTURE


def _number(words: Sequence[str]) -> Parameter | None:
    """Return the kind of a number by the words of its declaration, the name included; none for another type."""
    if not words:
        return None
    if set(words) & FLOATING:
        return Parameter.FLOATING
    if "long" in words:
        return Parameter.NUMBER
    if words[0] == "enum" or words[0] in SHORT or SHORT_FIXED.fullmatch(words[0]):
        return Parameter.SHORT_NUMBER
    return Parameter.NUMBER if SIZED.fullmatch(words[0]) else None
