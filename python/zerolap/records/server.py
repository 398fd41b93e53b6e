"""Server specifications."""

from zerolap.records.base import Record
from zerolap.records.topology import Topology


class ServerSpec(Record):
    """A build, its topology, and the settings of its servers.

    `config` holds the settings of the case, overridden by the user's. The topology's settings override both, as its
    name stands for them.
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
        """The threads of all servers that each keep a processor busy under load."""
        return self.topology.model_copy(update={"settings": self.settings}).busy_threads
