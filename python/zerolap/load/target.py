"""What a case is put on: the servers that take its commands, and how loads reach them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from zerolap.server import Deployment, Reach, RunningServer


@dataclass(frozen=True)
class Target:
    """The primaries of a deployment; `reach` is how a load generator gets to them."""

    primaries: Sequence[RunningServer]
    reach: Reach

    @property
    def server(self) -> RunningServer:
        """The first primary, to which single commands are sent."""
        return self.primaries[0]

    def count_keys(self) -> int:
        """Return the keys of all primaries; raises `TrialFailed` where one does not say."""
        return sum(int(str(server.command("DBSIZE"))) for server in self.primaries)

    def remove_keys(self) -> None:
        """Empty all primaries; raises `TrialFailed` where one refuses."""
        for server in self.primaries:
            server.command("FLUSHALL")

    @classmethod
    def of(cls, deployment: Deployment) -> "Target":
        """Return the target that a deployment is."""
        return cls([node.server for node in deployment.primaries], deployment.reach)


def by_socket(path: Path) -> Reach:
    """Return how a load generator reaches a unix socket."""
    return Reach(["--unix-socket", str(path)])
