"""Timed trials whose load comes from another machine: the servers here, the load generator there."""

import contextlib
import errno
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import redis
from engine_place import CHECK_CASES, job_of, place_in
from free_ports import bound_port
from machine import failed_by_the_server
from network_namespaces import joined_machines
from toy_server import ToySource, compile_toy
from two_hosts import (
    LIMITS_OF_THE_MACHINE,
    LOAD_PLATFORM,
    LOOPBACK,
    PATIENCE_SECONDS,
    environment,
    load_host_in_a_process,
    load_host_in_a_thread,
    measurements,
    place_with,
    timed_job,
)
from waiting import command_lines, wait_until

from zerolap.build import Program
from zerolap.cases import topology_named
from zerolap.cases._arguments import read_client
from zerolap.engines import pairing, timed as timed_engine
from zerolap.engines.loaded import Loaded
from zerolap.engines.side import require_standalone
from zerolap.engines.slices import Slice, SliceWork, TimedSide
from zerolap.engines.timed import Timed
from zerolap.host import disturbance
from zerolap.load.generator import packaged
from zerolap.load.remote.load_side import MOST_CONNECTIONS, MOST_GENERATORS, arguments_from_here
from zerolap.load.remote.server_side import RemoteLoadHost
from zerolap.records import (
    BASE,
    HEAD,
    LOAD_HOST,
    Case,
    CaseRefused,
    EnvironmentMissing,
    Interrupted,
    Measurement,
    Side,
    TrialFailed,
)
from zerolap.sandbox import Cancellation, available
from zerolap.server import Launch, RunningServer, open_port
from zerolap.server.running_server import start


@pytest.fixture(autouse=True)
def _any_machine_is_quiet_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the machine does beside a trial holds against none, and asks for no more of them."""
    for limit in LIMITS_OF_THE_MACHINE:
        monkeypatch.setattr(disturbance, limit, float("inf"))


def timed(host: RemoteLoadHost, case: Case, program: Path, directory: Path) -> dict[Side, Measurement]:
    """Carry out a start of both sides, of two pairs."""
    place = place_with(host, directory)
    job = timed_job(case, program, place)
    job = job.model_copy(update={"servers": dict.fromkeys([BASE, HEAD], job.servers[HEAD])})
    return measurements(Timed().carry_out(job, place))


def assert_measured(measurement: Measurement) -> None:
    assert failed_by_the_server(measurement.validity.checks) == []
    checks = {check.check: check for check in measurement.validity.checks}
    assert {"errors", "executed", "client_saturation", "other_load", LOAD_HOST + "other_load"} <= checks.keys()
    assert checks["executed"].value == measurement.amounts.slice_requests * 2  # type: ignore[operator]
    metrics = measurement.metrics
    assert {"cpu_ns_per_op", "main_thread_ns_per_op", "ops_per_sec", "latency_p99_us"} <= metrics.keys()


def load_generators(process: psutil.Process) -> list[psutil.Process]:
    """Return the load generators that a process has started; tests beside this one have some too."""
    found = []
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "zerolap-load --server" in " ".join(child.cmdline()):
                found.append(child)
    return found


def runs(process: psutil.Process) -> bool:
    """Whether a process has not ended, be it that nobody has waited for its end."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def assert_nothing_runs(directory: Path) -> None:
    assert [line for line in command_lines().values() if str(directory) in line] == []
    assert load_generators(psutil.Process()) == []


# Trials


def test_a_trial_spans_two_machines(cases: dict[str, Case], redis_server: Path, tmp_path: Path) -> None:
    with load_host_in_a_thread() as (host, serving):
        found = list(timed(host, cases["good"], redis_server, tmp_path / "p").values())
        # What stays busy beside the server needs a processor of its own.
        if len(os.sched_getaffinity(0)) > 1:
            found += timed(host, cases["beside"], redis_server, tmp_path / "q").values()
    for measurement in found:
        assert_measured(measurement)
        assert measurement.load_host == LOAD_PLATFORM
    assert serving.ended_by == []
    assert_nothing_runs(tmp_path)


