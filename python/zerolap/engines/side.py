"""One side for the engines that watch a server at full speed: started, filled, pinned, with its load generator."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from zerolap.build import Program
from zerolap.engines.slices import TimedSide
from zerolap.host import Pinning
from zerolap.load.companions import companions
from zerolap.load.filling import prepare
from zerolap.load.hosts import LoadGenerator, LoadHost
from zerolap.load.program import load_program, packaged, timed_arguments
from zerolap.load.target import Target
from zerolap.records import Case, Check, ServerSpec
from zerolap.server import Deployment, Launch, MachinePort, deploy, named_death, open_port
from zerolap.server.statistics import SummedStatistics


@dataclass(frozen=True)
class SideSetup:
    """What a side needs; logs lie in `directory`, what the server may write to in the one called `name` below it.

    The load comes from `load_host`, or from this machine without one.
    """

    server: ServerSpec
    program: Program
    case: Case
    seed: int
    directory: Path
    pinning: Pinning
    name: str
    load_host: LoadHost | None = None


def set_up(stack: contextlib.ExitStack, setup: SideSetup) -> tuple[TimedSide, list[Check]]:
    """Start and fill a server, connect a load generator to it; both end with `stack`.

    Returns the checks of the keyspace too. Raises `TrialFailed` with the server's log.
    """
    logs, load_log = setup.directory / f"{setup.name}-logs", setup.directory / f"{setup.name}-load.log"
    logs.mkdir()
    deployment, port = _deployed(stack, setup, logs)
    target = Target.of(deployment)
    server = target.server

    def refill() -> None:
        target.remove_keys()
        prepare(target, setup.case, setup.seed, load_log)
        deployment.wait_for_replicas()

    with named_death(*(node.server for node in deployment.nodes)):
        checks = prepare(target, setup.case, setup.seed, load_log)
        deployment.attach_replicas()
        beside = stack.enter_context(
            companions(server, setup.case.companions, setup.seed, load_log, setup.pinning.client)
        )
        load = stack.enter_context(_load(setup, target, port, load_log))
        statistics = SummedStatistics([one.socket for one in target.primaries], setup.case.verbs)
        stack.callback(statistics.close)
    processes = [node.process for node in deployment.nodes]
    servers = [node.server for node in deployment.nodes]
    return TimedSide(servers, processes, load, statistics, beside, setup.case, refill), checks


def _deployed(stack: contextlib.ExitStack, setup: SideSetup, logs: Path) -> tuple[Deployment, MachinePort | None]:
    """Start a side's servers, which end with `stack`: with a load host, one that other machines reach."""
    processors = ",".join(str(processor) for processor in setup.pinning.server)
    with contextlib.ExitStack() as listening:
        port, topology = None, setup.server.topology
        if setup.load_host is not None:
            library = packaged("libzerolap_listen.so")
            port = listening.enter_context(open_port(setup.load_host.address, library))
            # Its load comes by TCP in any case; the lab itself uses the unix socket.
            topology = topology.model_copy(update={"transport": "unix"})
        launched = Launch(prefix=["taskset", "--cpu-list", processors], port=port)
        deployment = stack.enter_context(
            deploy(
                topology,
                setup.program,
                setup.server.settings,
                setup.directory / setup.name,
                logs=logs,
                node_launch=lambda _index, _directory: launched,
                attach_replicas=False,
            )
        )
    if port is not None:
        deployment.nodes[0].server.require_answer_on(port)
    return deployment, port


def _load(
    setup: SideSetup, target: Target, port: MachinePort | None, log: Path
) -> contextlib.AbstractContextManager[LoadGenerator]:
    """Return the load generator of a side, to be entered."""
    if setup.load_host is not None and port is not None:
        return setup.load_host.start(setup.case, setup.seed, port.number)
    arguments = timed_arguments(setup.case.client, setup.seed, setup.pinning.client)
    return load_program(target.reach, log, arguments)
