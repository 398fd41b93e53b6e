"""How the outcome of a bisection is read, in the words of all reports."""

from zerolap.records import BisectCulprit, BisectReport, Finding
from zerolap.report.format import change, counted, duration, interval, metric_label, one_line

SHOWN_CANDIDATES = 8
MOST_REASONS = 3


def bisect_headline(report: BisectReport) -> str:
    """Write the outcome in a sentence."""
    ends = f"between {report.commits[0].name} and {report.commits[-1].name}"
    match report.outcome:
        case "identical":
            return f"no difference: {report.case} executes the same instructions on both ends"
        case "no difference":
            return f"no difference found in {report.case} {ends}"
        case "undecided":
            return f"{report.case} changed {ends}; the culprit is not certain yet"
    if len(report.culprits) == 1:
        return f"{report.case}: {culprit_name(report, report.culprits[0])} changed it"
    return f"{report.case}: {counted(len(report.culprits), 'commit', 'commits')} {ends} changed it"


def bisect_effort(report: BisectReport) -> str:
    """Write what was measured for it."""
    between = counted(max(0, len(report.commits) - 2), "commit", "commits")
    starts = sum(one.starts for one in report.measured)
    kind = "counted" if report.engine == "counted" else f"timed by {counted(starts, 'start', 'starts')}"
    measured = counted(len(report.measured), "commit", "commits")
    return f"{between} between the ends, {measured} {kind}, {duration(report.machine_seconds)} of trials"


def whole_change(report: BisectReport) -> str:
    """Write the change between the ends."""
    return _changed(report.metric, report.change, report.low, report.high)


def culprit_name(report: BisectReport, culprit: BisectCulprit) -> str:
    """Write a culprit with its subject, or how many candidates there are."""
    if len(culprit.positions) > 1:
        return f"one of {len(culprit.positions)} commits"
    commit = report.commits[culprit.positions[0]]
    subject = f" ({one_line(commit.subject)})" if commit.subject else ""
    return f"{commit.name}{subject}"


def culprit_certainty(report: BisectReport, culprit: BisectCulprit) -> str:
    """Write how sure a culprit is, and what its comparison with its parent came to."""
    if report.engine == "counted" and culprit.is_certain:
        words = "certain, as counts are exact"
    else:
        words = f"probability {_probability(culprit.probability)}"
    if culprit.confirmed is None:
        return words
    compared = "a comparison with its parent shows it too" if culprit.confirmed else "its comparison does not show it"
    return f"{words}; {compared} ({culprit.comparison})"


def culprit_change(report: BisectReport, culprit: BisectCulprit) -> str:
    """Write the size of the change that a culprit made."""
    return _changed(report.metric, culprit.change, culprit.low, culprit.high)


def candidates(report: BisectReport, culprit: BisectCulprit) -> list[str]:
    """Write the commits of which one is the culprit, each with why it was not measured; none where it is known."""
    if len(culprit.positions) == 1:
        return []
    lines = []
    for position in culprit.positions[:SHOWN_CANDIDATES]:
        commit = report.commits[position]
        reason = f": {one_line(commit.failure)}" if commit.failure is not None else ""
        lines.append(f"{commit.name} {one_line(commit.subject)}{reason}")
    if len(culprit.positions) > SHOWN_CANDIDATES:
        lines.append(f"and {len(culprit.positions) - SHOWN_CANDIDATES} more")
    return lines


def culprit_reasons(culprit: BisectCulprit) -> list[Finding]:
    """Return the findings to show: functions first, and what could not be examined."""
    culprits = sorted((one for one in culprit.findings if one.kind == "culprit"), key=lambda one: one.rank)
    return [*culprits[:MOST_REASONS], *(one for one in culprit.findings if one.kind in ("cause", "diffuse", "limits"))]


def skipped_commits(report: BisectReport) -> list[str]:
    """Write the commits that could not be built or measured, with the reason."""
    return [f"{one.name}: {one_line(one.failure)}" for one in report.commits if one.failure is not None]


def _probability(value: float) -> str:
    return "over 99 %" if value > 0.99 else f"{value * 100:.0f} %"


def _changed(metric: str, fraction: float, low: float, high: float) -> str:
    bounds = "" if low == high else f" {interval(low, high)}"
    return f"{metric_label(metric)} {change(fraction)}{bounds}"
