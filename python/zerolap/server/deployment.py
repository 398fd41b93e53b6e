"""A build deployed in a topology: all servers started, connected and ready; stopped at the end in any case."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from zerolap.build import Program
from zerolap.records import Topology
from zerolap.sandbox import Network, private_network
from zerolap.server.cluster import attach_in_cluster, form_cluster
from zerolap.server.node import DeploymentPlan, Node, NodeLaunch, enter_node, positions_of
from zerolap.server.ports import ADDRESS
from zerolap.server.replication import attach, wait_for_replicas
from zerolap.server.running_server import Launch


@dataclass(frozen=True)
class Reach:
    """How a load generator reaches servers: memtier_benchmark's arguments, and the network to enter, if any."""

    arguments: Sequence[str]
    network: Network | None = None


class Deployment:
    """Running servers that belong together; `nodes` are the primaries, then the replicas."""

    def __init__(self, topology: Topology, nodes: Sequence[Node], network: Network | None = None) -> None:
        self.topology = topology
        self.nodes = list(nodes)
        self.network = network

    @property
    def primaries(self) -> list[Node]:
        """The nodes that take writes."""
        return [node for node in self.nodes if node.role == "primary"]

    @property
    def replicas(self) -> list[Node]:
        """The nodes that copy a primary, or will once they are attached."""
        return [node for node in self.nodes if node.role == "replica"]

    @property
    def reach(self) -> Reach:
        """How a load generator reaches the deployment."""
        return Reach(self._load_arguments(), self.network)

    def _load_arguments(self) -> list[str]:
        first = self.nodes[0]
        logs_in = [] if first.server.load_login is None else first.server.load_login.load_arguments
        if self.topology.transport == "unix":
            return ["--unix-socket", str(first.server.socket), *logs_in]
        if first.certificates is not None:
            authority = str(first.certificates.authority)
            return ["--server", ADDRESS, "--port", str(first.tls_port), "--tls", "--cacert", authority, *logs_in]
        arguments = ["--server", ADDRESS, "--port", str(first.port), *logs_in]
        return [*arguments, "--cluster-mode"] if self.topology.is_cluster else arguments

    def attach_replicas(self) -> None:
        """Make the replicas copy their primaries, and wait until they have the same data.

        Raises `TrialFailed` with the node and what it lacks.
        """
        if not self.replicas:
            return
        if self.topology.is_cluster:
            attach_in_cluster(self.nodes)
        else:
            attach(self.nodes)
        self.wait_for_replicas()

    def wait_for_replicas(self) -> None:
        """Wait until the attached replicas have all earlier writes.

        Raises `TrialFailed` with the node and what it lacks.
        """
        wait_for_replicas(self.nodes)


@contextlib.contextmanager
def deploy(
    topology: Topology,
    program: Program,
    settings: Mapping[str, str],
    directory: Path,
    *,
    logs: Path,
    node_launch: NodeLaunch = lambda _index, _directory: Launch(),
    attach_replicas: bool = True,
) -> Iterator[Deployment]:
    """Start all servers of a topology, each in its own directory below `directory`; stop them at the context's end.

    The topology's settings override `settings`: its name stands for them. If the topology needs a network, the servers
    get a private one, subject to the program's policy. Without `attach_replicas` the replicas stay empty until
    `Deployment.attach_replicas` is called, so that the primaries can be filled first.

    Raises `TrialFailed` with the node, what it lacks and the end of its log, and `EnvironmentMissing` if ports or a
    network are not available.
    """
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(private_network(program.policy)) if topology.needs_network else None
        plan = DeploymentPlan(topology, program, settings, directory, logs, node_launch, network)
        nodes = [enter_node(stack, plan, position) for position in positions_of(topology)]
        deployment = Deployment(topology, nodes, network)
        if topology.is_cluster:
            form_cluster(deployment.nodes)
        if attach_replicas:
            deployment.attach_replicas()
        yield deployment
