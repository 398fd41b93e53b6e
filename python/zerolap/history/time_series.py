"""The series of time of a history: levels of commits, with the changes that were found in them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from zerolap.history.commit_times import CaseTimes
from zerolap.history.history_range import TIME, AcceptedChanges, HistoryRange
from zerolap.history.step_reasons import WorkReasons
from zerolap.history.time_changes import TimeChange
from zerolap.judge import Levels
from zerolap.records import HistoryChange, HistoryLedger, HistoryPoint, HistorySeries


@dataclass(frozen=True)
class TimeSeries:
    """Makes series of the contrasts over a range, with those of the changes that are their own."""

    asked: HistoryRange
    accepted: AcceptedChanges
    reasons: WorkReasons
    changes: Sequence[TimeChange]

    def of_case(self, times: CaseTimes) -> Iterator[HistorySeries]:
        """Yield the series of a case's time."""
        for metric in TIME:
            levels, positions = times.levels(metric) or (None, [])
            if levels is not None and len(positions) > 1:
                changes = [
                    change for change in self.changes if (change.case, change.metric) == (times.case.name, metric)
                ]
                yield HistorySeries(
                    case=times.case.name,
                    group=times.case.group,
                    metric=metric,
                    engine="timed",
                    topology=times.case.topology.name,
                    points=tuple(_points(times, levels, positions)),
                    ledger=self._ledger(times, metric, positions, changes),
                    changes=tuple(map(self._change, changes)),
                )

    def _ledger(
        self, times: CaseTimes, metric: str, positions: Sequence[int], changes: Sequence[TimeChange]
    ) -> HistoryLedger | None:
        """Return what time has come to since the last release or accepted change; `reported` is in confirmed steps."""
        accepted = self.accepted.positions(times.case.name, metric).intersection(times.firsts)
        begins = (position for position in positions[:-1] if position in self.asked.releases or position in accepted)
        since = max(begins, default=positions[0])
        whole = times.step(metric, since, positions[-1])
        if whole is None:
            return None
        confirmed = (change for change in changes if change.kind == "step" and change.comparison is not None)
        reported = math.fsum(change.log_change for change in confirmed if change.after >= since)
        return HistoryLedger(
            since=since,
            total=math.expm1(whole.value),
            low=math.expm1(whole.value - whole.half_width),
            high=math.expm1(whole.value + whole.half_width),
            reported=math.expm1(reported),
            unreported=math.expm1(whole.value - reported),
            slope=(whole.value - reported) / max(1, positions[-1] - since),
        )

    def _change(self, change: TimeChange) -> HistoryChange:
        reasons = () if change.comparison is None else self.reasons.of_comparison(change.comparison, change.case)
        if change.kind == "drift":
            reasons = self.asked.named_steps(change.parts)
        return HistoryChange(
            id=self.asked.change_id(change.position, change.case, change.metric),
            kind=change.kind,
            after=change.after,
            position=change.position,
            change=math.expm1(change.log_change),
            low=math.expm1(change.low),
            high=math.expm1(change.high),
            p=change.p,
            confirmed=change.comparison is not None,
            comparison=change.comparison,
            reasons=reasons,
            accepted=self.accepted.reason(change.position, change.case, change.metric),
        )


def _points(times: CaseTimes, levels: Levels, positions: Sequence[int]) -> Iterator[HistoryPoint]:
    before = None
    for position in positions:
        group = times.groups[position]
        level = None if group is None else levels.nodes[group]
        if level is not None:
            yield HistoryPoint(
                position=position,
                level=level.value,
                low=level.value - level.half_width,
                high=level.value + level.half_width,
                same_code=group == before,
            )
            before = group
