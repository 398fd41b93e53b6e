"""Load from another machine: the side of the servers, which orders it, and the side that carries the orders out.

Connections are those of `zerolap.load.channel`: `listen_for_load_host` and `connect_to_server_host`.
"""

from contextlib import AbstractContextManager

from zerolap.load.channel import Channel
from zerolap.load.hosts import LoadGenerator, MachineWatch
from zerolap.records import Case
from zerolap.sandbox import SandboxPolicy


class RemoteLoadHost:
    """The load host at the other end of a channel; a `LoadHost`.

    `address` is the IP address of this machine by which the load host reaches it, by default the one by which it has
    reached the channel. The owner of the channel closes it.
    """

    def __init__(self, channel: Channel, address: str | None = None) -> None:
        self.address = channel.own_address if address is None else address

    def start(self, case: Case, seed: int, port: int) -> AbstractContextManager[LoadGenerator]:
        """Start a load generator there, as `LoadHost.start`."""
        raise NotImplementedError

    def watch(self) -> AbstractContextManager[MachineWatch]:
        """Watch that machine, as `LoadHost.watch`."""
        raise NotImplementedError


def serve_load(
    channel: Channel, server_address: str | None = None, sandbox: SandboxPolicy = SandboxPolicy.REQUIRED
) -> None:
    """Carry out the orders of the other side until it closes the channel, which is closed in any case.

    `server_address` is the host name or IP address of the servers, by default that of the channel's other side: orders
    name only the port. Load generators run in a sandbox without files; `sandbox` decides whether they run without one.
    Cancelled by the thread's current `Cancellation`. Raises `Interrupted` when cancelled, `EnvironmentMissing` if the
    other side breaks the rules.
    """
    raise NotImplementedError
