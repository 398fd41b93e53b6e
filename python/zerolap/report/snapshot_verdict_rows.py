"""The verdicts of a sweep of several sides: the rows of their table, and why they make it count as failed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.byte_counts import shown_bytes
from zerolap.records import FailOn, SnapshotReport, SnapshotVerdicts, Verdict, VerdictWord
from zerolap.sheets import ARROW, change as written_change, count, interval, listing, one_line

MIB: Final = 1 << 20
MOST_NAMES: Final = 5
LARGEST_CHANGE: Final = 100.0
"""A bound beyond a hundredfold says that nothing is known: it is written as infinite."""


@dataclass(frozen=True)
class JudgedMetric:
    """How a metric with verdicts is written: its label, its unit, and by what its values are divided."""

    label: str
    unit: str
    divisor: float = 1.0


JUDGED: Final = {
    "fork_us": JudgedMetric("fork", "ms", 1000),
    "longest_pause_us": JudgedMetric("longest pause", "ms", 1000),
    "during_p99_9_us": JudgedMetric("p99.9 during", "ms", 1000),
    "event_seconds": JudgedMetric("event", "s"),
    "cow_bytes": JudgedMetric("copied", "MiB", MIB),
}


@dataclass(frozen=True)
class VerdictRow:
    """A row of the table of a pair of sides."""

    data: str
    load: str
    metric: str
    values: str
    change: str
    interval: str
    word: VerdictWord


def verdict_rows(report: SnapshotReport) -> dict[str, list[VerdictRow]]:
    """Return a row for each verdict, in the order of the document, by the names of base and head."""
    rows: dict[str, list[VerdictRow]] = {}
    for place in report.verdicts:
        pair = f"{one_line(place.base)} {ARROW} {one_line(place.head)}"
        rows.setdefault(pair, []).extend(_row(place, verdict) for verdict in place.verdicts)
    return rows


def _row(place: SnapshotVerdicts, verdict: Verdict) -> VerdictRow:
    judged = JUDGED[verdict.metric]
    base, head = (count(value / judged.divisor) for value in (verdict.base, verdict.head))
    return VerdictRow(
        data=shown_bytes(place.size_bytes),
        load=place.load,
        metric=f"{judged.label}, {judged.unit}",
        values=f"{base} {ARROW} {head}",
        change=written_change(verdict.change),
        interval=interval(verdict.low, verdict.high if verdict.high < LARGEST_CHANGE else math.inf),
        word=verdict.verdict,
    )


def snapshot_gate_sentence(report: SnapshotReport, when: FailOn) -> str | None:
    """Return why a sweep counts as failed, or None if it does not.

    For example `--fail-on regression applies: regression of fork at 4 GiB, open loop`. `unsure` includes regressions,
    sizes that failed, and a sweep without any verdict; `time` is as `regression`, since all its metrics are of time.
    """
    if when == "never":
        return None
    if not any(place.verdicts for place in report.verdicts):
        return f"--fail-on {when} applies: there are no verdicts, so a regression cannot be ruled out"
    regressions = _places(report, "regression")
    undecided = _places(report, "unsure") if when == "unsure" else []
    failed = [shown_bytes(failure.size_bytes) for failure in report.failed] if when == "unsure" else []
    parts = [
        *([f"regression of {_some(regressions)}"] if regressions else []),
        *([f"undecided: {_some(undecided)}"] if undecided else []),
        *([f"failed: {_some(failed)}"] if failed else []),
    ]
    return f"--fail-on {when} applies: {'; '.join(parts)}" if parts else None


def _places(report: SnapshotReport, word: VerdictWord) -> list[str]:
    heads = {place.head for place in report.verdicts}
    return [
        f"{JUDGED[verdict.metric].label} at {shown_bytes(place.size_bytes)}, {place.load} loop"
        + (f" with {one_line(place.head)}" if len(heads) > 1 else "")
        for place in report.verdicts
        for verdict in place.verdicts
        if verdict.verdict == word
    ]


def _some(names: Sequence[str]) -> str:
    further = len(names) - MOST_NAMES
    return listing([*names[:MOST_NAMES], *([f"{further:,} more"] if further > 0 else [])])
