"""What bpftrace records of one fork of a server: the fork by part, and both processes until the child has exited.

The program finds the fork and its end by itself, in the kernel: nothing has to be marked from outside. It is the first
fork of the main thread that makes a process, not a thread. As in `bpftrace`, all that it records are tables of bounded
size, and no file of the server is read.

The fork is divided by samples of the kernel's stack: that works on every kernel that can be traced, where probes of its
functions need kprobes or a list of functions that many kernels do not give.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from zerolap.engines.bpftrace import count_of, counts_by_number, counts_by_numbers, program_part, read_maps
from zerolap.records import MOST_CHILD_STEPS, ForkPartName, PageFaultKind, TimeOffReason

NEW_TASK: Final = "task/task_newtask"
EXIT: Final = "sched/sched_process_exit"
FORK_EVENTS: Final = (NEW_TASK, EXIT)
"""What is needed beside the events of `tracing_obstacle`."""
FAULT_EVENTS: Final = ("exceptions/page_fault_user", "exceptions/page_fault_kernel")
"""The events of page faults on x86; on other processors they have no kinds."""

FORKS: Final = ("fork", "vfork", "clone", "clone3")
WAITS: Final = (
    *("epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6"),
    *("io_uring_enter", "io_getevents", "io_pgetevents"),
)
"""The system calls by which servers wait for requests: the pause ends with the first of these after the fork."""
OF_FILES: Final = ("write", "writev", "pwrite64", "pwritev", "pwritev2", "fsync", "fdatasync", "sync_file_range")
"""Calls whose first argument is a descriptor, and that are told apart by it where it is one of a file."""
OPENS: Final = ("open", "openat", "openat2", "creat")
SHARES_MEMORY: Final = 0x100
"""`CLONE_VM`: threads, and processes that are about to execute another program."""

MOST_FILES: Final = 16
NO_FILE: Final = 0xFFFFFFFF
FEWEST_HZ, MOST_HZ = 97, 4999
WANTED_SAMPLES: Final = 1500
MOST_SAMPLES: Final = 4000
"""The most samples: each can have a stack of its own, and bpftrace's tables hold no more."""
STACK_DEPTH: Final = 32

PAGE_TABLES: Final = frozenset(
    {
        *("copy_page_range", "copy_p4d_range", "copy_pud_range", "copy_pmd_range", "copy_pte_range"),
        *("copy_huge_pud", "copy_huge_pmd", "copy_hugetlb_page_range"),
    }
)
MEMORY_AREAS: Final = frozenset({"copy_mm", "dup_mm", "dup_mmap", "vm_area_dup", "anon_vma_fork", "anon_vma_clone"})
"""Functions of the kernel; those that are static are inlined in some versions, so that callers are listed too."""
FAULT_KINDS: Final[Mapping[int, PageFaultKind]] = {
    0: "first read",
    1: "other",
    2: "first write",
    3: "copy on write",
    4: "any",
}
"""The kinds of page faults by the lowest bits of the error code of x86: a page that is present, a write (`enum
x86_pf_error_code`).
"""
ANY_FAULT: Final = 4
FAULT_KIND: Final = "(uint64)args->error_code & 3"
TIMES_OFF: Final[Mapping[int, TimeOffReason]] = {0: "elsewhere", 1: "in a system call", 2: "waiting for requests"}


@dataclass
class TimedCalls:
    """The calls of a system call with the same target, and those before the end of the pause; times in nanoseconds."""

    calls: int = 0
    ns: int = 0
    longest_ns: int = 0
    in_pause: int = 0
    ns_in_pause: int = 0


@dataclass(frozen=True)
class OffCounts:
    """How often a thread was off its processor, for how long, and how much of that it could have run."""

    times: int
    ns: int
    queue_ns: int


@dataclass(frozen=True)
class StepCounts:
    """A system call of the child by number, made so often in a row: when it began after the fork did, and its time."""

    number: int
    calls: int
    at_ns: int
    ns: int


