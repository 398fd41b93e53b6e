"""The outcomes of cases: their words, in the order in which cases are shown, and how many there are of each."""

from collections import Counter
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from zerolap.sheets.format import count, counted, listing, one_line

Word: TypeAlias = Literal["regression", "improvement", "unsure", "failed", "invalid", "same", "identical"]

WORDS: Final[tuple[Word, ...]] = ("regression", "improvement", "unsure", "failed", "invalid", "same", "identical")
PLURALS: Final[dict[Word, str]] = {"regression": "regressions", "improvement": "improvements"}


def word_counts(words: Iterable[Word]) -> str:
    """Return how many there are of each word: `1 regression, 11 same`."""
    counts = Counter(words)
    return listing(counted(counts[word], word, PLURALS.get(word, word)) for word in WORDS if counts[word])


def failed_check(name: str, value: float | str | None, limit: str) -> str:
    """Write a check that does not hold: `hit_rate is 0.12, expected >= 0.99`."""
    seen = "unknown" if value is None else count(value) if isinstance(value, float | int) else value
    return one_line(f"{name} is {seen}, expected {limit}")
