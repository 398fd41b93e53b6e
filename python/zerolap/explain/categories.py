"""What a function works at, by its name and file: the parts of the work that all servers of the family share."""

import functools
import re
import tomllib
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter

from zerolap.explain.allocations import works_at_memory
from zerolap.explain.cost_graph import LONGEST_NAME
from zerolap.records import Category

_TABLES: Final = TypeAdapter(dict[Literal["names", "files"], dict[Category, list[str]]]).validate_python(
    tomllib.loads(Path(__file__).with_name("categories.toml").read_text())
)
_BY_NAME, _BY_FILE = (
    {category: re.compile("|".join(patterns)) for category, patterns in _TABLES[table].items()}
    for table in ("names", "files")
)
_LUA: Final = re.compile(
    r"lua[A-Z_]\w*|lua_\w+|f_call|singlestep|sweeplist|propagatemark|reallymarkobject|traversetable|newkey"
)
MOST_REMEMBERED: Final = 20_000


def category_of(name: str, file: str) -> Category:
    """Return what a function works at, by the beginnings of its name and file.

    `file` is that of its definition, or the name of its program or library.
    """
    # Some patterns take the square of the length of a file's name.
    return _category_of(name[:LONGEST_NAME], file[:LONGEST_NAME])


@functools.lru_cache(MOST_REMEMBERED)
def _category_of(name: str, file: str) -> Category:
    if works_at_memory(name):
        return "allocation"
    for category, pattern in _BY_NAME.items():
        if pattern.fullmatch(name):
            return category
    for category, pattern in _BY_FILE.items():
        if pattern.fullmatch(file):
            return category
    return "command" if _LUA.fullmatch(name) else "other"
