"""A case that was not measured, and why."""

from typing import Literal, TypeAlias

from zerolap.records.base import Record

SkipReason: TypeAlias = Literal["memory", "unknown command", "unsupported tool", "arguments", "topology"]
"""All there are; `cores` are no reason: with too few of them times are marked as oversubscribed."""


class Skipped(Record):
    """A case that could not be measured on this machine or with this server; `text` says what it would have needed."""

    case: str
    reason: SkipReason
    text: str
