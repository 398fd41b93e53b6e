"""What the page draws beside the figures; made from what trials left in the store."""

from typing import Literal, TypeAlias

from pydantic import Field

from zerolap.records.base import Record

PICTURES_SCHEMA = "zerolap.pictures/1"

DrawnSide: TypeAlias = Literal["base", "head"]
"""The sides that the page can draw: those of a comparison, the head alone of a run."""


class StackFrame(Record):
    """A function in a stack, where it was defined and in which binary."""

    function: str
    file: str | None
    object: str
    inlined: bool


class StackNodes(Record):
    """A call tree in columns.

    A node's parent precedes it, -1 is above the root of a thread; samples are the node's own.
    """

    thread: list[int]
    parent: list[int]
    frame: list[int]
    samples: list[int]


class StackTree(Record):
    """The sampled stacks of one side; frames are those of all pictures, by index.

    `cpu_ns_per_op` is null where nothing was timed; `cpu_error` is its standard error as a part of it.
    """

    event: str
    samples: int
    lost: int
    cpu_ns_per_op: float | None
    cpu_error: float = 0.0
    threads: list[str]
    nodes: StackNodes


class CasePictures(Record):
    """The pictures of a case, by side; null where an engine did not measure it.

    Latency: by share of requests, the microseconds within which they were answered; share 1 is the longest. Throughput:
    a point for each slice or several, seconds of measured time of both sides and requests per second; `starts_at` says
    when on that axis servers were started anew. `missing` says why pictures are not there that once were measured.
    A run has pictures of the head alone.
    """

    latency: dict[DrawnSide, list[tuple[float, float]]] | None
    throughput: dict[DrawnSide, list[tuple[float, float]]] | None
    stacks: dict[DrawnSide, StackTree] | None
    starts_at: list[float] = []
    missing: str | None = None


class Pictures(Record):
    """The document behind the page's pictures."""

    schema_: str = Field(default=PICTURES_SCHEMA, alias="schema", serialization_alias="schema")
    frames: list[StackFrame] = []
    cases: dict[str, CasePictures] = {}
