"""Which cases were not tried, on a terminal."""

from collections.abc import Sequence

from zerolap.records import Skipped
from zerolap.report.lines import Lines
from zerolap.report.reading import skipped_line
from zerolap.sheets import one_line

MOST_SKIPPED = 20
"""Those that are named; the JSON document has all."""


def show_skipped(lines: Lines, skipped: Sequence[Skipped]) -> None:
    """Write how many cases were skipped, and the first of them with what they lack."""
    line = skipped_line(skipped)
    if line is None:
        return
    lines.line((line, "dim"))
    for case in skipped[:MOST_SKIPPED]:
        lines.line((f"  {case.reason}  ", "dim"), one_line(f"{case.case}: {case.text}"))
    if len(skipped) > MOST_SKIPPED:
        lines.line((f"  and {len(skipped) - MOST_SKIPPED:,} more", "dim"))
