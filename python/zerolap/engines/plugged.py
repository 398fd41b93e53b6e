"""What an engine of another distribution gets and gives; `docs/extending.md` builds one."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from zerolap.build import Program
from zerolap.engines.companions import companions
from zerolap.engines.dataset import prepare
from zerolap.engines.target import Target, by_socket
from zerolap.host import Pinning
from zerolap.records import Case, Check, Measurement, TrialFailed
from zerolap.server import RunningServer, start


@dataclass(frozen=True)
class EngineTrial:
    """What one trial needs: a server's program with its settings, a case, a seed, an empty directory, processors."""

    program: Program
    settings: Mapping[str, str]
    case: Case
    seed: int
    directory: Path
    pinning: Pinning


@runtime_checkable
class Engine(Protocol):
    """Measures a case by one process start of a server; its name is that of its entry point."""

    def missing(self) -> str | None:
        """Return why it cannot measure on this machine, or none."""

    def measure(self, trial: EngineTrial) -> Measurement:
        """Carry out a trial; raises `TrialFailed`, or `CaseRefused` for a case that it cannot measure."""


@dataclass(frozen=True)
class FilledServer:
    """A server that holds a case's data: the lab's connection to it, the checks of what it holds."""

    server: RunningServer
    checks: list[Check]


@contextlib.contextmanager
def filled_server(trial: EngineTrial) -> Iterator[FilledServer]:
    """Start the trial's server on its processors, fill it, and stop it at the end of the context.

    Raises `TrialFailed` with the end of the server's log.
    """
    directory, case = trial.directory / "server", trial.case
    directory.mkdir()
    topology = case.deployed_as
    if topology.needs_network:
        raise TrialFailed(f"the topology `{topology.name}` cannot be measured by this engine")
    processors = ",".join(map(str, trial.pinning.server))
    log, load_log = trial.directory / "server.log", trial.directory / "filling.log"
    settings, prefix = {**case.config, **trial.settings, **topology.settings}, ["taskset", "--cpu-list", processors]
    with start(trial.program, settings, directory, log=log, prefix=prefix) as server:
        try:
            checks = prepare(Target([server], by_socket(server.socket)), case, trial.seed, load_log)
            with companions(server, case.companions, trial.seed, load_log, trial.pinning.client) as beside:
                yield FilledServer(server, checks)
                beside.require_running()
        except TrialFailed as fault:
            raise server.failure(fault.message) if not server.alive else fault from fault
