"""The other processes that keep this machine's processors busy."""

import contextlib
import time
from dataclasses import dataclass

import psutil

from zerolap.host.noise import Noise, noise_between, read_counters

LONGEST_NAME = 24
NAMED = 3
BUSY_SHARE = 0.05
"""Of a processor: what uses less is not named."""


@dataclass(frozen=True)
class Neighbours:
    """The interference over an interval, and the processes with the largest parts in it: names and processors used."""

    noise: Noise
    busiest: tuple[tuple[str, float], ...]

    @property
    def text(self) -> str:
        """What disturbs in words."""
        named = ", ".join(f"{name} {used:.0%}" for name, used in self.busiest)
        parts = [f"other processes use {self.noise.others:.1f} processors" + (f" ({named})" if named else "")]
        if self.noise.steal > 0:
            parts.append(f"the host takes {self.noise.steal:.0%} of the processors' time")
        return ", ".join(parts)


def watch_neighbours(seconds: float = 0.5) -> Neighbours:
    """Measure the interference over an interval of that many seconds, in which this process waits."""
    before, counters = _used_seconds(), read_counters()
    time.sleep(seconds)
    noise = noise_between(counters, read_counters())
    after = _used_seconds()
    shares = [
        (name, (used - before[number][1]) / seconds) for number, (name, used) in after.items() if number in before
    ]
    busiest = sorted((share for share in shares if share[1] >= BUSY_SHARE), key=lambda share: -share[1])
    return Neighbours(noise, tuple(busiest[:NAMED]))


def _used_seconds() -> dict[int, tuple[str, float]]:
    """Return names and processor time of all processes but this one, by process id."""
    used: dict[int, tuple[str, float]] = {}
    own = psutil.Process().pid
    for process in psutil.process_iter():
        # Processes end meanwhile, and some are hidden from their neighbours.
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            if process.pid != own:
                used[process.pid] = (process.name()[:LONGEST_NAME], times.user + times.system)
    return used