@dataclass(frozen=True)
class ForkCounts:
    """What was recorded; times are in nanoseconds, system calls are numbers.

    `fork_ns` is none if no fork of the main thread was seen, `child_ns` if the child did not exit. `calls` are those of
    the main thread by number and descriptor of the file, none for calls of no file. `stacks` are functions of the
    kernel from the leaf to the root, with the samples of the fork.
    """

    fork_ns: int | None
    fork_off_ns: int
    pause_ns: int | None
    child_ns: int | None
    stacks: Mapping[tuple[str, ...], int] = field(default_factory=dict)
    calls: Mapping[tuple[int, int | None], TimedCalls] = field(default_factory=dict)
    off: Mapping[TimeOffReason, OffCounts] = field(default_factory=dict)
    faults: Mapping[PageFaultKind, int] = field(default_factory=dict)
    child_faults: Mapping[PageFaultKind, int] = field(default_factory=dict)
    steps: Sequence[StepCounts] = ()
    child_calls: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    def parts_ns(self) -> dict[ForkPartName, int]:
        """Return the time of each part of the fork, those on the processor by their shares of the samples."""
        samples = sum(self.stacks.values())
        by_part: dict[ForkPartName, int] = {"page tables": 0, "memory areas": 0, "other": 0}
        for frames, number in self.stacks.items():
            by_part[_part_of(frames)] += number
        on_ns = max(0, (self.fork_ns or 0) - self.fork_off_ns)
        shares = {part: number / samples for part, number in by_part.items()} if samples else {}
        parts: dict[ForkPartName, int] = {part: round(on_ns * share) for part, share in shares.items()}
        return parts | {"off the processor": self.fork_off_ns}


def sampling_rate_hz(fork_seconds: float) -> int:
    """Return how often to sample, so that a fork that takes about so long has enough samples, and not too many."""
    return max(FEWEST_HZ, min(MOST_HZ, int(WANTED_SAMPLES / max(fork_seconds, 1e-6))))


def fork_program(
    process: int, names: Mapping[int, str], files: Collection[int], hz: int, events: Collection[str]
) -> str:
    """Return the program for the main thread of `process`.

    `names` are the system calls by number. `files` are the descriptors of files at the beginning, of which the program
    uses `MOST_FILES` at most. `events` are those of `FAULT_EVENTS` that the kernel has.
    """
    numbers = {name: number for number, name in names.items()}

    def is_one_of(calls: Iterable[str]) -> str:
        return _any("$call", [numbers[call] for call in calls if call in numbers])

    tracing = program_part(
        "fork",
        process=process,
        close=numbers["close"],
        is_fork=is_one_of(FORKS),
        is_wait=is_one_of(WAITS),
        is_of_file=is_one_of(OF_FILES),
        is_open=is_one_of(OPENS),
        is_known_file=_any("$descriptor", sorted(files)[:MOST_FILES]),
        no_file=NO_FILE,
        shares_memory=SHARES_MEMORY,
        hz=hz,
        most_samples=MOST_SAMPLES,
        depth=STACK_DEPTH,
        most_steps=MOST_CHILD_STEPS,
    )
    kinds = {f"tracepoint:{event.replace('/', ':')}": FAULT_KIND for event in FAULT_EVENTS if event in events}
    faults = [
        program_part("fault", event=event, kind=kind, process=process)
        for event, kind in (kinds or {"software:page-faults:1": f"(uint64){ANY_FAULT}"}).items()
    ]
    return "\n".join([tracing, *faults])


def _any(variable: str, values: Sequence[int]) -> str:
    return " || ".join(f"{variable} == {value}" for value in values) or "0 == 1"


