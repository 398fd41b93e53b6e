"""perf as a child process: it records a process between two moments, by its own control channel; what it recorded."""

import contextlib
import functools
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which

from zerolap.host import Obstacle
from zerolap.records import EnvironmentMissing, TrialFailed
from zerolap.sandbox import LimitReached, Process, confined_reader, is_readable, launch

FREQUENCY_HZ = 1999
"""The frequency of samples, an odd number that does not keep step with timers."""
CYCLES_APART = 1_499_977
"""The cycles between two samples. At a fixed frequency, samples of threads that rarely run would stand for fewer
cycles.
"""
STACK_BYTES = 16384
"""The bytes that are copied of each sample's stack: the server's binaries have no frame pointers to follow instead."""
MOST_EVENT_BYTES = 256 << 20
"""The largest recording of events, which code under test can cause at any rate; the duration bounds a recording of
samples.
"""
ANSWER_SECONDS = 20
PERMISSION_HINT = "sudo sysctl kernel.perf_event_paranoid=1, or as root"


def missing_for_sampling() -> Obstacle | None:
    """Return why nothing can be sampled here; none if it can."""
    if which("perf") is None:
        return Obstacle("perf is not installed", "apt-get install linux-perf")
    # The kernel's part by itself: of both perf leaves it out without a word where it may not record it.
    # Its thread for events of BPF programs takes a second to end.
    tried = _perf("record", "--no-bpf-event", "--event", "cpu-clock:k", "--output", "/dev/null", "true")
    if tried.returncode != 0:
        # Where it is not permitted, perf prints the reason below a heading.
        lines = [line.strip() for line in tried.stderr.splitlines()]
        reason = next((line for line in lines if line not in ("", "Error:")), "it gives no reason")
        return Obstacle(f"perf may not record: {reason}", PERMISSION_HINT)
    return None


