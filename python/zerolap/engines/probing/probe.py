"""Runs a case for a moment and looks at what it does."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from zerolap.cases import Case
from zerolap.engines.dataset import prepare
from zerolap.engines.load import LoadProgram, SliceResult, load_program, timed_arguments
from zerolap.engines.probing.recorder import Recorder
from zerolap.engines.probing.samples import CommandSamples, Sample
from zerolap.engines.server_abilities import command_flags
from zerolap.engines.target import Target, by_socket
from zerolap.host import Pinning
from zerolap.records import Check
from zerolap.server import RunningServer, find_server, read_cpu_times, start

SAMPLES = 300
"""Requests that are looked at one by one, before the burst and after it."""
SAMPLED_CONNECTIONS = 4
BURST_SECONDS = 0.4
FIRST_BURST_REQUESTS = 200
REPLY_SECONDS = 10
MOST_CONNECTIONS = 200


@dataclass(frozen=True)
class Probe:
    """What is to be looked at; the server runs in a directory of its own below `directory`, with `settings`."""

    program: Path
    settings: Mapping[str, str]
    case: Case
    seed: int
    directory: Path
    pinning: Pinning


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


def probe(request: Probe) -> ProbedCase:
    """Start a server, fill it as the case says, and look at its requests.

    Raises `TrialFailed` where the server, the data set or the load generator fails.
    """
    reachable = request.directory / "server"
    reachable.mkdir()
    case, log = request.case, request.directory / "load.log"
    with start(
        request.program,
        {**case.config, **request.settings},
        reachable,
        log=request.directory / "server.log",
        prefix=["taskset", "--cpu-list", ",".join(str(one) for one in request.pinning.server)],
    ) as server:
        checks, keys_loaded = (
            prepare(Target([server], by_socket(server.socket)), case, request.seed, log),
            _keys(server),
        )
        flags = command_flags(server)
        writing = {verb for verb in case.verbs if "write" in flags.get(verb, ())}
        before = _sample(request, server, writing, request.seed)
        burst = _burst(request, server)
        after = _sample(request, server, writing, request.seed + 1)
        return ProbedCase(checks, keys_loaded, _keys(server), before, after, burst)


def _keys(server: RunningServer) -> int:
    return int(str(server.command("DBSIZE")))


def _sample(request: Probe, server: RunningServer, writing: set[str], seed: int) -> dict[str, CommandSamples]:
    """Send some requests one by one, and return what they did, by command."""
    found: dict[str, CommandSamples] = {}

    def on_sample(sample: Sample) -> None:
        name = sample.words[0].decode(errors="replace").upper() if sample.words else ""
        found.setdefault(name, CommandSamples(name, name in writing)).add(sample)

    path = request.directory / f"recorder-{seed}"
    clients = str(min(SAMPLED_CONNECTIONS, request.case.connections))
    arguments = [*timed_arguments(request.case, seed, request.pinning.client), *_quickly(), "--clients", clients]
    with (
        Recorder(path, server.socket, on_sample),
        load_program(by_socket(path), request.directory / "load.log", [*arguments, "--pipeline", "1"]) as load,
    ):
        load.slice(SAMPLES)
    return found


def _quickly() -> list[str]:
    return ["--reply-timeout", str(REPLY_SECONDS)]


def _burst(request: Probe, server: RunningServer) -> Burst:
    case = request.case
    connections = ["--clients", str(min(case.connections, MOST_CONNECTIONS))]
    arguments = [*timed_arguments(case, request.seed, request.pinning.client), *_quickly(), *connections]
    process = find_server(server.launched, str(request.directory / "server" / "server"))
    with load_program(by_socket(server.socket), request.directory / "load.log", arguments) as load:
        requests, sent = FIRST_BURST_REQUESTS, 0
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
