"""The traced engine: what the kernel does for a server's threads, and where they wait, in passes of their own.

A pass is a start. First bpftrace counts while requests are answered, and what TCP counts is read before and after; then
perf records the stacks of system calls and of waits during other requests. Both slow the server down: nothing is timed
meanwhile, and what is reported are counts and waiting.
"""

import contextlib
import platform
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from zerolap.engines.bpftrace import BEGINS, TRANSFERS, TracedCounts, tracing
from zerolap.engines.counters import SideCounters
from zerolap.engines.engine import EngineTrial, Place, named_failure, trials_of
from zerolap.engines.event_stacks import EventRecorder, RecordedEvent, RecordedStacks
from zerolap.engines.pairing import choose_requests
from zerolap.engines.perf import missing_for_sampling
from zerolap.engines.side import set_up
from zerolap.engines.slices import Slice, SliceWork, TimedSide
from zerolap.engines.system_call_names import system_call_names
from zerolap.engines.tcp_windows import TcpWindows
from zerolap.engines.timed_checks import request_checks
from zerolap.host import tracing_obstacle
from zerolap.records import (
    LONGEST_TRACED_NAME,
    MOST_TRACED_CALLS,
    MOST_TRACED_THREADS,
    Check,
    EnvironmentMissing,
    Event,
    Measurement,
    TracedCall,
    TracedCase,
    TracedThread,
    TrialFailed,
    TrialsJob,
    Validity,
)
from zerolap.server import named_death, thread_names

METHOD = 1
"""The version of the method, raised when the same server would get other counts."""
TRACED_PASSES = 3
"""The passes of each side."""
WARM_UP_SECONDS = 0.1
TRACED_SECONDS = 0.5
SLICES_AT_ONCE = 20
"""How many times longer a slice is than a timed one: calls that are under way at its ends are not counted in full."""
ENDED_THREAD: Final = "(ended thread)"
FORKED: Final = "(forked processes)"
FUTEX: Final = "futex"


class Traced:
    """Takes the passes of all sides."""

    def missing(self) -> str | None:
        """Return why nothing can be traced here, or none."""
        if BEGINS not in system_call_names().values():
            return f"the numbers of system calls are not known on {platform.machine()}"
        obstacle = tracing_obstacle()
        return None if obstacle is None else obstacle.reason

    def carry_out(self, job: TrialsJob, place: Place) -> Iterator[Event]:
        """Carry out the passes; one that cannot be traced costs the case what tracing shows, and no more."""
        if any(server.topology.nodes > 1 for server in job.servers.values()):
            raise TrialFailed("one server is traced; the topology has several")
        with contextlib.closing(trials_of(job, place)) as trials:
            for trial in trials:
                with named_failure(job.servers, trial.side, trial.block):
                    yield trial.done(_pass(trial, place))


def _pass(trial: EngineTrial, place: Place) -> Measurement:
    try:
        measurement, traced, waits = trace(trial, place.builds.get(trial.server.build).record.source_root)
    except EnvironmentMissing as fault:
        raise TrialFailed(fault.message, fault.hint) from fault
    recorded = {"traced": place.blobs.put(traced.model_dump_json(by_alias=True).encode())}
    if waits is not None:
        recorded["stacks"] = place.blobs.put(waits)
    return measurement.model_copy(update=recorded)


def trace(trial: EngineTrial, source_root: str) -> tuple[Measurement, TracedCase, bytes | None]:
    """Carry out one pass; return its measurement, what was recorded by thread, and the stacks of waits where there are.

    Raises `TrialFailed` if the server, the load generator, bpftrace or perf fails.
    """
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        side, checks = set_up(stack, trial)
        with named_death(*side.servers):
            requests = choose_requests([side], trial.case).requests
            work = SliceWork(requests if trial.case.state == "drains" else requests * SLICES_AT_ONCE, 0)
            slices, counts, tcp = _counted(side, work, trial)
            names = thread_names(side.processes[0])
            recorded = _recorded(counts, side, work, trial, source_root)
    traced = traced_case(counts, names, sum(part.result.requests for part in slices)).model_copy(
        update={"stacks": recorded.stacks, "no_stacks": _bounded(recorded.missing), "no_tcp": _bounded(tcp.missing)}
    )
    measurement = _evaluate(trial, slices, counts, tcp, checks, main_thread=side.processes[0])
    return measurement.model_copy(update={"seconds": time.monotonic() - began}), traced, recorded.waits


def _bounded(reason: str | None) -> str | None:
    return None if reason is None else reason[:LONGEST_TRACED_NAME]


def _counted(side: TimedSide, work: SliceWork, trial: EngineTrial) -> tuple[list[Slice], TracedCounts, TcpWindows]:
    """Return slices, and what bpftrace and TCP counted while their requests were answered."""
    with tracing(side.processes[0], trial.directory) as tracer:
        side.run_for(WARM_UP_SECONDS, work)
        tcp = TcpWindows(side.processes[0], tracer)
        side.counters = SideCounters(tcp)
        slices = side.run_for(TRACED_SECONDS, work)
        side.counters = SideCounters()
        return slices, tracer.counts(), tcp


