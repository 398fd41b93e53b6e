"""A program with its settings."""

from zerolap.records.base import Record
from zerolap.records.topology import Topology


class ServerSpec(Record):
    """A build, how it is deployed, and the settings that its servers are started with.

    `config` holds the case's settings under the user's. Those of the topology go before both: its name stands for them.
    """

    build: str
    topology: Topology
    config: dict[str, str] = {}

    @property
    def settings(self) -> dict[str, str]:
        """All settings, those of the topology included."""
        return self.config | self.topology.settings

    @property
    def busy_threads(self) -> int:
        """Threads that want a processor each under load, over all servers."""
        return self.topology.model_copy(update={"settings": self.settings}).busy_threads
