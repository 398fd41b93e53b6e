"""The timed engine on real servers: its metrics, the checks that see what is wrong, and what it survives."""

import contextlib
import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from busy_processes import ENDLESS, busy_processes
from machine import failed_by_the_server
from waiting import command_lines, wait_until

from zerolap.build import Program
from zerolap.engines import pairing, timed as timed_engine, timed_checks
from zerolap.engines.pairing import set_up_order, turns_of_pairs
from zerolap.engines.slices import Slice, SliceWork, TimedSide
from zerolap.engines.timed import StartOutcome, TimedStart, counted_for_elapsed, time_start
from zerolap.host import (
    MachineTimes,
    Noise,
    Pinning,
    disturbance,
    noise_between,
)
from zerolap.load import generator as load, reference_work
from zerolap.records import STANDALONE, Amounts, Case, Placement, ServerSpec, Side, TrialFailed, now
from zerolap.server import CpuTimes, read_cpu_times, read_total_ns, start

SIDES: tuple[Side, ...] = ("base", "head")


@dataclass(frozen=True)
class TimedBench:
    """A server, on both sides, whose starts are timed on these processors."""

    cases: Mapping[str, Case]
    program: Program
    pinning: Pinning
    directory: Path

    def start(
        self, case: str, amounts: Amounts | None = None, sides: Sequence[Side] = SIDES, seed: int = 1
    ) -> StartOutcome:
        """Carry out a start, of two pairs unless `amounts` asks for another number."""
        self.directory.mkdir(exist_ok=True)
        return time_start(
            TimedStart(
                case=self.cases[case],
                servers={side: ServerSpec(build="b-1", topology=STANDALONE) for side in sides},
                programs=dict.fromkeys(sides, self.program),
                seed=seed,
                directory=self.directory,
                pinning=self.pinning,
                amounts=amounts or Amounts(pairs=2),
            )
        )


@pytest.fixture
def bench(cases: dict[str, Case], redis_server: Path, pinning: Pinning, tmp_path: Path) -> TimedBench:
    return TimedBench(cases, Program(redis_server), pinning, tmp_path / "t")


def slice_requests(started: StartOutcome) -> int:
    requests = started.amounts.slice_requests
    assert requests is not None
    return requests


def failed_checks(started: StartOutcome) -> list[str]:
    """Return what fails on the head's side on any machine."""
    return failed_by_the_server(started.measurements["head"].validity.checks)


def all_failed_checks(started: StartOutcome, side: Side = "head") -> list[str]:
    return [check.check for check in started.measurements[side].validity.failed]


def test_a_start_measures_both_sides_with_the_same_work(bench: TimedBench) -> None:
    before = now()
    found = bench.start("good", Amounts(pairs=3))
    assert failed_checks(found) == []
    for side in SIDES:
        assert before <= found.measurements[side].began <= now()
        metrics = found.measurements[side].metrics
        assert {"cpu_ns_per_op", "usec_per_call", "ops_per_sec", "latency_p50_us", "latency_p99_us"} <= metrics.keys()
        assert metrics["cpu_ns_per_op"] >= metrics["main_thread_ns_per_op"] > 0
        assert metrics["whole_cpu_ns_per_op"] > 0
        assert metrics["control_ns"] > 0
        slices = found.timelines[side].slices
        assert [one.requests for one in slices] == [slice_requests(found)] * 3
        assert sum(count for _, count in found.timelines[side].histogram_ns) == 3 * slice_requests(found)
        assert all(one.requests_per_read == pytest.approx(16, rel=0.1) for one in slices)