def read_fork_counts(output: str) -> ForkCounts:
    """Return what was recorded, from what bpftrace wrote; raises `ValueError` for anything else."""
    maps = read_maps(output)
    has_child = count_of(maps.get("child", 0)) > 0
    return ForkCounts(
        fork_ns=_positive(maps, "fork_ns"),
        fork_off_ns=count_of(maps.get("fork_off", 0)) if has_child else 0,
        pause_ns=_positive(maps, "pause"),
        child_ns=_positive(maps, "child_ns"),
        stacks=_stacks(maps.get("fork_stacks", {})) if has_child else {},
        calls=_calls(maps),
        off=_times_off(maps),
        faults=_faults(maps.get("faults", {})),
        child_faults=_faults(maps.get("child_faults", {})),
        steps=_steps(maps),
        child_calls=_child_calls(maps),
    )


def _positive(maps: Mapping[str, Any], name: str) -> int | None:
    return count_of(maps.get(name, 0)) or None


def _calls(maps: Mapping[str, Any]) -> dict[tuple[int, int | None], TimedCalls]:
    calls: dict[tuple[int, int | None], TimedCalls] = defaultdict(TimedCalls)
    for (phase, number, descriptor), value in counts_by_numbers(maps.get("calls", {}), 3).items():
        counts = calls[_call_key(number, descriptor)]
        counts.calls += value
        counts.in_pause += value if phase == 0 else 0
    for (phase, number, descriptor), value in counts_by_numbers(maps.get("call_ns", {}), 3).items():
        counts = calls[_call_key(number, descriptor)]
        counts.ns += value
        counts.ns_in_pause += value if phase == 0 else 0
    for (number, descriptor), value in counts_by_numbers(maps.get("longest", {}), 2).items():
        calls[_call_key(number, descriptor)].longest_ns = value
    return dict(calls)


def _call_key(number: int, descriptor: int) -> tuple[int, int | None]:
    return number, None if descriptor == NO_FILE else descriptor


def _times_off(maps: Mapping[str, Any]) -> dict[TimeOffReason, OffCounts]:
    times, ns, queue_ns = (counts_by_number(maps.get(name, {})) for name in ("off", "off_ns", "queue_ns"))
    return {
        # The clock is read once more for it.
        reason: OffCounts(times.get(number, 0), ns.get(number, 0), min(ns.get(number, 0), queue_ns.get(number, 0)))
        for number, reason in TIMES_OFF.items()
        if number in times
    }


def _faults(values: object) -> dict[PageFaultKind, int]:
    counts = counts_by_number(values)
    if unknown := counts.keys() - FAULT_KINDS.keys():
        raise ValueError(f"`{min(unknown)}` is no kind of page fault")
    return {FAULT_KINDS[number]: value for number, value in counts.items()}


def _steps(maps: Mapping[str, Any]) -> list[StepCounts]:
    numbers, at_ns = (counts_by_number(maps.get(name, {})) for name in ("step", "step_at"))
    # These are by the number of steps that have begun.
    calls, ns = (counts_by_number(maps.get(name, {})) for name in ("step_calls", "step_ns"))
    return [
        StepCounts(numbers[step], calls.get(step + 1, 1), at_ns.get(step, 0), ns.get(step + 1, 0))
        for step in sorted(numbers)
    ]


def _child_calls(maps: Mapping[str, Any]) -> dict[int, tuple[int, int]]:
    calls, ns = (counts_by_number(maps.get(name, {})) for name in ("child_calls", "child_call_ns"))
    return {number: (value, ns.get(number, 0)) for number, value in calls.items()}


def _stacks(values: object) -> dict[tuple[str, ...], int]:
    if not isinstance(values, dict):
        raise ValueError("a map has another form")
    stacks: dict[tuple[str, ...], int] = defaultdict(int)
    for key, value in values.items():
        stacks[tuple(map(_function, key.split()))] += count_of(value)
    return dict(stacks)


def _function(frame: str) -> str:
    """Return the function of a frame such as `copy_pte_range.isra.0+123`, by its name in the source."""
    return frame.partition("+")[0].partition(".")[0]


def _part_of(frames: Iterable[str]) -> ForkPartName:
    functions = set(frames)
    if functions & PAGE_TABLES:
        return "page tables"
    return "memory areas" if functions & MEMORY_AREAS else "other"
