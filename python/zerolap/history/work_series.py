"""The series of counted work of a history: instructions, and what else changed."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from zerolap.explain import explain_opposed_work
from zerolap.history.commit_work import CaseWork, CountedSeries
from zerolap.history.history_range import INSTRUCTIONS, MEMORY, WORK, AcceptedChanges, HistoryRange
from zerolap.history.step_reasons import WorkReasons
from zerolap.judge import LOG_REPORTED, REPORTED, SMALLEST_CHANGE, Drift, Ledger, WorkStep, drifts_of, weighed_work
from zerolap.records import Case, HistoryChange, HistoryLedger, HistoryPoint, HistorySeries, Verdict, VerdictWord

ALONE: Final = "instructions_alone_per_op"
GAIN: Final = "improvement"

_Counted: TypeAlias = Mapping[str, CountedSeries]
"""The counted series of a case by metric."""


@dataclass(frozen=True)
class WorkSeries:
    """Makes series of what was counted over a range."""

    asked: HistoryRange
    accepted: AcceptedChanges
    reasons: WorkReasons

    def of_case(self, work: CaseWork) -> list[HistorySeries]:
        """Return the series of a case's work: its instructions, and what else changed."""
        metrics = [metric for metric in WORK if metric in work.points]
        known = {metric: work.counted(metric, self.accepted.positions(work.case.name, metric)) for metric in metrics}
        counted = {metric: series for metric, series in known.items() if series.values}
        return [
            self._series(work.case, metric, counted)
            for metric, series in counted.items()
            if metric == INSTRUCTIONS or any(_is_shown(metric, step, counted) for step in series.steps.values())
        ]

    def _series(self, case: Case, metric: str, counted: _Counted) -> HistorySeries:
        series = counted[metric]
        steps = [*series.steps.values()]
        changes = [self._step(case, metric, step, counted) for step in steps if step.is_reported]
        accepted = [step.position for step in steps if step.accepted and step.is_change]
        drifts = drifts_of(steps, max(accepted, default=series.positions[0]))
        changes += [self._drift(case, metric, drift) for drift in drifts]
        releases = [position for position in series.positions[:-1] if self.asked.commits[position].tags]
        since = max((*releases, *accepted), default=series.positions[0])
        return HistorySeries(
            case=case.name,
            group=case.group,
            metric=metric,
            engine="counted",
            topology=case.topology.name,
            points=tuple(_points(series)),
            changes=tuple(changes),
            ledger=_ledger(Ledger.of(steps, since)),
        )

    def _step(self, case: Case, metric: str, step: WorkStep, counted: _Counted) -> HistoryChange:
        """Return a step with its reasons, and first why it is no gain where other counts lose."""
        ends = step.after, step.position
        points = counted[metric].points.get(ends)
        # Call graphs show nothing of what is allocated and kept.
        reasons = () if points is None or metric in MEMORY else self.reasons.of(*ends, points)
        opposed = _opposed(counted, ends) if step.log_change < 0 and metric not in MEMORY else None
        if opposed is not None:
            reasons = (opposed, *reasons)
        change = self._change(case, metric, step, reasons)
        return change.model_copy(update={"is_opposed": opposed is not None})

    def _drift(self, case: Case, metric: str, drift: Drift) -> HistoryChange:
        named = self.asked.named_steps([(step.position, step.log_of_work) for step in drift.steps])
        return self._change(case, metric, drift, named).model_copy(update={"kind": "drift"})

    def _change(self, case: Case, metric: str, change: WorkStep | Drift, reasons: tuple[str, ...]) -> HistoryChange:
        return HistoryChange(
            id=self.asked.change_id(change.position, case.name, metric),
            kind="step",
            after=change.after,
            position=change.position,
            change=math.expm1(change.log_change),
            low=math.expm1(change.log_change - SMALLEST_CHANGE),
            high=math.expm1(change.log_change + SMALLEST_CHANGE),
            reasons=reasons,
            accepted=self.accepted.reason(change.position, case.name, metric),
        )


def _is_shown(metric: str, step: WorkStep, counted: _Counted) -> bool:
    """Whether a step makes its series worth showing.

    A request that comes alone executes what a pipelined one does, and what a turn of the event loop takes: a step that
    is no larger than that of instructions is theirs.
    """
    if step.by_string_places or not step.is_change:
        return False
    instructions = counted.get(INSTRUCTIONS)
    of_instructions = None if instructions is None else instructions.steps.get((step.after, step.position))
    if metric != ALONE or of_instructions is None:
        return True
    if of_instructions.by_string_places or not of_instructions.is_change:
        return True
    is_same_way = of_instructions.log_change * step.log_change > 0
    return not is_same_way or abs(step.log_change) > abs(of_instructions.log_change) + LOG_REPORTED


def _points(series: CountedSeries) -> Iterator[HistoryPoint]:
    by_position = {position: step for (_, position), step in series.steps.items()}
    changed = math.fsum(step.log_change for step in by_position.values() if not step.by_string_places)
    level = 0.0
    for position, value in series.values.items():
        step = by_position.get(position)
        log_change = step.log_change if step is not None else 0.0
        by_string_places = step is not None and step.by_string_places
        level += log_change
        yield HistoryPoint(
            position=position,
            level=level,
            low=level,
            high=level,
            value=value,
            same_code=step is not None and step.same_code,
            step=math.expm1(log_change),
            share=None if by_string_places or abs(changed) <= SMALLEST_CHANGE else log_change / changed,
            by_string_places=by_string_places,
        )


def _ledger(ledger: Ledger) -> HistoryLedger:
    return HistoryLedger(
        since=ledger.since,
        total=math.expm1(ledger.total),
        low=math.expm1(ledger.total - SMALLEST_CHANGE),
        high=math.expm1(ledger.total + SMALLEST_CHANGE),
        reported=math.expm1(ledger.reported),
        unreported=math.expm1(ledger.unreported),
        slope=ledger.slope,
        by_string_places=math.expm1(ledger.by_string_places),
    )


def _opposed(counted: _Counted, ends: tuple[int, int]) -> str | None:
    """Return why a step of less work is no gain; none where nothing of the case lost as much."""
    verdicts = list(_verdicts(counted, ends))
    if weighed_work(verdicts).word == GAIN:
        return None
    finding = explain_opposed_work(verdicts)
    return None if finding is None else finding.text


def _verdicts(counted: _Counted, ends: tuple[int, int]) -> Iterator[Verdict]:
    """Yield the steps between two commits as verdicts: counts of one seed are exact."""
    for metric, series in counted.items():
        step, points = series.steps.get(ends), series.points.get(ends)
        if step is None or points is None:
            continue
        change = math.expm1(step.log_change)
        word: VerdictWord = "same"
        if step.is_reported:
            word = "regression" if change > 0 else GAIN
        yield Verdict(
            metric=metric,
            engine="counted",
            verdict=word,
            base=points[0].value,
            head=points[1].value,
            change=change,
            low=change,
            high=change,
            q=None,
            samples=1,
            pairs=1,
            min_effect=REPORTED,
            detectable=REPORTED,
        )
