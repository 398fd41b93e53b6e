"""How often inlined functions are called on both sides of a change: what only count builds know of them."""

from collections.abc import Sequence

from zerolap.explain.text import Sentences
from zerolap.records import CallCounts, Finding, PerSide


def with_calls_of_inlined(findings: Sequence[Finding], base: CallCounts, head: CallCounts) -> list[Finding]:
    """Return the findings, those on inlined functions with their calls in the count build of each side."""
    return [_with_calls(finding, base, head) for finding in findings]


def _with_calls(finding: Finding, base: CallCounts, head: CallCounts) -> Finding:
    if finding.kind != "culprit" or finding.function is None or finding.file is None:
        return finding
    if finding.calls_per_op is not None or finding.carrier is not None:
        return finding
    before, after = (counts.calls_to(finding.function, finding.file) for counts in (base, head))
    if before is None and after is None:
        return finding
    calls = PerSide(base=before, head=after)
    text = f"{finding.text} {Sentences().called_without_inlining(calls)}"
    return finding.model_copy(update={"calls_without_inlining_per_op": calls, "text": text})
