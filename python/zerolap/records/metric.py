"""The metrics and which way is better."""

from typing import Literal, TypeAlias

from zerolap.records.base import Record

EngineName: TypeAlias = Literal["counted", "timed", "sampled", "traced"]


class Metric(Record):
    """What is measured; `unit` is what one of its values counts."""

    name: str
    engine: EngineName
    unit: str
    less_is_better: bool
    label: str


_TABLE: tuple[tuple[str, EngineName, str, bool, str], ...] = (
    ("instructions_per_op", "counted", "instructions", True, "instructions per request"),
    ("allocations_per_op", "counted", "allocations", True, "allocations per request"),
    ("syscalls_per_op", "counted", "system calls", True, "system calls per request"),
    ("cpu_ns_per_op", "timed", "ns", True, "CPU ns per request"),
    ("main_thread_ns_per_op", "timed", "ns", True, "CPU ns per request of the main thread"),
    ("io_threads_ns_per_op", "timed", "ns", True, "CPU ns per request of the I/O threads"),
    ("usec_per_call", "timed", "us", True, "us per call, by the server"),
    ("ops_per_sec", "timed", "requests", False, "requests per second"),
    ("latency_p50_us", "timed", "us", True, "latency p50 in us"),
    ("latency_p99_us", "timed", "us", True, "latency p99 in us"),
    ("latency_p99_9_us", "timed", "us", True, "latency p99.9 in us"),
    ("latency_max_us", "timed", "us", True, "latency maximum in us"),
)

METRICS: dict[str, Metric] = {
    name: Metric(name=name, engine=engine, unit=unit, less_is_better=less_is_better, label=label)
    for name, engine, unit, less_is_better, label in _TABLE
}


def metric_named(name: str) -> Metric:
    """Return the metric of that name; raises `KeyError` for an unknown one."""
    return METRICS[name]
