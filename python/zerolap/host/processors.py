"""The logical processors, and the cores and caches that they share."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from zerolap.host.system_files import ROOT, cpu_list, read_number, read_text

PROCESSORS = "sys/devices/system/cpu"


@dataclass(frozen=True)
class Processor:
    """A logical processor; siblings have the same `core`, processors that share the last-level cache the same `cache`.

    Both are named by the lowest number of the processors that share them.
    """

    number: int
    core: int
    cache: int


@dataclass(frozen=True)
class Processors:
    """The processors that this process may use, by number."""

    processors: tuple[Processor, ...]

    @property
    def cores(self) -> tuple[int, ...]:
        """The physical cores, each by the lowest number of its processors."""
        return tuple(sorted({processor.core for processor in self.processors}))

    def on_core(self, core: int) -> tuple[int, ...]:
        """Return the numbers of the processors on a physical core."""
        return tuple(processor.number for processor in self.processors if processor.core == core)


def read_processors(usable: Iterable[int] | None = None, root: Path = ROOT) -> Processors:
    """Return the processors of `usable`, by default of this process; what the kernel does not report is not shared."""
    numbers = sorted(os.sched_getaffinity(0) if usable is None else usable)
    return Processors(
        tuple(
            Processor(
                number=number,
                core=_first_of(f"{PROCESSORS}/cpu{number}/topology/thread_siblings_list", number, root),
                cache=_last_level_cache(number, root),
            )
            for number in numbers
        )
    )


def _first_of(path: str, fallback: int, root: Path) -> int:
    try:
        numbers = cpu_list(read_text(path, root) or "")
    except ValueError:
        return fallback
    return numbers[0] if numbers else fallback


def _last_level_cache(number: int, root: Path) -> int:
    directory = f"{PROCESSORS}/cpu{number}/cache"
    try:
        names = [entry.name for entry in (root / directory).iterdir() if re.fullmatch(r"index\d+", entry.name)]
    except OSError:
        names = []
    levels = [(read_number(f"{directory}/{name}/level", root) or 0, name) for name in names]
    if not levels:
        # If the kernel reports no caches, processors of one package are taken to share one.
        return _first_of(f"{PROCESSORS}/cpu{number}/topology/package_cpus_list", number, root)
    return _first_of(f"{directory}/{max(levels)[1]}/shared_cpu_list", number, root)
