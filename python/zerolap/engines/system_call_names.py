"""Names of Linux's system calls by number, on the machines that servers run on."""

import functools
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Final

TABLES: Final = Path(__file__).with_name("system_calls")
"""Files with the names of calls whose numbers follow each other from the number before them."""
OWN_TABLE: Final[Mapping[str, str]] = {
    "x86_64": "x86_64",
    **dict.fromkeys(("aarch64", "riscv64", "loongarch64"), "generic"),
}
"""The table of a machine, beside that of all machines."""


def system_call_names(machine: str | None = None) -> dict[int, str]:
    """Return the names by number on a machine, by default this one; none where its numbers are not known."""
    own = OWN_TABLE.get(machine or platform.machine())
    return {} if own is None else {**_table(own), **_table("common")}


@functools.cache
def _table(name: str) -> Mapping[int, str]:
    names: dict[int, str] = {}
    number = 0
    for line in (TABLES / f"{name}.txt").read_text().splitlines():
        for word in [] if line.startswith("#") else line.split():
            if word.isdigit():
                number = int(word)
            else:
                names[number] = word
                number += 1
    return names
