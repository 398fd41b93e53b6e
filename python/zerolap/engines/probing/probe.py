"""Runs a case briefly and records what its requests do."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zerolap.engines.counted_checks import reply_checks
from zerolap.engines.counted_deployment import counted_topology
from zerolap.engines.probing.holding import (
    calls_counted,
    calls_since,
    errors_counted,
    held_by,
    keys_between,
    keys_looked_up,
    memory_limit_bytes,
)
from zerolap.engines.probing.recorder import Recorder
from zerolap.engines.probing.samples import CommandSamples, Sample, shown
from zerolap.engines.server_trial import PinnedTrial, deployed
from zerolap.load import LoadProgram, SliceResult, Target, by_socket, companions, load_program, prepare, timed_arguments
from zerolap.records import PROVING_CALLS, SCRIPTS, Case, Check, ExecutedCalls, HeldOverTime, TrialFailed
from zerolap.sandbox import prepared_socket
from zerolap.server import RunningServer, command_flags, demand_since, first_dead, read_demands_ns

SAMPLES = 300
"""Requests that are examined one by one, before the burst and after it."""
SAMPLED_CONNECTIONS = 4
SAMPLING_SECONDS = 20
"""Bounds a case whose requests wait; others are examined to the end, however busy the machine is."""
BURST_SECONDS = 0.4
REPLY_SECONDS = 10
BURST_REPLY_SECONDS = 60
"""Longer, as many connections wait for each other."""
MOST_CONNECTIONS = 200
MOST_SAMPLES = 1200
"""Limit for cases that send some of their commands only after many others."""
DECLARED = frozenset({"hit_rate", "reply"})
"""The checks of replies that are held against what the case declares."""
MAY_STORE = frozenset({"SORT", "GEORADIUS", "GEORADIUSBYMEMBER"})
"""Commands that servers list as writing because of an option that few requests use."""


@dataclass(frozen=True)
class BurstErrors:
    """Errors of one command at full speed, and the text of the first."""

    count: int = 0
    first: str | None = None


@dataclass(frozen=True)
class Burst:
    """What happened at full speed: the last slice, and how busy client and server were in it.

    A thread is busy while it runs on a processor or waits for one. The other fields cover all slices: `requests`,
    how many of them `found` something, errors by command, `hidden_errors`, which the server counted but no reply
    reported, the `calls` of each command by the server's own count, and whether the replies are as the case expects.
    """

    result: SliceResult
    client_share: float
    server_share: float
    requests: int
    found: int
    errors: Mapping[str, BurstErrors]
    hidden_errors: int
    calls: Mapping[str, ExecutedCalls]
    checks: Sequence[Check]


@dataclass(frozen=True)
class ProbedCase:
    """What a case did: by command before the burst and after it, the burst itself, and what the server held."""

    held: HeldOverTime
    memory_limit_bytes: int | None
    before: dict[str, CommandSamples]
    after: dict[str, CommandSamples]
    burst: Burst
    wanted_samples: int


def probe(trial: PinnedTrial) -> ProbedCase:
    """Deploy a server, load the case's data set, and examine the case's requests; in a cluster, those of one node.

    Raises `TrialFailed` if the server, the data set or the load generator fails.
    """
    case, log = trial.case, trial.load_log
    with deployed(trial, counted_topology(trial.server.topology)) as deployment:
        server = deployment.nodes[0].server
        target = Target([server], by_socket(server.socket, server.load_login))
        empty = held_by(server)
        prepare(target, case, trial.seed, log)
        loaded = held_by(server)
        deployment.attach_replicas()
        writing = _writing(server)
        with companions(server, case.companions, trial.seed, log, trial.pinning.client) as beside:
            before = _sample(trial, server, writing, "before")
            before_burst = held_by(server)
            burst = _burst(trial, server)
            after_burst = held_by(server)
            after = _sample(trial, server, writing, "after")
            beside.require_running()
        held = HeldOverTime(
            empty=empty, loaded=loaded, before_burst=before_burst, after_burst=after_burst, left=held_by(server)
        )
        return ProbedCase(held, memory_limit_bytes(server), before, after, burst, 2 * _samples(case))


def _samples(case: Case) -> int:
    """Return the requests that are examined one by one before the burst, and after it."""
    return max(SAMPLES, min(case.client.cycle, MOST_SAMPLES))


def _writing(server: RunningServer) -> set[str]:
    """Return the commands that write, as far as the server reports them; scripts count as writing."""
    try:
        flags = command_flags(server)
    except TrialFailed:
        if first_dead([server]) is not None:
            raise
        return set()
    return {verb for verb, verb_flags in flags.items() if "write" in verb_flags or verb in SCRIPTS} - MAY_STORE


def _sample(trial: PinnedTrial, server: RunningServer, writing: set[str], when: str) -> dict[str, CommandSamples]:
    """Send requests one by one and return what they did, by command; `when` is `before` or `after` the burst."""
    samples: dict[str, CommandSamples] = {}

    def on_sample(sample: Sample) -> None:
        name = sample.words[0].decode(errors="replace").upper() if sample.words else ""
        samples.setdefault(name, CommandSamples(name, name in writing)).add(sample)

    seed = trial.seed ^ (when == "after")
    # Each connection sends every command as often as its ratio before it sends the next one.
    cycle = trial.case.client.cycle
    asks_encodings = bool(trial.case.expect.encoding)
    connections = min(SAMPLED_CONNECTIONS, trial.case.client.connections, max(1, SAMPLES // cycle))
    arguments = [*timed_arguments(trial.case.client, seed, trial.pinning.client), "--clients", str(connections)]
    arguments += ["--reply-timeout", str(REPLY_SECONDS)]
    with (
        prepared_socket(trial.directory, when) as path,
        Recorder(path, server.socket, on_sample, server.load_login, asks_encodings=asks_encodings) as recorder,
        load_program(by_socket(path), trial.load_log, [*arguments, "--pipeline", "1"]) as load,
    ):
        try:
            _sample_for_a_while(load, _samples(trial.case))
        except TrialFailed as failed:
            raise _explained(failed, server, recorder) from failed
    return samples


def _explained(failed: TrialFailed, server: RunningServer, recorder: Recorder) -> TrialFailed:
    """Return the failure with the request that got no reply, and with the server's log if the server died."""
    waiting = recorder.unanswered()
    text = f"{failed.message}; without a reply is `{shown(waiting[0])}`" if waiting else failed.message
    return server.failure(text)


