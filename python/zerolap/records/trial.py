"""Trials: one process start of one build under one case by one engine, and the amounts that it measures."""

from typing import TypeAlias

from zerolap.records.base import Record
from zerolap.records.open_loads import OpenLoad


class Windows(Record):
    """The requests of the two windows of a counted trial; each is a multiple of the cycle of commands."""

    small: int
    large: int


class Amounts(Record):
    """The amounts that a job asks for; the engine chooses those that are None.

    Counted trials have `windows` and a factor on them, `scale`. Timed trials have `pairs` of slices per start,
    `slice_requests`, the equal rate `per_second` for all sides, and `alone`: only one side runs at a time, because
    memory does not hold all sides. Those `as_built` run the programs as they were built, in no other layout. The loads
    of an `open_loop` follow the pairs; none are chosen yet where it is empty, and there is no open loop where it is
    None.
    """

    windows: Windows | None = None
    scale: float = 1.0
    pairs: int | None = None
    slice_requests: int | None = None
    per_second: int | None = None
    alone: bool = False
    as_built: bool = False
    open_loop: tuple[OpenLoad, ...] | None = None


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