def test_a_trial_spans_two_networks(redis_server: Path, tmp_path: Path) -> None:
    script, file, log = Path(__file__).with_name("two_hosts.py"), tmp_path / "address", tmp_path / "log"
    with joined_machines("servers", "load") as machines:
        hub = machines["servers"]
        words = [str(word) for word in (file, hub.address, redis_server, CHECK_CASES, tmp_path / "p")]
        measuring = hub.start([sys.executable, script, "servers", *words], log, environment())
        wait_until(lambda: file.exists() or measuring.poll() is not None)
        command = [sys.executable, script, "load", *file.read_text().split()]
        sending = machines["load"].start(command, tmp_path / "load", environment())
        assert measuring.wait(PATIENCE_SECONDS) == 0, log.read_text() + (tmp_path / "load").read_text()
        assert sending.wait(PATIENCE_SECONDS) == 0, (tmp_path / "load").read_text()
    assert_measured(Measurement.model_validate_json(log.read_text().splitlines()[-1]))


def before_the_pairs(monkeypatch: pytest.MonkeyPatch, happens: Callable[[TimedSide], object]) -> None:
    """Have something happen to the head's side once both sides are up and a slice's requests are chosen."""
    run_pairs = pairing.run_pairs

    def run_after_it(
        sides: Mapping[Side, TimedSide], work: SliceWork, most: int, chance: random.Random
    ) -> dict[Side, list[Slice]]:
        happens(sides[HEAD])
        return run_pairs(sides, work, most, chance)

    monkeypatch.setattr(timed_engine, "run_pairs", run_after_it)


