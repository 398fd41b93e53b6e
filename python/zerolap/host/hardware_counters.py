"""Which events the processor's counters count on this machine at the same time."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from zerolap import _core


@dataclass(frozen=True)
class HardwareCounters:
    """Groups of events, named as `perf list` does, that all count at the same time; none where there are no counters.

    `refused` is why other events are in no group.
    """

    groups: Sequence[Sequence[str]] = ()
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def events(self) -> list[str]:
        """The events that are counted."""
        return [event for group in self.groups for event in group]


@functools.cache
def hardware_counters() -> HardwareCounters:
    """Try all events, for some milliseconds each, once for this process."""
    groups, refused = _core.fitting_counters()
    return HardwareCounters(groups, dict(refused))
