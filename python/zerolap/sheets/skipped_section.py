"""The cases that were not measured, as they are shown."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from zerolap.records import Skipped
from zerolap.sheets.format import listing
from zerolap.sheets.sheet import Section, Sentence, as_name

MOST_SKIPPED: Final = 20
"""Those that are named; the JSON document has all."""


def skipped_section(skipped: Sequence[Skipped], most: int = MOST_SKIPPED) -> list[Section]:
    """Return how many cases were skipped, and the first of them with what they lack; nothing without any."""
    line, left = skipped_line(skipped), len(skipped) - most
    sentences = [
        *(Sentence(label=case.reason, text=f"{as_name(case.case)}: {case.text}") for case in skipped[:most]),
        *([Sentence(text=f"and {left:,} more", mark="quiet")] if left > 0 else []),
    ]
    return [] if line is None else [Section(key="skipped", title=line, sentences=sentences)]


def skipped_line(skipped: Sequence[Skipped]) -> str | None:
    """Return the number of skipped cases by reason: `31 skipped: 30 memory, 1 arguments`; None without any."""
    if not skipped:
        return None
    reasons = Counter(case.reason for case in skipped).most_common()
    return f"{len(skipped):,} skipped: {listing(f'{number:,} {reason}' for reason, number in reasons)}"
