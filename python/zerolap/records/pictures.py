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
    """The stacks of one side; frames are indices into `Pictures.frames`.

    Samples are of the time on the processor, and `cpu_ns_per_op` is the CPU time of a request. Where `event` is
    `off-cpu`, samples are nanoseconds off the processor, and `cpu_ns_per_op` is that time of a request. It is null if
    it was not measured; `cpu_error` is its relative standard error.
    """

    event: str
    samples: int
    lost: int
    cpu_ns_per_op: float | None
    cpu_error: float = 0.0
    threads: list[str]
    nodes: StackNodes


class SourceText(Record):
    """A line of source code with its file; `text` is null where the source was not at hand."""

    file: str
    text: str | None


class LinedSide(Record):
    """What a side has of a function in the passes that recorded lines, `lined_passes` of all.

    `own` are samples in the function itself, without callees, of `samples` in all functions.
    """

    samples: int
    own: int
    passes: int
    lined_passes: int


class SampledLines(Record):
    """The source lines of one function with their samples, in columns; lines of both sides with one text are one.

    `source` are indices into `Pictures.sources`. By side, `line` has the number of each, null without samples, and
    `own` its samples. `left_out` is the number of lines that are not here, those with the fewest samples.
    """

    function: str
    file: str | None
    object: str
    sides: dict[DrawnSide, LinedSide]
    source: list[int]
    line: dict[DrawnSide, list[int | None]]
    own: dict[DrawnSide, list[int]]
    left_out: int


class CasePictures(Record):
    """The pictures of a case, by side; null if an engine did not measure the case.

    `latency` has points of a share of requests and the microseconds within which they were answered; share 1 is the
    maximum. `throughput` has a point for each slice, or for several: seconds of measured time of both sides, requests
    per second; `starts_at` are the times at which servers were restarted. `stacks` are of the time on the processor,
    `waits` of the time off it. `lines` are those of some functions of `stacks`: of those that findings name, and of
    those with the most samples of their own. `missing` is the reason why pictures of measured data are missing. A run
    has only pictures of the head.
    """

    latency: dict[DrawnSide, list[tuple[float, float]]] | None
    throughput: dict[DrawnSide, list[tuple[float, float]]] | None
    stacks: dict[DrawnSide, StackTree] | None
    waits: dict[DrawnSide, StackTree] | None = None
    lines: list[SampledLines] = []
    starts_at: list[float] = []
    missing: str | None = None


class Pictures(Record):
    """The document behind the page's pictures."""

    schema_: str = Field(default=PICTURES_SCHEMA, alias="schema", serialization_alias="schema")
    frames: list[StackFrame] = []
    sources: list[SourceText] = []
    cases: dict[str, CasePictures] = {}
