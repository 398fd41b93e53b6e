"""One slice of a timed trial: the same fixed work on a side, and what it took."""

import contextlib
import functools
import math
import operator
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from zerolap.engines.counters import SideCounters, SliceCounts
from zerolap.load import Companions, LoadGenerator, SliceResult
from zerolap.records import Case, TrialFailed
from zerolap.sandbox import descendants
from zerolap.server import (
    CpuTimes,
    KeyLookUps,
    RunningServer,
    ServerStatistics,
    SummedStatistics,
    is_asleep,
    read_cpu_times,
    read_total_ns,
)

LONGEST_WAIT_SECONDS = 0.002
"""The longest wait for the server to sleep after the last reply: the kernel updates a thread's CPU time only then."""


DROPPED_SHARE = 0.05
"""The share of a slice's requests that are sent first after a switch and not measured, while caches and branch
predictors fill.
"""


DISTURBED_SHARE = 0.1
"""The share of a slice's time that may be spent waiting for processors that other programs use."""


@dataclass(frozen=True)
class SliceWork:
    """What every slice sends: first `dropped` requests that are not measured, at a fixed rate where there is one."""

    requests: int
    dropped: int
    per_second: int | None = None

    @classmethod
    def of(cls, case: Case, requests: int, per_second: int | None) -> "SliceWork":
        """Return the work of slices of so many requests; of a keyspace that drains none are wasted.

        What is dropped are whole cycles of commands too, as many on every connection: slices begin alike.
        """
        unit = math.lcm(case.client.connections, case.client.cycle)
        fewest = 0 if case.state == "drains" else 1
        return cls(requests, max(fewest, round(requests * DROPPED_SHARE / unit)) * unit, per_second)


@dataclass(frozen=True)
class Slice:
    """What one slice took; `requests_per_cycle` is none where the server does not count its event loop's cycles.

    Times of `result` are of the clock of the load generator's machine, those of the servers of theirs: these clocks are
    not subtracted from each other. What is set in relation are lengths of time.

    `cpu` is of the threads that still run, `whole_ns` also of those that ended in it and of forked children.
    `stolen_seconds` is what the hypervisor gave to others, as far as the kernel has counted it by the end of the slice.
    """

    result: SliceResult
    cpu: CpuTimes
    busiest_main_ns: int
    usec_per_call: float | None
    executed: int
    keys: KeyLookUps | None
    requests_per_read: float | None
    requests_per_cycle: float | None
    counts: SliceCounts = field(default_factory=SliceCounts)
    whole_ns: int = 0
    servers: int = 1
    stolen_seconds: float = 0.0

    @property
    def is_disturbed(self) -> bool:
        """Whether others had the processors for so long that the elapsed time is not that of server and load.

        What a server waits for by itself, such as a lock, a disk or a sleep, is no disturbance, and neither is that its
        own threads and processes wait for each other.
        """
        by_itself_ns = (self.servers - 1) * self.cpu.total_ns + max(0, self.whole_ns - self.cpu.main_ns)
        of_server_ns = max(0, self.cpu.main_waited_ns - by_itself_ns)
        waited_ns = of_server_ns + (self.result.client_wait_ns or 0)
        return waited_ns > DISTURBED_SHARE * self.result.elapsed_ns or self.stolen_seconds > 0

    @property
    def seconds(self) -> float:
        """From the first request to the last reply."""
        return self.result.elapsed_ns / 1e9

    @property
    def client_busy(self) -> float:
        """The part of the time that the load generator's thread was on its processor."""
        return self.result.client_cpu_ns / max(self.result.elapsed_ns, 1)

    @property
    def server_busy(self) -> float:
        """The part of the time that the busiest main thread of the servers was on a processor."""
        return self.busiest_main_ns / max(self.result.elapsed_ns, 1)

    @property
    def ran_dry(self) -> bool:
        """Whether requests found nothing."""
        return self.result.misses > 0

    def metrics(self) -> dict[str, float]:
        """Return the slice's metrics by name."""
        requests = self.result.requests
        values = {
            "cpu_ns_per_op": self.cpu.total_ns / requests,
            "main_thread_ns_per_op": self.cpu.main_ns / requests,
            "ops_per_sec": self.result.ops_per_sec,
            **self.counts.metrics(requests),
        }
        if self.cpu.io_ns:
            values["io_threads_ns_per_op"] = self.cpu.io_ns / requests
        if self.usec_per_call is not None:
            values["usec_per_call"] = self.usec_per_call
        if self.result.latency_us is not None:
            latency = self.result.latency_us
            values |= {
                "latency_p50_us": latency.p50,
                "latency_p99_us": latency.p99,
                "latency_p99_9_us": latency.p99_9,
                "latency_max_us": latency.max,
            }
        return {name: value for name, value in values.items() if value > 0 and math.isfinite(value)}


@dataclass(frozen=True)
class SentSlice:
    """The replies of a slice, and the CPU times of each server over it."""

    result: SliceResult
    cpu: Sequence[CpuTimes]
    stolen_seconds: float = 0.0

    @property
    def waited_share(self) -> float:
        """For what part of the slice servers or load waited for processors that others had; all of it where stolen.

        A main thread that waits for the threads of its own server waits for nobody else.
        """
        if self.stolen_seconds > 0:
            return 1.0
        total_ns = sum(one.total_ns for one in self.cpu)
        of_servers_ns = sum(max(0, one.main_waited_ns - (total_ns - one.main_ns)) for one in self.cpu)
        return (of_servers_ns + (self.result.client_wait_ns or 0)) / max(1, self.result.elapsed_ns)


