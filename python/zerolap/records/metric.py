"""The metrics and which way is better."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from zerolap.records.base import Record

Answer: TypeAlias = Literal["work", "time", "memory"]
"""The answers to a case: what the code does, what its user feels, and what its data take."""

Decides: TypeAlias = Literal["always", "for same", "where changed", "beyond doubt", "others same", "never"]
"""When a metric's verdict decides the answer that it belongs to.

- `always`: each of its verdicts decides. Of CPU time and cycles, which both always decide, only one is used.
- `for same`: a change decides, and the answer is the same only if this metric is the same.
- `where changed`: a change decides, but the metric itself may stay undecided.
- `beyond doubt`: a change decides if its whole interval exceeds the minimum effect, as the metric scatters.
- `others same`: it decides if all that always decide are the same, as their costs contain that of this metric.
- `never`: it is shown, and decides nothing.
"""


class MetricRule(Record):
    """How a metric is judged in a comparison: which engine measures it, which way is better, what it decides."""

    name: str
    engine: str
    answer: Answer
    decides: Decides
    less_is_better: bool


class Metric(MetricRule):
    """What is measured; `unit` is what one of its values counts, `heading` its label where there is little room."""

    unit: str
    label: str
    heading: str


_TABLE: tuple[tuple[str, str, Answer, Decides, str, bool, str, str], ...] = (
    (
        "instructions_per_op", "counted", "work", "always",
        "instructions", True, "instructions per request", "instructions/request",
    ),
    (
        "allocations_per_op", "counted", "work", "others same",
        "allocations", True, "allocations per request", "allocations/request",
    ),
    (
        "syscalls_per_op", "counted", "work", "always",
        "system calls", True, "system calls per request", "system calls/request",
    ),
    (
        "clock_readings_per_op", "counted", "work", "others same",
        "readings", True, "clock readings per request", "clock readings/request",
    ),
    (
        "instructions_alone_per_op", "counted", "work", "others same",
        "instructions", True, "instructions per request, sent one at a time", "instructions/request alone",
    ),
    (
        "instructions_per_tick", "counted", "work", "others same",
        "instructions", True, "instructions per tick of the timers", "instructions/tick",
    ),
    ("memory_bytes_per_key", "counted", "memory", "always", "bytes", True, "bytes per key", "bytes/key"),
    (
        "used_memory_bytes", "counted", "memory", "others same",
        "bytes", True, "bytes that the server uses for the data", "bytes used",
    ),
    (
        "peak_memory_bytes", "counted", "memory", "others same",
        "bytes", True, "bytes that the server used at most", "bytes at most",
    ),
    (
        "client_memory_bytes", "counted", "memory", "others same",
        "bytes", True, "bytes that the clients of the load take", "bytes of clients",
    ),
    (
        "allocator_overhead_bytes", "counted", "memory", "never",
        "bytes", True, "bytes that lie unused in the allocator's pages", "bytes unused in pages",
    ),
    ("rss_bytes", "timed", "memory", "beyond doubt", "bytes", True, "resident bytes", "resident bytes"),
    ("cpu_ns_per_op", "timed", "time", "always", "ns", True, "CPU ns per request", "CPU ns/request"),
    (
        "whole_cpu_ns_per_op", "timed", "time", "where changed",
        "ns", True, "CPU ns per request of the whole server", "whole CPU ns/request",
    ),
    (
        "full_speed_cpu_ns_per_op", "timed", "time", "for same",
        "ns", True, "CPU ns per request in unequal batches", "full speed CPU ns/request",
    ),
    (
        "as_built_cpu_ns_per_op", "timed", "time", "never",
        "ns", True, "CPU ns per request, code where the build put it", "as built CPU ns/request",
    ),
    (
        "elapsed_ns_per_op", "timed", "time", "for same",
        "ns", True, "ns per request until all replies came", "elapsed ns/request",
    ),
    (
        "main_thread_ns_per_op", "timed", "time", "never",
        "ns", True, "CPU ns per request of the main thread", "main thread ns/request",
    ),
    (
        "io_threads_ns_per_op", "timed", "time", "never",
        "ns", True, "CPU ns per request of the I/O threads", "I/O threads ns/request",
    ),
    ("cycles_per_op", "timed", "time", "always", "cycles", True, "cycles per request", "cycles/request"),
    (
        "kernel_cycles_per_op", "timed", "time", "never",
        "cycles", True, "kernel cycles per request", "kernel cycles/request",
    ),
    (
        "retired_instructions_per_op", "timed", "work", "never",
        "instructions", True, "retired instructions per request", "retired instructions/request",
    ),
    (
        "kernel_instructions_per_op", "timed", "work", "never",
        "instructions", True, "kernel instructions per request", "kernel instructions/request",
    ),
    (
        "branch_misses_per_op", "timed", "time", "never",
        "misses", True, "branch misses per request", "branch misses/request",
    ),
    (
        "cache_misses_per_op", "timed", "time", "never",
        "misses", True, "cache misses per request", "cache misses/request",
    ),
    ("tlb_misses_per_op", "timed", "time", "never", "misses", True, "TLB misses per request", "TLB misses/request"),
    ("usec_per_call", "timed", "time", "never", "us", True, "µs per call, as the server counts", "µs/call"),
    ("ops_per_sec", "timed", "time", "beyond doubt", "requests", False, "requests per second", "requests/s"),
    ("latency_p50_us", "timed", "time", "beyond doubt", "us", True, "latency p50 in µs", "p50, µs"),
    ("latency_p99_us", "timed", "time", "beyond doubt", "us", True, "latency p99 in µs", "p99, µs"),
    ("latency_p99_9_us", "timed", "time", "never", "us", True, "latency p99.9 in µs", "p99.9, µs"),
    ("latency_max_us", "timed", "time", "never", "us", True, "latency maximum in µs", "max, µs"),
    (
        "latency_at_50_p99_us", "timed", "time", "where changed",
        "us", True, "latency p99 in µs at half of the base's full speed", "p99 at 50 %, µs",
    ),
    (
        "latency_at_80_p99_us", "timed", "time", "for same",
        "us", True, "latency p99 in µs at 80 % of the base's full speed", "p99 at 80 %, µs",
    ),
    (
        "latency_at_80_p99_9_us", "timed", "time", "beyond doubt",
        "us", True, "latency p99.9 in µs at 80 % of the base's full speed", "p99.9 at 80 %, µs",
    ),
    (
        "latency_at_80_max_us", "timed", "time", "beyond doubt",
        "us", True, "longest pause in µs at 80 % of the base's full speed", "longest pause, µs",
    ),
    ("control_ns", "timed", "time", "never", "ns", True, "CPU ns per step of the reference work", "reference ns/step"),
    (
        "traced_syscalls_per_op", "traced", "work", "never",
        "system calls", True, "system calls per request, all threads, traced", "traced system calls/request",
    ),
    (
        "off_cpu_ns_per_op", "traced", "time", "never",
        "ns", True, "ns per request of the main thread off the processor", "off-CPU ns/request",
    ),
    (
        "run_queue_ns_per_op", "traced", "time", "never",
        "ns", True, "ns per request of the main thread in the run queue", "run queue ns/request",
    ),
    (
        "lock_wait_ns_per_op", "traced", "time", "never",
        "ns", True, "ns per request in waits for locks and conditions", "lock wait ns/request",
    ),
    ("page_faults_per_op", "traced", "work", "never", "faults", True, "page faults per request", "page faults/request"),
    (
        "block_io_per_op", "traced", "work", "never",
        "block I/O requests", True, "block I/O requests per request", "block I/O/request",
    ),
    (
        "tcp_segments_sent_per_op", "traced", "work", "never",
        "segments", True, "TCP segments sent per request, those without data too", "TCP segments sent/request",
    ),
    (
        "tcp_data_segments_sent_per_op", "traced", "work", "never",
        "segments", True, "TCP segments with data sent per request", "TCP data segments sent/request",
    ),
    (
        "tcp_segments_received_per_op", "traced", "work", "never",
        "segments", True, "TCP segments received per request, those without data too", "TCP segments received/request",
    ),
    (
        "tcp_retransmitted_per_op", "traced", "work", "never",
        "segments", True, "TCP segments sent again per request", "TCP retransmits/request",
    ),
    (
        "tcp_sent_bytes_per_op", "traced", "work", "never",
        "bytes", True, "bytes sent over TCP per request", "TCP bytes sent/request",
    ),
    (
        "tcp_received_bytes_per_op", "traced", "work", "never",
        "bytes", True, "bytes received over TCP per request", "TCP bytes received/request",
    ),
)  # fmt: skip

METRICS: dict[str, Metric] = {
    name: Metric(
        name=name,
        engine=engine,
        answer=answer,
        decides=decides,
        unit=unit,
        less_is_better=less_is_better,
        label=label,
        heading=heading,
    )
    for name, engine, answer, decides, unit, less_is_better, label, heading in _TABLE
}

COUNTER_METRICS = frozenset(
    {
        "cycles_per_op",
        "kernel_cycles_per_op",
        "retired_instructions_per_op",
        "kernel_instructions_per_op",
        "branch_misses_per_op",
        "cache_misses_per_op",
        "tlb_misses_per_op",
    }
)
"""What the processor's counters count; of the program alone where the name does not have the kernel in it."""

TRACED = "traced"
"""The engine that shows both sides of a comparison beside each other, and judges nothing."""
TRACED_METRICS = frozenset(name for name, metric in METRICS.items() if metric.engine == TRACED)
"""What tracing shows: evidence for an explanation, of which no comparison has verdicts."""

MEMORY_METRICS = frozenset(name for name, metric in METRICS.items() if metric.answer == "memory")
"""What data take: counted, and of a process by starts."""

CONTROL = "control_ns"
"""What the machine takes for work that is always the same; it says nothing of servers, and no case is judged by it."""

RUN_TABLE = ("instructions_per_op", "cpu_ns_per_op", "ops_per_sec", "latency_p50_us", "latency_p99_us")
"""The metrics of a run's table, in its order; those of plugins follow."""


def with_rules_of_plugins(rules: Sequence[MetricRule]) -> Mapping[str, MetricRule]:
    """Return the rules of all metrics by name: those of the lab's engines in the order of the table, then these."""
    return METRICS | {rule.name: rule for rule in rules}
