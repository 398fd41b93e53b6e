"""What a fork under load consists of, and what parent and child do until the child exits: events that are traced.

Two events of a filled server: in the first bpftrace counts, in the second perf records the stacks of the main thread's
system calls. Both slow the server down: nothing is measured meanwhile.
"""

import contextlib
import os
import platform
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from zerolap.engines.bpftrace import attached
from zerolap.engines.event_stacks import traced_stacks
from zerolap.engines.fork_program import (
    FAULT_EVENTS,
    FORK_EVENTS,
    FORKS,
    WAITS,
    ForkCounts,
    TimedCalls,
    fork_program,
    read_fork_counts,
    sampling_rate_hz,
)
from zerolap.engines.perf import PerfRecorder, missing_for_sampling, read_stacks, recording
from zerolap.engines.server_trial import PinnedTrial
from zerolap.engines.snapshot_trial import SnapshotLoadSettings, SnapshotServer
from zerolap.engines.system_call_names import system_call_names
from zerolap.host import events_of, tracing_obstacle
from zerolap.records import (
    LONGEST_TRACED_NAME,
    MOST_CALL_STACKS,
    MOST_CHILD_CALLS,
    MOST_FORK_FUNCTIONS,
    MOST_PARENT_CALLS,
    ChildCall,
    ChildStep,
    EnvironmentMissing,
    ForkPart,
    KernelFunction,
    PageFaultCounts,
    PageFaultKind,
    ParentCall,
    SnapshotTrace,
    TimeOff,
    TracedStack,
    TrialFailed,
    now,
)
from zerolap.sandbox import LimitReached

MOST_RECORDED_CALLS: Final = 8
"""The most system calls whose stacks are recorded, each by a perf of its own. Calls that do not wait for requests
come first.
"""
WANTED_STACKS: Final = 200
USUAL_FORK_SECONDS: Final = 0.03
"""How long a fork is taken to last when none has been measured."""
STANDARD_OUTPUTS: Final = (1, 2)
REQUEST_CALLS: Final = frozenset(
    {*WAITS, "read", "readv", "recvfrom", "recvmsg", "write", "writev", "sendto", "sendmsg"}
)
"""The system calls by which a server waits for requests, reads them and replies. On a file they have no such meaning.
"""
PAGE_TABLES_FIELD: Final = "VmPTE:"
KIB: Final = 1024

CallKey = tuple[int, int | None]
"""A system call's number, and the descriptor of its file; none for calls of no file."""


@dataclass(frozen=True)
class TracedServer:
    """A filled server as it is traced: its trial, and where the sources of its program lie."""

    server: SnapshotServer
    trial: PinnedTrial
    source_root: str
    size_bytes: int
    side: str = ""


def require_snapshot_tracing() -> None:
    """Raise `EnvironmentMissing` where a fork cannot be traced: what is missing, and the command that helps."""
    if not set(FORKS) & set(system_call_names().values()):
        raise EnvironmentMissing(f"the numbers of system calls are not known on {platform.machine()}")
    obstacle = tracing_obstacle()
    if obstacle is not None:
        raise EnvironmentMissing(f"a fork cannot be traced: {obstacle.reason}", hint=obstacle.remedy)
    if absent := set(FORK_EVENTS) - events_of(FORK_EVENTS):
        raise EnvironmentMissing(f"a fork cannot be traced: the kernel does not have the event {min(absent)}")


