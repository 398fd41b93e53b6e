"""Skipped cases, with the reason."""

from typing import Literal, TypeAlias

from zerolap.records.base import Record

SkipReason: TypeAlias = Literal[
    "memory", "unknown command", "unknown setting", "unsupported tool", "arguments", "topology", "file"
]
"""All reasons; too few cores are none: times are then marked as oversubscribed. `file`: a part of it cannot be read."""


class Skipped(Record):
    """A case that could not be measured on this machine or with this server; `text` is what it needs."""

    case: str
    reason: SkipReason
    text: str
