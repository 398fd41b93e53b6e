"""What tracing recorded of a case: system calls, time off the processor and faults by thread; stacks."""

from typing import Annotated, Final, Literal, TypeAlias, get_args

from pydantic import Field, FiniteFloat

from zerolap.records.base import Record

TRACED_SCHEMA: Final = "zerolap.traced/1"
MOST_TRACED_THREADS: Final = 64
MOST_TRACED_CALLS: Final = 256
MOST_TRACED_STACKS: Final = 20
MOST_TRACED_FRAMES: Final = 64
LONGEST_TRACED_NAME: Final = 200

Name = Annotated[str, Field(max_length=LONGEST_TRACED_NAME)]
"""Of a thread, a system call or a function: code under test chooses the first and the last."""
PerRequest = Annotated[FiniteFloat, Field(ge=0)]


class TracedCall(Record):
    """A system call of the threads of one name.

    `ns_per_op` is from its entry to its exit, waiting included, of calls that ended while they were traced.
    `bytes_per_op` is what these read or wrote; null of calls that move no bytes, and where it was not recorded.
    """

    thread: Name
    call: Name
    calls_per_op: PerRequest
    ns_per_op: PerRequest
    bytes_per_op: PerRequest | None = None


class TracedThread(Record):
    """The threads of one name, `threads` in number, together.

    `off_per_op` is how often one left the processor, `off_ns_per_op` the time until it ran again; `queue_ns_per_op` is
    the part of that time in which it could have run. All are per request; `block_io_per_op` is null where the kernel
    does not report it.
    """

    thread: Name
    threads: int
    off_per_op: PerRequest
    off_ns_per_op: PerRequest
    queue_ns_per_op: PerRequest
    faults_per_op: PerRequest
    block_io_per_op: PerRequest | None


class TracedStack(Record):
    """A stack of a thread; `frames` are functions of the program from the leaf to the root, `share` its part of all."""

    thread: Name
    frames: Annotated[list[Name], Field(max_length=MOST_TRACED_FRAMES)]
    share: Annotated[FiniteFloat, Field(ge=0, le=1)]


TracedEvent: TypeAlias = Literal["system calls", "switches", "waits"]
"""What stacks are recorded of: a thread makes a system call, or leaves the processor; of waits, the time until it runs
again is what counts."""


class TracedStacks(Record):
    """The most frequent stacks of an event, of `samples` that were recorded; of waits, the longest of so many ns."""

    event: TracedEvent
    samples: Annotated[int, Field(ge=0)]
    stacks: Annotated[list[TracedStack], Field(max_length=MOST_TRACED_STACKS)]


class TracedCase(Record):
    """What traced passes recorded, those with the most calls or time first.

    `no_stacks` is why some stacks are missing, `no_tcp` why the metrics of TCP are.
    """

    schema_: Literal["zerolap.traced/1"] = Field(default=TRACED_SCHEMA, alias="schema", serialization_alias="schema")
    threads: Annotated[list[TracedThread], Field(max_length=MOST_TRACED_THREADS)]
    calls: Annotated[list[TracedCall], Field(max_length=MOST_TRACED_CALLS)]
    stacks: Annotated[list[TracedStacks], Field(max_length=len(get_args(TracedEvent)))] = []
    no_stacks: Name | None = None
    no_tcp: Name | None = None


class TracedSide(Record):
    """What the passes of a side recorded: the mean of each metric, its least and its largest value, and the rest."""

    metrics: dict[str, tuple[float, float, float]]
    passes: int
    traced: TracedCase


class TracedSides(Record):
    """What was traced on both sides of a comparison."""

    base: TracedSide
    head: TracedSide
