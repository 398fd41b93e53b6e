"""The counted engine: instructions, system calls and allocations per request, under callgrind."""

import contextlib
import functools
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from zerolap import _core
from zerolap.build import BuiltServer
from zerolap.engines.counted_checks import executed_check, pinned_checks, reply_checks, windows_check
from zerolap.engines.counted_deployment import CountedDeployment, deploy_counted
from zerolap.engines.data_memory import DataMemory
from zerolap.engines.engine import Deadline, Place, named_failure
from zerolap.engines.pin import PinRequest
from zerolap.engines.server_trial import ServerTrial, filled
from zerolap.engines.windows import (
    SETTLING_LEAPS,
    TICKS,
    Counting,
    WindowCounts,
    broken_dump,
    count_windows,
    dumped_instructions,
    settle,
)
from zerolap.host import version_of
from zerolap.load import Instrument, counted_arguments, load_program
from zerolap.records import (
    Amounts,
    Block,
    CallCounts,
    CallGraph,
    Check,
    Event,
    JobFinished,
    Measurement,
    Side,
    TrialDone,
    TrialFailed,
    TrialsJob,
    Validity,
    Windows,
    now,
)
from zerolap.sandbox import confined_reader
from zerolap.server import CommandRefused, RunningServer, named_death

METHOD = 5
"""The version of the method, raised when the same server would get other counts."""

# Instructions that servers spend on their own behalf, at times that the requests do not decide.
QUIET_SETTINGS = {"hz": "1", "dynamic-hz": "no", "jemalloc-bg-thread": "no"}
# A server that handles its own crash dies a second time under valgrind, which reports the first by itself.
CRASH_SETTINGS = {"crash-log-enabled": "no"}
# Until here the server's timers have finished what loading left behind, such as a table half way to its new size.
SETTLED_SETTINGS = {"activerehashing": "no"}


class Counted:
    """Counts each side by itself: how many requests a window holds is chosen by the first trial of a case."""

    def missing(self) -> str | None:
        """Return why nothing can be counted on this machine, or none."""
        return None if shutil.which("valgrind") else "valgrind is not installed"

    def carry_out(self, job: TrialsJob, place: Place) -> Iterator[Event]:
        """Carry out the trials side after side, block after block; a block with an invalid trial is the last."""
        windows, deadline = job.amounts.windows, Deadline(job, place)
        instrument = f"valgrind {version_of(['valgrind']) or ''}".strip()
        for block in job.blocks:
            if deadline.is_over:
                yield JobFinished(job=job.id, cut_short=True)
                return
            measured = []
            for side in job.servers:
                measurement = place.measured(block, side)
                if measurement is None:
                    with named_failure(job.servers, side, block):
                        counted = _count(job, block, side, place, windows)
                    measurement = counted.model_copy(update={"instrument": instrument})
                    yield TrialDone(job=job.id, block=block.number, measurements={side: measurement})
                windows = measurement.amounts.windows
                measured.append(measurement)
            if not all(measurement.validity.valid for measurement in measured):
                break
        yield JobFinished(job=job.id)


def _count(job: TrialsJob, block: Block, side: Side, place: Place, windows: Windows | None) -> Measurement:
    """Carry out one counted trial; raises `TrialFailed` with the server's log if server or load generator fail."""
    built = place.builds.get(job.servers[side].build)
    began = now()
    with place.trial_directory() as directory:
        trial = CountedTrial.of(job, block, side, built, windows, directory)
        # In a regime its first block only shows whether more are needed; what both sides start with is the case's.
        is_recorded = block.number == 0 and not (job.case.regime is not None and job.case.regime.is_added)
        measurement, recorded = count(replace(trial, instrument_start=is_recorded))
    kept: dict[str, str | None] = {"began": began}
    for name, graph in recorded.graphs.items():
        kept[name] = place.blobs.put(graph)
    if recorded.executed is not None:
        kept |= {"executed": place.blobs.put(recorded.executed)}
        kept |= {"executed_code": _core.executed_digest(recorded.executed)}
    if block.number == 0 and side in job.count_builds and measurement.validity.valid:
        calls, seconds = _count_calls(job, block, side, place, measurement.amounts.windows)
        kept |= {"call_counts": place.blobs.put(calls.model_dump_json(by_alias=True).encode())}
        measurement = measurement.model_copy(update={"seconds": measurement.seconds + seconds})
    return measurement.model_copy(update=kept)


