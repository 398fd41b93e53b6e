"""The processor's counters over the slices of one side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from zerolap import _core
from zerolap.host import HardwareCounters

METRICS_OF_EVENTS: Mapping[str, str] = {
    "instructions:u": "retired_instructions_per_op",
    "cycles:u": "cycles_per_op",
    "cycles:k": "kernel_cycles_per_op",
    "branch-misses:u": "branch_misses_per_op",
    "instructions:k": "kernel_instructions_per_op",
    "cache-misses:u": "cache_misses_per_op",
    "dTLB-load-misses:u": "tlb_misses_per_op",
}


class AttachedCounters(Protocol):
    """Counters that are attached to processes; `zerolap._core.ProcessCounters` has the meaning of its methods."""

    def begin(self) -> None:
        """Count from here on."""

    def end(self) -> tuple[list[tuple[str, int]], list[str]]:
        """Return the number of each event since the beginning, and why groups of events are left out."""


@dataclass(frozen=True)
class SliceCounts:
    """What was counted over a slice by event, and why other events were not."""

    values: Mapping[str, int] = field(default_factory=dict)
    refusals: Sequence[str] = ()

    def metrics(self, requests: int) -> dict[str, float]:
        """Return the metrics by name."""
        return {METRICS_OF_EVENTS[event]: value / requests for event, value in self.values.items()}


@dataclass(frozen=True)
class SideCounters:
    """The counters of one side's processes; none where the machine has none.

    `refusal` is why there are none though the machine has them.
    """

    counters: AttachedCounters | None = None
    refusal: str | None = None

    @classmethod
    def attach(cls, processes: Sequence[int], hardware: HardwareCounters) -> "SideCounters":
        """Attach to all threads of processes, and to all that these start later."""
        if not hardware.groups:
            return cls()
        try:
            return cls(_core.ProcessCounters(list(processes), [list(group) for group in hardware.groups]))
        except OSError as refused:
            return cls(refusal=str(refused))

    def begin(self) -> None:
        """Count from here on."""
        if self.counters is not None:
            self.counters.begin()

    def end(self) -> SliceCounts:
        """Return what was counted since the beginning."""
        if self.counters is None:
            return SliceCounts(refusals=() if self.refusal is None else (self.refusal,))
        values, refusals = self.counters.end()
        return SliceCounts(dict(values), refusals)
