"""The counted engine: instructions, system calls and allocations per request, under callgrind."""

import contextlib
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import redis

from zerolap.build import Program
from zerolap.cases import Case
from zerolap.engines import checks
from zerolap.engines.companions import companions
from zerolap.engines.counted_deployment import deploy_counted
from zerolap.engines.dataset import prepare
from zerolap.engines.load import counted_arguments, load_program
from zerolap.engines.statistics import StatisticsReader
from zerolap.engines.windows import Counting, Requests, Windows, broken_dump, count_windows, dumped_instructions, settle
from zerolap.records import CallGraph, Check, Measurement, TrialFailed, Validity
from zerolap.sandbox import reading
from zerolap.server import RunningServer

# Instructions that servers spend on their own behalf, at times that the requests do not decide.
QUIET_SETTINGS = {"hz": "1", "dynamic-hz": "no", "jemalloc-bg-thread": "no"}
# A server that handles its own crash dies a second time under valgrind, which tells of the first by itself.
CRASH_SETTINGS = {"crash-log-enabled": "no"}
# Until here the server's timers have finished what loading left behind, such as a table half way to its new size.
SETTLED_SETTINGS = {"activerehashing": "no"}


@dataclass(frozen=True)
class CountedTrial:
    """What one counted trial needs; `requests` is chosen from a first look at the cost where it is none.

    In a `stripped` program the allocator may be invisible.
    """

    program: Program
    source_root: str
    case: Case
    settings: Mapping[str, str]
    seed: int
    directory: Path
    requests: Requests | None = None
    stripped: bool = False
    scale: float = 1.0


@dataclass(frozen=True)
class Counted:
    """A counted trial's measurement, its call graph as JSON, and the requests of its windows."""

    measurement: Measurement
    graph: bytes
    requests: Requests


def missing_for_counting() -> str | None:
    """Return why nothing can be counted on this machine, or none."""
    return None if shutil.which("valgrind") else "valgrind is not installed"


def count(trial: CountedTrial) -> Counted:
    """Carry out one counted trial.

    Raises `TrialFailed` with the server's log if the server or the load generator fails.
    """
    began = time.monotonic()
    load_log = trial.directory / "load.log"
    case = trial.case
    settings = {**case.config, **trial.settings}
    # What others do at their own pace depends on how long a request takes here.
    driven = [client for client in case.companions if client.is_driven]
    with deploy_counted(case.deployed_as, trial.program, settings, trial.directory, trial.seed) as counted:
        server = counted.target.server
        _quiet(server, QUIET_SETTINGS | CRASH_SETTINGS, settings)
        try:
            found = prepare(counted.target, case, trial.seed, load_log)
            counted.attach_replicas()
            with (
                companions(server, driven, trial.seed, load_log) as beside,
                load_program(counted.target.reach, load_log, counted_arguments(case, trial.seed)) as load,
                contextlib.closing(StatisticsReader(server.socket, case.verbs)) as statistics,
            ):
                counting = Counting(server, counted.pin, load, statistics, counted.dumps, case)
                settle(counting)
                _quiet(server, SETTLED_SETTINGS, settings)
                windows = count_windows(counting, trial.requests, trial.scale, trial.seed)
                beside.require_running()
                found += counted.replica_checks()
        except TrialFailed as fault:
            raise server.failure(fault.message) if server.died() else fault from fault
        found += checks.pinned_checks(windows.clock_readings, counted.pin.random_readings)
    return _evaluate(trial, windows, found, time.monotonic() - began)


def _quiet(server: RunningServer, quiet: Mapping[str, str], chosen: Mapping[str, str]) -> None:
    """Apply settings that the user has not chosen otherwise, as far as the server knows them; older ones lack some."""
    for name, value in quiet.items():
        if name in chosen:
            continue
        try:
            server.client.config_set(name, value)
        except redis.ResponseError:
            continue
        except (redis.ConnectionError, redis.TimeoutError) as lost:
            raise server.failure(f"the server was lost: {lost}") from lost


def _evaluate(trial: CountedTrial, windows: Windows, found: list[Check], seconds: float) -> Counted:
    try:
        graph = reading.call_graph(
            str(windows.small_dump),
            str(windows.large_dump),
            windows.counted_small,
            windows.counted_large,
            trial.source_root,
        )
    except (OSError, ValueError) as broken:
        raise broken_dump(trial.directory, str(broken)) from broken
    parsed = CallGraph.model_validate_json(graph)
    metrics = {
        "instructions_per_op": parsed.totals.instructions,
        "syscalls_per_op": parsed.totals.syscalls,
    }
    allocations = parsed.allocations()
    if allocations is not None or not trial.stripped:
        metrics["allocations_per_op"] = allocations or 0.0
    sent = sum(part.requests for part in windows.slices)
    found = [
        *found,
        *checks.reply_checks(trial.case, windows.slices),
        checks.executed_check(trial.case, sent, windows.executed),
    ]
    small_per_op = dumped_instructions(windows.small_dump) / windows.counted_small
    agreement = checks.windows_check(trial.case, windows.counted_small, small_per_op, parsed.totals.instructions)
    if agreement is not None:
        found.append(agreement)
    return Counted(
        measurement=Measurement(metrics=metrics, validity=Validity.of(found), seconds=seconds),
        graph=graph,
        requests=windows.requests,
    )
