"""Data of the page's charts, made from blobs of the trials."""

from typing import Literal, TypeAlias

from pydantic import Field

from zerolap.records.base import Record

PICTURES_SCHEMA = "zerolap.pictures/1"

DrawnSide: TypeAlias = Literal["base", "head"]
"""The sides that the page can draw: those of a comparison, the head alone of a run."""


class StackFrame(Record):
    """A function in a stack, with the file that defines it and its binary."""

    function: str
    file: str | None
    object: str
    inlined: bool


class StackNodes(Record):
    """A call tree in columns.

    A node's parent precedes it and is -1 for the root of a thread; samples are the node's own.
    """

    thread: list[int]
    parent: list[int]
    frame: list[int]
    samples: list[int]


class StackTree(Record):
    """The sampled stacks of one side; frames are indices into `Pictures.frames`.

    `cpu_ns_per_op` is null if it was not measured; `cpu_error` is its relative standard error.
    """

    event: str
    samples: int
    lost: int
    cpu_ns_per_op: float | None
    cpu_error: float = 0.0
    threads: list[str]
    nodes: StackNodes


class CasePictures(Record):
    """The pictures of a case, by side; null if an engine did not measure the case.

    `latency` has points of a share of requests and the microseconds within which they were answered; share 1 is the
    maximum. `throughput` has a point for each slice, or for several: seconds of measured time of both sides, requests
    per second; `starts_at` are the times at which servers were restarted. `missing` is the reason why pictures of
    measured data are missing. A run has only pictures of the head.
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
