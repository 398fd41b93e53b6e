"""One server of a trial, as all engines set it up: started on its processors, filled, with the case's companions."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zerolap.build import Program
from zerolap.host import Pinning
from zerolap.load import (
    Companions,
    Instrument,
    Target,
    companions,
    idle_connections,
    packaged,
    prepare,
    warm_up,
)
from zerolap.records import Case, Check, Client, ServerSpec, Topology
from zerolap.server import Deployment, Launch, MachinePort, deploy, named_death, open_port


@dataclass(frozen=True)
class ServerTrial:
    """One server and the case that it is measured with; logs lie in `directory`, which is empty.

    All randomness of the trial comes from `seed`.
    """

    program: Program
    server: ServerSpec
    case: Case
    seed: int
    directory: Path

    @property
    def load_log(self) -> Path:
        """The file for what load generators write."""
        return self.directory / "load.log"


@dataclass(frozen=True)
class PinnedTrial(ServerTrial):
    """A trial whose server and clients have processors of their own.

    `environment` are variables of its servers, `read_only` further paths that these can read.
    """

    pinning: Pinning
    environment: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    read_only: Sequence[Path] = field(default=(), kw_only=True)


@dataclass(frozen=True)
class FilledData:
    """What was found in the keyspace after it was filled, and the clients that run beside the measured one."""

    checks: list[Check]
    beside: Companions


@contextlib.contextmanager
def deployed(trial: PinnedTrial, topology: Topology, port: MachinePort | None = None) -> Iterator[Deployment]:
    """Start the servers of a topology on the trial's processors, the replicas not yet attached.

    What servers may write to lies in the directory `server` of the trial. Raises `TrialFailed` with the node's log.
    """
    logs = trial.directory / "logs"
    logs.mkdir()
    processors = ",".join(map(str, trial.pinning.server))
    launched = Launch(["taskset", "--cpu-list", processors], trial.environment, trial.read_only, port=port)
    with deploy(
        topology,
        trial.program,
        trial.server.settings,
        trial.directory / "server",
        logs=logs,
        node_launch=lambda _index, _directory: launched,
        attach_replicas=False,
    ) as deployment:
        yield deployment


@contextlib.contextmanager
def deployed_at(trial: PinnedTrial, address: str) -> Iterator[tuple[Deployment, MachinePort]]:
    """Start a standalone server that other machines reach at an IP address of this one, as `deployed`."""
    with contextlib.ExitStack() as stack:
        with contextlib.ExitStack() as listening:
            port = listening.enter_context(open_port(address, packaged("libzerolap_listen.so")))
            # Its load comes by TCP in any case; the lab itself uses the unix socket.
            topology = trial.server.topology.model_copy(update={"transport": "unix"})
            deployment = stack.enter_context(deployed(trial, topology, port))
        deployment.nodes[0].server.require_reply_on(port)
        yield deployment, port


@contextlib.contextmanager
def filled(
    trial: ServerTrial,
    deployment: Deployment,
    target: Target,
    *,
    processors: Sequence[int] = (),
    clients: Sequence[Client] | None = None,
    instrument: Instrument | None = None,
    attach_replicas: Callable[[], object] | None = None,
) -> Iterator[FilledData]:
    """Fill the servers, attach their replicas, and start companions on `processors`: by default all of the case.

    Raises `TrialFailed` with the server's log where one died. An `instrument` is on when filling begins and off when it
    ends.
    """
    with contextlib.ExitStack() as stack:
        with named_death(*(node.server for node in deployment.nodes)):
            checks = prepare(target, trial.case, trial.seed, trial.load_log, instrument)
            (attach_replicas or deployment.attach_replicas)()
            chosen = trial.case.companions if clients is None else clients
            beside = stack.enter_context(companions(target.server, chosen, trial.seed, trial.load_log, processors))
            if trial.case.regime is not None:
                stack.enter_context(idle_connections(target.server, trial.case.regime.idle_connections))
                warm_up(target, trial.case, trial.case.regime, trial.seed, trial.load_log)
        yield FilledData(checks, beside)
