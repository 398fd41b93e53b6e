"""How a trace of a fork is read by all reports: what it consists of, what parent and child do, and the findings."""

from collections.abc import Sequence
from typing import Final

from zerolap.byte_counts import shown_bytes
from zerolap.records import ChildStep, ParentCall, ReadingTable, SnapshotTrace, SnapshotTraceReading, TraceStack
from zerolap.report.traced_reading import CALLED_BY
from zerolap.sheets import ELLIPSIS, NO_VALUE, count, counted, listing, one_line, share

SHOWN_CALLS: Final = 12
SHOWN_STEPS: Final = 24
SHOWN_CHILD_CALLS: Final = 6
SHOWN_FUNCTIONS: Final = 5
SHOWN_FRAMES: Final = 10
NS_PER_MS: Final = 1e6


def snapshot_trace_reading(trace: SnapshotTrace) -> SnapshotTraceReading:
    """Return how a trace is read."""
    title = shown_bytes(trace.size_bytes) + (f", {one_line(trace.side)}" if trace.side else "")
    tables = [_parts(trace), _parent_calls(trace), _time_off(trace), _faults(trace), _child_calls(trace)]
    notes = [] if trace.no_stacks is None else [f"stacks are missing: {one_line(trace.no_stacks)}"]
    if not trace.findings:
        notes.append("no finding: all that others could do while the child works takes the main thread little time")
    return SnapshotTraceReading(
        title=title,
        headline=_headline(trace),
        findings=[one_line(finding.text) for finding in trace.findings],
        tables=[table for table in tables if table.rows],
        stacks=[stack for call in trace.calls[:SHOWN_CALLS] for stack in _stacks(call)],
        notes=[*_fork_functions(trace), *_child_steps(trace.child_steps), *notes],
    )


def _headline(trace: SnapshotTrace) -> str:
    """Write how long the fork took, the pause, and the child, in an event that was traced."""
    parts = [f"traced: fork of {milliseconds(trace.fork_ns)} ms"]
    if trace.pause_ns is not None:
        parts.append(f"requests are waited for again after {milliseconds(trace.pause_ns)} ms")
    parts.append(f"the child exits after {milliseconds(trace.child_ns)} ms")
    tables = None if trace.page_table_bytes is None else f"{shown_bytes(trace.page_table_bytes)} of page tables"
    areas = None if trace.memory_areas is None else counted(trace.memory_areas, "memory area", "memory areas")
    copied = " and ".join(filter(None, [tables, areas]))
    return listing(parts) + (f"; {copied} to copy" if copied else "")


def _parts(trace: SnapshotTrace) -> ReadingTable:
    """Return the parts of the fork."""
    rows = [
        [part.part, milliseconds(part.ns), share(part.ns / trace.fork_ns) if trace.fork_ns else NO_VALUE]
        for part in trace.fork_parts
    ]
    samples = counted(trace.fork_samples, "sample", "samples")
    return _table(f"the fork in the parent, by {samples}", ["part", "ms", "of the fork"], rows, names=1)


def _fork_functions(trace: SnapshotTrace) -> list[str]:
    """Write in which functions of the kernel most samples of the fork were taken."""
    functions = [f"{function.function} {share(function.share)}" for function in trace.fork_functions[:SHOWN_FUNCTIONS]]
    return [one_line(f"the fork was sampled most often in {listing(functions)}")] if functions else []


def _parent_calls(trace: SnapshotTrace) -> ReadingTable:
    rows = [
        [
            call_text(call),
            f"{call.calls:,}",
            milliseconds(call.ns),
            milliseconds(call.longest_ns),
            milliseconds(call.ns_in_pause),
            share(call.ns_in_pause / trace.pause_ns) if trace.pause_ns else NO_VALUE,
        ]
        for call in trace.calls[:SHOWN_CALLS]
    ]
    heading = "system calls of the parent's main thread from the fork to the child's exit"
    return _table(heading, ["call", "calls", "ms", "longest ms", "ms in the pause", "of the pause"], rows, names=1)


def _time_off(trace: SnapshotTrace) -> ReadingTable:
    rows = [[off.reason, f"{off.times:,}", milliseconds(off.ns), milliseconds(off.queue_ns)] for off in trace.time_off]
    return _table(
        "the parent's main thread off the processor", ["where", "times", "ms", "ms in the run queue"], rows, names=1
    )


def _faults(trace: SnapshotTrace) -> ReadingTable:
    rows = [[faults.kind, f"{faults.parent:,}", f"{faults.child:,}"] for faults in trace.faults]
    return _table("page faults from the fork to the child's exit", ["kind", "parent", "child"], rows, names=1)


def _child_calls(trace: SnapshotTrace) -> ReadingTable:
    rows = [[call.call, f"{call.calls:,}", milliseconds(call.ns)] for call in trace.child_calls[:SHOWN_CHILD_CALLS]]
    return _table("system calls of the child", ["call", "calls", "ms"], rows, names=1)


def _child_steps(steps: Sequence[ChildStep]) -> list[str]:
    """Write the child's first system calls in their order."""
    if not steps:
        return []
    shown = [
        f"{step.call} at {milliseconds(step.at_ns)} ms" + (f" ({step.calls:,} times)" if step.calls > 1 else "")
        for step in steps[:SHOWN_STEPS]
    ]
    if len(steps) > SHOWN_STEPS:
        shown.append(ELLIPSIS)
    return [one_line(f"the child first calls {listing(shown)} after the fork began")]


def _stacks(call: ParentCall) -> list[TraceStack]:
    """Return the most frequent stack of a call."""
    return [
        TraceStack(
            call=call_text(call),
            share=share(stack.share),
            frames=one_line(
                CALLED_BY.join(
                    [*stack.frames[:SHOWN_FRAMES], *([ELLIPSIS] if len(stack.frames) > SHOWN_FRAMES else [])]
                )
            ),
        )
        for stack in call.stacks[:1]
        if stack.frames
    ]


def call_text(call: ParentCall) -> str:
    """Write a system call with the file that it is of."""
    return one_line(call.call if call.target is None else f"{call.call} of {call.target}")


def milliseconds(ns: int) -> str:
    """Write nanoseconds in milliseconds."""
    return count(ns / NS_PER_MS)


def _table(heading: str, columns: Sequence[str], rows: Sequence[Sequence[str]], names: int) -> ReadingTable:
    return ReadingTable(heading=heading, columns=list(columns), rows=[list(row) for row in rows], names=names)
