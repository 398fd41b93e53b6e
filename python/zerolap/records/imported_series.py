"""Series that others have measured, as they were read from a file or a server."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ImportedPoint:
    """A value of a series.

    `time` is ISO 8601 in UTC with milliseconds, so that times are in order as texts. `version` is the commit, tag or
    version that was measured, empty where only the time is known.
    """

    time: str
    version: str
    value: float


@dataclass(frozen=True)
class ImportedSeries:
    """A metric of a case over time: `source` names where it comes from, `labels` tell it from others of its case."""

    source: str
    case: str
    metric: str
    labels: Mapping[str, str] = field(default_factory=dict)
    points: tuple[ImportedPoint, ...] = ()
