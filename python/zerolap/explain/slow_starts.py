"""States which side was slow in some starts, where that leaves a verdict on time unsure."""

from collections.abc import Mapping, Sequence
from typing import Final

from zerolap.records import METRICS, Finding, LopsidedReason, Verdict, WildStarts

MEANING: Final[Mapping[LopsidedReason, str]] = {
    "mean": "whether time is the same on the average of all starts is open",
    "sides": "so many on one side are more than chance",
    "other cases": "one side has such starts in most other cases, more than by chance, and so may this one",
}


def explain_slow_starts(verdicts: Sequence[Verdict]) -> Finding | None:
    """Return the finding on starts far from the others; none where they leave all verdicts as they are."""
    for verdict in verdicts:
        if verdict.wild_starts is not None and verdict.wild_starts.reason is not None:
            metric = METRICS.get(verdict.metric)
            label = verdict.metric if metric is None else metric.label
            return Finding(kind="cause", rank=0, text=f"{label}: {_text(verdict, verdict.wild_starts)}.")
    return None


def _text(verdict: Verdict, wild: WildStarts) -> str:
    meaning = MEANING[wild.reason] if wild.reason is not None else ""
    if not wild.base and not wild.head:
        return f"none of {verdict.samples} starts lies far from the others; {meaning}"
    sides = [
        f"in {count} of {verdict.samples} starts the {side} took far longer than in the others"
        for side, count in (("head", wild.head), ("base", wild.base))
        if count
    ]
    return (
        f"{' and '.join(sides)}, up to {wild.largest:.2f} times as long; the mean of all starts is "
        f"{wild.mean_change:+.1%}, that of typical starts {verdict.change:+.1%}; {meaning}"
    )
