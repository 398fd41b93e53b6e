"""The outcome of a bisection for other programs: JSON and Markdown."""

from zerolap.records import BisectCulprit, BisectReport
from zerolap.report.bisect_reading import (
    bisect_effort,
    bisect_headline,
    candidates,
    culprit_certainty,
    culprit_change,
    culprit_name,
    culprit_reasons,
    skipped_commits,
    whole_change,
)
from zerolap.report.markdown import bullets, code, folded, prose, sentence_with_names


def bisect_json(report: BisectReport) -> str:
    """Return the document as JSON."""
    return report.model_dump_json(by_alias=True, indent=2) + "\n"


def bisect_markdown(report: BisectReport) -> str:
    """Return the outcome as Markdown: each culprit with its size, its probability and its reasons."""
    blocks = [f"**{prose(bisect_headline(report))}**", f"{prose(whole_change(report))}; {prose(bisect_effort(report))}"]
    blocks += [_culprit(report, culprit) for culprit in report.culprits]
    skipped = skipped_commits(report)
    if skipped:
        blocks.append(folded(f"{len(skipped)} skipped", bullets(map(sentence_with_names, skipped))))
    blocks += [f"Note: {prose(note)}" for note in report.notes]
    blocks.append(f"command: {code(report.command_line)}")
    return "\n\n".join(blocks) + "\n"


def _culprit(report: BisectReport, culprit: BisectCulprit) -> str:
    heading = f"#### {prose(culprit_name(report, culprit))}: {prose(culprit_change(report, culprit))}"
    reasons = [sentence_with_names(finding.text) for finding in culprit_reasons(culprit)]
    lines = [
        prose(culprit_certainty(report, culprit)),
        *map(sentence_with_names, candidates(report, culprit)),
        *reasons,
    ]
    return f"{heading}\n\n{bullets(lines)}"
