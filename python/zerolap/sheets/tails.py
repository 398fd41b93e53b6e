"""What is said of the tails of an open loop beside the verdict on time: how far p99 is known, and what is open."""

from collections.abc import Mapping, Sequence
from typing import Final

from zerolap.records import FAR_TAIL, LONGEST_PAUSE, TAIL, TAIL_AT_HALF, CaseResult, Verdict
from zerolap.sheets.format import change, interval, percent, rough_percent

NAMES: Final[Mapping[str, str]] = {
    TAIL: "p99 at 80 % load",
    TAIL_AT_HALF: "p99 at half load",
    FAR_TAIL: "p99.9 at 80 % load",
    LONGEST_PAUSE: "longest pause at 80 % load",
}
"""The tails in a few words, that which is part of `same` first."""


def tail_of(case: CaseResult) -> Verdict | None:
    """Return the verdict on the tail that is part of what is the same in time; none without an open loop."""
    return next((verdict for verdict in case.verdicts if verdict.metric == TAIL), None)


def known_within(verdict: Verdict) -> str:
    """Write within which change a tail is known to lie: `±22 %`."""
    return f"±{rough_percent(max(abs(verdict.low), abs(verdict.high)))}"


def short_tail(verdict: Verdict) -> str:
    """Write a tail that did not change, as it stands beside a change of CPU time: `p99 ±9 %`, `p99 open (±22 %)`."""
    return f"p99 {known_within(verdict)}" if verdict.verdict == "same" else f"p99 open ({known_within(verdict)})"


def open_tail(verdict: Verdict) -> str:
    """Write what is known of a case of which p99 alone is open."""
    return f"same in CPU time and throughput; {short_tail(verdict)}"


def tail_margin(verdict: Verdict) -> str:
    """Write a tail that is the same, with the margin within which it is: `p99 +1 % [-6, +9], within ±15 %`."""
    return (
        f"p99 {change(verdict.change)} {interval(verdict.low, verdict.high)}, "
        f"within ±{percent(verdict.margin or verdict.min_effect)}"
    )


def tail_sentence(case: CaseResult) -> str | None:
    """Return a sentence on all tails of a case whose time is the same or open; none without an open loop."""
    by_metric = {verdict.metric: verdict for verdict in case.verdicts}
    seen = [_said(name, by_metric[metric]) for metric, name in NAMES.items() if metric in by_metric]
    if not seen or case.time not in ("same", "unsure"):
        return None
    missing = [name for metric, name in NAMES.items() if metric not in by_metric]
    unseen = f"; too few requests were seen for {_joined(missing)}" if missing else ""
    return f"Of an open loop: {'; '.join(seen)}{unseen}."


def _said(name: str, verdict: Verdict) -> str:
    if verdict.verdict == "same":
        return f"{name} is the same within ±{percent(verdict.margin or verdict.min_effect)}"
    if verdict.verdict == "unsure":
        return f"{name} is open ({known_within(verdict)})"
    return f"{name} is {rough_percent(verdict.change)} {'higher' if verdict.change > 0 else 'lower'}"


def _joined(names: Sequence[str]) -> str:
    return " and ".join(names)
