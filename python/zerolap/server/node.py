"""One server of a deployment: its position in the topology, its ports, its start."""

import contextlib
import re
import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from zerolap.build import Program
from zerolap.records import Topology, TrialFailed
from zerolap.resp_frames import Reply
from zerolap.sandbox import Network, remove
from zerolap.server import ports
from zerolap.server.running_server import Launch, RunningServer, start
from zerolap.server.server_login import own_login

if TYPE_CHECKING:
    from zerolap.server.trial_certificates import Certificates

POLL_SECONDS = 0.02
PORT_TRIES = 5
PORT_TAKEN = "Address already in use"
# Reported as an unknown setting, or since Redis 7.2 and Valkey as an unknown connection type.
TLS_UNKNOWN = re.compile(r"^>>> 'tls-|Failed finding TLS support", re.MULTILINE)

CLUSTER_SETTINGS = {"cluster-enabled": "yes", "cluster-config-file": "nodes.conf", "cluster-announce-ip": ports.ADDRESS}

Role: TypeAlias = Literal["primary", "replica"]
NodeLaunch: TypeAlias = Callable[[int, Path], Launch]
"""How to launch a node, by index and directory: each may have its own processors and output files.

The deployment sets the launch's `network` and `servers`.
"""


@dataclass(frozen=True)
class NodePosition:
    """A node's position in its topology; `primary` is the index of its primary, or its own."""

    index: int
    role: Role
    primary: int
    name: str


@dataclass(frozen=True)
class DeploymentPlan:
    """What all nodes of a deployment share; `network` is None if unix sockets suffice."""

    topology: Topology
    program: Program
    settings: Mapping[str, str]
    directory: Path
    logs: Path
    node_launch: NodeLaunch
    network: Network | None


@dataclass(frozen=True)
class Node:
    """A running server of a deployment.

    The lab sends commands over its unix socket; `port` is for load, replication and the cluster, `tls_port` for
    encrypted load.
    """

    position: NodePosition
    server: RunningServer
    directory: Path
    port: int | None = None
    tls_port: int | None = None
    certificates: "Certificates | None" = None

    @property
    def name(self) -> str:
        """Its name in errors, and that of its directory and log: `primary-1`, `replica-2`."""
        return self.position.name

    @property
    def role(self) -> Role:
        """Whether the node is a primary or a replica."""
        return self.position.role

    @property
    def process(self) -> int:
        """The process id of the server itself, below sandbox and prefix; raises `TrialFailed` if it is gone."""
        return self.server.process

    def command(self, *arguments: str | bytes) -> Reply:
        """Send a command and return its reply; raises `TrialFailed`, with the node's name, as the server does."""
        try:
            return self.server.command(*arguments)
        except TrialFailed as fault:
            raise fault.of(self.name) from fault


def positions_of(topology: Topology) -> list[NodePosition]:
    """Return the positions of a topology: the primaries, then the replicas, assigned to the primaries in turn."""
    positions = [NodePosition(index, "primary", index, f"primary-{index + 1}") for index in range(topology.primaries)]
    for number in range(topology.primaries * topology.replicas):
        position = NodePosition(len(positions), "replica", number % topology.primaries, f"replica-{number + 1}")
        positions.append(position)
    return positions


def enter_node(stack: contextlib.ExitStack, plan: DeploymentPlan, position: NodePosition) -> Node:
    """Start a node, which ends with `stack`; if another process takes its port meanwhile, try another port.

    Raises `TrialFailed` with the node's name and the end of its log.
    """
    attempt = 1
    while True:
        try:
            return _try_node(stack, plan, position)
        except TrialFailed as fault:
            taken = plan.topology.needs_network and PORT_TAKEN in fault.details
            if not taken or attempt == PORT_TRIES:
                raise _explained(fault).of(position.name) from fault
        remove(plan.directory / position.name)
        _log(plan, position).unlink()
        attempt += 1


def _log(plan: DeploymentPlan, position: NodePosition) -> Path:
    return plan.logs / f"{position.name}.log"


def _try_node(stack: contextlib.ExitStack, plan: DeploymentPlan, position: NodePosition) -> Node:
    topology, directory = plan.topology, plan.directory / position.name
    directory.mkdir(parents=True)
    takes_tls = topology.transport == "tls" and position.role == "primary"
    listens = topology.transport == "tcp" or topology.is_cluster or topology.replicas > 0
    port = ports.free_port(with_bus=topology.is_cluster) if listens else None
    tls_port = ports.free_port() if takes_tls else None
    certificates = _made_certificates(directory) if takes_tls else None
    settings = _own_settings(topology, plan) | dict(plan.settings) | topology.settings
    if topology.needs_network:
        settings |= {"bind": ports.ADDRESS, "port": str(port or 0)}
    if topology.is_cluster:
        settings |= CLUSTER_SETTINGS
    if certificates is not None:
        settings |= {
            "tls-port": str(tls_port),
            "tls-cert-file": str(certificates.certificate),
            "tls-key-file": str(certificates.key),
            "tls-ca-cert-file": str(certificates.authority),
            "tls-auth-clients": "no",
        }
    launched = replace(plan.node_launch(position.index, directory), network=plan.network, servers=topology.nodes)
    started = start(plan.program, settings, directory, _log(plan, position), launched)
    return Node(position, stack.enter_context(started), directory, port, tls_port, certificates)


def _made_certificates(directory: Path) -> "Certificates":
    # The library takes a while to import, which no other topology needs.
    from zerolap.server.trial_certificates import make_certificates

    return make_certificates(directory)


def _own_settings(topology: Topology, plan: DeploymentPlan) -> dict[str, str]:
    """Return the lab's own settings, which the case and the user may override."""
    settings: dict[str, str] = {}
    if topology.replicas:
        # Replicas attach before the load begins, not five seconds into it.
        settings["repl-diskless-sync-delay"] = "0"
        if (login := own_login(plan.settings)) is not None:
            settings["masterauth"] = shlex.quote(login.password)
    if topology.is_cluster:
        # A node that is stopped while the other side is measured, or slow under an instrument, has not failed.
        settings |= {"cluster-node-timeout": "60000", "cluster-replica-no-failover": "yes"}
    return settings


def _explained(fault: TrialFailed) -> TrialFailed:
    if TLS_UNKNOWN.search(fault.details):
        hint = "build the server with BUILD_TLS=yes, or choose another topology"
        return TrialFailed("the server was built without TLS", hint=hint, details=fault.details)
    return fault


def wait_until(lacking: Callable[[], tuple[Node, str] | None], seconds: float) -> None:
    """Wait until `lacking` returns None.

    Raises `TrialFailed` after `seconds`, with the node, what it lacks and the end of its log.
    """
    end = time.monotonic() + seconds
    while (lacking_node := lacking()) is not None:
        if time.monotonic() > end:
            node, lack = lacking_node
            raise node.server.failure(f"{lack} after {seconds:g} s").of(node.name)
        time.sleep(POLL_SECONDS)
