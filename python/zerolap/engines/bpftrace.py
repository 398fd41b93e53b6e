"""bpftrace as a child process: it counts in the kernel what happens to a process within marked windows of time.

A program counts into maps, which are read once at the end: no event reaches user space, and none is lost. It reads no
file of the traced process either, which code under test may have written: threads and system calls are numbers.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from zerolap.engines.system_call_names import system_call_names
from zerolap.host import events_of
from zerolap.records import EnvironmentMissing, TrialFailed
from zerolap.sandbox import FileRefused, Process, launch, read_file

READY: Final = "__BPFTRACE_NOTIFY_PROBES_ATTACHED"
"""bpftrace writes it once all probes are attached, if there is a variable of this name."""
READY_SECONDS: Final = 60.0
POLL_SECONDS: Final = 0.02
END_SECONDS: Final = 30.0
INTERRUPT_SECONDS: Final = 5.0
"""A second signal kills it while it writes its maps, for which it detaches its probes first."""
LONGEST_OUTPUT_BYTES: Final = 4 << 20
MOST_KEYS: Final = 4096
"""bpftrace's own limit on the keys of a map: it drops those beyond, and so a map of so many may be part of one."""
LARGEST: Final = 2**63
PARTS: Final = Path(__file__).with_name("traces")

BLOCK_IO: Final = "block/block_rq_issue"
FORK: Final = "sched/sched_process_fork"
OPTIONAL_EVENTS: Final = (BLOCK_IO, FORK)

BEGINS, ENDS = "sched_get_priority_max", "sched_get_priority_min"
"""The system calls by which a thread marks a window: they only return a constant, and nothing else here makes them."""

OF_THREADS: Final = ("off_ns", "off", "queue_ns", "queued", "faults", "block_io")
OF_CALLS: Final = ("calls", "call_ns", "call_bytes")
TRANSFERS: Final = frozenset(
    (
        *("read", "readv", "pread64", "preadv", "preadv2", "recvfrom", "recvmsg"),
        *("write", "writev", "pwrite64", "pwritev", "pwritev2", "sendto", "sendmsg", "sendfile"),
    )
)
"""The system calls that return how many bytes they have moved."""
OF_FORKED: Final = ("forked_calls", "forked_ns")
OF_WINDOWS: Final = ("begun", "ended")


@dataclass(frozen=True)
class TracedCounts:
    """What was counted within the windows, summed over them.

    `calls`, `call_ns` and `call_bytes` are by thread and number of the system call; those that are under way at the end
    of a window are in `calls` only. Bytes are what calls of `TRANSFERS` have moved. `forked_calls` and `forked_ns` are
    those of processes that the process forks while it is traced, by number alone. The others are by thread: how often
    it was `off` a processor and for how long, how often it was `queued` until it got one and for how long, page faults,
    block I/O; `block_io` is none where the kernel does not report it.
    """

    calls: Mapping[tuple[int, int], int] = field(default_factory=dict)
    call_ns: Mapping[tuple[int, int], int] = field(default_factory=dict)
    call_bytes: Mapping[tuple[int, int], int] = field(default_factory=dict)
    off: Mapping[int, int] = field(default_factory=dict)
    off_ns: Mapping[int, int] = field(default_factory=dict)
    queued: Mapping[int, int] = field(default_factory=dict)
    queue_ns: Mapping[int, int] = field(default_factory=dict)
    faults: Mapping[int, int] = field(default_factory=dict)
    block_io: Mapping[int, int] | None = None
    forked_calls: Mapping[int, int] = field(default_factory=dict)
    forked_ns: Mapping[int, int] = field(default_factory=dict)

    @property
    def threads(self) -> set[int]:
        """The threads of which anything was counted."""
        by_thread = (self.off, self.queued, self.faults, self.block_io or {})
        return {thread for thread, _ in self.calls} | {thread for counts in by_thread for thread in counts}


