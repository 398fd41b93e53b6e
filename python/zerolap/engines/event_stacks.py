"""Stacks of what a server has the kernel do and of where its threads wait: recorded by perf, and read.

A thread that leaves its processor is recorded with its stack. How long it was off, the recording tells from when it was
on a processor again: so the same events give the stacks that threads leave with most often, and those they wait in.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from zerolap.engines.counters import SideCounters
from zerolap.engines.perf import read_stacks, read_waits, recording
from zerolap.engines.slices import TimedSide
from zerolap.records import (
    LONGEST_TRACED_NAME,
    MOST_TRACED_FRAMES,
    MOST_TRACED_STACKS,
    TracedEvent,
    TracedStack,
    TracedStacks,
)
from zerolap.sandbox import LimitReached

RecordedEvent: TypeAlias = Literal["system calls", "switches"]
EVENTS: Final[Mapping[RecordedEvent, str]] = {
    "system calls": "raw_syscalls:sys_enter",
    "switches": "sched:sched_switch",
}
"""What stacks are recorded of, by perf's names."""
RECORDED_SECONDS = 0.3
WANTED_SAMPLES = 4000
APART = (1, 7, 31, 127, 503, 2003, 8009)
"""One stack is recorded in this many events. The numbers are primes, which do not keep step with what repeats."""
KERNEL: Final = "[kernel]"


@dataclass(frozen=True)
class RecordedStacks:
    """The stacks of each kind of event; `waits` is the whole table of waits, `missing` why some stacks are missing."""

    stacks: list[TracedStacks] = field(default_factory=list)
    waits: bytes | None = None
    missing: str | None = None


@dataclass
class _Windows:
    """The windows of slices, in nanoseconds of the monotonic clock; it counts nothing in them."""

    bounds: list[tuple[int, int]] = field(default_factory=list)
    _began_ns: int = 0

    def begin(self) -> None:
        self._began_ns = time.monotonic_ns()

    def end(self) -> tuple[list[tuple[str, int]], list[str]]:
        self.bounds.append((self._began_ns, time.monotonic_ns()))
        return [], []


@dataclass(frozen=True)
class EventRecorder:
    """Records events of one server into files of `directory`; names are read from programs that are `visible`."""

    side: TimedSide
    directory: Path
    source_root: str
    visible: Sequence[Path]

    def record(self, numbers: Mapping[RecordedEvent, int], send: Callable[[float], object]) -> RecordedStacks:
        """Return the stacks of events, of which there were so many in earlier requests; `send` sends some for seconds.

        Raises `TrialFailed` if perf fails. What is too large to be recorded is missing.
        """
        stacks, waits, missing = [], None, None
        for event, number in numbers.items():
            data = self.directory / f"{event.replace(' ', '-')}.data"
            try:
                windows = self._record(event, _apart(number), data, send)
            except LimitReached as reached:
                missing = f"{event}: {reached}"
                continue
            stacks.append(traced_stacks(event, read_stacks(data, self.source_root, self.visible)))
            if event == "switches":
                waits = read_waits(data, self.source_root, windows, self.visible)
                stacks.append(traced_stacks("waits", waits))
        return RecordedStacks(stacks, waits, missing)

    def _record(
        self, event: RecordedEvent, apart: int, data: Path, send: Callable[[float], object]
    ) -> list[tuple[int, int]]:
        """Record the stacks of an event into `data`; return the windows of slices, in ns of its clock.

        Raises `LimitReached` if they are too many for it.
        """
        side, windows = self.side, _Windows()
        refill, process = side.refill, side.processes[0]
        with recording(process, EVENTS[event], data, apart, with_switches=event == "switches") as recorder:
            try:
                side.refill, side.counters = recorder.unseen(refill), SideCounters(windows)
                recorder.begin()
                send(RECORDED_SECONDS)
                recorder.end()
            finally:
                side.refill, side.counters = refill, SideCounters()
        return windows.bounds


def _apart(number: int) -> int:
    """Return how many events there are to be from one whose stack is recorded to the next, of so many in a window."""
    return next((apart for apart in APART if number <= apart * WANTED_SAMPLES), APART[-1])


class _Part(BaseModel):
    """What is read of a part of `zerolap.stacks/1`."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Thread(_Part):
    name: str


class _Frame(_Part):
    function: str
    object: str
    inlined: bool = False


class _Stack(_Part):
    thread: int
    frames: list[int]
    samples: int


class _Stacks(_Part):
    samples: int
    threads: list[_Thread]
    frames: list[_Frame]
    stacks: list[_Stack]


def _functions(frames: Sequence[_Frame]) -> list[str]:
    """Return the functions of frames from the leaf to the root; a function that is inlined into its own alias once."""
    names = [frame.function[:LONGEST_TRACED_NAME] for frame in frames]
    callers = [*names[1:], None]
    return [
        name
        for name, caller, frame in zip(names, callers, frames, strict=True)
        if not (frame.inlined and name == caller)
    ]


def traced_stacks(event: TracedEvent, table: bytes) -> TracedStacks:
    """Return the most frequent stacks of a table (`zerolap.stacks/1`).

    The kernel's functions are left out: they are those that every event of the kind begins with.
    """
    stacks = _Stacks.model_validate_json(table)
    counted: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for stack in stacks.stacks:
        frames = [stacks.frames[frame] for frame in reversed(stack.frames)]
        of_program = _functions([frame for frame in frames if frame.object != KERNEL])
        thread = stacks.threads[stack.thread].name[:LONGEST_TRACED_NAME]
        counted[thread, tuple(of_program[:MOST_TRACED_FRAMES])] += stack.samples
    most = [
        TracedStack(thread=thread, frames=list(frames), share=samples / max(1, stacks.samples))
        for (thread, frames), samples in counted.most_common(MOST_TRACED_STACKS)
    ]
    return TracedStacks(event=event, samples=stacks.samples, stacks=most)
