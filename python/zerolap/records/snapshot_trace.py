"""What tracing shows of one event of a sweep of snapshots: the fork, the parent until its child has ended, and that."""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, FiniteFloat

from zerolap.records.base import Record
from zerolap.records.traced_case import Name, TracedStack

MOST_PARENT_CALLS: Final = 64
MOST_CALL_STACKS: Final = 3
MOST_CHILD_STEPS: Final = 64
MOST_CHILD_CALLS: Final = 64
MOST_FORK_FUNCTIONS: Final = 8

Count = Annotated[int, Field(ge=0)]
Nanoseconds = Annotated[int, Field(ge=0)]
Share = Annotated[FiniteFloat, Field(ge=0)]

ForkPartName: TypeAlias = Literal["page tables", "memory areas", "other", "off the processor"]
"""`page tables` copies them, `memory areas` the areas that they are of (VMAs), `other` is what else a fork does."""
TimeOffReason: TypeAlias = Literal["waiting for requests", "in a system call", "elsewhere"]
"""Where a thread was when it left its processor; `elsewhere` is in the program itself, or in a page fault."""
PageFaultKind: TypeAlias = Literal["copy on write", "first write", "first read", "other", "any"]
"""`copy on write` writes to a page that is there and may not be written; `any` where the kernel reports no kinds."""
ForkFindingKind: TypeAlias = Literal["files", "memory", "waiting"]
"""The main thread writes files, changes its memory map, or waits for something that is no request."""


class ForkPart(Record):
    """A part of the fork.

    All but `off the processor` are estimated: the time on the processor, by the share of its samples.
    """

    part: ForkPartName
    ns: Nanoseconds


class KernelFunction(Record):
    """A function of the kernel, and in which share of the samples of the fork it ran itself."""

    function: Name
    share: Annotated[FiniteFloat, Field(ge=0, le=1)]


class ParentCall(Record):
    """A system call of the parent's main thread between the fork and the child's exit.

    `target` is the file that it is of, as the server named it, null for calls of no file. `in_pause` and
    `ns_in_pause` are those before the thread waited for requests again; `stacks` the most frequent ones.
    """

    call: Name
    target: Name | None
    calls: Count
    ns: Nanoseconds
    longest_ns: Nanoseconds
    in_pause: Count
    ns_in_pause: Nanoseconds
    stacks: Annotated[list[TracedStack], Field(max_length=MOST_CALL_STACKS)] = []


class TimeOff(Record):
    """How often and how long the main thread was off its processor; `queue_ns` is when it could have run."""

    reason: TimeOffReason
    times: Count
    ns: Nanoseconds
    queue_ns: Nanoseconds


class PageFaultCounts(Record):
    """Page faults of a kind, of all threads of the parent and of the child, between the fork and the child's exit."""

    kind: PageFaultKind
    parent: Count
    child: Count


class ChildStep(Record):
    """A system call that the child made so often in a row, when the first began after the fork did, and their time."""

    call: Name
    calls: Count
    at_ns: Nanoseconds
    ns: Nanoseconds


class ChildCall(Record):
    """A system call of the child's main thread in all of its life."""

    call: Name
    calls: Count
    ns: Nanoseconds


class ForkFinding(Record):
    """What the parent does while its child works that need not be done then, or not by the thread that answers.

    `share_of_pause` is the part of the pause that its calls took, null where no end of the pause was seen. `frames` is
    the most frequent stack of the call that took most of the time, from the leaf to the root.
    """

    kind: ForkFindingKind
    calls: Count
    ns: Nanoseconds
    ns_in_pause: Nanoseconds
    share_of_pause: Share | None
    frames: list[Name]
    text: str


class SnapshotTrace(Record):
    """One event that was traced, apart from the measured ones, as tracing takes time.

    `fork_ns` is the system call in the parent; `pause_ns` is from its beginning until the main thread waits for
    requests again, null if that was not seen; `child_ns` is from its beginning until the child's exit. `fork_samples`
    is the number of samples by which the fork is divided. `page_table_bytes` and `memory_areas` are those of the server
    before the event, null where the kernel does not report them. `no_stacks` is why stacks are missing.
    """

    side: str = ""
    size_bytes: int
    began: str
    fork_ns: Nanoseconds
    fork_samples: Count
    fork_parts: list[ForkPart]
    fork_functions: Annotated[list[KernelFunction], Field(max_length=MOST_FORK_FUNCTIONS)]
    page_table_bytes: Count | None
    memory_areas: Count | None
    pause_ns: Nanoseconds | None
    child_ns: Nanoseconds
    calls: Annotated[list[ParentCall], Field(max_length=MOST_PARENT_CALLS)]
    time_off: list[TimeOff]
    faults: list[PageFaultCounts]
    child_steps: Annotated[list[ChildStep], Field(max_length=MOST_CHILD_STEPS)]
    child_calls: Annotated[list[ChildCall], Field(max_length=MOST_CHILD_CALLS)]
    findings: list[ForkFinding] = []
    no_stacks: Name | None = None
