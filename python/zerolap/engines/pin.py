"""The lab's side of the page that it shares with the library preloaded into a counted server (crates/pin)."""

import os
import random
import re
import struct
import time
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Self

from zerolap.records import TrialFailed

PAGE_BYTES = 4096
RANDOM_BYTES = 65536
FIXED_FIELDS = struct.Struct("<QQQQ")
REQUEST = struct.Struct("<II")
REQUEST_OFFSET = FIXED_FIELDS.size
SEEN = struct.Struct("<QQQ")
SEEN_OFFSET = REQUEST_OFFSET + REQUEST.size
ELAPSED_BYTES = 8
STATE = struct.Struct("<I")
STATE_OFFSET = SEEN_OFFSET + SEEN.size + ELAPSED_BYTES

# 1 January 2035: a deadline computed from the virtual clock is not reached while a trial lasts.
START_REALTIME_NS = 2_051_222_400 * 10**9
SEED_STEP_NS = 1_000 * 10**9
# More of them would take the clock to other centuries, and beyond 64 bits.
SEED_STEPS = 10_000
STEP_PER_WAKE_NS = 10_000
STEP_PER_READING_NS = 50

CARRIED_OUT_SECONDS = 60.0
POLL_SECONDS = 0.0005

_PROCESS_STATUS = (
    "4242 (server) S 1 4242 4242 0 -1 4194560 1000 0 0 0 10 10 0 0 20 0 5 0 1000 100000000 4096 18446744073709551615 "
    "1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
)
"""The fields of proc_pid_stat(5): a process with 4,096 resident pages."""


class PinRequest(IntEnum):
    """What the library is asked to do at the next wait of the event loop."""

    LEAP = 1
    START = 2
    DUMP = 3
    STOP = 4


class Pin:
    """The shared page and the files that stand for the machine's randomness and description."""

    def __init__(self, directory: Path, seed: int) -> None:
        self._control = directory / "control"
        self._random = directory / "random"
        self._cpuinfo = directory / "cpuinfo"
        self._stat = directory / "stat"
        page = bytearray(PAGE_BYTES)
        start_ns = START_REALTIME_NS + seed % SEED_STEPS * SEED_STEP_NS
        FIXED_FIELDS.pack_into(page, 0, start_ns, STEP_PER_WAKE_NS, STEP_PER_READING_NS, seed)
        self._control.write_bytes(page)
        self._random.write_bytes(random.Random(seed).randbytes(RANDOM_BYTES))
        self._cpuinfo.write_text(_without_cycle_counter(Path("/proc/cpuinfo").read_text()))
        self._stat.write_text(_PROCESS_STATUS)
        # Read and written as a file: a page that the server cut off under a mapping would end the lab with a signal.
        self._page = os.open(self._control, os.O_RDWR | os.O_CLOEXEC)

    def environment(self, library: Path) -> dict[str, str]:
        """Return the variables under which a server must be started."""
        return {
            "LD_PRELOAD": str(library),
            "ZEROLAP_PIN_CONTROL": str(self._control),
            "ZEROLAP_PIN_RANDOM": str(self._random),
            "ZEROLAP_PIN_CPUINFO": str(self._cpuinfo),
            "ZEROLAP_PIN_STAT": str(self._stat),
        }

    def carry_out(self, request: PinRequest, wake_up: Callable[[], object], alive: Callable[[], bool]) -> None:
        """Have the server carry out a request at the end of what `wake_up` sends to it.

        It is asked while its event loop waits: between two replies it would act on it too early. Raises `TrialFailed`
        if it does not: the library is not in effect there.
        """
        self._until(lambda: self._read(STATE, STATE_OFFSET)[0] == 1, alive)
        done_before = self._read(REQUEST, REQUEST_OFFSET)[1]
        os.pwrite(self._page, REQUEST.pack(request, done_before), REQUEST_OFFSET)
        wake_up()
        self._until(lambda: self._read(REQUEST, REQUEST_OFFSET)[1] != done_before, alive)

    def _read(self, fields: struct.Struct, offset: int) -> tuple[int, ...]:
        data = os.pread(self._page, fields.size, offset)
        if len(data) < fields.size:
            raise TrialFailed("the server has cut off the page that it shares with the lab")
        return fields.unpack(data)

    def _until(self, condition: Callable[[], bool], alive: Callable[[], bool]) -> None:
        end = time.monotonic() + CARRIED_OUT_SECONDS
        while not condition():
            if not alive():
                raise TrialFailed("the server ended while it was counted")
            if time.monotonic() > end:
                raise TrialFailed(
                    "the server cannot be counted: the preloaded library does not see its event loop",
                    hint="it must be linked dynamically and wait in epoll_wait of the C library",
                )
            time.sleep(POLL_SECONDS)

    @property
    def clock_readings(self) -> int:
        """How often the server read the virtual clock."""
        return int(self._read(SEEN, SEEN_OFFSET)[0])

    @property
    def wakes(self) -> int:
        """How often the server's event loop woke up."""
        return int(self._read(SEEN, SEEN_OFFSET)[1])

    @property
    def random_readings(self) -> int:
        """How often the server took pinned randomness."""
        return int(self._read(SEEN, SEEN_OFFSET)[2])

    def close(self) -> None:
        """Give the page back."""
        os.close(self._page)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _without_cycle_counter(cpuinfo: str) -> str:
    """Return a processor description that makes a server read its clock through the C library."""
    return re.sub(r"\b(?:constant|nonstop)_tsc\b", "", cpuinfo)
