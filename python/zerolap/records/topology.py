"""Topologies: how builds are deployed."""

from typing import Literal, Self, TypeAlias

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from zerolap.records.base import Record

Transport: TypeAlias = Literal["unix", "tcp", "tls"]


class Topology(Record):
    """How a build is deployed: servers, their settings, and how load reaches them.

    `replicas` is per primary. `cpus` and `memory_bytes` are what the topology's file requests for all servers together;
    they are not limits.
    """

    name: str
    description: str = ""
    primaries: int = Field(default=1, ge=1)
    replicas: int = Field(default=0, ge=0)
    is_cluster: bool = False
    settings: dict[str, str] = Field(default_factory=dict)
    cpus: int | None = None
    memory_bytes: int | None = None
    transport: Transport = "unix"

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        text = ""
        if self.primaries > 1 and not self.is_cluster:
            text = f"{self.primaries} primaries make a cluster; found one that is none"
        elif self.is_cluster and self.transport != "tcp":
            text = f"the nodes of a cluster are reached over tcp; found {self.transport}"
        if text:
            raise PydanticCustomError("zerolap", "{text}", {"text": text})
        return self

    @property
    def nodes(self) -> int:
        """The number of servers, replicas included."""
        return self.primaries * (1 + self.replicas)

    @property
    def busy_threads(self) -> int:
        """The threads of all nodes that each keep a processor busy under load; the main thread is an I/O thread too."""
        io_threads = self.settings.get("io-threads", "1")
        # The server itself refuses a value that is not a number.
        return self.nodes * (max(1, int(io_threads)) if io_threads.isdecimal() else 1)

    @property
    def counted_part(self) -> str:
        """Which of the servers is counted; empty where there is only one."""
        if self.is_cluster:
            return "counted is one node, which has all slots" if self.primaries + self.replicas > 1 else ""
        return f"counted is the primary; replicas beside it: {self.replicas}" if self.replicas else ""

    @property
    def needs_network(self) -> bool:
        """Whether its servers listen on the loopback, for a load or for each other."""
        return self.transport != "unix" or self.is_cluster or self.replicas > 0


STANDALONE = Topology(name="standalone", description="one server, reached over a unix socket")