def tracing_program(process: int, marking: int, names: Mapping[int, str], events: Collection[str]) -> str:
    """Return the program that counts for all threads of `process` within windows that the thread `marking` marks.

    `names` are the system calls by number, `events` the optional events that the kernel has.
    """
    numbers = {name: number for number, name in names.items()}
    optional = {BLOCK_IO: "block_io", FORK: "forked"}
    parts = ["counting", *(part for event, part in optional.items() if event in events)]
    transfers = " || ".join(f"args->id == {numbers[name]}" for name in sorted(TRANSFERS & numbers.keys()))
    values = {"process": process, "marking": marking, "begins": numbers[BEGINS], "ends": numbers[ENDS]}
    return "\n".join(program_part(name, **values, transfers=transfers) for name in parts)


def program_part(name: str, **values: object) -> str:
    """Return a part of a program for bpftrace, which is a file in `traces`, with its values filled in."""
    return (PARTS / f"{name}.bt").read_text() % values


def read_maps(output: str) -> dict[str, Any]:
    """Return the maps that bpftrace wrote as JSON, a document on each line, by their names; those empty are missing.

    Raises `ValueError` for anything else, and for a map that is full.
    """
    maps: dict[str, Any] = {}
    for line in output.splitlines():
        if not line.strip():
            continue
        try:
            document = json.loads(line)
        except RecursionError as deep:
            raise ValueError("it is nested too deeply") from deep
        if not isinstance(document, dict):
            raise ValueError(f"`{line[:80]}` is not an object")
        if document.get("type") == "map" and isinstance(data := document.get("data"), dict):
            maps |= {str(name).removeprefix("@"): values for name, values in data.items()}
    full = [name for name, values in maps.items() if isinstance(values, dict) and len(values) >= MOST_KEYS]
    if full:
        raise ValueError(f"@{full[0]} has all {MOST_KEYS:,} keys that a map takes, and more may have been dropped")
    return maps


def read_traced_counts(output: str, events: Collection[str]) -> TracedCounts:
    """Return what was counted, from what bpftrace wrote; raises `ValueError` for anything else."""
    maps = read_maps(output)
    windows = [count_of(maps.get(name, 0)) for name in OF_WINDOWS]
    if windows[0] == 0 or windows[0] != windows[1]:
        raise ValueError(f"it saw {windows[0]} windows begin and {windows[1]} end")
    calls, call_ns, call_bytes = (_by_call(maps.get(name, {})) for name in OF_CALLS)
    by_thread = {name: counts_by_number(maps.get(name, {})) for name in OF_THREADS}
    if BLOCK_IO not in events:
        del by_thread["block_io"]
    forked_calls, forked_ns = (counts_by_number(maps.get(name, {})) for name in OF_FORKED)
    return TracedCounts(calls, call_ns, call_bytes, **by_thread, forked_calls=forked_calls, forked_ns=forked_ns)


def counts_by_numbers(values: object, parts: int) -> dict[tuple[int, ...], int]:
    """Return the counts of a map whose keys are so many numbers; raises `ValueError` for another map."""
    if not isinstance(values, dict):
        raise ValueError("a map has another form")
    form = re.compile(",".join([r"\d{1,20}"] * parts), re.ASCII)
    for key in values:
        if form.fullmatch(key) is None:
            raise ValueError(f"a map has the key `{key[:80]}`")
    return {tuple(map(int, key.split(","))): count_of(value) for key, value in values.items()}


def counts_by_number(values: object) -> dict[int, int]:
    """Return the counts of a map by its keys, which are numbers; raises `ValueError` for another map."""
    return {number: count for (number,), count in counts_by_numbers(values, 1).items()}


def _by_call(values: object) -> dict[tuple[int, int], int]:
    return {(thread, number): count for (thread, number), count in counts_by_numbers(values, 2).items()}


