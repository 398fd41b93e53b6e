"""Disturbances of a timed trial by the machine: other work, steal, swap, a stepped clock, a suspended machine."""

import contextlib
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from zerolap.host.noise import MachineTimes, noise_between, read_counters
from zerolap.records import Check

STEAL_LIMIT = 0.2
OTHERS_LIMIT = 0.5
SWAP_LIMIT = 50.0
"""Pages per second: a few pages of idle processes do not disturb a trial."""
CLOCK_LIMIT_SECONDS = 0.05


@dataclass(frozen=True)
class _Sample:
    """The machine at one moment, with seconds on three clocks."""

    counters: MachineTimes
    monotonic: float
    since_boot: float
    civil: float
    used_ns: int


@dataclass
class Disturbance:
    """The state of the machine at the beginning of a trial and, once it has ended, at its end."""

    before: _Sample
    after: _Sample | None = None
    interrupts_are_load: bool = False

    def checks(self) -> list[Check]:
        """Return what the machine did beside the trial."""
        if self.after is None:
            raise ValueError("the trial has not ended")
        noise = noise_between(self.before.counters, self.after.counters)
        own = (self.after.used_ns - self.before.used_ns) / 1e9 / max(noise.seconds, 1e-9)
        if self.interrupts_are_load:
            own += noise.interrupts
        return [
            Check.at_most("steal", noise.steal, STEAL_LIMIT),
            Check.at_most("other_load", max(0.0, noise.others - own), OTHERS_LIMIT),
            Check.at_most("swap", noise.swapped_pages, SWAP_LIMIT),
            *_clock_checks(self.before, self.after),
        ]


@contextlib.contextmanager
def watch(
    used_ns: Callable[[], int], processors: Collection[int], *, interrupts_are_load: bool = False
) -> Iterator[Disturbance]:
    """Watch the machine for the length of the context.

    `used_ns` returns what the trial's own processes have used, `processors` are those that they run on. The time in
    interrupts is the trial's own too where its load passes through a network card (`interrupts_are_load`).
    """
    disturbance = Disturbance(_read(used_ns, processors), interrupts_are_load=interrupts_are_load)
    yield disturbance
    disturbance.after = _read(used_ns, processors)


def _read(used_ns: Callable[[], int], processors: Collection[int]) -> _Sample:
    return _Sample(
        read_counters(processors=processors),
        time.clock_gettime(time.CLOCK_MONOTONIC),
        time.clock_gettime(time.CLOCK_BOOTTIME),
        time.time(),
        used_ns(),
    )


def _clock_checks(before: _Sample, after: _Sample) -> list[Check]:
    """A suspended machine's monotonic clock stands still; one that was set only moves the civil time."""
    since_boot = after.since_boot - before.since_boot
    suspended = since_boot - (after.monotonic - before.monotonic)
    stepped = abs(after.civil - before.civil - since_boot)
    return [
        Check.at_most("suspended_seconds", suspended, CLOCK_LIMIT_SECONDS),
        Check.at_most("clock_stepped_seconds", stepped, CLOCK_LIMIT_SECONDS),
    ]
