"""What the traced passes of a side say together."""

import statistics
from collections.abc import Sequence

from pydantic import ValidationError

from zerolap.documents.case_trials import Trials
from zerolap.records import (
    BASE,
    HEAD,
    MOST_TRACED_CALLS,
    MOST_TRACED_STACKS,
    MOST_TRACED_THREADS,
    TRACED_METRICS,
    Measurement,
    TracedCall,
    TracedCase,
    TracedEvent,
    TracedSide,
    TracedSides,
    TracedStack,
    TracedStacks,
    TracedThread,
)
from zerolap.store import BlobDamaged, Blobs

UNREADABLE = "what a pass recorded cannot be read"


def traced_sides(trials: Trials | None, blobs: Blobs) -> TracedSides | None:
    """Return what was traced of both sides of a comparison; none where a side was not, or a pass is not valid."""
    if trials is None or not trials.usable:
        return None
    base, head = (traced_side(trials.measurements.get(side, []), blobs) for side in (BASE, HEAD))
    return None if base is None or head is None else TracedSides(base=base, head=head)


def traced_side(passes: Sequence[Measurement], blobs: Blobs) -> TracedSide | None:
    """Return what passes recorded: means over them; none where there are none."""
    recorded = [measured for measured in passes if measured.traced is not None]
    if not recorded:
        return None
    values = {
        name: [measured.metrics[name] for measured in recorded]
        for name in recorded[0].metrics
        if name in TRACED_METRICS and all(name in measured.metrics for measured in recorded)
    }
    return TracedSide(
        metrics={
            name: (statistics.fmean(of_metric), min(of_metric), max(of_metric)) for name, of_metric in values.items()
        },
        passes=len(recorded),
        traced=_readable(recorded, blobs),
    )


def _readable(recorded: Sequence[Measurement], blobs: Blobs) -> TracedCase:
    """Return what is recorded of the passes that can be read; a pass that cannot is not one without calls."""
    cases = [_read(measured, blobs) for measured in recorded]
    readable = [case for case in cases if case is not None]
    together = merged(readable)
    return together if len(readable) == len(cases) else together.model_copy(update={"no_stacks": UNREADABLE})


def _read(measurement: Measurement, blobs: Blobs) -> TracedCase | None:
    try:
        return TracedCase.model_validate_json(blobs.get(measurement.traced or ""))
    except (ValidationError, BlobDamaged):
        return None


def merged(passes: Sequence[TracedCase]) -> TracedCase:
    """Return the means of passes: by thread, by thread and system call, and by stack, weighted by their samples."""
    calls: dict[tuple[str, str], list[TracedCall]] = {}
    threads: dict[str, list[TracedThread]] = {}
    stacks: dict[TracedEvent, list[TracedStacks]] = {}
    for traced in passes:
        for call in traced.calls:
            calls.setdefault((call.thread, call.call), []).append(call)
        for thread in traced.threads:
            threads.setdefault(thread.thread, []).append(thread)
        for of_pass in traced.stacks:
            stacks.setdefault(of_pass.event, []).append(of_pass)
    of_calls = [_mean_call(of_call, len(passes)) for of_call in calls.values()]
    of_threads = [_mean_thread(of_thread, len(passes)) for of_thread in threads.values()]
    return TracedCase(
        threads=sorted(of_threads, key=lambda thread: -thread.off_per_op)[:MOST_TRACED_THREADS],
        calls=sorted(of_calls, key=lambda call: -call.calls_per_op)[:MOST_TRACED_CALLS],
        stacks=[_merged_stacks(event, of_event) for event, of_event in stacks.items()],
        no_stacks=next((traced.no_stacks for traced in passes if traced.no_stacks is not None), None),
        no_tcp=next((traced.no_tcp for traced in passes if traced.no_tcp is not None), None),
    )


def _mean_call(of_call: Sequence[TracedCall], passes: int) -> TracedCall:
    moved = [call.bytes_per_op for call in of_call if call.bytes_per_op is not None]
    return of_call[0].model_copy(
        update={
            "calls_per_op": sum(call.calls_per_op for call in of_call) / passes,
            "ns_per_op": sum(call.ns_per_op for call in of_call) / passes,
            "bytes_per_op": sum(moved) / passes if moved else None,
        }
    )


def _mean_thread(of_thread: Sequence[TracedThread], passes: int) -> TracedThread:
    block_io = [thread.block_io_per_op for thread in of_thread if thread.block_io_per_op is not None]
    return TracedThread(
        thread=of_thread[0].thread,
        threads=max(thread.threads for thread in of_thread),
        off_per_op=sum(thread.off_per_op for thread in of_thread) / passes,
        off_ns_per_op=sum(thread.off_ns_per_op for thread in of_thread) / passes,
        queue_ns_per_op=sum(thread.queue_ns_per_op for thread in of_thread) / passes,
        faults_per_op=sum(thread.faults_per_op for thread in of_thread) / passes,
        block_io_per_op=sum(block_io) / passes if block_io else None,
    )


def _merged_stacks(event: TracedEvent, passes: Sequence[TracedStacks]) -> TracedStacks:
    samples = sum(of_pass.samples for of_pass in passes)
    counted: dict[tuple[str, tuple[str, ...]], float] = {}
    for of_pass in passes:
        for stack in of_pass.stacks:
            key = (stack.thread, tuple(stack.frames))
            counted[key] = counted.get(key, 0.0) + stack.share * of_pass.samples
    most = sorted(counted.items(), key=lambda counts: -counts[1])[:MOST_TRACED_STACKS]
    stacks = [
        TracedStack(thread=thread, frames=list(frames), share=min(1.0, number / max(1, samples)))
        for (thread, frames), number in most
    ]
    return TracedStacks(event=event, samples=samples, stacks=stacks)


def mean_metrics(side: TracedSide | None) -> dict[str, float]:
    """Return the means of a side's metrics, by name."""
    return {} if side is None else {name: mean for name, (mean, _, _) in side.metrics.items()}
