"""The platform: the machine that measures."""

from zerolap.records.base import Record


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
