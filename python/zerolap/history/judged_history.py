"""The document of a history: what the store knows of a range, judged and explained."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from zerolap.history.accepted_changes import AcceptedChanges, read_accepted
from zerolap.history.asked import TIME, WORK, Asked, failures_of
from zerolap.history.commit_times import CaseTimes, read_times
from zerolap.history.commit_work import CaseWork, read_work
from zerolap.history.nodes import read_nodes
from zerolap.history.opposed_steps import opposed_step
from zerolap.history.platform_series import platform_events
from zerolap.history.step_reasons import WorkReasons
from zerolap.history.time_changes import TimeChange, time_changes
from zerolap.history.uncounted import notes_of_uncounted
from zerolap.judge import EVENT, LOG_REPORTED, Ledger, Level, WorkStep, drifts_of, is_by_string_places
from zerolap.lab import Lab
from zerolap.records import (
    METRICS,
    SHORT_COMMIT,
    History,
    HistoryChange,
    HistoryCommit,
    HistoryLedger,
    HistoryPoint,
    HistorySeries,
    now,
)
from zerolap.store import Store

INSTRUCTIONS: Final = "instructions_per_op"
ALONE: Final = "instructions_alone_per_op"
MOST_STEPS_NAMED: Final = 5
"""Of those that make up a drift, or that a note is about."""

_Steps: TypeAlias = Mapping[str, Mapping[tuple[int, int], WorkStep]]
"""The steps of a case by metric, and by the two commits that each lies between."""


@dataclass(frozen=True)
class Shown:
    """What belongs to a document beside the measurements."""

    command_line: str = ""
    machine_seconds: float = 0.0
    notes: tuple[str, ...] = ()


def history_of(asked: Asked, lab: Lab, shown: Shown) -> History:
    """Return the history of a range, as far as it is measured on this machine."""
    platform = asked.platform
    nodes = read_nodes(asked, lab.store)
    work = read_work(asked, nodes, lab.store, platform.fingerprint)
    reasons = WorkReasons(asked, lab)
    times = {
        name: replace(of_case, log_by_places=reasons.log_by_string_places)
        for name, of_case in read_times(asked, nodes, work, lab.store, platform.fingerprint).items()
    }
    accepted = read_accepted(asked, lab.store)
    changes_of_time = time_changes(times, asked.releases, accepted.positions)
    builder = SeriesBuilder(asked, accepted, reasons)
    series = [
        *(one for case in asked.cases for one in builder.of_work(work[case.name])),
        *(one for case in asked.cases for one in builder.of_time(times[case.name], changes_of_time)),
    ]
    failures = failures_of(asked, lab.store)
    commits = tuple(
        HistoryCommit(
            commit=commit.revision.commit,
            time=commit.revision.time,
            subject=commit.revision.subject,
            tags=commit.tags,
            pre_release=commit.pre_release,
            node=nodes.of_commits[position],
            failure=failures.get(position),
        )
        for position, commit in enumerate(asked.commits)
    )
    return History(
        created=now(),
        command_line=shown.command_line,
        repository=str(asked.repository),
        range=asked.text,
        variant=asked.variant,
        config=dict(asked.config),
        platform=platform,
        commits=commits,
        series=tuple(series),
        platform_events=tuple(platform_events(nodes, lab.store, platform.fingerprint)),
        machine_seconds=shown.machine_seconds,
        notes=(*shown.notes, *notes_of_uncounted(asked, work), *_notes_of_places(series, commits)),
    )


def open_changes(history: History) -> History:
    """Return a history with its open regressions as the only changes.

    A step that a later one of the same series has made good is not open any more.
    """
    series = [
        of_one.model_copy(
            update={"changes": tuple(change for change in of_one.open_regressions if not _is_made_good(of_one, change))}
        )
        for of_one in history.series
    ]
    return history.model_copy(update={"series": tuple(series)})


def keep_history(history: History, asked: Asked, store: Store) -> None:
    """Keep a history in the store for pages; one without any point is not kept."""
    if history.measured_commits:
        store.kept_histories.keep(history, open_changes(history), {case.name: case.verbs for case in asked.cases})


def _is_made_good(series: HistorySeries, change: HistoryChange) -> bool:
    """Whether the metric certainly went back to what it was before a step, or further."""
    levels = {point.position: point for point in series.points}
    before, last = levels[change.after], series.points[-1]
    later = [point for point in series.points if point.position > change.position and point.by_string_places]
    by_places = math.fsum(math.log1p(point.step or 0.0) for point in later)
    return last.position > change.position and last.high - by_places <= before.level + EVENT


def _notes_of_places(series: Sequence[HistorySeries], commits: Sequence[HistoryCommit]) -> list[str]:
    """Return a note that names the largest steps that are not reported, as the places of strings account for them."""
    steps = [(of_one, point) for of_one in series for point in of_one.points if point.by_string_places]
    if not steps:
        return []
    largest = sorted(steps, key=lambda step: -abs(step[1].step or 0.0))[:MOST_STEPS_NAMED]
    named = [
        f"`{of_one.case}` {METRICS[of_one.metric].label} {point.step or 0.0:+.2%} at {commits[point.position].name}"
        for of_one, point in largest
    ]
    more = f" and {len(steps) - len(named):,} more" if len(steps) > len(named) else ""
    return [f"no steps, as they depend on where strings lie in memory: {', '.join(named)}{more}"]


@dataclass(frozen=True)
class SeriesBuilder:
    """Makes series of what is measured."""

    asked: Asked
    accepted: AcceptedChanges
    reasons: WorkReasons

    # Work.

    def of_work(self, work: CaseWork) -> list[HistorySeries]:
        """Return the series of a case's work: its instructions, and what else changed."""
        positions = {metric: work.positions(metric) for metric in WORK if metric in work.points}
        steps: _Steps = {
            metric: {(step.after, step.position): step for step in self._steps(work, metric)}
            for metric, of_metric in positions.items()
            if of_metric
        }
        return [
            self._series_of_work(work, metric, positions[metric], steps)
            for metric, of_metric in steps.items()
            if metric == INSTRUCTIONS or any(self._is_shown(metric, step, steps) for step in of_metric.values())
        ]

    def _is_shown(self, metric: str, step: WorkStep, steps: _Steps) -> bool:
        """Whether a step makes its series worth showing.

        A request that comes alone executes what a pipelined one does, and what a turn of the event loop takes: a step
        that is no larger than that of instructions is theirs.
        """
        if step.by_string_places or not step.is_event:
            return False
        of_instructions = _between(steps, step).get(INSTRUCTIONS)
        if metric != ALONE or of_instructions is None:
            return True
        if of_instructions.by_string_places or not of_instructions.is_event:
            return True
        is_same_way = of_instructions.log_change * step.log_change > 0
        return not is_same_way or abs(step.log_change) > abs(of_instructions.log_change) + LOG_REPORTED

    def _steps(self, work: CaseWork, metric: str) -> list[WorkStep]:
        """Return the steps of a case, those marked that the places of strings account for."""
        steps = work.steps(metric, self.accepted.positions(work.case.name, metric))
        return [self._with_places(work, metric, step) if step.is_event else step for step in steps]

    def _with_places(self, work: CaseWork, metric: str, step: WorkStep) -> WorkStep:
        """Return a step with what the places of strings account for, however small it is: small steps are summed."""
        points = work.points_of(metric, step.after, step.position)
        by_places = 0.0 if points is None else self.reasons.log_by_string_places(points)
        is_by_places = is_by_string_places(step.log_change, by_places, LOG_REPORTED)
        return replace(step, log_by_places=by_places, by_string_places=is_by_places)

    def _series_of_work(
        self,
        work: CaseWork,
        metric: str,
        positions: Sequence[int],
        steps_of_all: _Steps,
    ) -> HistorySeries:
        steps = list(steps_of_all[metric].values())
        by_position = {step.position: step for step in steps}
        changed = math.fsum(step.log_change for step in steps if not step.by_string_places)
        points, level, values = [], 0.0, work.values(metric)
        for position in positions:
            step = by_position.get(position)
            log_change = step.log_change if step is not None else 0.0
            by_string_places = step is not None and step.by_string_places
            level += log_change
            points.append(
                HistoryPoint(
                    position=position,
                    level=level,
                    low=level,
                    high=level,
                    value=values[position],
                    same_code=step is not None and step.same_code,
                    step=math.expm1(log_change),
                    share=None if by_string_places or abs(changed) <= EVENT else log_change / changed,
                    by_string_places=by_string_places,
                )
            )
        changes = [
            self._work_change(work, metric, step, _between(steps_of_all, step)) for step in steps if step.is_reported
        ]
        since = self._since(positions, steps)
        accepted = (step.position for step in steps if step.accepted and step.is_event)
        drifts = drifts_of(steps, max(accepted, default=positions[0]))
        for drift in drifts:
            named = [self._named_part(step.position, step.log_of_work) for step in drift.steps[:MOST_STEPS_NAMED]]
            changes.append(
                self._change(
                    work.case.name, metric, "drift", (drift.after, drift.position), drift.log_change, tuple(named)
                )
            )
        return HistorySeries(
            case=work.case.name,
            group=work.case.group,
            metric=metric,
            engine="counted",
            topology=work.case.topology.name,
            points=tuple(points),
            changes=tuple(changes),
            ledger=_ledger(Ledger.of(steps, since)),
        )

    def _work_change(self, work: CaseWork, metric: str, step: WorkStep, steps: Mapping[str, WorkStep]) -> HistoryChange:
        ends = step.after, step.position
        points = work.points_of(metric, *ends)
        reasons = () if points is None else self.reasons.of(*ends, points)
        opposed = opposed_step(work, steps, *ends) if step.log_change < 0 else None
        if opposed is not None:
            reasons = (opposed, *reasons)
        change = self._change(work.case.name, metric, "step", ends, step.log_change, reasons)
        return change.model_copy(update={"is_opposed": opposed is not None})

    def _since(self, positions: Sequence[int], steps: Sequence[WorkStep]) -> int:
        """Return the position that the ledger begins at: of the last release or accepted change before the end."""
        begins = [position for position in positions[:-1] if self.asked.commits[position].tags]
        begins += [step.position for step in steps if step.accepted and step.is_event]
        return max(begins, default=positions[0])

    # Time.

    def of_time(self, times: CaseTimes, changes: Sequence[TimeChange]) -> list[HistorySeries]:
        """Return the series of a case's time, with those of the changes that are its own."""
        series = []
        for metric in TIME:
            known = times.levels(metric)
            if known is None or len(known[1]) < 2:
                continue
            levels, positions = known
            points, before = [], None
            for position in positions:
                group = times.groups[position]
                level = None if group is None else levels.nodes[group]
                if level is not None:
                    points.append(_time_point(position, level, same_code=group == before))
                    before = group
            series.append(
                HistorySeries(
                    case=times.case.name,
                    group=times.case.group,
                    metric=metric,
                    engine="timed",
                    topology=times.case.topology.name,
                    points=tuple(points),
                    ledger=self._time_ledger(times, metric, positions, changes),
                    changes=tuple(
                        self._time_change(change)
                        for change in changes
                        if (change.case, change.metric) == (times.case.name, metric)
                    ),
                )
            )
        return series

    def _time_ledger(
        self, times: CaseTimes, metric: str, positions: Sequence[int], changes: Sequence[TimeChange]
    ) -> HistoryLedger | None:
        """Return what time has come to since the last release or accepted change; `reported` is in confirmed steps."""
        accepted = self.accepted.positions(times.case.name, metric).intersection(times.firsts)
        begins = (position for position in positions[:-1] if position in self.asked.releases or position in accepted)
        since = max(begins, default=positions[0])
        whole = times.step(metric, since, positions[-1])
        if whole is None:
            return None
        reported = math.fsum(
            change.log_change
            for change in changes
            if (change.case, change.metric, change.kind) == (times.case.name, metric, "step")
            and change.comparison is not None
            and change.after >= since
        )
        return HistoryLedger(
            since=since,
            total=math.expm1(whole.value),
            low=math.expm1(whole.value - whole.half_width),
            high=math.expm1(whole.value + whole.half_width),
            reported=math.expm1(reported),
            unreported=math.expm1(whole.value - reported),
            slope=(whole.value - reported) / max(1, positions[-1] - since),
        )

    def _time_change(self, changed: TimeChange) -> HistoryChange:
        ends = (changed.after, changed.position)
        reasons = () if changed.comparison is None else self.reasons.of_comparison(changed.comparison, changed.case)
        if changed.kind == "drift":
            reasons = tuple(self._named_part(*part) for part in changed.parts[:MOST_STEPS_NAMED])
        common = self._change(changed.case, changed.metric, changed.kind, ends, changed.log_change, reasons)
        return common.model_copy(
            update={
                "low": math.expm1(changed.low),
                "high": math.expm1(changed.high),
                "p": changed.p,
                "confirmed": changed.comparison is not None,
                "comparison": changed.comparison,
            }
        )

    # Both.

    def _named_part(self, position: int, log_change: float) -> str:
        """Return a step that is a part of a drift, as words."""
        commit = self.asked.commits[position]
        return f"{commit.source.name} {_percent(log_change)} ({commit.revision.subject})"

    def _change(
        self,
        case: str,
        metric: str,
        kind: str,
        ends: tuple[int, int],
        log_change: float,
        reasons: tuple[str, ...],
    ) -> HistoryChange:
        commit = self.asked.commits[ends[1]].revision.commit
        change = math.expm1(log_change)
        return HistoryChange.model_validate(
            {
                "id": f"{commit[:SHORT_COMMIT]}:{case}:{metric}",
                "kind": kind,
                "after": ends[0],
                "position": ends[1],
                "change": change,
                "low": math.expm1(log_change - EVENT),
                "high": math.expm1(log_change + EVENT),
                "reasons": reasons,
                "accepted": self.accepted.reason(commit, case, metric),
            }
        )


def _between(steps: _Steps, step: WorkStep) -> dict[str, WorkStep]:
    """Return the steps between the same two commits by metric."""
    ends = step.after, step.position
    return {metric: of_metric[ends] for metric, of_metric in steps.items() if ends in of_metric}


def _time_point(position: int, level: Level, *, same_code: bool) -> HistoryPoint:
    return HistoryPoint(
        position=position,
        level=level.value,
        low=level.value - level.half_width,
        high=level.value + level.half_width,
        same_code=same_code,
    )


def _ledger(ledger: Ledger) -> HistoryLedger:
    return HistoryLedger(
        since=ledger.since,
        total=math.expm1(ledger.total),
        low=math.expm1(ledger.total - EVENT),
        high=math.expm1(ledger.total + EVENT),
        reported=math.expm1(ledger.reported),
        unreported=math.expm1(ledger.unreported),
        slope=ledger.slope,
        by_string_places=math.expm1(ledger.by_string_places),
    )


def _percent(log_change: float) -> str:
    return f"{math.expm1(log_change):+.2%}"
