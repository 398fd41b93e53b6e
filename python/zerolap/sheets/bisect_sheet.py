"""The outcome of a bisection as it is shown."""

from collections.abc import Iterator
from typing import Final

from zerolap.records import BisectCulprit, BisectReport, Finding
from zerolap.sheets.format import by_author, change, counted, duration, interval, metric_label
from zerolap.sheets.sheet import Fact, Section, Sentence, Sheet

SHOWN_CANDIDATES: Final = 8
MOST_REASONS: Final = 3


def bisect_sheet(report: BisectReport) -> Sheet:
    """Return the whole change, each culprit with its size, its probability and its reasons, and what was skipped."""
    skipped = [f"{commit.name}: {commit.failure}" for commit in report.commits if commit.failure is not None]
    return Sheet(
        kind="bisect",
        title=_headline(report),
        remark=_effort(report),
        facts=[Fact(label="whole range", text=_changed(report.metric, report.change, report.low, report.high))],
        sections=[
            *(_culprit(report, culprit) for culprit in report.culprits),
            *([Section(sentences=[Sentence(label="skipped", text=text) for text in skipped])] if skipped else []),
        ],
        notes=list(report.notes),
        closing=[Fact(label="command", text=report.command_line)],
    )


def _headline(report: BisectReport) -> str:
    ends = f"between {report.commits[0].name} and {report.commits[-1].name}"
    match report.outcome:
        case "identical":
            return f"no difference: {report.case} executes the same instructions on both ends"
        case "no difference":
            return f"no difference found in {report.case} {ends}"
        case "undecided":
            return f"{report.case} changed {ends}; the culprit is not certain yet"
    if len(report.culprits) == 1:
        return f"{report.case}: {_name(report, report.culprits[0])} changed it"
    return f"{report.case}: {counted(len(report.culprits), 'commit', 'commits')} {ends} changed it"


def _effort(report: BisectReport) -> str:
    between = counted(max(0, len(report.commits) - 2), "commit", "commits")
    starts = sum(measured.starts for measured in report.measured)
    kind = "counted" if report.engine == "counted" else f"timed by {counted(starts, 'start', 'starts')}"
    commits = counted(len(report.measured), "commit", "commits")
    return f"{between} between the ends, {commits} {kind}, {duration(report.machine_seconds)} of trials"


def _culprit(report: BisectReport, culprit: BisectCulprit) -> Section:
    texts = [_certainty(report, culprit), *_candidates(report, culprit)]
    texts += [finding.text for finding in _reasons(culprit)]
    return Section(
        title=_name(report, culprit),
        remark=_changed(report.metric, culprit.change, culprit.low, culprit.high),
        mark="worse" if culprit.change > 0 else "better",
        sentences=[Sentence(text=text) for text in texts],
    )


def _name(report: BisectReport, culprit: BisectCulprit) -> str:
    """Write a culprit with its subject, or how many candidates there are."""
    if len(culprit.positions) > 1:
        return f"one of {len(culprit.positions)} commits"
    commit = report.commits[culprit.positions[0]]
    return f"{commit.name} ({by_author(commit.subject, commit.author)})" if commit.subject else commit.name


def _certainty(report: BisectReport, culprit: BisectCulprit) -> str:
    """Write how sure a culprit is, and what its comparison with its parent came to."""
    if report.engine == "counted" and culprit.is_certain:
        words = "certain, as counts are exact"
    else:
        probability = "over 99 %" if culprit.probability > 0.99 else f"{culprit.probability * 100:.0f} %"
        words = f"probability {probability}"
    if culprit.confirmed is None:
        return words
    compared = "a comparison with its parent shows it too" if culprit.confirmed else "its comparison does not show it"
    return f"{words}; {compared} ({culprit.comparison})"


def _candidates(report: BisectReport, culprit: BisectCulprit) -> Iterator[str]:
    """Yield the commits of which one is the culprit, each with why it was not measured; none where it is known."""
    if len(culprit.positions) == 1:
        return
    for position in culprit.positions[:SHOWN_CANDIDATES]:
        commit = report.commits[position]
        subject = by_author(commit.subject, commit.author)
        yield f"{commit.name} {subject}{'' if commit.failure is None else f': {commit.failure}'}"
    if len(culprit.positions) > SHOWN_CANDIDATES:
        yield f"and {len(culprit.positions) - SHOWN_CANDIDATES} more"


def _reasons(culprit: BisectCulprit) -> list[Finding]:
    """Return the findings to show: functions first, and what could not be examined."""
    culprits = sorted((finding for finding in culprit.findings if finding.kind == "culprit"), key=lambda by: by.rank)
    others = [finding for finding in culprit.findings if finding.kind in ("cause", "diffuse", "limits")]
    return [*culprits[:MOST_REASONS], *others]


def _changed(metric: str, fraction: float, low: float, high: float) -> str:
    bounds = "" if low == high else f" {interval(low, high)}"
    return f"{metric_label(metric)} {change(fraction)}{bounds}"
