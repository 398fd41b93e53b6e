"""A call graph per request, as `crates/profile` writes it."""

import re

from pydantic import ConfigDict, Field

from zerolap.records.base import Record

ALLOCATOR_ENTRY = re.compile(
    r"(?:je_|mi_|tc_|__libc_|__GI___libc_)?"
    r"(?:malloc|calloc|realloc|reallocarray|memalign|aligned_alloc|posix_memalign|mallocx|rallocx|valloc)"
    r"(?:_default)?"
)
"""Allocation functions of libc, jemalloc with its prefix, mimalloc and tcmalloc."""


class GraphTotals(Record):
    """Sums over all functions, per request."""

    instructions: float
    syscalls: float


class GraphFunction(Record):
    """A function: its own instructions and system calls, calls to it, its instructions by (file, line)."""

    name: str
    file: int | None
    object: str
    instructions: float
    syscalls: float
    calls: float
    lines: list[tuple[int, int, float]]


class GraphEdge(Record):
    """Calls from one function to another with their total costs; `lines` holds (file, line, calls) of call sites."""

    caller: int
    callee: int
    calls: float
    instructions: float
    syscalls: float
    lines: list[tuple[int, int, float]] = []


class CallGraph(Record):
    """Functions and edges refer to `files` and `functions` by index."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    schema_: str = Field(alias="schema")
    files: list[str]
    totals: GraphTotals
    functions: list[GraphFunction]
    edges: list[GraphEdge]

    def is_allocation(self, edge: GraphEdge) -> bool:
        """Whether the call enters an allocation function from outside of the allocator."""
        callee, caller = self.functions[edge.callee].name, self.functions[edge.caller].name
        return ALLOCATOR_ENTRY.fullmatch(callee) is not None and ALLOCATOR_ENTRY.fullmatch(caller) is None

    def allocations(self) -> float | None:
        """Return the allocations per request; None if no function of an allocator is visible."""
        if not any(ALLOCATOR_ENTRY.fullmatch(function.name) for function in self.functions):
            return None
        return sum(edge.calls for edge in self.edges if self.is_allocation(edge))
