"""What the load generator reports over time: short slots, each with a histogram of the replies that came in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.load.generator import Amount, Count, LoadReport
from zerolap.records import SeriesSlot, latencies_us, sum_of_histograms

NS_PER_SECOND: Final = 1_000_000_000
SHARES: Final = (0.5, 0.99, 0.999, 0.9999)


class SlotLatency(LoadReport):
    """The exact maximum of a slot's latencies; percentiles are those of its histogram."""

    max: Amount


class LoadSlot(LoadReport):
    """The replies that came in one slot; lower edges of buckets in nanoseconds, with counts."""

    replies: Count
    latency_us: SlotLatency | None
    histogram_ns: list[tuple[Count, Count]]


@dataclass(frozen=True)
class LatencySummary:
    """Latencies of the replies of some slots in microseconds, and how many came in a second."""

    p50_us: float
    p99_us: float
    p99_9_us: float
    p99_99_us: float
    max_us: float
    ops_per_sec: float

    @classmethod
    def of(cls, slots: Sequence[LoadSlot], slot_ns: int) -> "LatencySummary | None":
        """Return the summary of slots of that length; none where no reply came in them."""
        histogram = sum_of_histograms(slot.histogram_ns for slot in slots)
        if not histogram:
            return None
        p50, p99, p99_9, p99_99 = latencies_us(histogram, SHARES)
        replies = sum(slot.replies for slot in slots)
        ops_per_sec = replies * NS_PER_SECOND / (len(slots) * slot_ns)
        return cls(p50, p99, p99_9, p99_99, longest_us(slots), ops_per_sec)


@dataclass(frozen=True)
class LoadSeries:
    """The slots of a run from `began_ns` on, a moment of the system's monotonic clock.

    A reply belongs to the slot in which it came, not to that in which its request was due.
    """

    began_ns: int
    slot_ns: int
    slots: Sequence[LoadSlot]
    warnings: Sequence[str] = ()

    @property
    def ended_ns(self) -> int:
        """The end of the last slot that is complete."""
        return self.began_ns + max(0, len(self.slots) - 1) * self.slot_ns

    def between(self, first_ns: int, last_ns: int) -> Sequence[LoadSlot]:
        """Return the slots from that of the first moment to that of the last, both included."""
        first = max(0, (first_ns - self.began_ns) // self.slot_ns)
        end = max(0, (last_ns - self.began_ns) // self.slot_ns + 1)
        return self.slots[first:end]

    def summary(self, first_ns: int, last_ns: int) -> LatencySummary | None:
        """Return the latencies between two moments; none where no reply came."""
        return LatencySummary.of(self.between(first_ns, last_ns), self.slot_ns)

    def around(self, moment_ns: int, before: int, after: int) -> list[SeriesSlot]:
        """Return so many slots before that of a moment, that slot itself, and so many after it."""
        middle = (moment_ns - self.began_ns) // self.slot_ns
        return [
            _series_slot(slot, (self.began_ns + index * self.slot_ns - moment_ns) / NS_PER_SECOND)
            for index, slot in enumerate(self.slots)
            if middle - before <= index <= middle + after
        ]


def _series_slot(slot: LoadSlot, at_seconds: float) -> SeriesSlot:
    p50, p99 = latencies_us(slot.histogram_ns, (0.5, 0.99)) if slot.histogram_ns else (None, None)
    longest = None if slot.latency_us is None else slot.latency_us.max
    return SeriesSlot(at_seconds=round(at_seconds, 6), replies=slot.replies, p50_us=p50, p99_us=p99, max_us=longest)


def longest_us(slots: Sequence[LoadSlot]) -> float:
    """Return the longest latency of slots; 0 where no reply came."""
    return max((slot.latency_us.max for slot in slots if slot.latency_us is not None), default=0.0)
