"""How a comparison is read by all reports: what decides a case, what comes first, the headline."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, TypeAlias

from zerolap.records import CaseResult, Comparison, Finding, Settings, Skipped, Verdict
from zerolap.report.format import change as written_change
from zerolap.report.format import counted, duration, interval, listing, metric_label, percent, probability

Word: TypeAlias = Literal["regression", "improvement", "unsure", "failed", "invalid", "same"]

# In the order in which cases are shown.
WORDS: tuple[Word, ...] = ("regression", "improvement", "unsure", "failed", "invalid", "same")
PLURALS: dict[Word, str] = {"regression": "regressions", "improvement": "improvements"}
CHANGED: tuple[Word, ...] = ("regression", "improvement")
STATES: dict[str, str] = {
    "running": "not finished: interrupted, or still going on; this is what was recorded",
    "interrupted": "interrupted: this is what was recorded until then",
    "failed": "failed: this is what was recorded until then",
}


def word(case: CaseResult) -> Word:
    """Return what a case is: its verdict, or `failed` where it was not measured at all."""
    if case.verdict == "invalid" and case.failure is not None:
        return "failed"
    return case.verdict


def deciding(case: CaseResult) -> Verdict | None:
    """Return the verdict that decided the case's; none for an invalid one."""
    return next((verdict for verdict in case.verdicts if verdict.metric == case.deciding), None)


def others(case: CaseResult) -> list[Verdict]:
    """Return the verdicts beside the deciding one that say more than `same`; of times only what changed."""
    decided = deciding(case)
    return [
        verdict
        for verdict in case.verdicts
        if verdict is not decided
        and verdict.verdict != "same"
        and (verdict.engine == "counted" or verdict.verdict != "unsure")
    ]


def in_order(cases: list[CaseResult]) -> list[CaseResult]:
    """Return the cases, changed ones first, the larger change before the smaller."""

    def place(case: CaseResult) -> tuple[int, float]:
        decided = deciding(case)
        size = abs(decided.change) if decided is not None and word(case) in CHANGED else 0.0
        return WORDS.index(word(case)), -size

    return sorted(cases, key=place)


def headline(comparison: Comparison) -> str:
    """Return the outcome in a line: `1 regression, 11 same`."""
    counts = Counter(word(case) for case in comparison.cases)
    parts = [counted(counts[one], one, PLURALS.get(one, one)) for one in WORDS if counts[one]]
    return listing(parts) or "no case was measured"


def skipped_line(skipped: Sequence[Skipped]) -> str | None:
    """Return how many cases were not tried, by reason; none where all were: `31 skipped: 30 memory, 1 arguments`."""
    if not skipped:
        return None
    reasons = Counter(one.reason for one in skipped)
    return f"{len(skipped):,} skipped: {', '.join(f'{number:,} {reason}' for reason, number in reasons.most_common())}"


def state_line(comparison: Comparison) -> str | None:
    """Return what is to be known of a comparison that did not end well, None for one that is done."""
    return STATES.get(comparison.state)


def effort(comparison: Comparison) -> str:
    """Return how much was measured, and how: cases, engines, machine time."""
    cases = counted(len(comparison.cases), "case", "cases")
    return f"{cases}, {trials(comparison.settings, comparison.summary.machine_seconds)}"


def trials(settings: Settings, seconds: float) -> str:
    """Return what trials there were: `counted and timed, 6 min 52 s of trials`."""
    quick = ", quick" if settings.quick else ""
    return f"{' and '.join(settings.engines)}{quick}, {duration(seconds)} of trials"


def doubt(decided: Verdict) -> str:
    """Return why a case is unsure: too few samples, or other figures against the one that would decide."""
    if decided.verdict == "unsure":
        able = f"these {decided.samples} samples a side can tell a change of {percent(decided.detectable)} or more"
        return f"{sentence(decided)}; {able}"
    return f"{decided.verdict}: {sentence(decided)}; other figures speak against it"


def unconfirmed(case: CaseResult) -> bool:
    """Tell whether a case changed by counting alone."""
    return word(case) in CHANGED and not case.confirmed


def sentence(verdict: Verdict) -> str:
    """Write a verdict in a line: metric, change, interval, q."""
    certainty = "" if verdict.q is None else f", q {probability(verdict.q)}"
    bounds = interval(verdict.low, verdict.high)
    return f"{metric_label(verdict.metric)} {written_change(verdict.change)} {bounds}{certainty}"


def ranked(case: CaseResult, kind: str) -> list[Finding]:
    """Return the findings of a kind by rank."""
    return sorted((finding for finding in case.findings if finding.kind == kind), key=lambda finding: finding.rank)