def trace_snapshot(traced: TracedServer, load: SnapshotLoadSettings, seed: int, fork_us: float | None) -> SnapshotTrace:
    """Trace two events under load, and return what they show; `fork_us` is about how long a fork takes.

    Raises `TrialFailed` if the server, the load generator, bpftrace or perf fails, or the main thread does not fork.
    """
    began = now()
    process = traced.server.process
    page_table_bytes, memory_areas = read_page_table_bytes(process), count_memory_areas(process)
    files = open_files(process)
    counts = _counted(traced, load, seed, files, sampling_rate_hz(fork_us / 1e6 if fork_us else USUAL_FORK_SECONDS))
    if counts.fork_ns is None:
        raise TrialFailed("the main thread of the server did not fork while it was traced")
    if counts.child_ns is None:
        raise TrialFailed("the exit of the server's child was not seen")
    # Those that were opened meanwhile.
    files = open_files(process) | files
    stacks, no_stacks = _recorded(traced, load, seed, counts)
    samples = sum(counts.stacks.values())
    return SnapshotTrace(
        side=traced.side,
        size_bytes=traced.size_bytes,
        began=began,
        fork_ns=counts.fork_ns,
        fork_samples=samples,
        fork_parts=[ForkPart(part=part, ns=ns) for part, ns in counts.parts_ns().items()],
        fork_functions=fork_functions(counts),
        page_table_bytes=page_table_bytes,
        memory_areas=memory_areas,
        pause_ns=counts.pause_ns,
        child_ns=counts.child_ns,
        calls=parent_calls(counts, files, stacks),
        time_off=[
            TimeOff(reason=reason, times=off.times, ns=off.ns, queue_ns=off.queue_ns)
            for reason, off in counts.off.items()
        ],
        faults=fault_counts(counts),
        child_steps=[
            ChildStep(call=call_name(step.number), calls=step.calls, at_ns=step.at_ns, ns=step.ns)
            for step in counts.steps
        ],
        child_calls=child_calls(counts),
        no_stacks=no_stacks,
    )


def _counted(
    traced: TracedServer, load: SnapshotLoadSettings, seed: int, files: Mapping[int, str], hz: int
) -> ForkCounts:
    process = traced.server.process
    program = fork_program(process, system_call_names(), files, hz, events_of(FAULT_EVENTS))
    with attached(program, traced.trial.directory) as probes:
        traced.server.event_under_load(load, seed, contextlib.nullcontext())
        output = probes.output()
        try:
            return read_fork_counts(output)
        except ValueError as wrong:
            raise probes.unusable(wrong) from wrong


