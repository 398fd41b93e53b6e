"""The cases that were not measured, as they are shown."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from zerolap.records import Skipped
from zerolap.sheets.format import listing
from zerolap.sheets.sheet import Section, Sentence

MOST_SKIPPED: Final = 20
"""Those that are named; the JSON document has all."""


def skipped_section(skipped: Sequence[Skipped]) -> Section:
    """Return how many cases were skipped, and the first of them with what they lack."""
    left = len(skipped) - MOST_SKIPPED
    return Section(
        key="skipped",
        title=skipped_line(skipped),
        sentences=[
            *(Sentence(label=case.reason, text=f"{case.case}: {case.text}") for case in skipped[:MOST_SKIPPED]),
            *([Sentence(text=f"and {left:,} more", mark="quiet")] if left > 0 else []),
        ],
    )


def skipped_line(skipped: Sequence[Skipped]) -> str:
    """Return the number of skipped cases by reason: `31 skipped: 30 memory, 1 arguments`."""
    reasons = Counter(case.reason for case in skipped).most_common()
    return f"{len(skipped):,} skipped: {listing(f'{number:,} {reason}' for reason, number in reasons)}"