def _sample_for_a_while(load: LoadProgram, enough: int) -> None:
    """Send requests until there are `enough`, or until `SAMPLING_SECONDS` are over: some requests take seconds."""
    end, sent, step = time.monotonic() + SAMPLING_SECONDS, 0, SAMPLED_CONNECTIONS
    while sent < enough and time.monotonic() < end:
        step = min(2 * step, enough - sent)
        load.slice(step)
        sent += step


def _burst(trial: PinnedTrial, server: RunningServer) -> Burst:
    case = trial.case
    connections = min(case.client.connections, MOST_CONNECTIONS)
    arguments = [*timed_arguments(case.client, trial.seed, trial.pinning.client), "--clients", str(connections)]
    arguments += ["--reply-timeout", str(BURST_REPLY_SECONDS)]
    with load_program(by_socket(server.socket, server.load_login), trial.load_log, arguments) as load:
        requests, sent, hits, errors = connections, 0, 0, dict[str, BurstErrors]()
        errors_before = errors_counted(server)
        calls_before, looked_up = calls_counted(server), keys_looked_up(server)
        wanted, slices = _wanted_calls(case), list[SliceResult]()
        end = time.monotonic() + (4 * BURST_SECONDS if not wanted else SAMPLING_SECONDS)
        while True:
            result, client_share, server_share = _slice(load, server.process, requests)
            sent += requests
            slices.append(result)
            hits += result.succeeded - result.misses
            for command in result.commands:
                known = errors.get(name := command.command.upper(), BurstErrors())
                count = known.count + sum(command.errors.values())
                errors[name] = BurstErrors(count, known.first or command.first_error)
            seconds = result.elapsed_ns / 1e9
            if (seconds >= BURST_SECONDS and sent >= wanted) or time.monotonic() > end:
                calls = calls_since(calls_before, calls_counted(server), case.verbs)
                looked_up = keys_between(looked_up, keys_looked_up(server))
                errors_after, hidden = errors_counted(server), 0
                if errors_before is not None and errors_after is not None:
                    hidden = max(0, errors_after - errors_before - sum(of.count for of in errors.values()))
                shares = client_share, server_share
                checks = [check for check in reply_checks(case, slices, looked_up) if check.check in DECLARED]
                return Burst(result, *shares, sent, hits, errors, hidden, calls, checks)
            requests = round(requests * min(10.0, 1.2 * BURST_SECONDS / max(seconds, 1e-3)))


def _wanted_calls(case: Case) -> int:
    """Return the requests after which each command of a case of the lab's own format is called `PROVING_CALLS` times.

    Of cases of the public format nothing needs to be proven.
    """
    if case.is_public:
        return 0
    rarest = min(command.ratio for command in case.client.sent)
    return math.ceil(PROVING_CALLS * case.client.cycle / rarest)


def _slice(load: LoadProgram, process: int, requests: int) -> tuple[SliceResult, float, float]:
    """Return a slice, and how busy the client's thread and the server's main thread were in it."""
    client, server = read_demands_ns(load.number), read_demands_ns(process)
    result = load.slice(requests)
    client_ns = max(demand_since(client, read_demands_ns(load.number)).values(), default=0)
    server_ns = demand_since(server, read_demands_ns(process)).get(process, 0)
    return result, client_ns / result.elapsed_ns, server_ns / result.elapsed_ns
