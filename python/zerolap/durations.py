"""Durations as users write them: `90s`, `8m`, `1h`, or seconds without a unit."""

import re
from typing import Final

SECONDS_PER_UNIT: Final = {"s": 1, "m": 60, "h": 3600}

_DURATION: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([smh]?)")


def seconds_in(text: str) -> float | None:
    """Return a duration in seconds; none for another text, and for 0."""
    match = _DURATION.fullmatch(text.strip())
    seconds = 0.0 if match is None else float(match[1]) * SECONDS_PER_UNIT[match[2] or "s"]
    return seconds or None