def _recorded(
    traced: TracedServer, load: SnapshotLoadSettings, seed: int, counts: ForkCounts
) -> tuple[dict[CallKey, list[TracedStack]], str | None]:
    """Return the most frequent stacks of the calls that matter, recorded in another event, and why some are missing."""
    missing = missing_for_sampling()
    if missing is not None:
        return {}, f"{missing.reason} ({missing.remedy})"[:LONGEST_TRACED_NAME]
    keys = [key for key in recorded_calls(counts.calls) if _has_event(key)]
    stacks: dict[CallKey, list[TracedStack]] = {}
    reason = None
    program, directory = traced.trial.program, traced.trial.directory
    with contextlib.ExitStack() as stack:
        recorders: dict[CallKey, PerfRecorder] = {}
        data = {key: directory / f"calls-{number}.data" for number, key in enumerate(keys)}
        for key in keys:
            event, condition = _event_of(key)
            apart = max(1, counts.calls[key].calls // WANTED_STACKS)
            recorder = recording(traced.server.process, event, data[key], apart, of_main_thread=condition)
            recorders[key] = stack.enter_context(recorder)
        ended = _Recorded(recorders)
        traced.server.event_under_load(load, seed, ended)
    for key in keys:
        if key in ended.reasons:
            reason = f"{call_name(key[0])}: {ended.reasons[key]}"[:LONGEST_TRACED_NAME]
            continue
        table = read_stacks(data[key], traced.source_root, [directory, program.path, *program.visible])
        data[key].unlink()
        stacks[key] = traced_stacks("system calls", table).stacks[:MOST_CALL_STACKS]
    return stacks, reason


class _Recorded(contextlib.AbstractContextManager["_Recorded"]):
    """The context in which all recorders record; `reasons` are why some of them did not until its end."""

    def __init__(self, recorders: Mapping[CallKey, PerfRecorder]) -> None:
        self._recorders = recorders
        self.reasons: dict[CallKey, str] = {}

    def __enter__(self) -> "_Recorded":
        for recorder in self._recorders.values():
            recorder.begin()
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        if failed is not None:
            return
        for key, recorder in self._recorders.items():
            try:
                recorder.end()
            except LimitReached as reached:
                self.reasons[key] = str(reached)


def recorded_calls(calls: Mapping[CallKey, TimedCalls]) -> list[CallKey]:
    """Return the calls whose stacks are worth a recording: those that answer requests last, then by their time."""

    def is_of_reply(key: CallKey) -> bool:
        return key[1] is None and call_name(key[0]) in REQUEST_CALLS

    return sorted(calls, key=lambda key: (is_of_reply(key), -calls[key].ns))[:MOST_RECORDED_CALLS]


def _event_of(key: CallKey) -> tuple[str, str]:
    """Return perf's event and condition for a call; calls of a file have their descriptor as the field `fd`."""
    number, descriptor = key
    if descriptor is None:
        return "raw_syscalls:sys_enter", f"id == {number}"
    return f"syscalls:sys_enter_{call_name(number)}", f"fd == {descriptor}"


def _has_event(key: CallKey) -> bool:
    """Whether the kernel has the event of a call; some have no event of their own."""
    event = _event_of(key)[0].replace(":", "/")
    return event in events_of([event])


def call_name(number: int) -> str:
    """Return the name of a system call, or its number where it has none here."""
    return system_call_names().get(number, f"system call {number}")


def parent_calls(
    counts: ForkCounts, files: Mapping[int, str], stacks: Mapping[CallKey, Sequence[TracedStack]]
) -> list[ParentCall]:
    """Return the calls of the main thread, those with the most time first; `files` are names by descriptor."""
    most = sorted(counts.calls.items(), key=lambda call: -call[1].ns)[:MOST_PARENT_CALLS]
    return [
        ParentCall(
            call=call_name(number),
            target=None if descriptor is None else files.get(descriptor, "a file")[:LONGEST_TRACED_NAME],
            calls=of_call.calls,
            ns=of_call.ns,
            longest_ns=of_call.longest_ns,
            in_pause=of_call.in_pause,
            ns_in_pause=of_call.ns_in_pause,
            stacks=list(stacks.get((number, descriptor), ())),
        )
        for (number, descriptor), of_call in most
    ]


def child_calls(counts: ForkCounts) -> list[ChildCall]:
    """Return the calls of the child, those with the most time first."""
    most = sorted(counts.child_calls.items(), key=lambda call: (-call[1][1], -call[1][0]))[:MOST_CHILD_CALLS]
    return [ChildCall(call=call_name(number), calls=calls, ns=ns) for number, (calls, ns) in most]


def fork_functions(counts: ForkCounts) -> list[KernelFunction]:
    """Return the functions of the kernel in which most samples of the fork were taken, the most frequent first."""
    leaves: Counter[str] = Counter()
    for frames, number in counts.stacks.items():
        leaves[frames[0] if frames else "unknown"] += number
    samples = leaves.total()
    return [
        KernelFunction(function=function[:LONGEST_TRACED_NAME], share=number / samples)
        for function, number in leaves.most_common(MOST_FORK_FUNCTIONS)
    ]


def fault_counts(counts: ForkCounts) -> list[PageFaultCounts]:
    """Return the page faults of both processes by kind, those of which the parent has most first."""
    kinds: list[PageFaultKind] = list(dict.fromkeys([*counts.faults, *counts.child_faults]))
    kinds.sort(key=lambda kind: -counts.faults.get(kind, 0))
    return [
        PageFaultCounts(kind=kind, parent=counts.faults.get(kind, 0), child=counts.child_faults.get(kind, 0))
        for kind in kinds
    ]


def open_files(process: int) -> dict[int, str]:
    """Return the files that a process has open, by descriptor: regular ones, and its standard outputs unless sockets.

    Other pipes wake its threads, and are no files that it writes. Names are those that the server sees. Empty where the
    kernel does not show them.
    """
    directory = Path(f"/proc/{process}/fd")
    files = {}
    for descriptor in _descriptors(directory):
        path = directory / str(descriptor)
        try:
            mode = path.stat().st_mode
            name = os.readlink(path)
        except OSError:
            # Closed meanwhile.
            continue
        if stat.S_ISREG(mode) or (descriptor in STANDARD_OUTPUTS and not stat.S_ISSOCK(mode)):
            # The server chose it: whatever its bytes are, it has to be text.
            files[descriptor] = Path(name).name.encode(errors="replace").decode()
    return files


def _descriptors(directory: Path) -> Iterator[int]:
    try:
        yield from sorted(int(name) for name in os.listdir(directory))
    except OSError:
        return


def read_page_table_bytes(process: int) -> int | None:
    """Return the memory that the page tables of a process take; none where the kernel does not report it."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return None
    fields = [line.split() for line in lines if line.startswith(PAGE_TABLES_FIELD)]
    return int(fields[0][1]) * KIB if fields else None


def count_memory_areas(process: int) -> int | None:
    """Return the number of memory areas (VMAs) of a process; none where the kernel does not report them."""
    try:
        return len(Path(f"/proc/{process}/maps").read_text().splitlines())
    except OSError:
        return None