@pytest.mark.slow
def test_a_load_host_that_dies_is_no_failure_of_the_server(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with load_host_in_a_process(tmp_path / "log") as (host, process):
        started: list[psutil.Process] = []

        def kill(_: TimedSide) -> None:
            started.extend(load_generators(psutil.Process(process.pid)))
            process.kill()

        before_the_pairs(monkeypatch, kill)
        with pytest.raises(EnvironmentMissing, match="the load host was lost: "):
            timed(host, cases["good"], redis_server, tmp_path / "p")
        wait_until(lambda: process.poll() is not None)
    assert started
    # The kernel ends its load generators with it, a moment later.
    wait_until(lambda: not any(map(runs, started)))
    assert_nothing_runs(tmp_path)


def test_a_load_host_that_is_cancelled_ends_the_trial(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with load_host_in_a_thread() as (host, serving):
        before_the_pairs(monkeypatch, lambda _: serving.cancellation.cancel())
        with pytest.raises(EnvironmentMissing, match="the load host was lost: "):
            timed(host, cases["good"], redis_server, tmp_path / "p")
    assert [type(fault) for fault in serving.ended_by] == [Interrupted]
    assert_nothing_runs(tmp_path)


def test_the_end_of_a_cancelled_trial_ends_its_load(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancellation = Cancellation()
    with cancellation.current(), load_host_in_a_thread() as (host, serving):
        before_the_pairs(monkeypatch, lambda _: cancellation.cancel())
        with pytest.raises(Interrupted):
            timed(host, cases["good"], redis_server, tmp_path / "p")
    assert serving.ended_by == []
    assert_nothing_runs(tmp_path)


@pytest.mark.slow
def test_a_server_that_dies_is_its_own_failure(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with load_host_in_a_thread() as (host, serving):
        with monkeypatch.context() as patch:
            before_the_pairs(patch, lambda side: os.kill(side.processes[0], signal.SIGKILL))
            with pytest.raises(TrialFailed, match="the server died") as raised:
                timed(host, cases["good"], redis_server, tmp_path / "p")
        assert raised.value.side == HEAD
        # The load host is there for the next trial.
        for measurement in timed(host, cases["good"], redis_server, tmp_path / "q").values():
            assert_measured(measurement)
    assert serving.ended_by == []


def test_a_load_generator_that_dies_fails_the_trial(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill_the_load(_: TimedSide) -> None:
        for generator in load_generators(psutil.Process()):
            with contextlib.suppress(psutil.NoSuchProcess):
                generator.kill()

    with load_host_in_a_thread() as (host, _):
        before_the_pairs(monkeypatch, kill_the_load)
        with pytest.raises(TrialFailed, match="load generator"):
            timed(host, cases["good"], redis_server, tmp_path / "p")
    assert_nothing_runs(tmp_path)


# What cannot be measured so


@pytest.mark.parametrize("name", ["replicas-1", "cluster-3", "tls"])
def test_a_topology_that_the_load_host_does_not_reach_is_refused(
    name: str, cases: dict[str, Case], redis_server: Path, tmp_path: Path
) -> None:
    case = cases["good"].model_copy(update={"topology": topology_named(name)})
    place = place_with(NoLoadHost(), tmp_path / "p")
    with pytest.raises(CaseRefused, match=f"a standalone server and not the topology `{name}`"):
        list(Timed().carry_out(timed_job(case, redis_server, place), place))


def test_a_server_on_tcp_is_reached(cases: dict[str, Case], redis_server: Path, tmp_path: Path) -> None:
    case = cases["good"].model_copy(update={"topology": topology_named("tcp")})
    with load_host_in_a_thread() as (host, _):
        assert_measured(timed(host, case, redis_server, tmp_path / "p")[HEAD])


class NoLoadHost(RemoteLoadHost):
    """A load host that nobody may ask for anything."""

    def __init__(self) -> None:
        self.address = LOOPBACK


def test_other_load_tools_are_refused(cases: dict[str, Case], redis_server: Path, tmp_path: Path) -> None:
    place = place_with(NoLoadHost(), tmp_path / "p")
    job = job_of("loaded", cases["good"], redis_server, place, load_tool="memtier_benchmark")
    with pytest.raises(CaseRefused, match="a load tool runs on the machine of the server"):
        list(Loaded().carry_out(job, place))
    with pytest.raises(CaseRefused, match="and not `memtier_benchmark`"):
        list(Timed().carry_out(job, place))


def test_a_start_command_with_its_socket_is_refused(cases: dict[str, Case], redis_server: Path, tmp_path: Path) -> None:
    job = timed_job(cases["good"], redis_server, place_in(tmp_path / "p"))
    with pytest.raises(CaseRefused, match="cannot be given a port"):
        require_standalone(job, [Program(redis_server, ("--unixsocket", "{socket}"))])


def test_only_timed_trials_leave_processors_to_the_servers(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path
) -> None:
    place = place_with(NoLoadHost(), tmp_path / "p")
    job = timed_job(cases["good"], redis_server, place)
    assert place.pinning(job).client
    assert place.pinning(job, load_is_here=False).client == ()
    with_companions = job.model_copy(update={"case": cases["beside"]})
    assert place.pinning(with_companions, load_is_here=False).client


# The load host trusts nobody


@pytest.mark.parametrize(
    "word",
    [
        "--monitor-input=/etc/passwd",
        "--replica-reads",
        "--listen=SUBSCRIBE news",
        "--listen-only",
        "--tls-protocols=TLSv1.2",
        "--search=slo=p99<1ms",
    ],
)
def test_arguments_that_name_files_or_servers_are_refused(word: str) -> None:
    name, _, value = word.removeprefix("--").partition("=")
    client = read_client(["--command=PING"]).model_copy(update={"given": [("command", "PING"), (name, value or None)]})
    with pytest.raises(CaseRefused, match=f"does not accept these arguments.*`--{name}`"):
        arguments_from_here(client, 1, [0])


@pytest.mark.parametrize("name", ["serv", "server=elsewhere --x", "ur", "S", "", "out", "json-o", "key-prefix=x --uri"])
def test_names_that_are_cut_short_or_hold_more_are_refused(name: str) -> None:
    client = read_client(["--command=PING"]).model_copy(update={"given": [(name, "elsewhere")]})
    with pytest.raises(CaseRefused, match="does not accept these arguments"):
        arguments_from_here(client, 1, [0])


@pytest.mark.parametrize(
    "name", ["server", "host", "uri", "unix-socket", "port", "out-file", "json-out-file", "cacert"]
)
def test_the_lab_chooses_the_server_and_the_files(name: str) -> None:
    client = read_client(["--command=PING"]).model_copy(update={"given": [("command", "PING"), (name, "elsewhere")]})
    assert not any("elsewhere" in argument for argument in arguments_from_here(client, 1, [0]))


def test_public_clients_are_sent_from_another_machine() -> None:
    line = ["--command=SET __key__ __data__", "--key-pattern=G:G", "--data-size-range=1-10", "--pipeline", "8", "-4"]
    arguments = arguments_from_here(read_client([*line, "--server=elsewhere"]), 7, [1])
    assert read_client(arguments).sent == read_client(line).sent


def test_a_case_with_refused_arguments_is_refused_alone(
    cases: dict[str, Case], redis_server: Path, tmp_path: Path
) -> None:
    good = cases["good"]
    reading = good.client.model_copy(update={"given": [("command", "GET __key__"), ("monitor-input", "/etc/passwd")]})
    many = good.client.model_copy(update={"connections": MOST_CONNECTIONS + 1})
    with load_host_in_a_thread() as (host, serving), standing_by(redis_server, tmp_path) as server:
        for client, reason in ((reading, "`--monitor-input`"), (many, "connections at most")):
            case = good.model_copy(update={"client": client})
            with pytest.raises(CaseRefused, match=reason), host.start(case, 1, server.port):
                pytest.fail("it was started")
        with host.start(good, 1, server.port) as load:
            assert load.slice(100).requests == 100
            assert load.used_ns() == 0
    assert serving.ended_by == []


def test_a_port_that_is_not_reached_is_no_failure_of_the_server(cases: dict[str, Case]) -> None:
    with (
        bound_port(LOOPBACK) as port,
        load_host_in_a_thread() as (host, _),
        pytest.raises(EnvironmentMissing, match=f"does not reach port {port}"),
        host.start(cases["good"], 1, port),
    ):
        pytest.fail("it was started")


def test_a_load_host_runs_few_load_generators(cases: dict[str, Case], redis_server: Path, tmp_path: Path) -> None:
    with load_host_in_a_thread() as (host, _), standing_by(redis_server, tmp_path) as server, ExitStack() as stack:
        for _ in range(MOST_GENERATORS):
            stack.enter_context(host.start(cases["good"], 1, server.port))
        with pytest.raises(EnvironmentMissing, match="load generators"), host.start(cases["good"], 1, server.port):
            pytest.fail("it was started")


# The servers have no network


@dataclass(frozen=True)
class Standing:
    """A server that listens on a port of the machine."""

    server: RunningServer
    port: int


@contextlib.contextmanager
def standing_by(program: Path, directory: Path, address: str = LOOPBACK) -> Iterator[Standing]:
    own = directory / "standing"
    own.mkdir(parents=True)
    with open_port(address, packaged("libzerolap_listen.so")) as port, ExitStack() as stack:
        launched = Launch(port=port)
        server = stack.enter_context(start(Program(program), {}, own, directory / "standing.log", launched))
        server.require_reply_on(port)
        yield Standing(server, port.number)


@pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")
def test_a_server_is_reached_and_reaches_nothing(redis_server: Path, tmp_path: Path) -> None:
    with standing_by(redis_server, tmp_path) as standing, socket.create_server((LOOPBACK, 0)) as canary:
        process = standing.server.process
        assert os.readlink(f"/proc/{process}/ns/net") != os.readlink("/proc/self/ns/net")
        interfaces = Path(f"/proc/{process}/net/dev").read_text().splitlines()[2:]
        assert [line.split(":")[0].strip() for line in interfaces] == ["lo"]
        with redis.Redis(LOOPBACK, standing.port) as client:
            client.set("key", "value")
            with pytest.raises(redis.ResponseError, match="IOERR"):
                client.migrate(LOOPBACK, canary.getsockname()[1], "key", 0, 1000)
        canary.setblocking(False)
        with pytest.raises(BlockingIOError):
            canary.accept()


def test_a_server_is_reached_over_ipv6(redis_server: Path, tmp_path: Path) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as missing:
        pytest.skip(f"no IPv6: {missing}")
    with standing_by(redis_server, tmp_path, "::1") as standing, redis.Redis("::1", standing.port) as client:
        assert client.ping()


def test_an_address_of_another_machine_is_not_listened_on() -> None:
    with (
        pytest.raises(EnvironmentMissing, match=r"cannot listen on the address `192\.0\.2\.1`"),
        open_port("192.0.2.1", packaged("libzerolap_listen.so")),
    ):
        pytest.fail("it listens")


@pytest.mark.slow
def test_a_static_program_is_known(compiler: None, tmp_path: Path) -> None:
    source = ToySource(tmp_path / "toy")
    program = compile_toy(source.path)
    with standing_by(program, tmp_path / "dynamic"):
        pass
    linked = subprocess.run(
        ["make", "-C", program.parent, "-B", "CC=cc -static"], capture_output=True, text=True, check=False
    )
    if linked.returncode != 0:
        pytest.skip(f"nothing is linked statically here: {linked.stderr[-200:]}")
    with pytest.raises(TrialFailed, match="as if linked statically"), standing_by(program, tmp_path / "static"):
        pytest.fail("it answers")


BINDS = """
import fcntl, os, socket, sys
port, inherited = int(os.environ["ZEROLAP_LISTEN_PORT"]), int(os.environ["ZEROLAP_LISTEN_DESCRIPTOR"])
def is_inherited(s):
    return os.fstat(s.fileno()).st_ino == os.fstat(inherited).st_ino
def flags(s):
    closes = bool(fcntl.fcntl(s, fcntl.F_GETFD) & fcntl.FD_CLOEXEC)
    return closes, bool(fcntl.fcntl(s, fcntl.F_GETFL) & os.O_NONBLOCK)
addresses = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0")]
# There are machines without IPv6.
addresses += [(socket.AF_INET6, "::")] if socket.has_dualstack_ipv6() else []
for family, address in addresses:
    for closes in (True, False):
        for waits in (True, False):
            s = socket.socket(family)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.set_inheritable(not closes)
            s.setblocking(waits)
            before = flags(s)
            s.bind((address, port))
            assert is_inherited(s) and flags(s) == before == (closes, not waits), (flags(s), before)
            s.listen(5)
assert fcntl.fcntl(inherited, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
other = socket.socket()
other.bind(("127.0.0.1", 0))
assert not is_inherited(other) and other.getsockname()[1] != port
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(("127.0.0.1", port))
assert not is_inherited(datagrams)
local = socket.socket(socket.AF_UNIX)
local.bind(sys.argv[1])
assert not is_inherited(local)
try:
    other.bind(("192.0.2.1", 1))
except OSError as fault:
    print(fault.errno)
"""


def test_the_library_replaces_only_the_sockets_of_the_port(tmp_path: Path) -> None:
    with open_port(LOOPBACK, packaged("libzerolap_listen.so")) as port:
        done = subprocess.run(
            [sys.executable, "-c", BINDS, tmp_path / "socket"],
            env={**os.environ, **port.environment},
            pass_fds=[port.descriptor],
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (0, f"{errno.EADDRNOTAVAIL}\n"), done.stderr


def test_the_library_does_nothing_where_nothing_is_inherited(tmp_path: Path) -> None:
    code = "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1] > 0)"
    variables = {**os.environ, "LD_PRELOAD": str(packaged("libzerolap_listen.so"))}
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
