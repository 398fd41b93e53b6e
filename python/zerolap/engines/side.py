"""One side for the engines that watch a server at full speed: started, filled, pinned, with its load generator."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from zerolap.build import Program
from zerolap.engines.slices import TimedSide
from zerolap.host import Pinning
from zerolap.load.companions import companions
from zerolap.load.filling import prepare
from zerolap.load.program import load_program, timed_arguments
from zerolap.load.target import Target
from zerolap.records import Case, Check, ServerSpec, TrialFailed
from zerolap.server import Launch, deploy
from zerolap.server.statistics import SummedStatistics


@dataclass(frozen=True)
class SideSetup:
    """What a side needs; logs lie in `directory`, what the server may write to in the one called `name` below it."""

    server: ServerSpec
    program: Program
    case: Case
    seed: int
    directory: Path
    pinning: Pinning
    name: str


def set_up(stack: contextlib.ExitStack, setup: SideSetup) -> tuple[TimedSide, list[Check]]:
    """Start and fill a server, connect a load generator to it; both end with `stack`.

    Returns the checks of the keyspace too. Raises `TrialFailed` with the server's log.
    """
    logs, load_log = setup.directory / f"{setup.name}-logs", setup.directory / f"{setup.name}-load.log"
    logs.mkdir()
    processors = ",".join(str(processor) for processor in setup.pinning.server)
    deployment = stack.enter_context(
        deploy(
            setup.server.topology,
            setup.program,
            setup.server.settings,
            setup.directory / setup.name,
            logs=logs,
            node_launch=lambda _index, _directory: Launch(prefix=["taskset", "--cpu-list", processors]),
            attach_replicas=False,
        )
    )
    target = Target.of(deployment)
    server = target.server

    def refill() -> None:
        target.remove_keys()
        prepare(target, setup.case, setup.seed, load_log)
        deployment.wait_for_replicas()

    try:
        checks = prepare(target, setup.case, setup.seed, load_log)
        deployment.attach_replicas()
        beside = stack.enter_context(
            companions(server, setup.case.companions, setup.seed, load_log, setup.pinning.client)
        )
        arguments = timed_arguments(setup.case, setup.seed, setup.pinning.client)
        load = stack.enter_context(load_program(target.reach, load_log, arguments))
        statistics = SummedStatistics([one.socket for one in target.primaries], setup.case.verbs)
        stack.callback(statistics.close)
    except TrialFailed as fault:
        raise server.failure(fault.message) if server.died() else fault from fault
    processes = [node.process for node in deployment.nodes]
    return TimedSide(server, processes, load, statistics, beside, setup.case, refill), checks