@dataclass
class TimedSide:
    """A deployment that is up and loaded, with its connected load generator; the first server is its first primary.

    `freezes` is set once the idle server was seen to burn CPU: from then on it is stopped while the other side runs.
    """

    servers: Sequence[RunningServer]
    processes: Sequence[int]
    load: LoadGenerator
    statistics: SummedStatistics
    beside: Companions
    case: Case
    refill: Callable[[], None]
    freezes: bool = False
    counters: SideCounters = field(default_factory=SideCounters)
    stolen_seconds: Callable[[], float] = lambda: 0.0

    def run(self, work: SliceWork) -> Slice:
        """Carry out a slice; a draining keyspace is filled again before it."""
        with self._awake():
            if self.case.state == "drains":
                self.refill()
            if work.dropped:
                self.load.slice(work.dropped, work.per_second)
            before = self.statistics.read()
            cpu_before = self._settled_cpu()
            whole_before_ns = self._whole_ns()
            stolen_before = self.stolen_seconds()
            self.counters.begin()
            result = self.load.slice(work.requests, work.per_second)
            cpu = [after - before for after, before in zip(self._settled_cpu(), cpu_before, strict=True)]
            counts = self.counters.end()
            stolen_seconds = self.stolen_seconds() - stolen_before
            whole_ns = self._whole_ns() - whole_before_ns
            taken = self.statistics.read() - before
            self.beside.require_running()
        return replace(
            _slice(result, cpu, taken),
            counts=counts,
            whole_ns=whole_ns,
            servers=len(self.servers),
            stolen_seconds=stolen_seconds,
        )

    def send(self, work: SliceWork) -> SentSlice:
        """Carry out a slice of which latencies alone are wanted: the server is asked nothing before and after it.

        What is dropped is sent at full speed.
        """
        with self._awake():
            if self.case.state == "drains":
                self.refill()
            if work.dropped:
                self.load.slice(work.dropped)
            stolen_before, before = self.stolen_seconds(), self._cpu()
            result = self.load.slice(work.requests, work.per_second)
            cpu = [after - one for after, one in zip(self._cpu(), before, strict=True)]
            stolen_seconds = self.stolen_seconds() - stolen_before
            self.beside.require_running()
        return SentSlice(result, cpu, stolen_seconds)

    def run_for(self, seconds: float, work: SliceWork) -> list[Slice]:
        """Carry out slices until so many seconds are over, one at least."""
        end = time.monotonic() + seconds
        slices = [self.run(work)]
        while time.monotonic() < end:
            slices.append(self.run(work))
        return slices

    def _settled_cpu(self) -> list[CpuTimes]:
        """Return what each server has used once it has nothing more to do; at once of one that does not rest."""
        at_once = self._cpu()
        end = time.monotonic() + LONGEST_WAIT_SECONDS
        while time.monotonic() < end:
            if all(is_asleep(process) for process in self.processes):
                return self._cpu()
        return at_once

    def _cpu(self) -> list[CpuTimes]:
        return [read_cpu_times(process) for process in self.processes]

    def server_ns(self) -> int:
        """Return the CPU time that the server has used so far."""
        return sum(one.total_ns for one in self._cpu())

    def _whole_ns(self) -> int:
        """Return the CPU time of the servers so far with all that they started: ended threads, forked children."""
        total_ns = 0
        for server in self.processes:
            total_ns += read_total_ns(server)
            for child in descendants(server):
                # A child that ends in between is in its parent's time next.
                with contextlib.suppress(TrialFailed):
                    total_ns += read_total_ns(child) if child != server else 0
        return total_ns

    def used_ns(self) -> int:
        """Return the CPU time that server and load generator have used so far on this machine."""
        return self.server_ns() + self.load.used_ns()

    @contextlib.contextmanager
    def _awake(self) -> Iterator[None]:
        if self.freezes:
            self._signal(signal.SIGCONT)
        try:
            yield
        finally:
            if self.freezes and self.servers[0].alive:
                self._signal(signal.SIGSTOP)

    def freeze(self) -> None:
        """Stop the server whenever it is not its turn."""
        self.freezes = True
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a server that was stopped between its turns go on for good."""
        if self.freezes and self.servers[0].alive:
            self._signal(signal.SIGCONT)
        self.freezes = False

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal to the server and to what it has forked."""
        for process in [one for server in self.processes for one in descendants(server)]:
            try:
                os.kill(process, number)
            except ProcessLookupError as gone:
                if process in self.processes:
                    raise TrialFailed("the server's process is gone") from gone


def _slice(result: SliceResult, cpu: Sequence[CpuTimes], taken: ServerStatistics) -> Slice:
    return Slice(
        result=result,
        cpu=functools.reduce(operator.add, cpu),
        busiest_main_ns=max(one.main_ns for one in cpu),
        usec_per_call=taken.usec / taken.calls if taken.calls > 0 else None,
        executed=taken.calls,
        keys=taken.keys,
        requests_per_read=result.requests / taken.reads if taken.reads else None,
        requests_per_cycle=result.requests / taken.cycles if taken.cycles else None,
    )