def _count_calls(
    job: TrialsJob, block: Block, side: Side, place: Place, windows: Windows | None
) -> tuple[CallCounts, float]:
    """Return the calls of a request in a side's count build, and the machine time in seconds.

    Seed and windows are those of the trial that has counted the costs: what the count build costs is left out. Raises
    `TrialFailed` where its calls cannot be counted, or are not those of the case.
    """
    built = place.builds.get(job.count_builds[side])
    with place.trial_directory() as directory:
        try:
            measurement, recorded = count(CountedTrial.of(job, block, side, built, windows, directory))
        except TrialFailed as fault:
            raise fault.of("count build") from fault.__cause__
    if not measurement.validity.valid:
        failed = ", ".join(f"`{check.check}`" for check in measurement.validity.failed)
        raise TrialFailed(f"count build: checks fail that hold in the other build: {failed}")
    return CallCounts.of(CallGraph.model_validate_json(recorded.graphs["graph"])), measurement.seconds


@dataclass(frozen=True)
class CountedTrial(ServerTrial):
    """What one counted trial needs; `windows` are chosen from a first look at the cost where there are none.

    In a `stripped` program the allocator may be invisible. `scale` is a factor on the windows. With `instrument_start`
    it is also recorded what the server executes when it starts and when loading begins.
    """

    source_root: str
    windows: Windows | None = None
    stripped: bool = False
    scale: float = 1.0
    instrument_start: bool = False

    @classmethod
    def of(
        cls, job: TrialsJob, block: Block, side: Side, built: BuiltServer, windows: Windows | None, directory: Path
    ) -> "CountedTrial":
        """Return a side's trial of a block, by this build of the side, in an empty directory."""
        return cls(
            built.program,
            job.servers[side],
            job.case,
            block.seed,
            directory,
            built.record.source_root,
            windows,
            built.record.stripped,
            job.amounts.scale,
        )


@dataclass(frozen=True)
class Recorded:
    """What a trial leaves beside its measurement, as JSON: its call graphs, and the instructions that it executed.

    The graphs are by their names in a measurement. `executed` is none where the program's file cannot be read.
    """

    graphs: Mapping[str, bytes]
    executed: bytes | None


def count(trial: CountedTrial) -> tuple[Measurement, Recorded]:
    """Carry out one counted trial; return its measurement and what else it recorded.

    Raises `TrialFailed` with the server's log if the server or the load generator fails.
    """
    began = time.monotonic()
    case, settings = trial.case, trial.server.settings
    # What others do at their own pace depends on how long a request takes here.
    driven = [client for client in case.companions if client.is_driven]
    with deploy_counted(
        trial.server, trial.program, trial.directory, trial.seed, instrument_start=trial.instrument_start
    ) as counted:
        server = counted.target.server
        _quiet(server, QUIET_SETTINGS | CRASH_SETTINGS, settings)
        memory = DataMemory(server)
        memory.read_empty()
        start, stop = (functools.partial(counted.at_rest, request) for request in (PinRequest.START, PinRequest.STOP))
        with (
            filled(
                trial,
                counted.deployment,
                counted.target,
                clients=driven,
                instrument=Instrument(start, stop) if trial.instrument_start else None,
                attach_replicas=counted.attach_replicas,
            ) as data,
            named_death(server),
            load_program(counted.target.reach, trial.load_log, counted_arguments(case, trial.seed)) as load,
            contextlib.closing(server.statistics(case.verbs)) as statistics,
        ):
            counting = Counting(server, counted.pin, load, statistics, counted.dumps, case)
            start()
            settle(counting)
            _quiet(server, SETTLED_SETTINGS, settings)
            counts = count_windows(counting, trial.windows, trial.scale, trial.seed)
            memory.read_clients()
            data.beside.require_running()
            checks = [*data.checks, *counted.replica_checks()]
        checks += pinned_checks(counts.clock_readings, counted.pin.random_readings)
        with named_death(server):
            bytes_of_data = memory.metrics(lambda: _settle_data(counted, settings))
    executed = _executed(trial, counts, counted.program_in_dumps)
    measurement, graphs = _evaluate(trial, counts, checks, time.monotonic() - began)
    measurement = measurement.model_copy(update={"metrics": measurement.metrics | bytes_of_data})
    return measurement, Recorded(graphs, executed)


def _settle_data(counted: CountedDeployment, chosen: Mapping[str, str]) -> None:
    """Let the timers finish what requests left behind, as they did before the windows; none of it is counted."""
    counted.at_rest(PinRequest.STOP)
    _quiet(counted.target.server, dict.fromkeys(SETTLED_SETTINGS, "yes"), chosen)
    for _ in range(SETTLING_LEAPS):
        counted.at_rest(PinRequest.LEAP)


