"""Runs a case for a moment and looks at what it does."""

import time
from dataclasses import dataclass, replace

from zerolap.engines.companions import companions
from zerolap.engines.dataset import prepare
from zerolap.engines.load import LoadProgram, SliceResult, load_program, timed_arguments
from zerolap.engines.plugged import EngineTrial
from zerolap.engines.probing.recorder import Recorder
from zerolap.engines.probing.samples import CommandSamples, Sample, shown
from zerolap.engines.server_abilities import command_flags
from zerolap.engines.target import Target, by_socket
from zerolap.records import Check, TrialFailed
from zerolap.server import RunningServer, read_cpu_times, start

SAMPLES = 300
"""Requests that are looked at one by one, before the burst and after it."""
SAMPLED_CONNECTIONS = 4
SAMPLING_SECONDS = 3
BURST_SECONDS = 0.4
REPLY_SECONDS = 10
MOST_CONNECTIONS = 200


@dataclass(frozen=True)
class Burst:
    """What happened at full speed: the last slice, how busy both sides were in it, and requests of all slices."""

    result: SliceResult
    client_share: float
    server_share: float
    requests: int = 0


@dataclass(frozen=True)
class ProbedCase:
    """What a case did: by command before the burst and after it, the burst itself, and the keyspace."""

    checks: list[Check]
    keys_loaded: int
    keys_left: int
    before: dict[str, CommandSamples]
    after: dict[str, CommandSamples]
    burst: Burst


def probe(trial: EngineTrial) -> ProbedCase:
    """Start a server, fill it as the case says, and look at its requests.

    Raises `TrialFailed` where the server, the data set or the load generator fails.
    """
    reachable = trial.directory / "server"
    reachable.mkdir()
    case, log = trial.case, trial.directory / "load.log"
    with start(
        trial.program,
        {**case.config, **trial.settings},
        reachable,
        log=trial.directory / "server.log",
        prefix=["taskset", "--cpu-list", ",".join(str(one) for one in trial.pinning.server)],
    ) as server:
        target = Target([server], by_socket(server.socket))
        checks, keys_loaded = prepare(target, case, trial.seed, log), _keys(server)
        writing = _writing(server)
        with companions(server, case.companions, trial.seed, log, trial.pinning.client) as beside:
            before = _sample(trial, server, writing, "before")
            burst = _burst(trial, server)
            after = _sample(trial, server, writing, "after")
            beside.require_running()
        return ProbedCase(checks, keys_loaded, _keys(server), before, after, burst)


def _keys(server: RunningServer) -> int:
    return int(str(server.command("DBSIZE")))


def _writing(server: RunningServer) -> set[str]:
    """Return the commands that write, as far as the server tells."""
    try:
        flags = command_flags(server)
    except TrialFailed:
        if not server.alive:
            raise
        return set()
    return {verb for verb, of_verb in flags.items() if "write" in of_verb}


def _sample(trial: EngineTrial, server: RunningServer, writing: set[str], when: str) -> dict[str, CommandSamples]:
    """Send some requests one by one, and return what they did, by command; `when` is before the burst or after it."""
    found: dict[str, CommandSamples] = {}

    def on_sample(sample: Sample) -> None:
        name = sample.words[0].decode(errors="replace").upper() if sample.words else ""
        found.setdefault(name, CommandSamples(name, name in writing)).add(sample)

    path, seed = trial.directory / when, trial.seed ^ (when == "after")
    clients = str(min(SAMPLED_CONNECTIONS, trial.case.connections))
    arguments = [*timed_arguments(trial.case, seed, trial.pinning.client), *_quickly(), "--clients", clients]
    with (
        Recorder(path, server.socket, on_sample) as recorder,
        load_program(by_socket(path), trial.directory / "load.log", [*arguments, "--pipeline", "1"]) as load,
    ):
        try:
            _sample_for_a_while(load)
        except TrialFailed as failed:
            raise _explained(failed, server, recorder) from failed
    return found


def _explained(failed: TrialFailed, server: RunningServer, recorder: Recorder) -> TrialFailed:
    """Return the failure with the request that got no reply, and with the end of the server if that is the reason."""
    waiting = recorder.unanswered()
    text = f"{failed.message}; without a reply is `{shown(waiting[0])}`" if waiting else failed.message
    return server.failure(text)


def _sample_for_a_while(load: LoadProgram) -> None:
    """Send requests until there are enough, or until they have taken too long: some take seconds each."""
    end, sent, step = time.monotonic() + SAMPLING_SECONDS, 0, SAMPLED_CONNECTIONS
    while sent < SAMPLES and time.monotonic() < end:
        step = min(2 * step, SAMPLES - sent)
        load.slice(step)
        sent += step


def _quickly() -> list[str]:
    return ["--reply-timeout", str(REPLY_SECONDS)]


def _burst(trial: EngineTrial, server: RunningServer) -> Burst:
    case = trial.case
    connections = min(case.connections, MOST_CONNECTIONS)
    arguments = [*timed_arguments(case, trial.seed, trial.pinning.client), *_quickly()]
    arguments += ["--clients", str(connections)]
    process = server.process
    with load_program(by_socket(server.socket), trial.directory / "load.log", arguments) as load:
        requests, sent = connections, 0
        end = time.monotonic() + 4 * BURST_SECONDS
        while True:
            burst = _slice(load, process, requests)
            sent += requests
            seconds = burst.result.elapsed_ns / 1e9
            if seconds >= BURST_SECONDS or time.monotonic() > end:
                return replace(burst, requests=sent)
            requests = round(requests * min(10.0, 1.2 * BURST_SECONDS / max(seconds, 1e-3)))


def _slice(load: LoadProgram, process: int, requests: int) -> Burst:
    before = read_cpu_times(process)
    result = load.slice(requests)
    used = read_cpu_times(process) - before
    return Burst(result, result.client_cpu_ns / result.elapsed_ns, used.main_ns / result.elapsed_ns)
