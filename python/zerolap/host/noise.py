"""Interference of other processes and of the hypervisor with this machine."""

import os
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from zerolap.host.system_files import ROOT, read_text

_IDLE, _WAITING, _INTERRUPTS, _STEAL = 3, 4, slice(5, 7), 7


@dataclass(frozen=True)
class MachineTimes:
    """Totals since the machine started, in seconds.

    `busy` is the sum over all processors, `interrupts` the part of it that interrupts took; `total` and `steal` are of
    the selected ones. `own` is the processor time of this process and of its ended children.
    """

    clock: float
    total: float
    busy: float
    steal: float
    own: float
    swapped_pages: int
    interrupts: float = 0.0


@dataclass(frozen=True)
class Noise:
    """The interference over an interval.

    `steal` is the share of processor time that the hypervisor gave to others, 0 to 1; `others` is how many processors
    other processes kept busy, `interrupts` how many were busy with interrupts, which is in `others`; `swapped_pages`
    counts pages moved to and from swap per second.
    """

    seconds: float
    steal: float
    others: float
    swapped_pages: float
    interrupts: float = 0.0


def read_counters(root: Path = ROOT, processors: Collection[int] = ()) -> MachineTimes:
    """Read the kernel's totals; missing ones are 0. `total` and `steal` are of `processors`, by default of all."""
    lines = (read_text("proc/stat", root) or "").splitlines()
    times = _times(lines, ["cpu"])
    selected = _times(lines, [f"cpu{number}" for number in processors] or ["cpu"])
    used = os.times()
    pages = (line.split() for line in (read_text("proc/vmstat", root) or "").splitlines())
    return MachineTimes(
        clock=time.monotonic(),
        total=sum(selected),
        busy=sum(times) - times[_IDLE] - times[_WAITING] - times[_STEAL],
        steal=selected[_STEAL],
        own=used.user + used.system + used.children_user + used.children_system,
        swapped_pages=sum(int(number) for name, number in pages if name in {"pswpin", "pswpout"}),
        interrupts=sum(times[_INTERRUPTS]),
    )


def noise_between(before: MachineTimes, after: MachineTimes) -> Noise:
    """Return the interference between two readings; zero for an empty interval."""
    seconds = after.clock - before.clock
    total = after.total - before.total
    if seconds <= 0 or total <= 0:
        return Noise(seconds=max(seconds, 0.0), steal=0.0, others=0.0, swapped_pages=0.0)
    others = (after.busy - before.busy) - (after.own - before.own)
    return Noise(
        seconds=seconds,
        steal=max(0.0, after.steal - before.steal) / total,
        others=max(0.0, others) / seconds,
        swapped_pages=max(0, after.swapped_pages - before.swapped_pages) / seconds,
        interrupts=max(0.0, after.interrupts - before.interrupts) / seconds,
    )


def stolen_seconds(processors: Collection[int], root: Path = ROOT) -> float:
    """Return how long the hypervisor has given these processors to others since the machine started."""
    return _times((read_text("proc/stat", root) or "").splitlines(), [f"cpu{number}" for number in processors])[_STEAL]


def measure_noise(seconds: float = 0.3) -> Noise:
    """Measure the interference over an idle interval of that many seconds."""
    before = read_counters()
    time.sleep(seconds)
    return noise_between(before, read_counters())


def _times(lines: Iterable[str], names: Collection[str]) -> list[float]:
    """Return the seconds in each state, summed over the lines of those names."""
    ticks = os.sysconf("SC_CLK_TCK")
    totals = [0.0] * 8
    for name, *values in (line.split() for line in lines):
        if name in names:
            totals = [total + int(value) / ticks for total, value in zip(totals, values, strict=False)]
    return totals
