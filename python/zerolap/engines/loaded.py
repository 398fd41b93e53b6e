"""The loaded engine: what a server does under the load of any program, by one start of each."""

import contextlib
import math
import os
import resource
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from zerolap.engines.engine import EngineTrial, FilledServer, Place, filled_server, named_failure, trials_of
from zerolap.engines.loaded_checks import LoadedRun, loaded_checks, read_counts
from zerolap.host import watch
from zerolap.load.tools import OWN_TOOL, LoadOutcome, LoadTool, LoadWork, load_tool_named
from zerolap.records import CaseRefused, Event, Measurement, TrialFailed, TrialsJob, Validity
from zerolap.sandbox import FileRefused, launch, read_file, socket_path
from zerolap.server import ServerLogin, StatisticsReader, read_cpu_times

METHOD = 1
"""The version of the method, raised when the same server would get other figures."""
MEASURED_SECONDS = 2.0
LOOK_SECONDS = 0.1
LONGEST_LOOK_SECONDS = 10.0
FIRST_UNITS = 4
GROWTH = 8
LONGEST_SECONDS = 300
LARGEST_OUTPUT_BYTES = 64 << 20
"""A tool may write a line for each error that a server answers with."""
NUMBERS_IN_ENGLISH = {"LC_ALL": "C"}


class Loaded:
    """Measures by a load tool: a look at how fast it is, then so many requests as take about two seconds."""

    def missing(self) -> str | None:
        """Return none: the job names the tool, and the tool checks whether it can be used."""
        return None

    def carry_out(self, job: TrialsJob, place: Place) -> Iterator[Event]:
        """Carry out one run of the tool for each trial."""
        if place.load_host is not None:
            raise CaseRefused("a load tool runs on the machine of the server, and the load is to come from another one")
        name = job.load_tool or OWN_TOOL
        load = _Load(name, load_tool_named(name))
        with contextlib.closing(trials_of(job, place)) as trials:
            for trial in trials:
                with named_failure(job.servers, trial.side, trial.block):
                    yield trial.done(load.measure(trial))


class _Load:
    """One load tool, by its name."""

    def __init__(self, name: str, tool: LoadTool) -> None:
        self._name = name
        self._tool = tool

    def measure(self, trial: EngineTrial) -> Measurement:
        """Carry out a trial.

        Raises `CaseRefused` for a case that the tool cannot send, `TrialFailed` if the tool or the server fails.
        """
        case = trial.case
        if case.state == "drains":
            raise CaseRefused("its data is used up, and a load tool does not report when")
        unit = math.lcm(case.client.pipeline * case.client.connections, case.client.cycle)
        # What is refused is refused before a server is filled for it.
        self._tool.command(self._work(trial, socket_path(trial.directory), unit, None))
        began = time.monotonic()
        with (
            filled_server(trial) as filled,
            contextlib.closing(filled.server.statistics(case.verbs)) as statistics,
        ):
            requests = self._enough(trial, filled, statistics, unit)
            processors = {*trial.pinning.server, *trial.pinning.client}
            with watch(lambda: _used_ns(filled), processors) as disturbance:
                run = self._run(trial, filled, statistics, requests)
        self._require_rate(run.outcome)
        checks = [*filled.checks, *loaded_checks(trial, run), *disturbance.checks()]
        seconds = time.monotonic() - began
        return Measurement(metrics=run.metrics(), validity=Validity.of(checks), seconds=seconds, method=METHOD)

    def _enough(self, trial: EngineTrial, filled: FilledServer, statistics: StatisticsReader, unit: int) -> int:
        """Return the requests of the measured run: after looks, each longer than the one before."""
        requests = FIRST_UNITS * unit
        while True:
            run = self._run(trial, filled, statistics, requests)
            rate = run.outcome.ops_per_sec
            # Of a run that is too short for it a tool may report no rate.
            if rate > 0 and run.outcome.requests / rate >= LOOK_SECONDS:
                return max(1, round(MEASURED_SECONDS * rate / unit)) * unit
            if run.seconds > LONGEST_LOOK_SECONDS or run.outcome.errors == run.outcome.requests:
                self._require_rate(run.outcome)
            requests *= GROWTH

    def _run(self, trial: EngineTrial, filled: FilledServer, statistics: StatisticsReader, requests: int) -> LoadedRun:
        work = self._work(trial, filled.server.socket, requests, filled.server.load_login)
        verbs = trial.case.verbs
        calls, counts = statistics.read().calls, read_counts(filled.server, verbs)
        cpu = read_cpu_times(filled.server.process)
        client_seconds, began = _client_seconds(), time.monotonic()
        output = self._output(trial, work)
        client_seconds, seconds = _client_seconds() - client_seconds, time.monotonic() - began
        cpu, counts = read_cpu_times(filled.server.process) - cpu, read_counts(filled.server, verbs) - counts
        calls = statistics.read().calls - calls
        return LoadedRun(self._outcome(work, output), client_seconds, seconds, cpu, calls, counts)

    def _work(self, trial: EngineTrial, socket: Path, requests: int, login: ServerLogin | None) -> LoadWork:
        result = trial.directory / "result"
        return LoadWork(trial.case, requests, trial.seed, socket, result, trial.pinning.client, login)

    def _output(self, trial: EngineTrial, work: LoadWork) -> str:
        """Run the program to its end and return what it wrote; raises `TrialFailed` if it fails or does not end."""
        work.result.unlink(missing_ok=True)
        log = trial.directory / "output"
        log.unlink(missing_ok=True)
        processors = ",".join(map(str, work.processors))
        program, *arguments = self._tool.command(work)
        command = ["taskset", "--cpu-list", processors, shutil.which(program) or program, *arguments]
        with launch(command, environment=os.environ | NUMBERS_IN_ENGLISH, output=log) as process:
            try:
                code = process.wait(LONGEST_SECONDS)
            except subprocess.TimeoutExpired:
                raise TrialFailed(f"{self._name} did not end within {LONGEST_SECONDS} s") from None
            if code != 0:
                raise TrialFailed(f"{self._name} failed (exit code {code})", details=process.output_tail())
        try:
            return read_file(log, LARGEST_OUTPUT_BYTES).decode(errors="replace")
        except FileRefused as reason:
            raise TrialFailed(f"{self._name} wrote too much: {reason}") from reason

    def _outcome(self, work: LoadWork, output: str) -> LoadOutcome:
        try:
            outcome = self._tool.outcome(work, output)
        except (ValueError, KeyError, TypeError, OSError) as wrong:
            reason = f"{self._name} reported its result in another form: {type(wrong).__name__}: {wrong}"
            raise TrialFailed(reason, details=output[-2000:]) from wrong
        if outcome.requests <= 0 or not 0 <= outcome.ops_per_sec < math.inf:
            raise TrialFailed(f"{self._name} reports {outcome.requests} requests, {outcome.ops_per_sec} a second")
        return outcome

    def _require_rate(self, outcome: LoadOutcome) -> None:
        if not outcome.ops_per_sec:
            errors = f", {outcome.errors} of them answered with errors" if outcome.errors else ""
            raise TrialFailed(f"{self._name} reports {outcome.requests} requests{errors}, and none a second")


def _client_seconds() -> float:
    """Return the CPU time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _used_ns(filled: FilledServer) -> int:
    return read_cpu_times(filled.server.process).total_ns + round(_client_seconds() * 1e9)
