"""The machine that measured."""

from zerolap.records.base import Record


class Platform(Record):
    """A machine with its settings; `fingerprint` is a digest over what can change a measurement."""

    name: str
    fingerprint: str
    cpu: str
    cores: int
    kernel: str
