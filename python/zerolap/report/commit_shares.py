"""The share of each commit in the change of a range: what `zerolap compare --each-commit` shows."""

from dataclasses import dataclass

from rich.console import Console

from zerolap.records import FLAT, METRICS, History, HistoryCommit, HistoryPoint, HistorySeries
from zerolap.report.history_reading import change_text, history_effort, series_change
from zerolap.report.lines import Lines, TextColumn
from zerolap.report.markdown import bullets, code, prose, sentence_with_names, table
from zerolap.sheets import change, count, counted, metric_label, one_line, share

LONGEST_SUBJECT = 60


@dataclass(frozen=True)
class CommitShare:
    """A commit that changed the work of a case."""

    commit: HistoryCommit
    point: HistoryPoint

    @property
    def share_text(self) -> str:
        """Its part of the whole change."""
        return "" if self.point.share is None else share(self.point.share)


def shares_of(history: History, series: HistorySeries) -> list[CommitShare]:
    """Return the commits that changed the work of a series, in their order."""
    return [
        CommitShare(history.commits[point.position], point)
        for point in series.points
        if point.step is not None and not (point.same_code or point.by_string_places) and abs(point.step) > FLAT
    ]


def show_shares(history: History, console: Console) -> None:
    """Write, for each case, the change of the range and the part of it that each commit has."""
    lines = Lines(console)
    lines.line((_headline(history), "bold"))
    lines.line((history_effort(history), "dim"))
    for series in history.series:
        shares = shares_of(history, series)
        if not shares:
            continue
        lines.blank()
        lines.line((f"{series.case}  ", "bold"), _total(series))
        lines.table(
            [
                TextColumn("commit", [one.commit.name for one in shares]),
                TextColumn("change", [change(one.point.step or 0.0) for one in shares], right=True),
                TextColumn("share", [one.share_text for one in shares], right=True),
                TextColumn(
                    "subject", [one_line(one.commit.subject)[:LONGEST_SUBJECT] for one in shares], dispensable=1
                ),
            ]
        )
    for commit in history.commits:
        if commit.failure is not None:
            lines.line((f"{commit.name}  ", "bold magenta"), one_line(commit.failure))
    for note in history.notes:
        lines.line(("note: ", "bold"), one_line(note))
    lines.blank()


def shares_markdown(history: History) -> str:
    """Return the same as Markdown."""
    parts = [f"**{_headline(history)}**", prose(history_effort(history))]
    for series in history.series:
        rows = [
            [
                code(one.commit.name),
                change(one.point.step or 0.0),
                one.share_text,
                prose(one.commit.subject, LONGEST_SUBJECT),
            ]
            for one in shares_of(history, series)
        ]
        if rows:
            parts += [f"{code(series.case)} {_total(series)}", table(["commit", "change", "share", "subject"], rows)]
    failed = [f"{commit.name}: {commit.failure}" for commit in history.commits if commit.failure is not None]
    if failed or history.notes:
        parts.append(bullets(map(sentence_with_names, [*failed, *history.notes])))
    return "\n\n".join(parts) + "\n"


def _headline(history: History) -> str:
    commits = {one.commit.commit for series in history.series for one in shares_of(history, series)}
    changed = [series for series in history.series if shares_of(history, series)]
    if not changed:
        return "no commit changes the work of any case"
    cases = len({series.case for series in changed})
    counts = f"{len(commits):,} of {counted(len(history.commits) - 1, 'commit', 'commits')}"
    verb = "changes" if len(commits) == 1 else "change"
    return f"{counts} {verb} the work of {counted(cases, 'case', 'cases')}"


def _total(series: HistorySeries) -> str:
    """Write the change of a series: `+1.4 % instructions per request (1,200 → 1,217)`."""
    first, last = series.points[0].value, series.points[-1].value
    values = "" if first is None or last is None else f" ({count(first)} → {count(last)})"
    unit = metric_label(series.metric) if series.metric in METRICS else series.metric
    return f"{change_text(series_change(series).change)} {unit}{values}"
