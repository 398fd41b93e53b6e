"""The timed engine on real servers: its metrics, the checks that see what is wrong, and what it survives."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from zerolap.build import Program
from zerolap.cases import Case, load_cases
from zerolap.engines import ServerProgram, Timed, TimedStart, disturbance, load, pairing, time_start, timed_checks
from zerolap.engines import timed as timed_engine
from zerolap.engines.slices import TimedSide
from zerolap.host import Counters, Noise, Pinning, Sharing, choose_pinning, noise_between, read_topology
from zerolap.records import Side, TrialFailed
from zerolap.sandbox import descendants
from zerolap.server import read_cpu_times, start

CASES = """
group: checks
datasets:
  strings:
    load: ["SET __key__ __data__"]
    keys: {minimum: 1, maximum: 200}
    expect: {keys: 200}
  too-few:
    load: ["SET __key__ __data__"]
    keys: {minimum: 1, maximum: 200}
    expect: {keys: 201}
  list:
    load: ["RPUSH list __data__"]
    keys: {minimum: 1, maximum: 6000}
    expect: {keys: 1}
cases:
  - {name: good, dataset: strings, commands: ["GET __key__"], expect: {reply: bulk, hit_rate: ">= 0.99"}}
  - {name: errors, dataset: strings, commands: ["HGET __key__ f"]}
  - {name: reply, dataset: strings, commands: ["STRLEN __key__"], expect: {reply: bulk}}
  - {name: hit_rate, keys: {minimum: 1, maximum: 400}, dataset: strings, commands: ["GET __key__"],
     expect: {reply: bulk, hit_rate: ">= 0.99"}}
  - {name: keys, dataset: too-few, commands: ["GET __key__"]}
  - {name: hangs, commands: ["BLPOP nothing 0"]}
  - name: mixed
    dataset: strings
    commands: [{command: "GET __key__", ratio: 3}, {command: "SET __key__ __data__", ratio: 1}]
    pipeline: 5
  - {name: cheap, commands: ["PING"], connections: 1, pipeline: 1000}
  - name: drains
    dataset: list
    commands: ["LPOP list"]
    state: drains
    expect: {reply: bulk, hit_rate: ">= 0.99"}
