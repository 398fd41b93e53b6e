"""Calls per request that a count build makes: its numbers of calls, and nothing of what they cost there."""

from typing import Final, Literal, Self

from pydantic import Field, model_validator

from zerolap.records.base import Record
from zerolap.records.call_graph import CallGraph, CountedFigure, CountsByLine, require_within

CALL_COUNTS_SCHEMA: Final = "zerolap.callcounts/1"


class CalledFunction(Record):
    """A function of a count build; `calls` is 0 for what is entered from outside."""

    name: str
    file: int | None
    object: str
    calls: CountedFigure


class CountedCalls(Record):
    """Calls of one function by another; `lines` holds (file, line, calls) of call sites."""

    caller: int
    callee: int
    calls: CountedFigure
    lines: CountsByLine = []


class CallCounts(Record):
    """Who calls whom how often in a build without inlining; both refer to `files` and `functions` by index.

    It has no costs: what a count build executes is not what the server executes.
    """

    schema_: Literal["zerolap.callcounts/1"] = Field(
        default=CALL_COUNTS_SCHEMA, alias="schema", serialization_alias="schema"
    )
    files: list[str]
    functions: list[CalledFunction]
    calls: list[CountedCalls]

    @model_validator(mode="after")
    def _require_references(self) -> Self:
        files = [function.file for function in self.functions if function.file is not None]
        require_within("file", files + [file for calls in self.calls for file, _, _ in calls.lines], len(self.files))
        require_within(
            "function", [end for calls in self.calls for end in (calls.caller, calls.callee)], len(self.functions)
        )
        return self

    def calls_to(self, function: str, file: str) -> float | None:
        """Return the calls to a function of the source, 0 if only the small window has some; none without any."""
        named = [
            called.calls
            for called in self.functions
            if called.name == function and called.file is not None and self.files[called.file] == file
        ]
        return max(0.0, sum(named)) if named else None

    @classmethod
    def of(cls, graph: CallGraph) -> "CallCounts":
        """Return the calls of a call graph."""
        functions = [
            CalledFunction(name=function.name, file=function.file, object=function.object, calls=function.calls)
            for function in graph.functions
        ]
        calls = [
            CountedCalls(caller=edge.caller, callee=edge.callee, calls=edge.calls, lines=edge.lines)
            for edge in graph.edges
        ]
        return cls(files=graph.files, functions=functions, calls=calls)
