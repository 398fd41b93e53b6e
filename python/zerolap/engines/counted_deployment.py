"""A deployment whose first primary runs under callgrind, with clock and randomness from the trial."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from zerolap.build import Program
from zerolap.engines.pin import Pin, PinRequest
from zerolap.load import Target, by_socket, packaged
from zerolap.records import CaseRefused, Check, ServerSpec, Topology, TrialFailed
from zerolap.sandbox import socket_path
from zerolap.server import Deployment, Launch, deploy, is_asleep, number_in

CALLGRIND = (
    "valgrind",
    "--quiet",
    "--tool=callgrind",
    "--collect-systime=yes",
    "--dump-line=yes",
    "--dump-instr=yes",
    "--vgdb=no",
    # Else a thread that never waits keeps all others from their turn.
    "--fair-sched=try",
)


@dataclass(frozen=True)
class Instrumented:
    """The program that a server runs under, with its options, and the option that names the file that it writes."""

    prefix: Sequence[str]
    file_option: str


COUNTING = Instrumented(CALLGRIND, "--callgrind-out-file")

DEBUG_UNREADABLE = "unhandled dwarf2 abbrev form code"
"""What valgrind prints before it gives up."""
# `rep movsb` counts once a byte under valgrind, which no processor does; these keep the C library off it.
GLIBC_TUNABLES = ":".join(
    f"glibc.cpu.x86_{name}={1 << 40}"
    for name in ("rep_movsb_threshold", "rep_stosb_threshold", "non_temporal_threshold")
)
# Its clock leaps while it waits for others, which must not take them for gone.
PATIENT_SETTINGS = {"repl-timeout": "1000000"}
# The first may be handled together with the end of a connection, which is cleaned up after it.
BARRIER_PINGS = 3
LEAP_SECONDS = 0.05
ANSWER_SECONDS = 1.0
RESTLESS_SECONDS = 5.0
REST_POLL_SECONDS = 0.005


@dataclass(frozen=True)
class CountedDeployment:
    """The counted server with its page and dumps, and what else is deployed with it."""

    deployment: Deployment
    target: Target
    pin: Pin
    dumps: Path
    program_in_dumps: str

    def at_rest(self, request: PinRequest) -> None:
        """Have the counted server carry out a request between the requests of others, once it has handled all of them.

        Connections that ended are seen by then; else it would depend on the machine what is instrumented.
        """
        server = self.target.server
        for _ in range(BARRIER_PINGS):
            server.command("PING")
        self.pin.carry_out(request, lambda: server.command("PING"), lambda: server.alive)

    def _require_rest(self) -> None:
        """Raise `CaseRefused` if a thread of the idle server never waits: its work would be counted too."""
        process = self.deployment.nodes[0].process
        end = time.monotonic() + RESTLESS_SECONDS
        while not is_asleep(process):
            if time.monotonic() > end:
                raise CaseRefused("a thread of the server never waits, so that the cost of requests cannot be counted")
            time.sleep(REST_POLL_SECONDS)

    def attach_replicas(self) -> None:
        """Let the replicas copy the counted server, which has to rest then.

        Raises `TrialFailed` as the deployment does, `CaseRefused` where the server never rests.
        """
        if self.deployment.replicas:
            with _leaping(lambda: self.pin, self.target.server.socket):
                self.deployment.attach_replicas()
        self._require_rest()

    def replica_checks(self) -> list[Check]:
        """Return whether all replicas are still attached; nothing where there are none."""
        expected = len(self.deployment.replicas)
        if not expected:
            return []
        attached = number_in(self.target.server.info("replication"), "connected_slaves")
        return [Check(check="replicas", ok=attached == expected, value=str(attached), limit=f"= {expected}")]


def counted_topology(topology: Topology) -> Topology:
    """Return what is deployed for counting: of a cluster one node, which has all slots.

    What a request costs a node does not depend on the others; what nodes send to each other depends on time.
    """
    if not topology.is_cluster:
        return topology
    return topology.model_copy(update={"primaries": 1, "replicas": 0})


@contextlib.contextmanager
def deploy_counted(
    spec: ServerSpec,
    program: Program,
    directory: Path,
    seed: int,
    *,
    instrument_start: bool = False,
    tool: Instrumented = COUNTING,
) -> Iterator[CountedDeployment]:
    """Deploy a server's topology for counting below `directory`, its replicas not yet attached.

    All ends with the context. With `instrument_start` the counted server is instrumented from the beginning. `tool` is
    what it runs under.

    Raises `TrialFailed` with the node's name and log.
    """
    topology, settings = spec.topology, spec.settings
    library = packaged("libzerolap_pin.so")
    with contextlib.ExitStack() as stack:
        pins: list[Pin] = []
        # What the server can write to is one directory; what the lab writes by name lies outside of it.
        reachable = directory / "server"

        def node_launch(index: int, own: Path) -> Launch:
            if index:
                return Launch()
            pins.append(stack.enter_context(Pin(own, seed)))
            environment = pins[-1].environment(library) | {"GLIBC_TUNABLES": GLIBC_TUNABLES}
            at_start = [f"--instr-atstart={'yes' if instrument_start else 'no'}"] if tool is COUNTING else []
            prefix = [*tool.prefix, *at_start, f"{tool.file_option}={own / 'callgrind'}"]
            return Launch(prefix=prefix, environment=environment, read_only=[library])

        deployed = deploy(
            counted_topology(topology),
            program,
            PATIENT_SETTINGS | settings if topology.replicas else settings,
            reachable,
            logs=directory,
            node_launch=node_launch,
            attach_replicas=False,
        )
        if topology.is_cluster:
            # It takes writes only two seconds of its clock after it has all slots.
            with _leaping(lambda: pins[-1] if pins else None, socket_path(reachable / "primary-1")):
                deployment = _entered(stack, deployed)
        else:
            deployment = _entered(stack, deployed)
        first = deployment.nodes[0]
        reach = by_socket(first.server.socket, first.server.load_login) if topology.is_cluster else deployment.reach
        # Copied to where it starts, unless it may look for files beside itself.
        started = program.path.resolve() if program.arguments else first.directory.resolve() / "server"
        dumps = first.directory / "callgrind"
        yield CountedDeployment(deployment, Target([first.server], reach), pins[-1], dumps, str(started))


def _entered(stack: contextlib.ExitStack, deployed: contextlib.AbstractContextManager[Deployment]) -> Deployment:
    try:
        return stack.enter_context(deployed)
    except TrialFailed as fault:
        if DEBUG_UNREADABLE not in fault.details:
            raise
        hint = "build it with -gdwarf-4, as `--variant clang` does, or strip it: objcopy --strip-debug"
        message = "valgrind cannot read the program's debug information"
        raise TrialFailed(message, hint=hint, details=fault.details) from fault


@contextlib.contextmanager
def _leaping(pin_of: Callable[[], Pin | None], path: Path) -> Iterator[None]:
    """Let the server's clock leap again and again: its timers fire, which no wait of its own brings about."""
    ended = threading.Event()
    leaper = threading.Thread(target=_leap_until, args=(ended, pin_of, path), daemon=True)
    leaper.start()
    try:
        yield
    finally:
        ended.set()
        leaper.join()


def _leap_until(ended: threading.Event, pin_of: Callable[[], Pin | None], path: Path) -> None:
    while not ended.wait(LEAP_SECONDS):
        pin = pin_of()
        if pin is None or not path.exists():
            continue
        # Whoever waits for the server finds out by itself that it is gone, and why.
        with contextlib.suppress(OSError, TrialFailed), socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(ANSWER_SECONDS)
            connection.connect(str(path))

            def wake_up(connection: socket.socket = connection) -> None:
                connection.sendall(b"PING\r\n")
                connection.recv(64)

            pin.carry_out(PinRequest.LEAP, wake_up, lambda: not ended.is_set())
