"""What a comparison concludes for a case and a metric."""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import WithJsonSchema

from zerolap.records.base import Record

VerdictWord: TypeAlias = Literal["regression", "improvement", "same", "identical", "unsure"]
"""`identical` is for work and memory: both sides execute the same instructions, equally often; or take equal bytes."""
CHANGED: Final[tuple[Literal["regression", "improvement"], ...]] = ("regression", "improvement")
UNCHANGED: Final[tuple[Literal["same", "identical"], ...]] = ("same", "identical")

OF_INSTRUCTIONS: Final = ("instructions_per_op", "instructions_alone_per_op")
"""Metrics that the places of strings in memory can change."""

Bound: TypeAlias = Annotated[
    float, WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "null"}]}, mode="serialization")
]
"""A number that may be infinite or undefined, which JSON writes as null."""


LopsidedReason: TypeAlias = Literal["mean", "sides", "other cases"]
"""Why wild starts leave a verdict unsure.

`mean`: the mean with them may lie outside the margin, or on the other side of 0. `sides`: chance alone does not put so
many on one side. `other cases`: the wild starts of the other cases are nearly all on one side, which belongs to the
server and not to a case.
"""


class WildStarts(Record):
    """The starts that lie far from the others, of which a verdict's estimate takes no more than their bound.

    `base` and `head` count those in which this side was slower beside the other than usual, `largest` is by what factor
    at most; `mean_change` is the change with all of them in full. `reason` is why they leave the verdict unsure, null
    where they do not.
    """

    base: int
    head: int
    largest: float
    mean_change: float
    reason: LopsidedReason | None = None


class Verdict(Record):
    """A verdict with its evidence.

    `change` is (head - base) / base, `low` and `high` bound it; `q` is the adjusted p over cases and metrics, null for
    same and identical; `detectable` is the smallest relative change that these samples could have detected;
    `samples` counts the trials of a side. `margin` is within which a change counts as the same, null where that is the
    minimum effect. `wild_starts` are those of a timed verdict, null where there are none and those of other cases leave
    the verdict as it is.
    """

    metric: str
    engine: str
    verdict: VerdictWord
    base: Bound
    head: Bound
    change: Bound
    low: Bound
    high: Bound
    q: float | None
    samples: int
    pairs: int
    min_effect: float
    detectable: Bound
    margin: float | None = None
    wild_starts: WildStarts | None = None

    @property
    def is_same_by_string_places(self) -> bool:
        """Whether it is `same` at a change beyond the minimum effect, for which the places of strings account."""
        is_large = abs(self.change) > self.min_effect
        return is_large and self.verdict == "same" and self.metric in OF_INSTRUCTIONS

    @property
    def is_beyond_doubt(self) -> bool:
        """Whether it is a change, and larger than the minimum effect on the whole of its interval."""
        is_large = self.low > self.min_effect or self.high < -self.min_effect
        return is_large and self.verdict in ("regression", "improvement")
