"""A history as it is shown: how each case went, where it changed and why."""

import math
from collections.abc import Iterator
from typing import Final

from zerolap.records import FLAT, BoundedChange, History, HistoryChange, HistorySeries, PlatformEvent
from zerolap.sheets.format import by_author, change, counted, duration, interval, listing, metric_label, moment
from zerolap.sheets.sheet import Cell, Column, Mark, Section, Sentence, Sheet, Table, as_name, name

NO_CHANGES: Final = "no changes"
MOST_REASONS: Final = 3


def history_sheet(history: History, nothing: str = NO_CHANGES) -> Sheet:
    """Return a row for each series, each change with its reasons, and what could not be built.

    `nothing` is the headline where there are no changes.
    """
    rows = [_row(history, series) for series in history.series]
    sources = {series.source for series in history.series if series.is_imported}
    beside = [
        *(Sentence(label="platform", text=platform_event(event)) for event in history.platform_events),
        *failed_commits(history),
    ]
    return Sheet(
        kind="history",
        title=_headline(history, nothing),
        remark=history_effort(history),
        tables=[Table(key="series", columns=list(COLUMNS), rows=rows)] if rows else [],
        sections=[
            *(_change(history, series, changed) for series, changed in _changes_in_order(history)),
            *([Section(sentences=beside)] if beside else []),
        ],
        notes=[*(f"series of {as_name(source)} are measured by others" for source in sorted(sources)), *history.notes],
    )


def history_effort(history: History) -> str:
    """Write how much was measured."""
    if all(series.is_imported for series in history.series) and history.series:
        points = sum(len(series.points) for series in history.series)
        return f"{history.range}: {counted(points, 'point', 'points')}, measured by others"
    distinct = len({commit.node for commit in history.commits if commit.node is not None})
    parts = [
        f"{history.range}: {counted(len(history.commits), 'commit', 'commits')}",
        f"{history.measured_commits:,} measured, {counted(distinct, 'distinct program', 'distinct programs')}",
    ]
    if history.machine_seconds:
        parts.append(f"{duration(history.machine_seconds)} of trials")
    return listing(parts)


def failed_commits(history: History) -> list[Sentence]:
    """Return why commits could not be built or measured."""
    return [
        Sentence(label=commit.name, text=commit.failure) for commit in history.commits if commit.failure is not None
    ]


def platform_event(event: PlatformEvent) -> str:
    """Write that the platform has changed, and how that shows."""
    state = "; another state of the machine was recorded then" if event.facts_changed else ""
    where = (
        f"in {counted(event.series, 'case', 'cases')} at once between {moment(event.before)} and {moment(event.since)}"
    )
    return f"the same build takes {change(event.change)} {where}: the platform changed, no commit is the reason{state}"


def series_change(series: HistorySeries) -> BoundedChange:
    """Return how a series changed as a whole."""
    if not series.points:
        return BoundedChange(change=0.0, low=0.0, high=0.0)
    last = series.points[-1]
    return BoundedChange(change=math.expm1(last.level), low=math.expm1(last.low), high=math.expm1(last.high))


def change_text(fraction: float) -> str:
    """Write a change, or that there is none."""
    return "0 %" if abs(fraction) <= FLAT else change(fraction)


def series_metric(series: HistorySeries) -> str:
    """Write the metric of a series; one that others have measured keeps their name."""
    return series.metric if series.is_imported else metric_label(series.metric)


def _headline(history: History, nothing: str) -> str:
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
    return listing(parts) or nothing


def _headline_of_unmeasured(history: History) -> str:
    """Write how a range is measured, or how much of it was tried and failed."""
    if not history.commits:
        return "nothing of HEAD is measured: zerolap history --measure HEAD~20..HEAD measures"
    counts = counted(len(history.commits), "commit", "commits")
    failed = sum(commit.failure is not None for commit in history.commits)
    if failed or history.notes:
        return f"{counts}, none measured{f', {failed:,} failed' if failed else ''}"
    return f"{counts}, none measured: zerolap history --measure '{history.range}' measures"


