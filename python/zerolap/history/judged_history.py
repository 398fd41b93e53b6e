"""The document of a history: what the store knows of a range, judged and explained."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.history.commit_times import read_times
from zerolap.history.commit_work import notes_of_uncounted, read_work
from zerolap.history.history_range import MOST_STEPS_NAMED, HistoryRange, failures_of, read_accepted
from zerolap.history.nodes import read_nodes
from zerolap.history.platform_series import platform_events
from zerolap.history.step_reasons import WorkReasons
from zerolap.history.time_changes import time_changes
from zerolap.history.time_series import TimeSeries
from zerolap.history.work_series import WorkSeries
from zerolap.judge import SMALLEST_CHANGE
from zerolap.lab import Lab
from zerolap.records import METRICS, History, HistoryChange, HistoryCommit, HistorySeries, now
from zerolap.store import Store


@dataclass(frozen=True)
class HistoryHeader:
    """What belongs to a document beside the measurements."""

    command_line: str = ""
    machine_seconds: float = 0.0
    notes: tuple[str, ...] = ()


def history_of(asked: HistoryRange, lab: Lab, header: HistoryHeader) -> History:
    """Return the history of a range, as far as it is measured on this machine."""
    platform, store = asked.platform.fingerprint, lab.store
    accepted, failures = read_accepted(asked, store), failures_of(asked, store)
    reasons = WorkReasons(asked, lab)
    nodes = read_nodes(asked, store)
    work = read_work(asked, nodes, store, platform, reasons.log_by_string_places)
    uncounted = notes_of_uncounted(asked, work)
    times = read_times(asked, nodes, work, store, platform)
    changes_of_time = time_changes(times, asked.releases, accepted.positions)
    of_work, of_time = WorkSeries(asked, accepted, reasons), TimeSeries(asked, accepted, reasons, changes_of_time)
    series = (
        *(series for case in asked.cases for series in of_work.of_case(work[case.name])),
        *(series for case in asked.cases for series in of_time.of_case(times[case.name])),
    )
    commits = tuple(
        HistoryCommit(
            commit=commit.revision.commit,
            time=commit.revision.time,
            subject=commit.revision.subject,
            author=commit.revision.author,
            tags=commit.tags,
            pre_release=commit.pre_release,
            node=nodes.of_commits[position],
            failure=failures.get(position),
        )
        for position, commit in enumerate(asked.commits)
    )
    return History(
        created=now(),
        command_line=header.command_line,
        repository=str(asked.repository),
        range=asked.text,
        variant=asked.variant,
        config=dict(asked.config),
        platform=asked.platform,
        commits=commits,
        series=series,
        platform_events=tuple(platform_events(nodes, store, platform)),
        machine_seconds=header.machine_seconds,
        notes=(*header.notes, *uncounted, *_notes_of_places(series, commits)),
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


def keep_history(history: History, asked: HistoryRange, store: Store) -> None:
    """Keep a history in the store for pages; one without any point is not kept."""
    if history.measured_commits:
        store.published_histories.keep(history, open_changes(history), {case.name: case.verbs for case in asked.cases})


def _is_made_good(series: HistorySeries, change: HistoryChange) -> bool:
    """Whether the metric certainly went back to what it was before a step, or further."""
    levels = {point.position: point for point in series.points}
    before, last = levels[change.after], series.points[-1]
    later = [point for point in series.points if point.position > change.position and point.by_string_places]
    by_places = math.fsum(math.log1p(point.step or 0.0) for point in later)
    return last.position > change.position and last.high - by_places <= before.level + SMALLEST_CHANGE


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