"""


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    file = tmp_path_factory.mktemp("cases") / "cases.yml"
    file.write_text(CASES)
    return {case.name: case for case in load_cases(file)}


@pytest.fixture(scope="module")
def pinning() -> Pinning:
    chosen = choose_pinning(read_topology())
    if chosen.sharing is Sharing.PROCESSOR:
        pytest.skip("server and client need a processor each")
    return chosen


@pytest.fixture
def both(redis_server: Path) -> dict[Side, ServerProgram]:
    return {"base": ServerProgram(Program(redis_server), {}), "head": ServerProgram(Program(redis_server), {})}


def timed(case: Case, servers: dict[Side, ServerProgram], pinning: Pinning, directory: Path, pairs: int = 2) -> Timed:
    directory.mkdir(exist_ok=True)
    return time_start(TimedStart(case, servers, 1, directory, pinning, pairs))


def failed_checks(found: Timed, side: Side = "head") -> list[str]:
    return [check.check for check in found.measurements[side].validity.failed if check.check not in OF_THE_MACHINE]


OF_THE_MACHINE = ("steal", "other_load", "swap", "suspended_seconds", "clock_stepped_seconds", "slice_seconds")


def test_a_start_measures_both_sides_with_the_same_work(
    cases: dict[str, Case], both: dict[Side, ServerProgram], pinning: Pinning, tmp_path: Path
) -> None:
    found = timed(cases["good"], both, pinning, tmp_path / "t", pairs=3)
    assert failed_checks(found) == []
    for side in both:
        metrics = found.measurements[side].metrics
        assert {"cpu_ns_per_op", "usec_per_call", "ops_per_sec", "latency_p50_us", "latency_p99_us"} <= metrics.keys()
        assert metrics["cpu_ns_per_op"] >= metrics["main_thread_ns_per_op"] > 0
        slices = found.timelines[side].slices
        assert [one.requests for one in slices] == [found.requests] * 3
        assert sum(count for _, count in found.timelines[side].histogram_ns) == 3 * found.requests
        assert all(one.requests_per_read == pytest.approx(16, rel=0.1) for one in slices)


def test_slices_are_whole_cycles_of_whole_pipelines(
    cases: dict[str, Case], both: dict[Side, ServerProgram], pinning: Pinning, tmp_path: Path
) -> None:
    found = timed(cases["mixed"], both, pinning, tmp_path / "t")
    assert failed_checks(found) == []
    assert found.requests % 5 == 0
    assert found.requests % 4 == 0


@pytest.mark.parametrize("check", ["errors", "reply", "hit_rate", "keys"])
def test_a_check_fails_where_its_condition_does(
    check: str, cases: dict[str, Case], both: dict[Side, ServerProgram], pinning: Pinning, tmp_path: Path
) -> None:
    found = timed(cases[check], both, pinning, tmp_path / "t")
    assert failed_checks(found) == [check]
    assert not found.measurements["head"].validity.valid


def test_a_draining_keyspace_is_filled_before_each_slice(
    cases: dict[str, Case], both: dict[Side, ServerProgram], pinning: Pinning, tmp_path: Path
) -> None:
    found = timed(cases["drains"], both, pinning, tmp_path / "t", pairs=8)
    assert failed_checks(found) == []
    assert found.requests * 8 > 6_000


def test_at_a_fixed_rate_both_sides_are_sent_the_same(
    cases: dict[str, Case], both: dict[Side, ServerProgram], pinning: Pinning, tmp_path: Path
) -> None:
    (tmp_path / "t").mkdir()
    found = time_start(
        TimedStart(cases["good"], both, 1, tmp_path / "t", pinning, pairs=3, requests=3200, per_second=32_000)
    )
    assert failed_checks(found) in ([], ["rate"])
    assert "rate" in [check.check for check in found.measurements["head"].validity.checks]
    for side in both:
        assert found.measurements[side].metrics["ops_per_sec"] < 34_000
        # Whole pipelines of 16 are sent, each in one write.
        assert all(one.requests_per_read == pytest.approx(16, rel=0.1) for one in found.timelines[side].slices)


def test_a_rate_that_a_server_cannot_keep_is_told(
    cases: dict[str, Case], both: dict[Side, ServerProgram], pinning: Pinning, tmp_path: Path
) -> None:
    (tmp_path / "t").mkdir()
    plan = TimedStart(cases["good"], both, 1, tmp_path / "t", pinning, pairs=2, requests=3200, per_second=50_000_000)
    assert failed_checks(time_start(plan)) == ["rate"]


def test_data_that_does_not_fit_twice_is_measured_one_side_at_a_time(
    cases: dict[str, Case],
    both: dict[Side, ServerProgram],
    pinning: Pinning,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(timed_engine, "available_bytes", lambda: 1 << 20)
    found = timed(cases["good"], both, pinning, tmp_path / "t", pairs=3)
    assert found.alone
    assert failed_checks(found) == []
    for side in both:
        assert [one.requests for one in found.timelines[side].slices] == [found.requests] * 3


def test_a_client_that_is_the_bottleneck_is_told(
    cases: dict[str, Case],
    both: dict[Side, ServerProgram],
    pinning: Pinning,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No server at hand outruns the load generator: the limits are set so that this one does."""
    monkeypatch.setattr(timed_checks, "CLIENT_BUSY_LIMIT", 0.05)
    monkeypatch.setattr(timed_checks, "SERVER_BUSY_ENOUGH", 2.0)
    assert "client_saturation" in failed_checks(timed(cases["good"], both, pinning, tmp_path / "t"))


