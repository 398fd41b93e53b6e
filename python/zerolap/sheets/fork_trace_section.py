"""A traced fork as it is shown: what it consists of, what parent and child do, and the findings."""

from collections.abc import Iterator, Sequence
from typing import Final

from zerolap.byte_counts import shown_bytes
from zerolap.records import ParentCall, SnapshotTrace
from zerolap.sheets.format import ELLIPSIS, NO_VALUE, count, counted, listing, share
from zerolap.sheets.sheet import Cell, Column, Section, Sentence, Stack, Stacks, Table, name

SHOWN_CALLS: Final = 12
SHOWN_STEPS: Final = 24
SHOWN_CHILD_CALLS: Final = 6
SHOWN_FUNCTIONS: Final = 5
SHOWN_FRAMES: Final = 10
NS_PER_MS: Final = 1e6


def fork_trace_section(trace: SnapshotTrace) -> Section:
    """Return what a traced event consists of, and its findings."""
    tables = [_parts(trace), _parent_calls(trace), _time_off(trace), _faults(trace), _child_calls(trace)]
    stacks = [stack for call in trace.calls[:SHOWN_CALLS] for stack in _stacks(call)]
    heading = "the most frequent stack of each call, innermost function first"
    side = f", {trace.side}" if trace.side else ""
    return Section(
        title=f"what the fork consists of, {shown_bytes(trace.size_bytes)}{side}",
        remark=_headline(trace),
        sentences=[Sentence(label="finding", text=finding.text) for finding in trace.findings],
        tables=[table for table in tables if table.rows],
        stacks=[Stacks(heading=heading, stacks=stacks)] if stacks else [],
        notes=list(_notes(trace)),
    )


def _headline(trace: SnapshotTrace) -> str:
    """Write how long the fork took, the pause, and the child, in an event that was traced."""
    parts = [f"traced: fork of {_milliseconds(trace.fork_ns)} ms"]
    if trace.pause_ns is not None:
        parts.append(f"requests are waited for again after {_milliseconds(trace.pause_ns)} ms")
    parts.append(f"the child exits after {_milliseconds(trace.child_ns)} ms")
    tables = None if trace.page_table_bytes is None else f"{shown_bytes(trace.page_table_bytes)} of page tables"
    areas = None if trace.memory_areas is None else counted(trace.memory_areas, "memory area", "memory areas")
    copied = " and ".join(filter(None, [tables, areas]))
    return listing(parts) + (f"; {copied} to copy" if copied else "")


def _notes(trace: SnapshotTrace) -> Iterator[str]:
    """Yield where the kernel worked for the fork, the child's first calls in their order, and what is missing."""
    if trace.fork_functions:
        functions = [f"`{function.function}` {share(function.share)}" for function in trace.fork_functions]
        yield f"the fork was sampled most often in {listing(functions[:SHOWN_FUNCTIONS])}"
    if trace.child_steps:
        steps = [
            f"`{step.call}` at {_milliseconds(step.at_ns)} ms" + (f" ({step.calls:,} times)" if step.calls > 1 else "")
            for step in trace.child_steps[:SHOWN_STEPS]
        ]
        more = [ELLIPSIS] if len(trace.child_steps) > SHOWN_STEPS else []
        yield f"the child first calls {listing([*steps, *more])} after the fork began"
    if trace.no_stacks is not None:
        yield f"stacks are missing: {trace.no_stacks}"
    if not trace.findings:
        yield "no finding: all that others could do while the child works takes the main thread little time"


def _parts(trace: SnapshotTrace) -> Table:
    rows = [
        [part.part, _milliseconds(part.ns), share(part.ns / trace.fork_ns) if trace.fork_ns else NO_VALUE]
        for part in trace.fork_parts
    ]
    samples = counted(trace.fork_samples, "sample", "samples")
    return _table(f"the fork in the parent, by {samples}", "part", ["ms", "of the fork"], rows)


def _parent_calls(trace: SnapshotTrace) -> Table:
    rows = [
        [
            _call_text(call),
            f"{call.calls:,}",
            _milliseconds(call.ns),
            _milliseconds(call.longest_ns),
            _milliseconds(call.ns_in_pause),
            share(call.ns_in_pause / trace.pause_ns) if trace.pause_ns else NO_VALUE,
        ]
        for call in trace.calls[:SHOWN_CALLS]
    ]
    heading = "system calls of the parent's main thread from the fork to the child's exit"
    return _table(heading, "call", ["calls", "ms", "longest ms", "ms in the pause", "of the pause"], rows)


def _time_off(trace: SnapshotTrace) -> Table:
    rows = [
        [off.reason, f"{off.times:,}", _milliseconds(off.ns), _milliseconds(off.queue_ns)] for off in trace.time_off
    ]
    heading = "the parent's main thread off the processor"
    return _table(heading, "where", ["times", "ms", "ms in the run queue"], rows)


def _faults(trace: SnapshotTrace) -> Table:
    rows = [[faults.kind, f"{faults.parent:,}", f"{faults.child:,}"] for faults in trace.faults]
    return _table("page faults from the fork to the child's exit", "kind", ["parent", "child"], rows)


def _child_calls(trace: SnapshotTrace) -> Table:
    rows = [[call.call, f"{call.calls:,}", _milliseconds(call.ns)] for call in trace.child_calls[:SHOWN_CHILD_CALLS]]
    return _table("system calls of the child", "call", ["calls", "ms"], rows)


def _table(heading: str, names: str, figures: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table whose first column has names; where there is little room, the last columns go first."""
    columns = [
        Column(key=figure, heading=figure, is_number=True, rank=max(0, place - 1))
        for place, figure in enumerate(figures, start=1)
    ]
    return Table(
        heading=heading,
        columns=[Column(key=names, heading=names), *columns],
        rows=[[name(first), *(Cell(text=text) for text in others)] for first, *others in rows],
    )


def _stacks(call: ParentCall) -> list[Stack]:
    return [
        Stack(
            share=share(stack.share),
            label=_call_text(call),
            frames=[*stack.frames[:SHOWN_FRAMES], *([ELLIPSIS] if len(stack.frames) > SHOWN_FRAMES else [])],
        )
        for stack in call.stacks[:1]
        if stack.frames
    ]


def _call_text(call: ParentCall) -> str:
    return call.call if call.target is None else f"{call.call} of {call.target}"


def _milliseconds(ns: int) -> str:
    return count(ns / NS_PER_MS)
