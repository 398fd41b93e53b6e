"""The platform: the machine that measures."""

import json

from zerolap.records.base import Record
from zerolap.records.build import digest_of


class Platform(Record):
    """A machine.

    `fingerprint` is a digest of what identifies it: processors, caches, memory, virtualisation. `facts` holds all known
    facts by name, including those that may change: kernel, microcode, governor, mitigations.
    """

    name: str
    fingerprint: str
    cpu: str
    cores: int
    kernel: str
    facts: dict[str, str] = {}

    @property
    def facts_json(self) -> str:
        """The facts as JSON, equal for equal facts."""
        return json.dumps(self.facts, sort_keys=True)

    @property
    def facts_digest(self) -> str:
        """A digest of kernel and facts: of the state that the machine is in."""
        return digest_of(self.kernel, self.facts_json)
