"""A call graph per request, as `crates/profile` writes it."""

import re
from collections.abc import Collection
from typing import Annotated, Final, Self, TypeAlias

from pydantic import ConfigDict, Field, FiniteFloat, model_validator

from zerolap.records.base import Record

LARGEST: Final = 1e30
"""Of a figure per request: sums and products of several stay finite."""
CountedFigure: TypeAlias = Annotated[FiniteFloat, Field(ge=-LARGEST, le=LARGEST)]
CountsByLine: TypeAlias = list[tuple[int, int, CountedFigure]]
"""By file and line."""

ALLOCATOR_ENTRY = re.compile(
    r"(?:je_|mi_|tc_|__libc_|__GI___libc_)?"
    r"(?:malloc|calloc|realloc|reallocarray|memalign|aligned_alloc|posix_memalign|mallocx|rallocx|valloc)"
    r"(?:_default)?"
)
"""Allocation functions of libc, jemalloc with its prefix, mimalloc and tcmalloc."""


class GraphTotals(Record):
    """Sums over all functions, per request."""

    instructions: CountedFigure
    syscalls: CountedFigure


class GraphFunction(Record):
    """A function: its own instructions and system calls, calls to it, its instructions by (file, line)."""

    name: str
    file: int | None
    object: str
    instructions: CountedFigure
    syscalls: CountedFigure
    calls: CountedFigure
    lines: CountsByLine


class GraphEdge(Record):
    """Calls from one function to another with their total costs; `lines` holds (file, line, calls) of call sites."""

    caller: int
    callee: int
    calls: CountedFigure
    instructions: CountedFigure
    syscalls: CountedFigure
    lines: CountsByLine = []


def require_within(what: str, indexes: Collection[int], length: int) -> None:
    """Raise `ValueError` unless all indexes are those of a table of so many entries."""
    if indexes and not (min(indexes) >= 0 and max(indexes) < length):
        raise ValueError(f"it refers to a {what} that it does not have")


class CallGraph(Record):
    """Functions and edges refer to `files` and `functions` by index."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    schema_: str = Field(alias="schema")
    files: list[str]
    totals: GraphTotals
    functions: list[GraphFunction]
    edges: list[GraphEdge]

    @model_validator(mode="after")
    def _require_references(self) -> Self:
        files = [function.file for function in self.functions if function.file is not None]
        files += [file for function in self.functions for file, _, _ in function.lines]
        files += [file for edge in self.edges for file, _, _ in edge.lines]
        require_within("file", files, len(self.files))
        ends = [end for edge in self.edges for end in (edge.caller, edge.callee)]
        require_within("function", ends, len(self.functions))
        return self

    def is_allocation(self, edge: GraphEdge) -> bool:
        """Whether the call enters an allocation function from outside of the allocator."""
        callee, caller = self.functions[edge.callee].name, self.functions[edge.caller].name
        return ALLOCATOR_ENTRY.fullmatch(callee) is not None and ALLOCATOR_ENTRY.fullmatch(caller) is None

    def allocations(self) -> float | None:
        """Return the allocations per request; None if no function of an allocator is visible."""
        if not any(ALLOCATOR_ENTRY.fullmatch(function.name) for function in self.functions):
            return None
        return sum(edge.calls for edge in self.edges if self.is_allocation(edge))
