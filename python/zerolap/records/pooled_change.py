"""What a comparison concludes for several cases together."""

from typing import Literal, TypeAlias

from zerolap.records.base import Record
from zerolap.records.metric import Answer
from zerolap.records.verdict import Bound, VerdictWord

PooledScope: TypeAlias = Literal["suite", "group", "function"]


class PooledChange(Record):
    """The mean change of a metric over cases, each of which counts alike, with its interval over the cases.

    They are all cases of the comparison, a group of them, or those that execute a changed function; `name` is that of
    the group or function, empty for all. `q` is the adjusted p over all pooled changes of the comparison, null where
    the metric is not changed.
    """

    answer: Answer
    metric: str
    scope: PooledScope
    name: str
    cases: int
    verdict: VerdictWord
    change: Bound
    low: Bound
    high: Bound
    q: float | None
    min_effect: float
