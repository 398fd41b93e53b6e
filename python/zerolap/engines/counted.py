"""The counted engine: instructions, system calls and allocations per request, under callgrind."""

import errno
import math
import os
import re
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import redis

from zerolap import _core
from zerolap.cases import Case
from zerolap.engines import checks
from zerolap.engines.dataset import prepare
from zerolap.engines.load import LoadProgram, SliceResult, case_arguments, load_program, packaged
from zerolap.engines.pin import Pin, Request
from zerolap.records import CallGraph, Check, Measurement, TrialFailed, Validity
from zerolap.server import RunningServer, start

TARGET_INSTRUCTIONS = 16_000_000
"""Of the large window: enough for rare paths to be seen, little enough for a third of a second under callgrind."""
MAX_REQUESTS = 3_000
MIN_UNITS = 4
LARGEST_DUMP_BYTES = 16 * 1024 * 1024
SMALL_SHARE = 4

# Instructions that servers spend on their own behalf, at times that the requests do not decide.
QUIET_SETTINGS = {"hz": "1", "dynamic-hz": "no", "activerehashing": "no", "jemalloc-bg-thread": "no"}

# `rep movsb` counts once a byte under valgrind, which no processor does; these keep the C library off it.
GLIBC_TUNABLES = ":".join(
    f"glibc.cpu.x86_{name}={1 << 40}"
    for name in ("rep_movsb_threshold", "rep_stosb_threshold", "non_temporal_threshold")
)

CALLGRIND = (
    "valgrind",
    "--quiet",
    "--tool=callgrind",
    "--instr-atstart=no",
    "--collect-systime=yes",
    "--dump-line=yes",
    "--vgdb=no",
)


@dataclass(frozen=True)
class Requests:
    """How many requests the two windows hold, whole cycles of commands each."""

    small: int
    large: int


@dataclass(frozen=True)
class CountedTrial:
    """What one counted trial needs; `requests` is chosen from a first look at the cost where it is none."""

    program: Path
    source_root: str
    case: Case
    settings: Mapping[str, str]
    seed: int
    directory: Path
    requests: Requests | None = None
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
    library = packaged("libzerolap_pin.so")
    dumps = trial.directory / "callgrind"
    load_log = trial.directory / "load.log"
    with Pin(trial.directory, trial.seed) as pin:
        environment = pin.environment(library) | {"GLIBC_TUNABLES": GLIBC_TUNABLES}
        with start(
            trial.program,
            {**trial.case.config, **trial.settings},
            trial.directory,
            prefix=[*CALLGRIND, f"--callgrind-out-file={dumps}"],
            environment=environment,
            read_only=[library],
        ) as server:
            _quiet(server)
            try:
                found = prepare(server, trial.case, trial.seed, load_log)
                with load_program(server.socket, load_log, case_arguments(trial.case, trial.seed)) as load:
                    windows = _measure(trial, server, pin, load, dumps)
            except TrialFailed as fault:
                if server.died():
                    raise server.failure(fault.message) from fault
                raise
        found += checks.pinned_checks(pin.clock_readings, pin.random_readings)
    return _evaluate(trial, windows, found, time.monotonic() - began)


@dataclass(frozen=True)
class _Windows:
    """Both windows' dumps, the requests counted in each, and what their replies were."""

    small_dump: Path
    large_dump: Path
    counted_small: int
    counted_large: int
    requests: Requests
    slices: tuple[SliceResult, ...]
    executed: int


def _quiet(server: RunningServer) -> None:
    """Stop the server's own timers as far as it knows the settings; older ones lack some."""
    for name, value in QUIET_SETTINGS.items():
        try:
            server.client.config_set(name, value)
        except redis.ResponseError:
            continue
        except (redis.ConnectionError, redis.TimeoutError) as lost:
            raise server.failure(f"the server was lost: {lost}") from lost


