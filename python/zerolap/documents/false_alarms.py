"""The false alarms of a platform.

Some cases whose executed code is identical on both sides are timed nevertheless; every change of their time that is
reported is a false alarm.
"""

from dataclasses import dataclass, field
from typing import Final

from zerolap.records import Comparison, FalseAlarms, UnreadableRecord
from zerolap.store import Store

LOOKED_AT: Final = 500
"""The number of newest comparisons that are counted."""


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
    _looked_at: int = -1

    def of(self, platform: str) -> FalseAlarms | None:
        """Return the false alarms of a platform by its name; None if no identical case was timed."""
        counts = [count for count in self._newest() if count.platform == platform and count.timed]
        if not counts:
            return None
        since = min(count.created for count in counts)
        alarms, timed = sum(count.alarms for count in counts), sum(count.timed for count in counts)
        return FalseAlarms(alarms, timed, f"since {since[:10]}")

    def _newest(self) -> list[IdenticalTimed]:
        changes = self.store.changes
        if self._looked_at != changes:
            newest = self.store.done_comparisons(LOOKED_AT)
            self._counts = {identity: self._counts.get(identity) or self._read(identity) for identity in newest}
            self._looked_at = changes
        return list(self._counts.values())

    def _read(self, identity: str) -> IdenticalTimed:
        try:
            return _counted(self.store.comparison(identity))
        except UnreadableRecord:
            return IdenticalTimed("", "", 0, 0)


def _counted(comparison: Comparison) -> IdenticalTimed:
    timed = [case for case in comparison.cases if case.work == "identical" and case.time is not None]
    alarms = sum(case.time in ("regression", "improvement") for case in timed)
    return IdenticalTimed(comparison.platform.name, comparison.created, len(timed), alarms)
