"""How builds are deployed: topologies as a type, those that come with the package, and one by its name."""

import functools
import shlex
import shutil
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Literal, Self, TypeAlias

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from zerolap.cases._document import read_document
from zerolap.cases._values import near
from zerolap.records import Record, UsageError

Transport: TypeAlias = Literal["unix", "tcp", "tls"]

_SETTINGS_OF_FILES = ("aclfile", "include", "loadmodule")


class Topology(Record):
    """How a build is deployed: servers, their settings, and how a load reaches them.

    `replicas` is per primary. `cpus` and `memory_bytes` are what whoever wrote the topology asked for, all servers
    together; they do not limit anything.
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
        """How many servers there are, replicas included."""
        return self.primaries * (1 + self.replicas)

    @property
    def busy_threads(self) -> int:
        """Threads that want a processor each under load, over all nodes; the main one is one of the I/O threads."""
        wanted = self.settings.get("io-threads", "1")
        # What is no number the server refuses by itself.
        return self.nodes * (max(1, int(wanted)) if wanted.isdecimal() else 1)

    @property
    def needs_network(self) -> bool:
        """Whether its servers listen on the loopback, for a load or for each other."""
        return self.transport != "unix" or self.is_cluster or self.replicas > 0

    def obstacle(self) -> str | None:
        """Return why the topology cannot run on this machine, or none if it can.

        More busy threads than processors is no obstacle: it runs, oversubscribed.
        """
        for name in _SETTINGS_OF_FILES:
            for word in shlex.split(self.settings.get(name, ""))[:1]:
                if not Path(word).is_file():
                    return f"its setting `{name}` names {word}, which is not there"
        if self.transport == "tls" and shutil.which("openssl") is None:
            return "its certificates are made by `openssl`, which is not installed"
        return None


@functools.cache
def standard_topologies() -> Mapping[str, Topology]:
    """Return the topologies that come with the package, by name."""
    resource = resources.files("zerolap.cases") / "topologies" / "standard.yml"
    document = read_document(resource.read_text(encoding="utf-8"), str(resource))
    found = [Topology.model_validate(entry) for entry in document.data]
    return {topology.name: topology for topology in found}


def topology_named(
    name: str, extra: Mapping[str, Topology] | None = None, left_out: Mapping[str, str] | None = None
) -> Topology:
    """Return the topology of that name, of the package's own or of `extra`.

    Raises `UsageError` if there is none: with the nearest name, or with the reason if it is one of `left_out`.
    """
    known = {**(extra or {}), **standard_topologies()}
    if name in known:
        return known[name]
    if left_out and name in left_out:
        raise UsageError(f'the topology "{name}" cannot be used: {left_out[name]}')
    listed = f"there are {', '.join(known)}"
    if not extra:
        listed += "; and, with `--cases`, those of the topologies.yml beside the suites"
    raise UsageError(f'no topology is called "{name}"', hint=f"{near(name, known)} {listed}".strip())