COLUMNS: Final = (
    Column(key="case", heading="case"),
    Column(key="metric", heading="metric"),
    Column(key="commits", heading="commits", is_number=True, rank=2),
    Column(key="change", heading="change", is_number=True),
    Column(key="interval", heading="95 %", is_number=True, rank=1),
    Column(key="steps", heading="steps", is_number=True),
    Column(key="small", heading="small changes", is_number=True, rank=3),
    Column(key="since", heading="since", rank=4),
)


def _row(history: History, series: HistorySeries) -> list[Cell]:
    total, ledger = series_change(series), series.ledger
    return [
        name(_label(series)),
        # That of others is their name.
        Cell(text=series_metric(series), is_name=series.is_imported),
        Cell(text=f"{len(series.points):,}"),
        Cell(text=change_text(total.change), mark=_direction(series, total.change) if total.is_certain else None),
        Cell(text="" if total.low == total.high else interval(total.low, total.high)),
        Cell(text=str(len(series.changes) or "")),
        Cell(text="" if ledger is None else change_text(ledger.small_changes)),
        Cell(text="" if ledger is None else history.commits[ledger.since].name),
    ]


def _label(series: HistorySeries) -> str:
    """Write the case of a series, and of one that others have measured its source and labels."""
    if not series.is_imported:
        return series.case
    return f"{series.case} ({listing([series.source, *series.labels.values()])})"


def _direction(series: HistorySeries, fraction: float) -> Mark:
    return "worse" if series.is_worse(fraction) else "better" if series.is_better(fraction) else "strong"


def _changes_in_order(history: History) -> list[tuple[HistorySeries, HistoryChange]]:
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


def _change(history: History, series: HistorySeries, changed: HistoryChange) -> Section:
    metric = as_name(series.metric) if series.is_imported else series_metric(series)
    return Section(
        key=changed.id,
        title=_label(series),
        remark=f"{change(changed.change)} {metric}",
        # What other counts speak against is no gain.
        mark="strong" if changed.is_opposed else _direction(series, changed.change),
        sentences=[
            *_words_of_change(history, series, changed),
            *(Sentence(text=reason) for reason in changed.reasons[: None if changed.kind == "drift" else MOST_REASONS]),
            Sentence(text=changed.id, mark="quiet"),
        ],
    )


def _words_of_change(history: History, series: HistorySeries, changed: HistoryChange) -> Iterator[Sentence]:
    """Yield where a change lies, whether it is accepted, and what a drift is made of."""
    confirmed = "" if changed.confirmed or series.is_imported else ", not confirmed yet"
    yield Sentence(text=f"{changed.kind} {_location(history, changed)}{confirmed}")
    if changed.accepted is not None:
        yield Sentence(label="accepted", text=changed.accepted)
    if changed.kind == "drift":
        yield Sentence(text=f"many small changes{_parts_of_drift(series, changed)}")


def _location(history: History, changed: HistoryChange) -> str:
    """Write where a change lies: `at COMMIT (subject)` or `from COMMIT to COMMIT`."""
    commit, before = history.commits[changed.position], history.commits[changed.after]
    between = changed.position - changed.after
    if changed.kind == "step" and between == 1:
        return (
            f"at {commit.name} ({by_author(commit.subject, commit.author)})" if commit.subject else f"at {commit.name}"
        )
    return f"from {before.name} to {commit.name}{f', {between} commits' if changed.kind == 'step' else ''}"


def _parts_of_drift(series: HistorySeries, changed: HistoryChange) -> str:
    if not changed.reasons:
        return "; none of them is beyond chance by itself"
    # Of time the largest steps are of chance, and are not named.
    return ", the largest of them:" if series.engine == "counted" else "; these commits have a part in it:"
