"""The two windows of a counted trial: which requests are counted, and where counting begins and ends."""

import errno
import math
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from zerolap.engines.pin import Pin, PinRequest
from zerolap.load import LoadProgram, SliceResult
from zerolap.records import Case, TrialFailed, Windows
from zerolap.sandbox import FileRefused, read_file
from zerolap.server import KeyLookUps, RunningServer, StatisticsReader

TARGET_INSTRUCTIONS = 10_000_000
"""The instructions of the large window: rare paths occur in it, and callgrind executes it in a fifth of a second."""
MAX_REQUESTS = 2_000
MIN_UNITS = 4
SMALL_SHARE = 4
SETTLING_LEAPS = 5
TICKS = 5
"""How often the server's timers fire in the window that counts timers: work that is done at every fifth tick occurs
once.
"""
WARM_UP_LENGTHS = 5
FEW_ALONE, MANY_ALONE = 15, 63
"""Cycles of requests that are sent alone, beside the one that ends in the dump."""
LARGEST_DUMP_BYTES = 16 * 1024 * 1024
"""The largest dump that a known server writes. A failure with less free space is one of the disk."""
LARGEST_READ_BYTES = 256 * 1024 * 1024
TOTALS = re.compile(rb"^totals: (\d{1,18})", re.MULTILINE)


@dataclass(frozen=True)
class AloneCounts:
    """Dumps of few and of many requests that came alone, or as one cycle where that is several, not in pipelines."""

    few_dump: Path
    many_dump: Path
    counted_few: int
    counted_many: int


@dataclass(frozen=True)
class WindowCounts:
    """Both windows' dumps, that of what was instrumented before, the requests counted in each, and their replies.

    `clock_readings` were taken by all `requests` from before the small window to after the large one. In the requests
    of `timer_dump`, `counted_timers`, the server's timers fired too, `TICKS` times. `alone` is none where a pipeline is
    not longer than a cycle of requests.
    """

    before_dump: Path
    small_dump: Path
    large_dump: Path
    counted_small: int
    counted_large: int
    windows: Windows
    slices: tuple[SliceResult, ...]
    executed: int
    keys: KeyLookUps | None
    clock_readings: int
    requests: int
    timer_dump: Path
    counted_timers: int
    alone: AloneCounts | None


@dataclass(frozen=True)
class Counting:
    """What takes part in counting: the server, its shared page, the load generator, where dumps go, and the case."""

    server: RunningServer
    pin: Pin
    load: LoadProgram
    statistics: StatisticsReader
    dumps: Path
    case: Case

    @property
    def cycle(self) -> int:
        """Requests after which the case's commands begin anew."""
        return self.case.client.cycle

    @property
    def unit(self) -> int:
        """Requests of whole pipelines and whole cycles."""
        return math.lcm(self.case.client.pipeline, self.cycle)

    def carry_out(self, request: PinRequest, requests: int) -> None:
        """Have the server carry out a request after so many more requests."""
        self.pin.carry_out(request, lambda: self.load.slice(requests), lambda: self.server.alive)


def settle(counting: Counting) -> None:
    """Let the server's timers finish what loading left behind and see the traffic that is to come.

    They size a connection's buffers by what it sent and got since they fired last: whole pipelines. What they execute
    is instrumented by now, though not counted: whether it changed matters too.
    """
    counting.load.slice(counting.cycle)
    for _ in range(SETTLING_LEAPS):
        counting.carry_out(PinRequest.LEAP, counting.unit)


def count_windows(counting: Counting, windows: Windows | None, scale: float, seed: int) -> WindowCounts:
    """Warm up, then count a small and a large window.

    A window begins and ends with a dump, which the event loop makes at its next wait after one more cycle of requests:
    the window holds that cycle too, and nothing of what the lab did in between. How long the warm-up is depends on the
    seed: what happens at a certain size of the data then does not fall into the same place of every block's windows.
    """
    load, dumps, cycle, unit = counting.load, counting.dumps, counting.cycle, counting.unit
    load.slice(unit)
    counting.carry_out(PinRequest.DUMP, cycle)
    load.slice(unit)
    counting.carry_out(PinRequest.DUMP, cycle)
    windows = windows or _choose(dumped_instructions(_part(dumps, 2)) / (unit + cycle), unit, scale)

    load.slice(windows.small + seed % WARM_UP_LENGTHS * unit)
    before, readings_before = counting.statistics.read(), counting.pin.clock_readings
    counting.carry_out(PinRequest.DUMP, cycle)
    small = load.slice(windows.small)
    counting.carry_out(PinRequest.DUMP, cycle)
    large = load.slice(windows.large)
    counting.carry_out(PinRequest.DUMP, cycle)
    clock_readings = counting.pin.clock_readings - readings_before
    counted = counting.statistics.read() - before
    # The statistics are behind this dump.
    counting.carry_out(PinRequest.DUMP, cycle)
    for _ in range(TICKS):
        counting.carry_out(PinRequest.LEAP, unit)
    counting.carry_out(PinRequest.DUMP, cycle)
    return WindowCounts(
        before_dump=_part(dumps, 1),
        small_dump=_part(dumps, 4),
        large_dump=_part(dumps, 5),
        counted_small=windows.small + cycle,
        counted_large=windows.large + cycle,
        windows=windows,
        slices=(small, large),
        clock_readings=clock_readings,
        requests=windows.small + windows.large + 3 * cycle,
        executed=counted.calls - 3 * cycle,
        keys=counted.keys,
        timer_dump=_part(dumps, 7),
        counted_timers=TICKS * unit + cycle,
        alone=_count_alone(counting) if counting.case.client.pipeline > cycle else None,
    )


def _count_alone(counting: Counting) -> AloneCounts:
    """Count requests that come alone: each of them also takes a whole turn of the event loop, its reads and writes."""
    cycle, dumps = counting.cycle, counting.dumps
    for cycles in (FEW_ALONE, MANY_ALONE):
        for _ in range(cycles):
            counting.load.slice(cycle)
        counting.carry_out(PinRequest.DUMP, cycle)
    return AloneCounts(_part(dumps, 8), _part(dumps, 9), (FEW_ALONE + 1) * cycle, (MANY_ALONE + 1) * cycle)


def _part(dumps: Path, number: int) -> Path:
    return dumps.with_name(f"{dumps.name}.{number}")


def _choose(instructions_per_op: float, unit: int, scale: float) -> Windows:
    """Return windows of whole units whose large one takes about the target number of instructions."""
    wanted = scale * min(MAX_REQUESTS, TARGET_INSTRUCTIONS / max(instructions_per_op, 1.0))
    units = max(MIN_UNITS, math.ceil(wanted / unit))
    return Windows(small=max(1, units // SMALL_SHARE) * unit, large=units * unit)


def dumped_instructions(dump: Path) -> float:
    """Return the instructions that a dump counts in all; raises `TrialFailed` if it holds none."""
    # The server could have put anything there.
    try:
        content = read_file(dump, LARGEST_READ_BYTES)
    except FileRefused as reason:
        raise broken_dump(dump.parent, str(reason)) from reason
    totals = TOTALS.search(content)
    if totals is None:
        raise broken_dump(dump.parent, f"`{dump.name}` has no totals")
    return float(totals.group(1))


def broken_dump(directory: Path, what: str) -> Exception:
    """Return the error for a dump that is not whole; callgrind does not report a full disk."""
    if shutil.disk_usage(directory).free < LARGEST_DUMP_BYTES:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(directory))
    return TrialFailed(f"callgrind wrote no whole dump: {what}")