def _recorded(
    counts: TracedCounts, side: TimedSide, work: SliceWork, trial: EngineTrial, source_root: str
) -> RecordedStacks:
    """Return the stacks of each kind of event, recorded while further requests are answered."""
    missing = missing_for_sampling()
    if missing is not None:
        return RecordedStacks(missing=f"{missing.reason} ({missing.remedy})")
    numbers: Mapping[RecordedEvent, int] = {
        "system calls": sum(counts.calls.values()),
        "switches": sum(counts.off.values()),
    }
    program = trial.program
    recorder = EventRecorder(side, trial.directory, source_root, [trial.directory, program.path, *program.visible])
    return recorder.record(numbers, lambda seconds: side.run_for(seconds, work))


def _evaluate(
    trial: EngineTrial,
    slices: Sequence[Slice],
    counts: TracedCounts,
    tcp: TcpWindows,
    filled: Sequence[Check],
    *,
    main_thread: int,
) -> Measurement:
    requests = sum(part.result.requests for part in slices)
    calls = sum(counts.calls.values())
    checks = [
        *filled,
        *request_checks(trial.case, slices, requests),
        Check(check="traced_calls", ok=calls > 0, value=float(calls), limit="> 0"),
    ]
    metrics = traced_metrics(counts, requests, main_thread) | tcp.metrics(requests)
    return Measurement(metrics=metrics, validity=Validity.of(checks), method=METHOD)


def traced_metrics(counts: TracedCounts, requests: int, main_thread: int) -> dict[str, float]:
    """Return the metrics of so many requests: time off the processor is the main thread's, all else of all threads."""
    names = system_call_names()
    in_futex_ns = sum(ns for (_, call), ns in counts.call_ns.items() if names.get(call, "").startswith(FUTEX))
    totals = {
        "traced_syscalls_per_op": sum(counts.calls.values()),
        "off_cpu_ns_per_op": counts.off_ns.get(main_thread, 0),
        "run_queue_ns_per_op": counts.queue_ns.get(main_thread, 0),
        "lock_wait_ns_per_op": in_futex_ns,
        "page_faults_per_op": sum(counts.faults.values()),
    }
    if counts.block_io is not None:
        totals["block_io_per_op"] = sum(counts.block_io.values())
    return {name: total / requests for name, total in totals.items()}


def traced_case(counts: TracedCounts, thread_names: Mapping[int, str], requests: int) -> TracedCase:
    """Return what was counted over so many requests, by the names of threads; those that ended meanwhile have none.

    Processes that the server has forked are one thread here, of which there are system calls alone.
    """

    def name_of(thread: int) -> str:
        return thread_names.get(thread, ENDED_THREAD)[:LONGEST_TRACED_NAME]

    calls = system_call_names()
    number: Counter[tuple[str, str]] = Counter()
    ns: Counter[tuple[str, str]] = Counter()
    moved: Counter[tuple[str, str]] = Counter()
    for counted, by_call in ((counts.calls, number), (counts.call_ns, ns), (counts.call_bytes, moved)):
        for (thread, call), value in counted.items():
            by_call[name_of(thread), calls.get(call, f"system call {call}")] += value
    for counted_of_forked, by_call in ((counts.forked_calls, number), (counts.forked_ns, ns)):
        for call, value in counted_of_forked.items():
            by_call[FORKED, calls.get(call, f"system call {call}")] += value
    of_calls = [
        TracedCall(
            thread=thread,
            call=call,
            calls_per_op=value / requests,
            ns_per_op=ns[thread, call] / requests,
            bytes_per_op=moved[thread, call] / requests if call in TRANSFERS and thread != FORKED else None,
        )
        for (thread, call), value in number.most_common(MOST_TRACED_CALLS)
    ]
    by_name: dict[str, list[int]] = {}
    for thread in sorted(counts.threads):
        by_name.setdefault(name_of(thread), []).append(thread)
    of_threads = [_of_threads(name, threads, counts, requests) for name, threads in by_name.items()]
    of_threads.sort(key=lambda thread: -thread.off_per_op)
    return TracedCase(threads=of_threads[:MOST_TRACED_THREADS], calls=of_calls)


def _of_threads(name: str, threads: Sequence[int], counts: TracedCounts, requests: int) -> TracedThread:
    def per_op(counted: Mapping[int, int]) -> float:
        return sum(counted.get(thread, 0) for thread in threads) / requests

    return TracedThread(
        thread=name,
        threads=len(threads),
        off_per_op=per_op(counts.off),
        off_ns_per_op=per_op(counts.off_ns),
        queue_ns_per_op=per_op(counts.queue_ns),
        faults_per_op=per_op(counts.faults),
        block_io_per_op=None if counts.block_io is None else per_op(counts.block_io),
    )
