"""Where the CPU time of one case of one server goes, or its time off the processor: `zerolap profile --json`."""

from typing import Literal

from pydantic import Field

from zerolap.records.base import Record
from zerolap.records.pictures import DrawnSide

PROFILE_SCHEMA = "zerolap.profile/1"


class ProfiledThread(Record):
    """A thread, or all threads of one name: its samples and its CPU time in a request, null where that is not known."""

    name: str
    samples: int
    share: float
    cpu_ns_per_op: float | None


class FunctionTime(Record):
    """What a function takes: `own` without what it calls, `inclusive` with it, a recursion counted once.

    Shares are of the samples of the profile; times are of a request, null where its CPU time is not known. `file` is
    null without line information, `object` is the program or library.
    """

    function: str
    file: str | None
    object: str
    own_share: float
    inclusive_share: float
    own_cpu_ns_per_op: float | None
    inclusive_cpu_ns_per_op: float | None


class SourceLine(Record):
    """A line with samples: `share` is its part of the function itself; `text` is null where the source was not kept."""

    file: str
    line: int
    text: str | None
    share: float
    cpu_ns_per_op: float | None


class FunctionSource(Record):
    """The lines of a function that have samples of its own, of all threads, in the order of the source.

    `own_share` is the function's part of all samples; `left_out` is the number of lines that are not listed, those with
    the fewest samples.
    """

    function: str
    file: str | None
    own_share: float
    lines: list[SourceLine]
    left_out: int


class CaseProfile(Record):
    """The document of one profile: of all threads, or of the one that `thread` names.

    `cpu_ns_per_op` is the CPU time of a request in all threads: `timed` by trials of their own, or of the passes that
    were `sampled`, perf's own part included; `ops_per_sec` is of the passes. Both are null where they are not known.
    `functions` are those with the most own samples, of `all_functions`.

    With `off_cpu` all of it is of the time off the processor, as `traced` passes recorded it: samples are nanoseconds,
    times are of waiting, and `functions` are those of the program; their own time is what they waited in the kernel.
    """

    schema_: str = Field(default=PROFILE_SCHEMA, alias="schema", serialization_alias="schema")
    id: str
    created: str
    case: str
    side: DrawnSide
    server: str
    platform: str
    events: list[str]
    passes: int
    samples: int
    lost: int
    cpu_ns_per_op: float | None
    cpu_measured: Literal["timed", "sampled", "traced"] | None
    ops_per_sec: float | None
    thread: str | None
    threads: list[ProfiledThread]
    functions: list[FunctionTime]
    all_functions: int
    sources: list[FunctionSource]
    off_cpu: bool = False
