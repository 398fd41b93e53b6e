"""One side for the engines that watch a server at full speed: started, filled, pinned, with its load generator."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from zerolap.cases import Case
from zerolap.engines.companions import companions
from zerolap.engines.dataset import prepare
from zerolap.engines.load import load_program, timed_arguments
from zerolap.engines.slices import TimedSide
from zerolap.engines.statistics import StatisticsReader
from zerolap.host import Pinning
from zerolap.records import Check, TrialFailed
from zerolap.server import find_server, start


@dataclass(frozen=True)
class ServerProgram:
    """A program with the settings that it is started with."""

    program: Path
    settings: Mapping[str, str]


@dataclass(frozen=True)
class SideSetup:
    """What a side needs; logs lie in `directory`, what the server may write to in the one called `name` below it."""

    server: ServerProgram
    case: Case
    seed: int
    directory: Path
    pinning: Pinning
    name: str


def set_up(stack: contextlib.ExitStack, setup: SideSetup) -> tuple[TimedSide, list[Check]]:
    """Start and fill a server, connect a load generator to it; both end with `stack`.

    Returns the checks of the keyspace too. Raises `TrialFailed` with the server's log.
    """
    directory = setup.directory / setup.name
    directory.mkdir()
    log, load_log = setup.directory / f"{setup.name}.log", setup.directory / f"{setup.name}-load.log"
    processors = ",".join(str(processor) for processor in setup.pinning.server)
    server = stack.enter_context(
        start(
            setup.server.program,
            {**setup.case.config, **setup.server.settings},
            directory,
            log=log,
            prefix=["taskset", "--cpu-list", processors],
        )
    )

    def refill() -> None:
        server.command("FLUSHALL")
        prepare(server, setup.case, setup.seed, load_log)

    try:
        checks = prepare(server, setup.case, setup.seed, load_log)
        stack.enter_context(companions(server, setup.case, setup.seed, load_log))
        arguments = timed_arguments(setup.case, setup.seed, setup.pinning.client)
        load = stack.enter_context(load_program(server.socket, load_log, arguments))
        statistics = StatisticsReader(server.socket, setup.case.verbs)
        stack.callback(statistics.close)
    except TrialFailed as fault:
        raise server.failure(fault.message) if server.died() else fault from fault
    process = find_server(server.launched, str(directory / "server"))
    return TimedSide(server, process, load, statistics, setup.case, refill), checks