def _perf(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = ["perf", *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


@functools.cache
def sampling_event() -> str:
    """Return what samples are taken by: cycles where the processor's counters can be read, else a timer."""
    tried = _perf("stat", "--field-separator=,", "--event", "cycles:u", "true")
    counted = any(line.partition(",")[0].isdigit() for line in tried.stderr.splitlines())
    return "cycles" if tried.returncode == 0 and counted else "cpu-clock"


@dataclass
class PerfRecorder:
    """A perf that waits: it records between `begin` and `end`.

    Each of them raises `LimitReached` once a recording of events is larger than `MOST_EVENT_BYTES`.
    """

    process: Process
    orders: int
    acknowledgements: int

    def begin(self) -> None:
        """Let it record; raises `TrialFailed` if it does not."""
        self._order("enable")

    def unseen(self, work: Callable[[], None]) -> Callable[[], None]:
        """Return the work as it goes on while nothing is recorded."""

        def carry_out() -> None:
            self._order("disable")
            work()
            self._order("enable")

        return carry_out

    def end(self) -> None:
        """Let it write what it recorded; raises `TrialFailed` if it fails."""
        self._order("disable")
        os.kill(self.process.number, signal.SIGINT)
        try:
            code = self.process.wait(ANSWER_SECONDS)
        except subprocess.TimeoutExpired as late:
            raise TrialFailed("perf does not end") from late
        # Ended by a signal, it exits with it.
        if code not in (0, -signal.SIGINT):
            raise self._failed()

    def _order(self, order: str) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self.orders, f"{order}\n".encode())
        self._wait_for_acknowledgement()

    def _wait_for_acknowledgement(self) -> None:
        end = time.monotonic() + ANSWER_SECONDS
        while time.monotonic() < end:
            if is_readable(self.acknowledgements, 0.1) and b"ack" in os.read(self.acknowledgements, 64):
                return
            if self.process.returncode is not None:
                break
        raise self._failed()

    def _failed(self) -> TrialFailed | LimitReached:
        if self.process.returncode == -signal.SIGXFSZ:
            return LimitReached(f"perf's recording has reached its limit of {MOST_EVENT_BYTES >> 20} MiB")
        return TrialFailed("perf failed", hint=PERMISSION_HINT, details=self.process.output_tail(10))


@contextlib.contextmanager
def recording(
    process: int,
    event: str,
    data: Path,
    apart: int | None = None,
    *,
    of_main_thread: str | None = None,
    with_switches: bool = False,
) -> Iterator[PerfRecorder]:
    """Have perf ready to record all threads of a process into `data`; it ends with the context.

    - `apart`: record the stack of one event in `apart`, up to `MOST_EVENT_BYTES`.
    - `of_main_thread`: a condition on the fields of events; record the main thread alone, without its children.
    - `with_switches`: also record when threads leave their processors and run again, by the monotonic clock.

    Raises `EnvironmentMissing` if there is no perf.
    """
    is_limited = apart is not None
    orders, acknowledgements = data.with_suffix(".orders"), data.with_suffix(".answers")
    for channel in (orders, acknowledgements):
        os.mkfifo(channel)
    if apart is None and event == "cycles":
        apart = CYCLES_APART
    spacing = ["--freq", str(FREQUENCY_HZ)] if apart is None else ["--count", str(apart)]
    command = ["perf", "record", "--event", event, *spacing]
    if of_main_thread is None:
        command += ["--pid", str(process)]
    else:
        command += ["--filter", of_main_thread, "--tid", str(process), "--no-inherit"]
    if is_limited and not with_switches:
        # The kernel samples each event of a kind, whatever the count, while samples have a period. Of waits none is to
        # be left out.
        command += ["--no-period"]
    command += [
        "--call-graph",
        f"dwarf,{STACK_BYTES}",
        "--delay",
        "-1",
        "--control",
        f"fifo:{orders},{acknowledgements}",
    ]
    if with_switches:
        command += ["--switch-events", "--clockid", "mono"]
    # Its thread for events of BPF programs, which end up in no stack, is looked after once a second: perf ends as late.
    # It would read the build ids of the programs, which code under test has written, outside of any sandbox.
    command += ["--no-buildid", "--no-buildid-cache", "--no-bpf-event", "--output", str(data)]
    with contextlib.ExitStack() as stack:
        opened = []
        for channel in (orders, acknowledgements):
            # Opened for both, a channel neither blocks here nor ends when the other side is late.
            opened.append(os.open(channel, os.O_RDWR | os.O_NONBLOCK))
            stack.callback(os.close, opened[-1])
        variables = {"PATH": os.environ.get("PATH", ""), "LANG": "C", "HOME": str(data.parent)}
        log = data.with_suffix(".log")
        try:
            perf = stack.enter_context(launch(command, environment=variables, output=log))
        except EnvironmentMissing as missing:
            raise EnvironmentMissing("perf is not installed", hint="apt-get install linux-perf") from missing
        if is_limited:
            # Not perf's own option, which versions before 5.5 lack. One that has ended already fails as it begins.
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(perf.number, resource.RLIMIT_FSIZE, (MOST_EVENT_BYTES, MOST_EVENT_BYTES))
        yield PerfRecorder(perf, *opened)


def read_stacks(data: Path, source_root: str, visible: Sequence[Path], original: Path | None = None) -> bytes:
    """Return the stacks of a recording as JSON (`zerolap.stacks/1`); raises `TrialFailed`.

    `visible` are the places of the programs that ran, from which names are read. Of a program whose functions were put
    into another order, `original` is that with its debug information.
    """
    with _readable():
        return confined_reader.read_stacks(str(data), source_root, visible=visible, original=original)


def read_waits(data: Path, source_root: str, windows: Sequence[tuple[int, int]], visible: Sequence[Path]) -> bytes:
    """Return the time off the processor of a recording of `sched:sched_switch`, by thread and stack.

    A table as that of `read_stacks`, its samples nanoseconds; only waits within one of the windows are in it.
    """
    with _readable():
        return confined_reader.read_waits(str(data), source_root, windows, visible=visible)


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (OSError, confined_reader.UnreadableFile) as broken:
        raise TrialFailed(f"perf's recording cannot be read: {broken}") from broken
