"""How a history is read, in the words of all reports."""

import math
from typing import Final

from zerolap.records import FLAT, BoundedChange, History, HistoryChange, HistorySeries
from zerolap.sheets import change, counted, duration, listing, metric_label, one_line

NO_CHANGES: Final = "no changes"


def series_change(series: HistorySeries) -> BoundedChange:
    """Return how a series changed from its first point to its last one."""
    if not series.points:
        return BoundedChange(change=0.0, low=0.0, high=0.0)
    last = series.points[-1]
    return BoundedChange(change=math.expm1(last.level), low=math.expm1(last.low), high=math.expm1(last.high))


def changes_in_order(history: History) -> list[tuple[HistorySeries, HistoryChange]]:
    """Return all changes, those for the worse that are open first, the largest of each kind first."""
    changes = [(series, changed) for series in history.series for changed in series.changes]
    return sorted(
        changes,
        key=lambda pair: (
            pair[0].is_imported,
            pair[1].accepted is not None,
            not pair[0].is_worse(pair[1].change),
            -abs(pair[1].change),
        ),
    )


def series_label(series: HistorySeries) -> str:
    """Write the case of a series, and of one that others have measured its source and labels."""
    if not series.is_imported:
        return series.case
    return f"{one_line(series.case)} ({one_line(listing([series.source, *series.labels.values()]))})"


def series_metric(series: HistorySeries) -> str:
    """Write the metric of a series; one that others have measured keeps their name."""
    return one_line(series.metric) if series.is_imported else metric_label(series.metric)


def sources_of_others(history: History) -> list[str]:
    """Return the sources of the series that others have measured, each once."""
    return sorted({series.source for series in history.series if series.is_imported})


def range_of_change(history: History, changed: HistoryChange) -> str:
    """Write where a change lies: `at COMMIT (subject)` or `from COMMIT to COMMIT`."""
    commit = history.commits[changed.position]
    if changed.kind == "step" and changed.position == changed.after + 1:
        subject = f" ({one_line(commit.subject)})" if commit.subject else ""
        return f"at {commit.name}{subject}"
    if changed.kind == "step":
        between = changed.position - changed.after
        return f"from {history.commits[changed.after].name} to {commit.name}, {between} commits"
    return f"from {history.commits[changed.after].name} to {commit.name}"


def history_headline(history: History, nothing: str = NO_CHANGES) -> str:
    """Write what matters most: open regressions, drifts, and else that there are none, by the words `nothing`."""
    if not history.series:
        return _headline_of_unmeasured(history)
    own = [series for series in history.series if not series.is_imported]
    others = sum(len(series.changes) for series in history.series if series.is_imported)
    worse = [changed for series in own for changed in series.open_regressions]
    steps = [changed for changed in worse if changed.kind == "step"]
    drifts = [changed for changed in worse if changed.kind == "drift"]
    parts = []
    if steps:
        commits = len({changed.position for changed in steps})
        parts.append(f"{counted(len(steps), 'regression', 'regressions')} by {counted(commits, 'commit', 'commits')}")
    if drifts:
        parts.append(counted(len(drifts), "drift", "drifts"))
    better = sum(
        series.is_better(changed.change) and not changed.is_opposed for series in own for changed in series.changes
    )
    if better:
        parts.append(counted(better, "improvement", "improvements"))
    if others:
        parts.append(f"{counted(others, 'change', 'changes')} in series that others have measured")
    return ", ".join(parts) if parts else nothing


def _headline_of_unmeasured(history: History) -> str:
    """Write how a range is measured, or how much of it was tried and failed."""
    if not history.commits:
        return "nothing of HEAD is measured: zerolap history --measure HEAD~20..HEAD measures"
    counts = counted(len(history.commits), "commit", "commits")
    failed = sum(commit.failure is not None for commit in history.commits)
    if failed or history.notes:
        return f"{counts}, none measured{f', {failed:,} failed' if failed else ''}"
    return f"{counts}, none measured: zerolap history --measure '{history.range}' measures"


def history_effort(history: History) -> str:
    """Write how much was measured."""
    if all(series.is_imported for series in history.series) and history.series:
        points = sum(len(series.points) for series in history.series)
        return f"{one_line(history.range)}: {counted(points, 'point', 'points')}, measured by others"
    distinct = len({commit.node for commit in history.commits if commit.node is not None})
    parts = [
        f"{one_line(history.range)}: {counted(len(history.commits), 'commit', 'commits')}",
        f"{history.measured_commits:,} measured, {counted(distinct, 'distinct program', 'distinct programs')}",
    ]
    if history.machine_seconds:
        parts.append(f"{duration(history.machine_seconds)} of trials")
    return ", ".join(parts)


def change_text(fraction: float) -> str:
    """Write a change, or that there is none."""
    return "0 %" if abs(fraction) <= FLAT else change(fraction)
