"""The processor's counters in timed trials, on machines with and without.

Real ones where they are there, else events of the kernel by the same system call, or made-up ones.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from machine import failed_by_the_server

from zerolap import _core
from zerolap.build import Program
from zerolap.engines import counters as side_counters, timed as timed_engine
from zerolap.engines.counters import METRICS_OF_EVENTS, SideCounters
from zerolap.engines.pairing import WARM_UP_PAIRS
from zerolap.engines.timed import StartOutcome, TimedStart, time_start
from zerolap.host import HardwareCounters, Pinning, hardware_counters
from zerolap.records import COUNTER_METRICS, METRICS, STANDALONE, Amounts, Case, ServerSpec

SLICE_REQUESTS = 3200
CLOCK, FAULTS = "task-clock:u", "page-faults:u"

THREADS = """
import mmap, sys, threading
def touch():
    pages = mmap.mmap(-1, 64 << 20)
    for place in range(0, len(pages), 4096):
        pages[place] = 1
for line in sys.stdin:
    thread = threading.Thread(target=touch)
    thread.start()
    thread.join()
    print("done", flush=True)
"""


def require(event: str) -> None:
    """Skip where the kernel's own events are not to be counted either."""
    try:
        with subprocess.Popen(["sleep", "10"]) as process:
            try:
                _core.ProcessCounters([process.pid], [[event]])
            finally:
                process.kill()
    except OSError as refused:
        pytest.skip(f"no perf events: {refused}")


@pytest.fixture
def case(cases: dict[str, Case]) -> Case:
    return cases["good"]


class Start:
    """Carries out starts of two pairs on a machine that is taken to have these counters."""

    def __init__(self, case: Case, server: Path, pinning: Pinning, directory: Path, patch: pytest.MonkeyPatch) -> None:
        self._case, self._server, self._pinning, self._directory = case, server, pinning, directory
        self._patch = patch

    def __call__(self, hardware: HardwareCounters) -> StartOutcome:
        self._patch.setattr(timed_engine, "hardware_counters", lambda: hardware)
        self._directory.mkdir(exist_ok=True)
        programs = {"base": Program(self._server), "head": Program(self._server)}
        return time_start(
            TimedStart(
                case=self._case,
                servers={side: ServerSpec(build="b-1", topology=STANDALONE) for side in programs},
                programs=programs,
                seed=1,
                directory=self._directory,
                pinning=self._pinning,
                amounts=Amounts(pairs=2, slice_requests=SLICE_REQUESTS),
            )
        )


@pytest.fixture
def start(case: Case, redis_server: Path, pinning: Pinning, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    return Start(case, redis_server, pinning, tmp_path / "start", monkeypatch)


class MadeUp:
    """Stands in for the counters of processes, with the outcomes of slices in turn; the last one stays."""

    def __init__(self, *outcomes: tuple[list[tuple[str, int]], list[str]]) -> None:
        self._outcomes = list(outcomes)

    def begin(self) -> None:
        """Nothing to do."""

    def end(self) -> tuple[list[tuple[str, int]], list[str]]:
        return self._outcomes.pop(0) if len(self._outcomes) > 1 else self._outcomes[0]


def counter_checks(started: StartOutcome) -> dict[str, list[tuple[bool, object]]]:
    return {
        side: [(check.ok, check.value) for check in measurement.validity.checks if check.check == "counters"]
        for side, measurement in started.measurements.items()
    }


def test_each_event_of_the_processor_has_a_metric() -> None:
    assert set(METRICS_OF_EVENTS.values()) == COUNTER_METRICS
    assert METRICS.keys() >= COUNTER_METRICS


def test_slices_of_a_real_start_are_counted_by_the_system_call(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time on a processor stands in for cycles: it is also known otherwise."""
    require(CLOCK)
    monkeypatch.setattr(side_counters, "METRICS_OF_EVENTS", {CLOCK: "cycles_per_op"})
    started = start(HardwareCounters([[CLOCK]]))
    for side, measurement in started.measurements.items():
        assert failed_by_the_server(measurement.validity.checks) == []
        metrics = measurement.metrics
        assert metrics["cpu_ns_per_op"] / 2 < metrics["cycles_per_op"] < metrics["cpu_ns_per_op"] * 2
        assert all(one.metrics["cycles_per_op"] > 0 for one in started.timelines[side].slices)
    assert counter_checks(started) == {"base": [], "head": []}


def test_a_machine_without_counters_measures_as_before(start: Start) -> None:
    started = start(HardwareCounters(refused={"instructions:u": "not supported by this machine"}))
    for measurement in started.measurements.values():
        assert COUNTER_METRICS.isdisjoint(measurement.metrics)
        assert failed_by_the_server(measurement.validity.checks) == []
    assert counter_checks(started) == {"base": [], "head": []}


def test_a_slice_that_was_not_counted_has_no_counter_metrics_and_says_why(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the two slices that are measured, in one the counters were shared."""
    whole = ([("cycles:u", 10_000_000), ("cycles:k", 1_000_000), ("cache-misses:u", 50)], list[str]())
    shared = ([("cache-misses:u", 50)], ["cycles:u: the counters were shared with other events"])

    def attached(cls: type[SideCounters], processes: object, hardware: object) -> SideCounters:
        return SideCounters(MadeUp(*[whole] * WARM_UP_PAIRS, shared, whole))

    monkeypatch.setattr(SideCounters, "attach", classmethod(attached))
    started = start(HardwareCounters([["cycles:u", "cycles:k"], ["cache-misses:u"]]))
    measurement = started.measurements["head"]
    assert ["cycles_per_op" in one.metrics for one in started.timelines["head"].slices] == [False, True]
    assert "cycles_per_op" not in measurement.metrics
    assert measurement.metrics["cache_misses_per_op"] > 0
    assert measurement.metrics["cpu_ns_per_op"] > 0
    reason = "cycles:u: the counters were shared with other events (in 1 of 2 slices)"
    assert counter_checks(started)["head"] == [(True, reason)]


def test_processes_that_cannot_be_attached_to_are_reported_and_not_counted() -> None:
    with subprocess.Popen(["true"]) as ended:
        pass
    refused = SideCounters.attach([ended.pid], HardwareCounters([[CLOCK]]))
    refused.begin()
    assert refused.end().values == {}
    assert refused.end().refusals == (f"process {ended.pid} is gone",)


def test_threads_that_start_later_are_counted() -> None:
    """By the page faults of threads that end before they are read: one for each page of theirs, or huge page."""
    require(FAULTS)
    command = [sys.executable, "-c", THREADS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def run_a_thread() -> None:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            assert process.stdout.readline() == "done\n"

        run_a_thread()
        counters = _core.ProcessCounters([process.pid], [[FAULTS], [CLOCK]])
        counters.begin()
        run_a_thread()
        values, refusals = counters.end()
        process.stdin.close()
    assert refusals == []
    assert dict(values)[FAULTS] >= 32
    assert dict(values)[CLOCK] > 0


def test_unknown_events_are_refused() -> None:
    with pytest.raises(ValueError, match="there is no event `cycles`"):
        _core.ProcessCounters([1], [["cycles"]])


def test_the_processors_counters_count_a_real_start(start: Start) -> None:
    hardware = hardware_counters()
    if not hardware.groups:
        pytest.skip(f"no hardware counters: {dict(hardware.refused)}")
    started = start(hardware)
    expected = {METRICS_OF_EVENTS[event] for event in hardware.groups[0]}
    for side, measurement in started.measurements.items():
        assert failed_by_the_server(measurement.validity.checks) == []
        assert expected <= measurement.metrics.keys() or counter_checks(started)[side]