def test_the_reference_work_runs_where_servers_do_before_the_slices(
    bench: TimedBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[object] = []
    run = TimedSide.run

    def noted_run(side: TimedSide, work: SliceWork) -> Slice:
        happened.append("slice")
        return run(side, work)

    def noted_reference(processor: int, log: Path) -> float:
        happened.append(processor)
        return 12.5

    monkeypatch.setattr(TimedSide, "run", noted_run)
    monkeypatch.setattr(timed_engine, "reference_ns", noted_reference)
    found = bench.start("good")
    assert happened[0] in bench.pinning.server
    assert set(happened[1:]) == {"slice"}
    assert [found.measurements[side].metrics["control_ns"] for side in SIDES] == [12.5, 12.5]
    assert all("control_ns" not in one.metrics for side in SIDES for one in found.timelines[side].slices)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 3", "exit code 3"),
        ("echo no number", "no number"),
        ("echo nan", "nan"),
        ("echo 0", "0 ns"),
        ("head -c 100000 /dev/zero", "no number"),
    ],
)
def test_reference_work_without_a_number_ends_the_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pinning: Pinning, script: str, reason: str
) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(reference_work, "packaged", lambda _name: program)
    with pytest.raises(TrialFailed, match=reason):
        reference_work.reference_ns(pinning.server[0], tmp_path / "log")


def test_the_reference_work_takes_time_of_the_processor(tmp_path: Path, pinning: Pinning) -> None:
    first, second = (reference_work.reference_ns(pinning.server[0], tmp_path / name) for name in ("one", "two"))
    assert 0.1 < first < 10_000
    assert 0.1 < second < 10_000


def test_each_side_is_first_equally_often() -> None:
    sides = ["base", "head"]
    turns = list(itertools.islice(turns_of_pairs(sides, random.Random(1)), 40))
    assert [order[0] for order in turns].count("base") == 20
    assert turns[::2] != [sides] * 20
    assert turns[::2] != [sides[::-1]] * 20
    firsts = {
        case: [set_up_order(sides, seed, case)[0] for seed in range(6)] for case in ("get", "set", "zadd", "hset")
    }
    assert all(first.count("base") == 3 for first in firsts.values())
    assert len({first[0] for first in firsts.values()}) == 2


def test_all_that_a_process_started_counts_for_it(tmp_path: Path) -> None:
    """A thread that has ended, a child that was waited for, and the process itself."""
    program = """
import os, threading, time
def use(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
worker = threading.Thread(target=use, args=(0.1,)); worker.start(); worker.join()
if os.fork() == 0:
    use(0.2)
    os._exit(0)
os.wait()
print("ready", flush=True)
input()
"""
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        child.stdout.readline()
        # The child's time is known to a hundredth of a second, twice rounded.
        assert read_total_ns(child.pid) > 270_000_000
        assert read_cpu_times(child.pid).total_ns < read_total_ns(child.pid) - 250_000_000
        child.stdin.close()
    with pytest.raises(TrialFailed, match="is gone"):
        read_total_ns(child.pid)


def test_slices_are_whole_cycles_of_whole_pipelines(bench: TimedBench) -> None:
    found = bench.start("mixed")
    assert failed_checks(found) == []
    assert slice_requests(found) % 5 == 0
    assert slice_requests(found) % 4 == 0


@pytest.mark.parametrize(
    ("name", "check"),
    [("errors", "errors"), ("reply", "reply"), ("hit_rate", "hit_rate"), ("zeros", "hit_rate"), ("keys", "keys")],
)
def test_a_check_fails_where_its_condition_does(name: str, check: str, bench: TimedBench) -> None:
    found = bench.start(name)
    assert failed_checks(found) == [check]
    assert not found.measurements["head"].validity.valid