def count_of(value: object) -> int:
    """Return a count that bpftrace wrote; raises `ValueError` for anything else."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < LARGEST:
        raise ValueError(f"`{str(value)[:80]}` is no count")
    return value


@dataclass
class AttachedProgram:
    """A bpftrace whose program counts from when its probes are attached until it ends; `data` takes its maps."""

    process: Process
    data: Path

    def output(self) -> str:
        """Let bpftrace end, and return what it wrote of its maps; raises `TrialFailed` if it fails."""
        if self.process.returncode is not None:
            raise self._failed("ended early")
        code = self._interrupted()
        if code is None:
            raise self._failed("does not end")
        if code != 0:
            raise self._failed(f"failed with {code}")
        try:
            return read_file(self.data, LONGEST_OUTPUT_BYTES).decode(errors="replace")
        except (FileRefused, OSError) as wrong:
            raise self.unusable(wrong) from wrong

    def _interrupted(self) -> int | None:
        """Interrupt it until it ends, and return its exit code; none if it does not end.

        It overlooks a signal that arrives while it is not waiting for events; on a busy machine that is one in ten.
        """
        end = time.monotonic() + END_SECONDS
        while time.monotonic() < end:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.number, signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self.process.wait(INTERRUPT_SECONDS)
        return None

    def wait_until_ready(self) -> None:
        """Wait until all probes are attached; raises `TrialFailed` if they are not."""
        end = time.monotonic() + READY_SECONDS
        while READY not in self.process.output_tail():
            if self.process.returncode is not None:
                raise self._failed("does not start")
            if time.monotonic() > end:
                raise self._failed(f"is not ready after {READY_SECONDS:g} s")
            time.sleep(POLL_SECONDS)

    def unusable(self, reason: Exception) -> TrialFailed:
        """Return the error for counts that cannot be used."""
        return self._failed(f"reported counts that cannot be used: {reason}")

    def _failed(self, what: str) -> TrialFailed:
        written = self.process.output_tail(10).replace(READY, "").strip()
        return TrialFailed(f"bpftrace {what}", hint="zerolap doctor", details=written)


@dataclass
class Tracer(AttachedProgram):
    """A bpftrace that is attached, and counts from `begin` to `end`, once or several times.

    The thread that started it has to call both. It serves as the counters of a side (`AttachedCounters`), whose windows
    are exactly the requests of its slices.
    """

    events: Collection[str]

    def begin(self) -> None:
        """Count from here on."""
        os.sched_get_priority_max(os.SCHED_OTHER)

    def end(self) -> tuple[list[tuple[str, int]], list[str]]:
        """Count no further; what was counted is read at the end of all windows."""
        os.sched_get_priority_min(os.SCHED_OTHER)
        return [], []

    def counts(self) -> TracedCounts:
        """Let bpftrace end, and return what it counted; raises `TrialFailed` if it fails."""
        try:
            return read_traced_counts(self.output(), self.events)
        except ValueError as wrong:
            raise self.unusable(wrong) from wrong


@contextlib.contextmanager
def tracing(process: int, directory: Path) -> Iterator[Tracer]:
    """Have bpftrace attached to all threads of a process; it is killed at the end of the context.

    Its files lie in `directory`. Raises `TrialFailed` if it does not start, `EnvironmentMissing` if there is none.
    """
    events = events_of(OPTIONAL_EVENTS)
    program = tracing_program(process, threading.get_native_id(), system_call_names(), events)
    with _started(program, directory) as (child, data):
        tracer = Tracer(child, data, events)
        tracer.wait_until_ready()
        yield tracer


@contextlib.contextmanager
def attached(program: str, directory: Path) -> Iterator[AttachedProgram]:
    """Have bpftrace carry out a program; otherwise as `tracing`."""
    with _started(program, directory) as (child, data):
        running = AttachedProgram(child, data)
        running.wait_until_ready()
        yield running


@contextlib.contextmanager
def _started(text: str, directory: Path) -> Iterator[tuple[Process, Path]]:
    """Start bpftrace with a program; give its process, and the file that takes its maps when it ends."""
    program, data = directory / "traced.bt", directory / "traced.json"
    program.write_text(text)
    variables = {
        "PATH": os.environ.get("PATH", ""),
        "LANG": "C",
        "HOME": str(directory),
        READY: "1",
    }
    command = ["bpftrace", "-f", "json", "-o", str(data), str(program)]
    with contextlib.ExitStack() as stack:
        try:
            child = stack.enter_context(launch(command, environment=variables, output=directory / "bpftrace.log"))
        except EnvironmentMissing as missing:
            raise EnvironmentMissing("bpftrace is not installed", hint="apt-get install bpftrace") from missing
        yield child, data
