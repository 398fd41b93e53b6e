"""The servers that a case's commands are sent to, and how load generators reach them."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from zerolap.server import Deployment, Reach, RunningServer, ServerLogin


@dataclass(frozen=True)
class Target:
    """The primaries of a deployment; `reach` is how a load generator reaches them."""

    primaries: Sequence[RunningServer]
    reach: Reach

    @property
    def server(self) -> RunningServer:
        """The first primary, to which single commands are sent."""
        return self.primaries[0]

    def count_keys(self) -> int:
        """Return the number of keys on all primaries; raises `TrialFailed` if one does not report it."""
        return sum(server.count_keys() for server in self.primaries)

    @contextlib.contextmanager
    def closed_connections(self) -> Iterator[None]:
        """At the end of the context, wait until the primaries have closed the connections that were opened in it."""
        with contextlib.ExitStack() as stack:
            for server in self.primaries:
                stack.enter_context(server.closed_connections())
            yield

    def remove_keys(self) -> None:
        """Remove the keys of all primaries; raises `TrialFailed` if one refuses."""
        for server in self.primaries:
            server.command("FLUSHALL")

    @classmethod
    def of(cls, deployment: Deployment) -> "Target":
        """Return the target that a deployment is."""
        return cls([node.server for node in deployment.primaries], deployment.reach)


def by_socket(path: Path, login: ServerLogin | None = None) -> Reach:
    """Return how a load generator reaches a unix socket, and logs in there."""
    return Reach(["--unix-socket", str(path), *([] if login is None else login.load_arguments)])
