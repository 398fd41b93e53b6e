"""A call graph per request, as `crates/profile` writes it."""

from pydantic import ConfigDict, Field

from zerolap.records.base import Record


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
    """Calls from one function to another and what they cost in all; `lines` holds (file, line, calls) of call sites."""

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
