"""How much a trial measures."""

from zerolap.records.base import Record


class Windows(Record):
    """How many requests the two windows of a counted trial hold, whole cycles of commands each."""

    small: int
    large: int


class Amounts(Record):
    """What a job asks for, and what its engine chose where the job leaves it open (none).

    `windows` and `scale`, a factor on them, are of counted trials. Of timed trials: `pairs` of slices a start,
    `slice_requests`, the equal rate `per_second` for all sides, and whether each side is `alone` on the machine because
    memory does not hold all at once.
    """

    windows: Windows | None = None
    scale: float = 1.0
    pairs: int | None = None
    slice_requests: int | None = None
    per_second: int | None = None
    alone: bool = False
