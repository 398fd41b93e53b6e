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


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            name="instructions_per_op",
            engine="counted",
            unit="instructions",
            less_is_better=True,
            label="instructions per request",
        ),
        Metric(
            name="allocations_per_op",
            engine="counted",
            unit="allocations",
            less_is_better=True,
            label="allocations per request",
        ),
        Metric(
            name="syscalls_per_op",
            engine="counted",
            unit="system calls",
            less_is_better=True,
            label="system calls per request",
        ),
    )
}


def metric_named(name: str) -> Metric:
    """Return the metric of that name; raises `KeyError` for an unknown one."""
    return METRICS[name]
