"""How often a platform has reported a change where there was none.

Of cases whose executed code is identical on both sides some are timed nevertheless: whatever is reported of their time
is a false alarm.
"""

from dataclasses import dataclass, field
from typing import Final

from zerolap.records import Comparison
from zerolap.report.pull_request.outcome import FalseAlarms
from zerolap.store import Store

LOOKED_AT: Final = 500
"""The newest comparisons count, not those of long ago."""


@dataclass(frozen=True)
class IdenticalTimed:
    """How many identical cases of a comparison were timed, and for how many of them a change was reported."""

    platform: str
    created: str
    timed: int
    alarms: int


@dataclass
class FalseAlarmRecord:
    """Counts over the newest comparisons of a store; each of them is read once. Its methods block."""

    store: Store
    _counts: dict[str, IdenticalTimed] = field(default_factory=dict)

    def of(self, platform: str) -> FalseAlarms | None:
        """Return the record of a platform, by its name; none if nothing identical was timed."""
        newest = [
            row.id for row in self.store.comparisons(LOOKED_AT) if row.summary is not None and row.state == "done"
        ]
        for identity in newest:
            if identity not in self._counts:
                self._counts[identity] = _counted(self.store.comparison(identity))
        counts = [self._counts[identity] for identity in newest]
        counts = [of_one for of_one in counts if of_one.platform == platform and of_one.timed]
        if not counts:
            return None
        since = min(of_one.created for of_one in counts)
        alarms, timed = sum(of_one.alarms for of_one in counts), sum(of_one.timed for of_one in counts)
        return FalseAlarms(alarms, timed, f"since {since[:10]}")


def _counted(comparison: Comparison) -> IdenticalTimed:
    timed = [case for case in comparison.cases if case.work == "identical" and case.time is not None]
    alarms = sum(case.time in ("regression", "improvement") for case in timed)
    return IdenticalTimed(comparison.platform.name, comparison.created, len(timed), alarms)
