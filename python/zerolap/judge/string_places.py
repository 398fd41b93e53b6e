"""Instructions of the C library that depend on where strings lie, not on what is done with them.

Functions for strings read whole vectors, and take another path where a vector would reach into the next page. Each new
string constant of a program moves others, so that a commit changes what its strings cost without touching their use.
The bounds were measured with glibc 2.36: the same strings of up to 200 bytes at 324 pairs of offsets in their pages
(docs/counted.md).
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from zerolap.records import CallGraph

C_LIBRARY: Final = re.compile(r"libc(?:-[\d.]+)?\.so(?:\.\d+)?")
"""The file of the library: a function of a server is its own work, whatever its name."""
_OF_VECTORS: Final = r"(?:_l)?_(?:sse|avx|evex)\w*"
LARGEST_PER_CALL: Final[Mapping[re.Pattern[str], float]] = {
    re.compile(r"__strn?casecmp" + _OF_VECTORS): 160.0,
    re.compile(r"__strn?cmp" + _OF_VECTORS): 110.0,
    re.compile(r"__str(?:str|spn)" + _OF_VECTORS): 40.0,
    re.compile(r"__(?:strn?len|strr?chr|strchrnul|memchr|memcmp)" + _OF_VECTORS): 25.0,
}
"""By the name of a function: the most instructions a call by which two places of the same strings can differ."""
EQUAL_CALLS: Final = 0.001
"""Relative difference, at most, between numbers of calls that count as equal."""
SMALLEST_PART: Final = 0.5
"""The part of a change that places of strings have to account for, so that it is no change of the work."""


@dataclass(frozen=True)
class StringCosts:
    """Instructions and calls per request of the C library's functions for strings, by name."""

    functions: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, graph: CallGraph) -> "StringCosts":
        """Return those of a call graph."""
        functions: dict[str, tuple[float, float]] = {}
        for function in graph.functions:
            if C_LIBRARY.fullmatch(function.object) and _largest_per_call(function.name) is not None:
                instructions, calls = functions.get(function.name, (0.0, 0.0))
                functions[function.name] = instructions + function.instructions, calls + function.calls
        return cls(functions)

    def difference_by_places(self, head: "StringCosts") -> float:
        """Return the instructions per request, head less these, that the places of strings can account for.

        These are those of functions that are called equally often, if they differ by no more a call than other places
        of the same strings do.
        """
        return math.fsum(
            head_instructions - base_instructions
            for name, (base_instructions, base_calls) in self.functions.items()
            for head_instructions, head_calls in [head.functions.get(name, (0.0, 0.0))]
            if abs(head_calls - base_calls) <= EQUAL_CALLS * base_calls
            and abs(head_instructions - base_instructions) <= (_largest_per_call(name) or 0.0) * base_calls
        )


def difference_by_string_places(base: CallGraph, head: CallGraph) -> float:
    """Return the instructions per request, head less base, that the places of strings can account for."""
    return StringCosts.of(base).difference_by_places(StringCosts.of(head))


def is_by_string_places(change: float, by_places: float, smallest: float) -> bool:
    """Whether the places of strings account for a change: for most of it, and for all but less than `smallest`.

    All three are in the same unit.
    """
    return (
        by_places * change > 0.0
        and abs(by_places) >= SMALLEST_PART * abs(change)
        and abs(change - by_places) < smallest
    )


def _largest_per_call(name: str) -> float | None:
    return next((largest for pattern, largest in LARGEST_PER_CALL.items() if pattern.fullmatch(name)), None)