def _measure(trial: CountedTrial, server: RunningServer, pin: Pin, load: LoadProgram, dumps: Path) -> _Windows:
    """Warm up, then count a small and a large window.

    A window begins and ends with a dump, which the event loop makes at its next wait after one more cycle of requests:
    the window holds that cycle too, and nothing of what the lab did in between.
    """
    cycle = sum(trial.case.ratios)
    unit = trial.case.pipeline * cycle // math.gcd(trial.case.pipeline, cycle)

    def one_cycle() -> object:
        return load.slice(cycle)

    pin.carry_out(Request.LEAP, one_cycle)
    pin.carry_out(Request.START, one_cycle)
    load.slice(unit)
    pin.carry_out(Request.DUMP, one_cycle)
    load.slice(unit)
    pin.carry_out(Request.DUMP, one_cycle)
    requests = trial.requests or _choose(_dumped_instructions(_part(dumps, 2)) / (unit + cycle), unit, trial.scale)

    load.slice(requests.small)
    before = _calls(server, trial.case)
    pin.carry_out(Request.DUMP, one_cycle)
    small = load.slice(requests.small)
    pin.carry_out(Request.DUMP, one_cycle)
    large = load.slice(requests.large)
    pin.carry_out(Request.DUMP, one_cycle)
    executed = _calls(server, trial.case) - before - 3 * cycle
    return _Windows(
        small_dump=_part(dumps, 4),
        large_dump=_part(dumps, 5),
        counted_small=requests.small + cycle,
        counted_large=requests.large + cycle,
        requests=requests,
        slices=(small, large),
        executed=executed,
    )


def _part(dumps: Path, number: int) -> Path:
    return dumps.with_name(f"{dumps.name}.{number}")


def _choose(instructions_per_op: float, unit: int, scale: float) -> Requests:
    """Return windows of whole units whose large one takes about the target number of instructions."""
    wanted = scale * min(MAX_REQUESTS, TARGET_INSTRUCTIONS / max(instructions_per_op, 1.0))
    units = max(MIN_UNITS, math.ceil(wanted / unit))
    return Requests(small=max(1, units // SMALL_SHARE) * unit, large=units * unit)


def _dumped_instructions(dump: Path) -> float:
    text = dump.read_text() if dump.exists() else ""
    found = re.search(r"^totals: (\d+)", text, re.MULTILINE)
    if found is None:
        raise _broken_dump(dump.parent, f"`{dump.name}` has no totals")
    return float(found.group(1))


def _broken_dump(directory: Path, what: str) -> Exception:
    """Return the error for a dump that is not whole; callgrind does not tell of a full disk."""
    if shutil.disk_usage(directory).free < LARGEST_DUMP_BYTES:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(directory))
    return TrialFailed(f"callgrind wrote no whole dump: {what}")


def _calls(server: RunningServer, case: Case) -> int:
    """Return how often the server says that it has executed the case's commands."""
    try:
        statistics = server.client.info("commandstats")
    except redis.RedisError as fault:
        raise TrialFailed(f"the server does not say what it executed: {fault}") from fault
    verbs = {verb.lower() for verb in case.verbs}
    calls = 0
    for name, figures in statistics.items():
        if name.removeprefix("cmdstat_").split("|")[0] in verbs:
            calls += int(figures["calls"])
    return calls


def _evaluate(trial: CountedTrial, windows: _Windows, found: list[Check], seconds: float) -> Counted:
    try:
        graph = _core.call_graph(
            str(windows.small_dump),
            str(windows.large_dump),
            windows.counted_small,
            windows.counted_large,
            trial.source_root,
        )
    except (OSError, ValueError) as broken:
        raise _broken_dump(trial.directory, str(broken)) from broken
    parsed = CallGraph.model_validate_json(graph)
    metrics = {
        "instructions_per_op": parsed.totals.instructions,
        "syscalls_per_op": parsed.totals.syscalls,
    }
    allocations = parsed.allocations()
    if allocations is not None:
        metrics["allocations_per_op"] = allocations
    sent = sum(part.requests for part in windows.slices)
    found = [*found, *checks.reply_checks(trial.case, windows.slices), checks.executed_check(sent, windows.executed)]
    small_per_op = _dumped_instructions(windows.small_dump) / windows.counted_small
    agreement = checks.windows_check(trial.case, small_per_op, parsed.totals.instructions)
    if agreement is not None:
        found.append(agreement)
    return Counted(
        measurement=Measurement(metrics=metrics, validity=Validity.of(found), seconds=seconds),
        graph=graph,
        requests=windows.requests,
    )