def _quiet(server: RunningServer, quiet: Mapping[str, str], chosen: Mapping[str, str]) -> None:
    """Apply settings that the user has not chosen otherwise, as far as the server knows them; older ones lack some."""
    for name, value in quiet.items():
        if name in chosen:
            continue
        with contextlib.suppress(CommandRefused):
            server.command("CONFIG", "SET", name, value)


def _evaluate(
    trial: CountedTrial, counts: WindowCounts, checks: list[Check], seconds: float
) -> tuple[Measurement, dict[str, bytes]]:
    graph = _call_graph(trial, counts.small_dump, counts.large_dump, counts.counted_small, counts.counted_large)
    graphs = {"graph": graph, "graph_tick": _timer_graph(trial, counts)}
    parsed = CallGraph.model_validate_json(graph)
    metrics = {
        "instructions_per_op": parsed.totals.instructions,
        "syscalls_per_op": parsed.totals.syscalls,
        "clock_readings_per_op": counts.clock_readings / counts.requests,
        "instructions_per_tick": _instructions_per_tick(counts),
    }
    alone = counts.alone
    if alone is not None:
        of_alone = _call_graph(trial, alone.few_dump, alone.many_dump, alone.counted_few, alone.counted_many)
        graphs["graph_alone"] = of_alone
        metrics["instructions_alone_per_op"] = CallGraph.model_validate_json(of_alone).totals.instructions
    allocations = parsed.allocations()
    if allocations is not None or not trial.stripped:
        metrics["allocations_per_op"] = allocations or 0.0
    checks = [
        *checks,
        *reply_checks(trial.case, counts.slices, counts.keys),
        executed_check(trial.case, sum(part.requests for part in counts.slices), counts.executed),
    ]
    small_per_op = dumped_instructions(counts.small_dump) / counts.counted_small
    agreement = windows_check(trial.case, counts.counted_small, small_per_op, parsed.totals.instructions)
    if agreement is not None:
        checks.append(agreement)
    measurement = Measurement(
        metrics=metrics,
        validity=Validity.of(checks),
        amounts=Amounts(windows=counts.windows, scale=trial.scale),
        seconds=seconds,
        method=METHOD,
    )
    return measurement, graphs


def _call_graph(trial: CountedTrial, small: Path, large: Path, requests_small: int, requests_large: int) -> bytes:
    """Return the call graph of a request as JSON, from two dumps that count so many."""
    with _from_dumps(trial):
        return confined_reader.call_graph(str(small), str(large), requests_small, requests_large, trial.source_root)


def _timer_graph(trial: CountedTrial, counts: WindowCounts) -> bytes:
    """Return the call graph of a tick of the server's timers as JSON."""
    with _from_dumps(trial):
        return confined_reader.timer_graph(
            str(counts.large_dump),
            str(counts.timer_dump),
            requests_alone=counts.counted_large,
            requests_beside=counts.counted_timers,
            ticks=TICKS,
            source_root=trial.source_root,
        )


@contextlib.contextmanager
def _from_dumps(trial: CountedTrial) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as broken:
        raise broken_dump(trial.directory, str(broken)) from broken


def _instructions_per_tick(counts: WindowCounts) -> float:
    """Return what the server's timers execute each time: the rest of their window, without its requests.

    To the thousand: timers parse text in buffers that hold what other commands have left, which adds some instructions.
    """
    per_op = dumped_instructions(counts.large_dump) / counts.counted_large
    per_tick = (dumped_instructions(counts.timer_dump) - per_op * counts.counted_timers) / TICKS
    return max(0.0, round(per_tick, -3))


def _executed(trial: CountedTrial, counts: WindowCounts, name: str) -> bytes | None:
    """Return the instructions that the program executed; none where its file cannot be read."""
    pipelined = [str(counts.small_dump), str(counts.large_dump)]
    alone = counts.alone
    kinds = [
        confined_reader.DumpedWindows(pipelined, counts.counted_small + counts.counted_large),
        confined_reader.DumpedWindows([], 0)
        if alone is None
        else confined_reader.DumpedWindows(
            [str(alone.few_dump), str(alone.many_dump)], alone.counted_few + alone.counted_many
        ),
        confined_reader.DumpedWindows([str(counts.timer_dump)], counts.counted_timers),
    ]
    try:
        return confined_reader.executed(str(counts.before_dump), kinds, str(trial.program.path), name)
    except (OSError, ValueError):
        # What was counted stands; the work is then never called identical.
        return None
