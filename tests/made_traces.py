"""A made-up trace of a fork, for tests of its findings and reports."""

from zerolap.records import (
    ChildCall,
    ChildStep,
    ForkPart,
    KernelFunction,
    PageFaultCounts,
    ParentCall,
    SnapshotTrace,
    TimeOff,
    TracedStack,
)

MS = 1_000_000
EVIL = "evil\x1b[31m|`@name"


def parent_call(
    call: str, ms: float, *, in_pause_ms: float = 0.0, target: str | None = None, frames: tuple[str, ...] = ()
) -> ParentCall:
    """Return two calls that took so long together, one of them in the pause if any is."""
    stacks = [TracedStack(thread="server", frames=list(frames), share=1.0)] if frames else []
    return ParentCall(
        call=call,
        target=target,
        calls=2,
        ns=round(ms * MS),
        longest_ns=round(ms * MS) // 2,
        in_pause=1 if in_pause_ms else 0,
        ns_in_pause=round(in_pause_ms * MS),
        stacks=stacks,
    )


def trace(*calls: ParentCall, pause_ms: float | None = 50.0, no_stacks: str | None = None) -> SnapshotTrace:
    """Return a trace of a fork of 30 ms with these calls of the main thread, and hostile names."""
    return SnapshotTrace(
        size_bytes=4 << 30,
        began="2026-11-26T01:00:00Z",
        fork_ns=30 * MS,
        fork_samples=150,
        fork_parts=[
            ForkPart(part="page tables", ns=24 * MS),
            ForkPart(part="memory areas", ns=3 * MS),
            ForkPart(part="other", ns=2 * MS),
            ForkPart(part="off the processor", ns=1 * MS),
        ],
        fork_functions=[KernelFunction(function="copy_pte_range", share=0.8)],
        page_table_bytes=8 << 20,
        memory_areas=120,
        pause_ns=None if pause_ms is None else round(pause_ms * MS),
        child_ns=900 * MS,
        calls=list(calls),
        time_off=[TimeOff(reason="waiting for requests", times=40, ns=300 * MS, queue_ns=2 * MS)],
        faults=[PageFaultCounts(kind="copy on write", parent=4000, child=10)],
        child_steps=[
            ChildStep(call="set_robust_list", calls=1, at_ns=31 * MS, ns=1000),
            ChildStep(call="write", calls=3, at_ns=32 * MS, ns=6000),
        ],
        child_calls=[ChildCall(call="write", calls=5000, ns=400 * MS)],
        no_stacks=no_stacks,
    )
