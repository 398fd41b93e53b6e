"""How much starts differ: of the same build, and what each of them says about a change."""

from pydantic import FiniteFloat

from zerolap.records.base import Record


class Spread(Record):
    """A sample variance of log ratios of starts, with its degrees of freedom."""

    variance: float
    degrees: float


class StartRatio(Record):
    """What one start, of the number `block`, says about a metric of a case: the logarithm of head over base.

    With an `anchor`, the build of a third server, it is that of head over the anchor.
    """

    case: str
    metric: str
    engine: str
    block: int
    log_ratio: FiniteFloat
    anchor: str = ""
