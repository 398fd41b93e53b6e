"""Attaches replicas to their primaries, and waits until they have the same data."""

from collections.abc import Mapping, Sequence

from zerolap.server.connection import info_fields, number_in, parts_of
from zerolap.server.node import Node, wait_until
from zerolap.server.ports import ADDRESS

REPLICATION_SECONDS = 300
"""A first synchronisation copies the whole data set."""


def attach(nodes: Sequence[Node]) -> None:
    """Make replicas copy their primaries; `wait_for_replicas` waits until they have the data."""
    for replica in (node for node in nodes if node.role == "replica"):
        replica.command("REPLICAOF", ADDRESS, str(nodes[replica.position.primary].port))


def wait_for_replicas(nodes: Sequence[Node]) -> None:
    """Wait until every replica is linked, known to its primary, and has all that was written before the call.

    Raises `TrialFailed` with the node and what it lacks.
    """
    wait_until(lambda: _lacking(nodes), REPLICATION_SECONDS)


def _lacking(nodes: Sequence[Node]) -> tuple[Node, str] | None:
    replicas = [node for node in nodes if node.role == "replica"]
    for primary in (node for node in nodes if node.role == "primary"):
        attached = [replica for replica in replicas if replica.position.primary == primary.position.primary]
        # The primary first: its replicas may be ahead of this offset when they are read, never behind for that reason.
        status = _replication(primary)
        for replica in attached:
            if lack := _replica_lacks(_replication(replica), _number(status, "master_repl_offset")):
                return replica, lack
        states = [parts_of(value).get("state") for name, value in status.items() if name.startswith("slave")]
        if (online := states.count("online")) < len(attached):
            return primary, f"{online} of its {len(attached)} replicas are online"
    return None


def _replica_lacks(status: Mapping[str, str], offset: int) -> str | None:
    if status.get("role") != "slave":
        return "it is no replica"
    link = status.get("master_link_status")
    if link != "up":
        return f"its link to the primary is {link}"
    reached = _number(status, "slave_repl_offset")
    return None if reached >= offset else f"it is at offset {reached} of {offset}"


def _number(status: Mapping[str, str], name: str) -> int:
    value = number_in(status, name)
    return -1 if value is None else value


def _replication(node: Node) -> Mapping[str, str]:
    return info_fields(node.command("INFO", "replication"))
