"""A history on a terminal: how each case went, where it changed and why."""

from rich.console import Console

from zerolap.records import BoundedChange, History, HistoryChange, HistorySeries
from zerolap.report.history_reading import (
    NO_CHANGES,
    change_text,
    changes_in_order,
    history_effort,
    history_headline,
    range_of_change,
    series_change,
    series_label,
    series_metric,
    sources_of_others,
)
from zerolap.report.lines import Lines, Part, TextColumn
from zerolap.sheets import change, counted, interval, one_line

MOST_REASONS = 3


def show_history(history: History, console: Console, nothing: str = NO_CHANGES) -> None:
    """Write a history: headline, a row for each series, each change with its reasons, and what could not be built.

    `nothing` is the headline where there are no changes.
    """
    lines = Lines(console)
    lines.line((history_headline(history, nothing), "bold"))
    lines.line((history_effort(history), "dim"))
    if history.series:
        lines.blank()
        _show_table(lines, history)
    for of_series, changed in changes_in_order(history):
        _show_change(lines, history, of_series, changed)
    for event in history.platform_events:
        lines.blank()
        lines.line(
            ("platform  ", "bold yellow"),
            f"the same build takes {change(event.change)} in {counted(event.series, 'case', 'cases')} at once "
            f"between {event.before} and {event.since}: the platform changed, no commit is the reason"
            f"{'; another state of the machine was recorded then' if event.facts_changed else ''}",
        )
    _show_failures(lines, history)
    for source in sources_of_others(history):
        lines.line(("note: ", "bold"), one_line(f"series of `{source}` are measured by others"))
    for note in history.notes:
        lines.line(("note: ", "bold"), one_line(note))
    lines.blank()


def _show_table(lines: Lines, history: History) -> None:
    totals = [series_change(series) for series in history.series]
    ledgers = [series.ledger for series in history.series]
    lines.table(
        [
            TextColumn("case", [series_label(series) for series in history.series]),
            TextColumn("metric", [series_metric(series) for series in history.series]),
            TextColumn("commits", [f"{len(series.points):,}" for series in history.series], right=True, dispensable=2),
            TextColumn(
                "change",
                [_change_cell(series, total) for series, total in zip(history.series, totals, strict=True)],
                right=True,
            ),
            TextColumn("95 %", [_interval_cell(total) for total in totals], right=True, dispensable=1),
            TextColumn("steps", [str(len(series.changes) or "") for series in history.series], right=True),
            TextColumn(
                "small changes",
                ["" if ledger is None else change_text(ledger.small_changes) for ledger in ledgers],
                right=True,
                dispensable=3,
            ),
            TextColumn(
                "since",
                ["" if ledger is None else history.commits[ledger.since].name for ledger in ledgers],
                dispensable=4,
            ),
        ]
    )


def _change_cell(series: HistorySeries, total: BoundedChange) -> Part:
    return change_text(total.change), _style(series, total.change) if total.is_certain else ""


def _style(series: HistorySeries, fraction: float) -> str:
    return "bold red" if series.is_worse(fraction) else "bold green" if series.is_better(fraction) else "bold"


def _interval_cell(total: BoundedChange) -> str:
    return "" if total.low == total.high else interval(total.low, total.high)


def _show_change(lines: Lines, history: History, series: HistorySeries, changed: HistoryChange) -> None:
    lines.blank()
    words = "drift" if changed.kind == "drift" else "step"
    confirmed = "" if changed.confirmed or series.is_imported else ", not confirmed yet"
    # What other counts speak against is no gain.
    style = "bold" if changed.is_opposed else _style(series, changed.change)
    lines.line(
        (f"{series_label(series)}  ", "bold"),
        (f"{change(changed.change)} {series_metric(series)}", style),
        f"  {words} {one_line(range_of_change(history, changed))}{confirmed}",
    )
    if changed.accepted is not None:
        lines.line(("  accepted: ", "dim"), one_line(changed.accepted))
    if changed.kind == "drift":
        lines.line(f"  many small changes{_parts_of_drift(series, changed)}")
    for reason in changed.reasons[: None if changed.kind == "drift" else MOST_REASONS]:
        lines.line("  ", one_line(reason))
    lines.line((f"  {one_line(changed.id)}", "dim"))


def _parts_of_drift(series: HistorySeries, changed: HistoryChange) -> str:
    if not changed.reasons:
        return "; none of them is beyond chance by itself"
    # Of time the largest steps are of chance, and are not named.
    return ", the largest of them:" if series.engine == "counted" else "; these commits have a part in it:"


def _show_failures(lines: Lines, history: History) -> None:
    failed = [commit for commit in history.commits if commit.failure is not None]
    if failed:
        lines.blank()
    for commit in failed:
        lines.line((f"{commit.name}  ", "bold magenta"), one_line(commit.failure or ""))
