"""The machine that measured."""

from zerolap.records.base import Record


class Platform(Record):
    """A machine.

    `fingerprint` is a digest of what makes it this machine: processors, caches, memory, virtualisation. `facts` holds
    all that is known of it, by name, those that change with time included: kernel, microcode, governor, mitigations.
    """

    name: str
    fingerprint: str
    cpu: str
    cores: int
    kernel: str
    facts: dict[str, str] = {}
