"""Allocations as calls into an allocator from outside of it."""

import re

from zerolap.records import CallGraph

ENTRY = re.compile(
    r"(?:je_|mi_|tc_|__libc_|__GI___libc_)?"
    r"(?:malloc|calloc|realloc|reallocarray|memalign|aligned_alloc|posix_memalign|mallocx|rallocx|valloc)"
    r"(?:_default)?"
)
"""Names under which allocators hand out memory: libc, jemalloc with its prefix, mimalloc, tcmalloc."""


def allocations_per_op(graph: CallGraph) -> float | None:
    """Return the calls that ask an allocator for memory; none where no such function is visible."""
    entries = {index for index, function in enumerate(graph.functions) if ENTRY.fullmatch(function.name)}
    if not entries:
        return None
    return sum(edge.calls for edge in graph.edges if edge.callee in entries and edge.caller not in entries)