def test_servers_that_do_not_rest_are_stopped_while_it_is_not_their_turn(
    cases: dict[str, Case],
    both: dict[Side, ServerProgram],
    pinning: Pinning,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No timer is as busy as that: the limit is set so that both count as restless."""
    stopped: list[int] = []
    freeze = TimedSide.freeze

    def frozen(side: TimedSide) -> None:
        freeze(side)
        state = Path(f"/proc/{side.processes[0]}/stat")
        end = time.monotonic() + 5
        while state.read_text().rpartition(")")[2].split()[0] != "T" and time.monotonic() < end:
            time.sleep(0.01)
        assert time.monotonic() < end
        stopped.append(side.processes[0])

    monkeypatch.setattr(pairing, "IDLE_LIMIT", -1.0)
    monkeypatch.setattr(pairing, "IDLE_ENOUGH_SECONDS", 1e-6)
    monkeypatch.setattr(TimedSide, "freeze", frozen)
    found = timed(cases["good"], both, pinning, tmp_path / "t", pairs=3)
    assert len(set(stopped)) == 2
    assert failed_checks(found) == []
    assert_nothing_runs_below(tmp_path)


def test_slices_that_are_too_short_are_told(
    cases: dict[str, Case], both: dict[Side, ServerProgram], pinning: Pinning, tmp_path: Path
) -> None:
    (tmp_path / "t").mkdir()
    found = time_start(TimedStart(cases["good"], both, 1, tmp_path / "t", pinning, pairs=2, requests=50))
    assert "slice_seconds" in [check.check for check in found.measurements["base"].validity.failed]


@pytest.mark.parametrize(
    ("check", "clock", "seconds"),
    [
        ("suspended_seconds", time.CLOCK_BOOTTIME, 30.0),
        ("clock_stepped_seconds", None, -3600.0),
    ],
)
def test_a_clock_that_leaps_within_a_trial_is_told(
    check: str,
    clock: int | None,
    seconds: float,
    cases: dict[str, Case],
    both: dict[Side, ServerProgram],
    pinning: Pinning,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A machine that sleeps stops its monotonic clock; one whose time is set only changes the civil one."""
    clocks = Leaping(clock, seconds)
    monkeypatch.setattr(disturbance, "time", clocks)
    found = timed(cases["good"], both, pinning, tmp_path / "t")
    failed = [one.check for one in found.measurements["base"].validity.failed if one.check.endswith("seconds")]
    assert check in failed


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


@pytest.mark.parametrize("check", ["steal", "swap"])
def test_what_the_machine_takes_is_told(
    check: str,
    cases: dict[str, Case],
    both: dict[Side, ServerProgram],
    pinning: Pinning,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The kernel's counters of a real trial, changed as a hypervisor or a swapping machine would."""

    def disturbed(before: Counters, after: Counters) -> Noise:
        found = noise_between(before, after)
        return replace(found, steal=0.5) if check == "steal" else replace(found, swapped_pages=1000.0)

    monkeypatch.setattr(disturbance, "noise_between", disturbed)
    found = timed(cases["good"], both, pinning, tmp_path / "t")
    assert check in [one.check for one in found.measurements["head"].validity.failed]


def test_a_load_generator_that_has_no_time_left_is_told(
    cases: dict[str, Case], both: dict[Side, ServerProgram], pinning: Pinning, tmp_path: Path
) -> None:
    """The load generator shares its processor with others: it is what limits the throughput."""
    with burning(pinning.client, processes=3):
        found = timed(cases["cheap"], {"base": both["base"]}, pinning, tmp_path / "t", pairs=200)
    saturation = next(
        check for check in found.measurements["base"].validity.checks if check.check == "client_saturation"
    )
    assert isinstance(saturation.value, float)
    assert 0 < saturation.value <= 1.01
    assert "other_load" in [check.check for check in found.measurements["base"].validity.failed]


def test_a_server_that_does_not_answer_ends_the_trial(
    cases: dict[str, Case],
    both: dict[Side, ServerProgram],
    pinning: Pinning,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(load, "REPLY_SECONDS", 1)
    with pytest.raises(TrialFailed, match="unanswered for 1 s"):
        timed(cases["hangs"], both, pinning, tmp_path / "t")
    assert_nothing_runs_below(tmp_path)


def test_a_load_generator_that_is_killed_ends_the_trial(
    cases: dict[str, Case], both: dict[Side, ServerProgram], pinning: Pinning, tmp_path: Path
) -> None:
    killer = threading.Thread(target=kill_when_there, args=("zerolap-load", str(tmp_path), "--cpus"))
    killer.start()
    with pytest.raises(TrialFailed, match="load generator"):
        timed(cases["good"], both, pinning, tmp_path / "t", pairs=200)
    killer.join()
    assert_nothing_runs_below(tmp_path)


def test_a_server_that_is_killed_ends_the_trial_with_its_end(
    cases: dict[str, Case], both: dict[Side, ServerProgram], pinning: Pinning, tmp_path: Path
) -> None:
    killer = threading.Thread(target=kill_server_of, args=(tmp_path / "t" / "head" / "primary-1" / "server",))
    killer.start()
    with pytest.raises(TrialFailed, match="died"):
        timed(cases["good"], both, pinning, tmp_path / "t", pairs=200)
    killer.join()
    assert_nothing_runs_below(tmp_path)


def test_cpu_time_is_told_by_role(redis_server: Path, tmp_path: Path) -> None:
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
    command = ["taskset", "-c", ",".join(map(str, processors)), sys.executable, "-c", "while True: pass"]
    children = [subprocess.Popen(command) for _ in range(processes)]
    try:
        yield
    finally:
        for child in children:
            child.kill()
            child.wait()


def command_lines() -> dict[int, str]:
    found = {}
    for directory in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found[int(directory.name)] = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


def kill_when_there(*words: str) -> None:
    """Kill the first process whose command line has all the words, a moment after it is seen."""
    for _ in range(1000):
        for process, line in command_lines().items():
            if process != os.getpid() and all(word in line for word in words):
                time.sleep(0.3)
                os.kill(process, signal.SIGKILL)
                return
        time.sleep(0.01)


def kill_server_of(program: Path) -> None:
    for _ in range(1000):
        for process in descendants(os.getpid()):
            with contextlib.suppress(OSError):
                if Path(f"/proc/{process}/exe").readlink() == program:
                    time.sleep(0.5)
                    os.kill(process, signal.SIGKILL)
                    return
        time.sleep(0.01)


def assert_nothing_runs_below(directory: Path) -> None:
    """A sandbox ends with the process that it was started by, a moment later."""
    left: dict[int, str] = {}
    for _ in range(200):
        left = {process: line for process, line in command_lines().items() if str(directory) in line}
        if not left:
            return
        time.sleep(0.01)
    raise AssertionError(left)
