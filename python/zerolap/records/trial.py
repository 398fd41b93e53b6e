"""Trials: one process start of one build under one case by one engine."""

from typing import TypeAlias

from zerolap.records.base import Record

Side: TypeAlias = str
"""The name of a server among those that are measured together."""

BASE: Side = "base"
HEAD: Side = "head"
"""The sides of a comparison; the server of a run is the head."""
ANCHOR: Side = "anchor"
"""The build that a segment of a history is measured against, timed beside both sides of its comparisons."""


class Trial(Record):
    """A completed trial, as the store names it.

    `engine` may be a plugin; `block` is the number of the block, whose seed all sides share; `per_second` is the equal
    rate of requests, None at full speed.
    """

    job: str
    case: str
    side: Side
    engine: str
    block: int
    per_second: int | None = None