def test_a_draining_keyspace_is_filled_before_each_slice(bench: TimedBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """How long requests take is up to the machine: no look is long enough here until one finds nothing left."""
    monkeypatch.setattr(pairing, "FIRST_LOOK_SECONDS", float("inf"))
    found = bench.start("drains", Amounts(pairs=8))
    assert failed_checks(found) == []
    assert 6_000 / 2 < slice_requests(found) <= 6_000
    assert len(found.timelines["head"].slices) > 2


def test_at_a_fixed_rate_both_sides_are_sent_the_same(bench: TimedBench, monkeypatch: pytest.MonkeyPatch) -> None:
    took: list[tuple[SliceWork, float]] = []
    run = TimedSide.run

    def timed_run(side: TimedSide, work: SliceWork) -> Slice:
        began = time.monotonic()
        done = run(side, work)
        took.append((work, time.monotonic() - began))
        return done

    monkeypatch.setattr(TimedSide, "run", timed_run)
    # Each connection is sent a pipeline five times a second: one is answered before the next, however busy the machine.
    amounts = Amounts(pairs=3, slice_requests=320, per_second=1_600)
    found = bench.start("good", amounts)
    assert failed_checks(found) == []
    assert found.amounts == amounts
    assert "rate" in [check.check for check in found.measurements["head"].validity.checks]
    paced = [seconds for work, seconds in took if (work.requests, work.per_second) == (320, 1_600)]
    assert len(paced) >= 2 * 3
    # The last of 20 pipelines is due after 19 of 20 parts of the time.
    assert min(paced) >= 19 / 20 * 320 / 1_600
    for side in SIDES:
        # Whole pipelines of 16 are sent, each in one write.
        assert all(one.requests_per_read == pytest.approx(16, rel=0.1) for one in found.timelines[side].slices)


def test_a_rate_that_a_server_cannot_keep_is_reported(bench: TimedBench) -> None:
    amounts = Amounts(pairs=2, slice_requests=3200, per_second=50_000_000)
    found = bench.start("good", amounts)
    assert "rate" in all_failed_checks(found)
    assert failed_checks(found) == []


def test_data_that_does_not_fit_twice_is_measured_one_side_at_a_time(
    bench: TimedBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timed_engine, "available_bytes", lambda: 1 << 20)
    found = bench.start("good", Amounts(pairs=3))
    assert all(measurement.amounts.alone for measurement in found.measurements.values())
    assert failed_checks(found) == []
    for side in SIDES:
        assert [one.requests for one in found.timelines[side].slices] == [slice_requests(found)] * 3


def test_a_client_that_is_the_bottleneck_is_reported(bench: TimedBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """No server at hand outruns the load generator: the limits are set so that this one does."""
    monkeypatch.setattr(timed_checks, "CLIENT_BUSY_LIMIT", 0.0)
    monkeypatch.setattr(timed_checks, "SERVER_BUSY_ENOUGH", 2.0)
    assert "client_saturation" in all_failed_checks(bench.start("good"))


def test_servers_that_do_not_rest_are_stopped_while_it_is_not_their_turn(
    bench: TimedBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No timer is as busy as that: the limit is set so that both count as restless."""
    stopped: list[int] = []
    freeze = TimedSide.freeze

    def frozen(side: TimedSide) -> None:
        freeze(side)
        state = Path(f"/proc/{side.processes[0]}/stat")
        wait_until(lambda: state.read_text().rpartition(")")[2].split()[0] == "T")
        stopped.append(side.processes[0])

    monkeypatch.setattr(pairing, "IDLE_LIMIT", -1.0)
    monkeypatch.setattr(pairing, "IDLE_ENOUGH_SECONDS", 1e-6)
    monkeypatch.setattr(TimedSide, "freeze", frozen)
    found = bench.start("good", Amounts(pairs=3))
    assert len(set(stopped)) == 2
    assert failed_checks(found) == []
    assert_nothing_runs_below(bench.directory)


def test_slices_that_are_too_short_are_reported(bench: TimedBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """How long slices take is up to the machine: the limit is set so that these are too short."""
    monkeypatch.setattr(timed_checks, "SHORTEST_SLICE_SECONDS", float("inf"))
    found = bench.start("good", Amounts(pairs=2, slice_requests=50))
    assert "slice_seconds" in all_failed_checks(found, "base")


@pytest.mark.parametrize(
    ("check", "clock", "seconds"),
    [
        ("suspended_seconds", time.CLOCK_BOOTTIME, 30.0),
        ("clock_stepped_seconds", None, -3600.0),
    ],
)
def test_a_clock_that_leaps_within_a_trial_is_reported(
    check: str, clock: int | None, seconds: float, bench: TimedBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that sleeps stops its monotonic clock; one whose time is set only changes the civil one."""
    clocks = Leaping(clock, seconds)
    monkeypatch.setattr(disturbance, "time", clocks)
    found = bench.start("good")
    assert check in all_failed_checks(found, "base")


@dataclass
class Leaping:
    """The clocks of this machine, one of which leaps between its first and its second reading."""

    clock: int | None
    seconds: float
    readings: int = 0
    CLOCK_MONOTONIC = time.CLOCK_MONOTONIC
    CLOCK_BOOTTIME = time.CLOCK_BOOTTIME

    def clock_gettime(self, clock: int) -> float:
        return time.clock_gettime(clock) + self._leap(clock)

    def time(self) -> float:
        return time.time() + self._leap(None)

    def _leap(self, clock: int | None) -> float:
        if clock != self.clock:
            return 0.0
        self.readings += 1
        return self.seconds if self.readings > 1 else 0.0


@pytest.mark.parametrize(
    ("check", "sides", "is_refused"),
    [
        # Slices of both sides in turns meet it alike; what is measured of one server alone is not what it can do.
        ("steal", ["base", "head"], False),
        ("steal", ["base"], True),
        ("swap", ["base", "head"], True),
    ],
)
def test_what_the_machine_takes_is_reported(
    check: str, sides: list[str], is_refused: bool, bench: TimedBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel's counters of a real trial, changed as a hypervisor or a swapping machine would."""

    def disturbed(before: MachineTimes, after: MachineTimes) -> Noise:
        found = noise_between(before, after)
        return replace(found, steal=0.5) if check == "steal" else replace(found, swapped_pages=1000.0)

    monkeypatch.setattr(disturbance, "noise_between", disturbed)
    found = bench.start("good", sides=sides)
    for measurement in found.measurements.values():
        [seen] = [one for one in measurement.validity.checks if one.check == check]
        assert (seen.value, seen.ok) == ({"steal": 0.5, "swap": 1000.0}[check], not is_refused)


def test_a_load_generator_that_has_no_time_left_is_reported(bench: TimedBench) -> None:
    """The load generator shares its processor with others: it is what limits the throughput."""
    with burning(bench.pinning.client, processes=3):
        found = bench.start("cheap", Amounts(pairs=200), sides=["base"])
    saturation = next(
        check for check in found.measurements["base"].validity.checks if check.check == "client_saturation"
    )
    assert isinstance(saturation.value, float)
    assert 0 < saturation.value <= 1.01
    assert "other_load" in all_failed_checks(found, "base")


def test_a_server_that_does_not_answer_ends_the_trial(bench: TimedBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "REPLY_SECONDS", 1)
    with pytest.raises(TrialFailed, match="unanswered for 1 s"):
        bench.start("hangs")
    assert_nothing_runs_below(bench.directory)


def killed_before_the_pairs(monkeypatch: pytest.MonkeyPatch, process: Callable[[TimedSide], int]) -> None:
    """Have a process of the head's side killed once both sides are up and a slice's requests are chosen."""
    run_pairs = pairing.run_pairs

    def kill_and_run(
        sides: Mapping[Side, TimedSide], work: SliceWork, most: int, chance: random.Random
    ) -> dict[Side, list[Slice]]:
        os.kill(process(sides["head"]), signal.SIGKILL)
        return run_pairs(sides, work, most, chance)

    monkeypatch.setattr(timed_engine, "run_pairs", kill_and_run)


def environment_bytes(process: int) -> int:
    """Return the size of the environment that a process was started with, which it may have overwritten."""
    begin, end = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[47:49]
    return int(end) - int(begin)


def test_the_environment_has_another_size_in_each_start_and_the_same_on_both_sides(
    bench: TimedBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It displaces the stack, and what a server copies of it to its heap."""
    sizes: list[set[int]] = []
    run_pairs = pairing.run_pairs

    def look_and_run(
        sides: Mapping[Side, TimedSide], work: SliceWork, most: int, chance: random.Random
    ) -> dict[Side, list[Slice]]:
        sizes.append({environment_bytes(side.processes[0]) for side in sides.values()})
        return run_pairs(sides, work, most, chance)

    monkeypatch.setattr(timed_engine, "run_pairs", look_and_run)
    for seed in (1, 2):
        started = replace(bench, directory=bench.directory.with_name(f"seed-{seed}")).start("good", seed=seed)
        assert started.is_copied
    first, second = sizes
    assert len(first) == len(second) == 1
    assert first != second


def test_a_start_whose_program_is_not_copied_states_it(bench: TimedBench) -> None:
    program = Program(Path("/usr/bin/env"), (str(bench.program.path),))
    started = replace(bench, program=program).start("good").completed(Placement(failure="it was given as a program"))
    reasons = {one.placement.failure for one in started.measurements.values() if one.placement is not None}
    assert reasons == {
        "it was given as a program; its start command runs a program that cannot be copied for each start"
    }


def test_a_load_generator_that_is_killed_ends_the_trial(bench: TimedBench, monkeypatch: pytest.MonkeyPatch) -> None:
    killed_before_the_pairs(monkeypatch, lambda side: side.load.number)
    with pytest.raises(TrialFailed, match="load generator"):
        bench.start("good")
    assert_nothing_runs_below(bench.directory)


def test_a_server_that_is_killed_ends_the_trial_with_its_end(
    bench: TimedBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_before_the_pairs(monkeypatch, lambda side: side.processes[0])
    with pytest.raises(TrialFailed, match="died") as raised:
        bench.start("good")
    assert raised.value.side == "head"
    assert_nothing_runs_below(bench.directory)


def test_cpu_time_is_reported_by_role(redis_server: Path, tmp_path: Path) -> None:
    directory = tmp_path / "server"
    directory.mkdir()
    with start(Program(redis_server), {"io-threads": "2"}, directory, log=tmp_path / "log") as server:
        process = server.process
        before = read_cpu_times(process)
        for _ in range(2000):
            server.command("PING")
        used = read_cpu_times(process) - before
    assert used.main_ns > 0
    assert used.total_ns >= used.main_ns


@contextlib.contextmanager
def burning(processors: tuple[int, ...], processes: int) -> Iterator[None]:
    """Keep processors busy with other work."""
    command = ["taskset", "-c", ",".join(map(str, processors)), sys.executable, "-c", ENDLESS]
    with busy_processes(processes, command):
        yield


def assert_nothing_runs_below(directory: Path) -> None:
    """A sandbox ends with the process that it was started by, a moment later."""
    wait_until(lambda: not any(str(directory) in line for line in command_lines().values()))


def slice_of(*, waited_ns: int) -> Slice:
    """A slice of a millisecond of which the load generator waited so long for a processor."""
    result = load.SliceResult(
        requests=100,
        succeeded=100,
        elapsed_ns=1_000_000,
        client_cpu_ns=500_000,
        client_wait_ns=waited_ns,
        ops_per_sec=100_000.0,
        latency_us=None,
        histogram_ns=[],
        replies={},
        misses=0,
        errors={},
    )
    return Slice(result, CpuTimes(900_000, 0, 0), 900_000, None, 100, None, None, None)


def test_disturbed_slices_are_left_out_of_both_sides_or_of_none() -> None:
    quiet, disturbed = slice_of(waited_ns=0), slice_of(waited_ns=400_000)
    mostly_quiet, hardly_quiet = [quiet] * 30 + [disturbed] * 10, [quiet] * 5 + [disturbed] * 35
    assert counted_for_elapsed({"base": mostly_quiet, "head": mostly_quiet}) == {
        "base": [quiet] * 30,
        "head": [quiet] * 30,
    }
    sides: dict[Side, list[Slice]] = {"base": mostly_quiet, "head": hardly_quiet}
    assert counted_for_elapsed(sides) == sides
