"""Forms clusters: assigns slots, introduces the nodes to each other, and waits until all nodes agree."""

import contextlib
import itertools
from collections.abc import Iterator, Sequence

from zerolap.server.node import Node, wait_until
from zerolap.server.ports import ADDRESS

SLOTS = 16384
SLOTS_OF_A_COMMAND = 2048
CLUSTER_SECONDS = 120
"""Nodes accept writes two seconds after they know all slots, at the earliest."""
TIMEOUT = "cluster-node-timeout"
TALKATIVE_MILLISECONDS = 2000

UNSETTLED = {"handshake", "fail", "fail?", "noaddr"}


def form_cluster(nodes: Sequence[Node]) -> None:
    """Join servers that are in no cluster yet into one; replicas are members without slots.

    Raises `TrialFailed` with the node that does not join, and what it lacks.
    """
    primaries = [node for node in nodes if node.role == "primary"]
    for number, node in enumerate(primaries):
        # Nodes with equal epochs would have to resolve the conflict first.
        node.command("CLUSTER", "SET-CONFIG-EPOCH", str(number + 1))
        slots = range(number * SLOTS // len(primaries), (number + 1) * SLOTS // len(primaries))
        for first in range(0, len(slots), SLOTS_OF_A_COMMAND):
            batch = slots[first : first + SLOTS_OF_A_COMMAND]
            node.command("CLUSTER", "ADDSLOTS", *(str(slot) for slot in batch))
    with _talkative(nodes):
        # Every pair: gossip alone spreads the addresses slowly.
        for node, other in itertools.combinations(nodes, 2):
            node.command("CLUSTER", "MEET", ADDRESS, str(other.port))
        _wait(nodes, replicas=0)


def attach_in_cluster(nodes: Sequence[Node]) -> None:
    """Make replicas copy their primaries; `wait_for_replicas` waits until they have the data.

    Raises `TrialFailed` with the node that does not see its replicas, and what it lacks.
    """
    replicas = [node for node in nodes if node.role == "replica"]
    with _talkative(nodes):
        for replica in replicas:
            identity = _text(nodes[replica.position.primary], "CLUSTER", "MYID")
            replica.command("CLUSTER", "REPLICATE", identity)
        _wait(nodes, len(replicas))


@contextlib.contextmanager
def _talkative(nodes: Sequence[Node]) -> Iterator[None]:
    """Shorten the node timeout within the context, as nodes exchange messages about twice a timeout."""
    timeouts = [_text(node, "CONFIG", "GET", TIMEOUT) for node in nodes]
    for node in nodes:
        node.command("CONFIG", "SET", TIMEOUT, str(TALKATIVE_MILLISECONDS))
    yield
    for node, milliseconds in zip(nodes, timeouts, strict=True):
        node.command("CONFIG", "SET", TIMEOUT, milliseconds)


def _wait(nodes: Sequence[Node], replicas: int) -> None:
    """Wait until every node has all slots, is linked to all other nodes, and knows that number of replicas."""

    def lacking() -> tuple[Node, str] | None:
        for node in nodes:
            if lack := _node_lacks(node, len(nodes), replicas):
                return node, lack
        return None

    wait_until(lacking, CLUSTER_SECONDS)


def _node_lacks(node: Node, count: int, replicas: int) -> str | None:
    members = [line.split() for line in _text(node, "CLUSTER", "NODES").splitlines()]
    # The fields of a line: identity, address, flags, primary, ping, pong, epoch, link, slots.
    linked = [set(words[2].split(",")) for words in members if words[7:8] == ["connected"]]
    settled = [flags for flags in linked if flags.isdisjoint(UNSETTLED)]
    if len(members) != count or len(settled) != count:
        return f"it is linked to {len(settled)} of {count} nodes, itself included"
    known = sum("slave" in flags for flags in settled)
    if known != replicas:
        return f"it knows {known} of {replicas} replicas"
    fields = dict(line.split(":", 1) for line in _text(node, "CLUSTER", "INFO").splitlines() if ":" in line)
    state, slots = fields.get("cluster_state"), fields.get("cluster_slots_ok")
    if state != "ok" or slots != str(SLOTS):
        return f"its cluster_state is {state}, with {slots} of {SLOTS} slots"
    return None


def _text(node: Node, *arguments: str) -> str:
    """Return a reply as text; of a pair, such as the name and value of a setting, the value."""
    reply = node.command(*arguments)
    last = reply[-1] if isinstance(reply, list) and reply else reply
    return last.decode(errors="replace") if isinstance(last, bytes) else str(last)
