"""Replicas: attached to their primaries, and waited for until they have all that their primaries have."""

from collections.abc import Mapping, Sequence

from zerolap.server.node import Node, wait_until
from zerolap.server.ports import ADDRESS

REPLICATION_SECONDS = 300
"""A first synchronisation copies the whole data set."""


def attach(nodes: Sequence[Node]) -> None:
    """Let replicas copy their primaries; they have the data only when `wait_for_replicas` says so."""
    for replica in (node for node in nodes if node.role == "replica"):
        replica.command("REPLICAOF", ADDRESS, str(nodes[replica.place.primary].port))


def wait_for_replicas(nodes: Sequence[Node]) -> None:
    """Wait until every replica is linked, known to its primary, and has all that was written before the call.

    Raises `TrialFailed` with what is lacking, and where.
    """
    wait_until(lambda: _lacking(nodes), REPLICATION_SECONDS)


def _lacking(nodes: Sequence[Node]) -> tuple[Node, str] | None:
    replicas = [node for node in nodes if node.role == "replica"]
    for primary in (node for node in nodes if node.role == "primary"):
        own = [replica for replica in replicas if replica.place.primary == primary.place.primary]
        # First the primary: what it writes meanwhile makes its replicas go further.
        said = _replication(primary)
        for replica in own:
            if what := _replica_lacks(_replication(replica), _number(said, "master_repl_offset")):
                return replica, what
        if (online := _online(said)) < len(own):
            return primary, f"{online} of its {len(own)} replicas are online"
    return None


def _replica_lacks(said: Mapping[str, object], offset: int) -> str | None:
    if said.get("role") != "slave":
        return "it is no replica"
    link = said.get("master_link_status")
    if link != "up":
        return f"its link to the primary is {link}"
    reached = _number(said, "slave_repl_offset")
    return None if reached >= offset else f"it is at offset {reached} of {offset}"


def _online(said: Mapping[str, object]) -> int:
    replicas = [value for name, value in said.items() if name.startswith("slave") and isinstance(value, dict)]
    return sum(replica.get("state") == "online" for replica in replicas)


def _number(said: Mapping[str, object], name: str) -> int:
    value = said.get(name)
    return value if isinstance(value, int) else -1


def _replication(node: Node) -> Mapping[str, object]:
    reply = node.command("INFO", "replication")
    return reply if isinstance(reply, dict) else {}
