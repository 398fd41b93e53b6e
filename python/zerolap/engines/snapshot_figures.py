"""The figures of one event under load, from when things happened and the slots of the load. Pure."""

from dataclasses import asdict, dataclass, replace
from typing import Final

from zerolap.load import NS_PER_SECOND, LatencySummary, LoadSeries, longest_us
from zerolap.records import TrialFailed

STARTING_NS: Final = NS_PER_SECOND
"""The time at the beginning of the load that is left out: connections are made, and caches fill."""
STEADY_SLOTS: Final = 10
"""Latency is back to normal where the p99 of so many slots together is."""
NORMAL_FACTOR: Final = 2.0
"""Latency is normal if its p99 is at most so many times that before the event."""


@dataclass(frozen=True)
class EventMoments:
    """When an event began, until when its pause lasted at the longest, and when its child had ended.

    All are moments of the system's monotonic clock in nanoseconds.
    """

    begin_ns: int
    pause_end_ns: int
    end_ns: int


def event_metrics(series: LoadSeries, moments: EventMoments) -> dict[str, float]:
    """Return the metrics of an event; raises `TrialFailed` if no reply came before, during or after it.

    `longest_pause_us` is the longest latency of the replies that came while the pause can have lasted, `event_seconds`
    how long the event lasted with its child, `throughput_lost` the share by which fewer replies a second came during
    the event than outside of it. `seconds_until_normal` is missing where it was not seen. Pause and event last until
    the first reply at least: those that have to wait for a processor may find no reply in the time that is theirs.
    """
    answered_ns = _answered_ns(series, moments.begin_ns)
    moments = replace(
        moments, pause_end_ns=max(moments.pause_end_ns, answered_ns), end_ns=max(moments.end_ns, answered_ns)
    )
    during = series.summary(moments.begin_ns, moments.end_ns)
    outside = LatencySummary.of(
        [
            *series.between(series.began_ns + STARTING_NS, moments.begin_ns - series.slot_ns),
            *series.between(moments.end_ns + series.slot_ns, series.ended_ns - series.slot_ns),
        ],
        series.slot_ns,
    )
    if during is None or outside is None:
        raise TrialFailed(f"no reply came {'during' if during is None else 'before and after'} the event")
    metrics = {
        "longest_pause_us": longest_us(series.between(moments.begin_ns, moments.pause_end_ns)),
        "event_seconds": (moments.end_ns - moments.begin_ns) / NS_PER_SECOND,
        "throughput_lost": 1 - during.ops_per_sec / outside.ops_per_sec,
        **{f"during_{name}": value for name, value in asdict(during).items()},
        **{f"outside_{name}": value for name, value in asdict(outside).items()},
    }
    normal = seconds_until_normal(series, moments.begin_ns)
    return metrics if normal is None else metrics | {"seconds_until_normal": normal}


def _answered_ns(series: LoadSeries, begin_ns: int) -> int:
    """Return a moment of the first slot after the event's own in which a reply came; the event's if none did.

    Replies in the event's own slot may have come before it.
    """
    slots = series.between(begin_ns + series.slot_ns, series.ended_ns)
    return begin_ns + series.slot_ns * next((number for number, slot in enumerate(slots, 1) if slot.replies), 0)


def seconds_until_normal(series: LoadSeries, begin_ns: int) -> float | None:
    """Return the seconds from an event until latency is back to what it was before it; none if that was not seen.

    It is where the p99 of the next `STEADY_SLOTS` slots together is at most `NORMAL_FACTOR` times the p99 of the slots
    before the event, and a reply came in each of them.
    """
    before = series.summary(series.began_ns + STARTING_NS, begin_ns - series.slot_ns)
    if before is None:
        return None
    limit_us = NORMAL_FACTOR * before.p99_us
    first = max(0, (begin_ns - series.began_ns) // series.slot_ns)
    for index in range(first, len(series.slots) - STEADY_SLOTS):
        slots = series.slots[index : index + STEADY_SLOTS]
        summary = LatencySummary.of(slots, series.slot_ns)
        if summary is not None and summary.p99_us <= limit_us and all(slot.replies for slot in slots):
            return max(0, series.began_ns + index * series.slot_ns - begin_ns) / NS_PER_SECOND
    return None
