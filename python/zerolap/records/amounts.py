"""The amounts that a trial measures."""

from zerolap.records.base import Record


class Windows(Record):
    """The requests of the two windows of a counted trial; each is a multiple of the cycle of commands."""

    small: int
    large: int


class Amounts(Record):
    """The amounts that a job asks for; the engine chooses those that are None.

    Counted trials have `windows` and a factor on them, `scale`. Timed trials have `pairs` of slices per start,
    `slice_requests`, the equal rate `per_second` for all sides, and `alone`: only one side runs at a time, because
    memory does not hold all sides. Those `as_built` run the programs as they were built, in no other layout.
    """

    windows: Windows | None = None
    scale: float = 1.0
    pairs: int | None = None
    slice_requests: int | None = None
    per_second: int | None = None
    alone: bool = False
    as_built: bool = False
