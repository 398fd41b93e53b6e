"""What several cases show together, in words."""

from collections.abc import Iterator, Sequence
from typing import Final

from zerolap.records import CHANGED, Comparison, PooledChange
from zerolap.sheets.detail import Lengths
from zerolap.sheets.format import change, interval, listing, metric_label, probability, rough_percent
from zerolap.sheets.phrases import PHRASES

MOST_STATED: Final = 3


def pooled_sentences(comparison: Comparison, lengths: Lengths) -> Iterator[str]:
    """Yield what all cases show together where that changed, then each group of them that did."""
    of_all = [pooled for pooled in comparison.suite if pooled.scope == "suite"]
    if any(pooled.verdict in CHANGED for pooled in of_all):
        yield f"{of_all[0].cases:,} cases: {listing(map(_figure, of_all))}"
    for pooled in _changed(comparison, ("group", "function"))[:MOST_STATED]:
        yield f"{pooled.cases:,} cases {_what_they_share(pooled, lengths)}: {_figure(pooled)}"


def pooled_statements(comparisons: Sequence[Comparison], lengths: Lengths) -> list[str]:
    """Return what the headline states of cases together that got worse on any platform."""
    worse = [
        pooled
        for comparison in comparisons
        for pooled in _changed(comparison, ("suite", "group", "function"))
        if pooled.verdict == "regression"
    ]
    if not worse:
        return []
    first = next((pooled for pooled in worse if pooled.scope == "suite"), worse[0])
    which = f"all {first.cases:,} cases" if first.scope == "suite" else f"{first.cases:,} cases"
    shared = "" if first.scope == "suite" else f" {_what_they_share(first, lengths)}"
    phrase = PHRASES[first.metric].headline(first.change, rough_percent(first.change))
    return [f"{which}{shared} together {_plural(phrase)}"]


def _changed(comparison: Comparison, scopes: Sequence[str]) -> list[PooledChange]:
    return [pooled for pooled in comparison.suite if pooled.scope in scopes and pooled.verdict in CHANGED]


def _what_they_share(pooled: PooledChange, lengths: Lengths) -> str:
    name = lengths.named(pooled.name)
    return f"of the group {name}" if pooled.scope == "group" else f"that execute {name}"


def _figure(pooled: PooledChange) -> str:
    q = "" if pooled.q is None else f", q {probability(pooled.q)}"
    return f"{metric_label(pooled.metric)} {change(pooled.change)} {interval(pooled.low, pooled.high)}{q}"


def _plural(phrase: str) -> str:
    verb, _, rest = phrase.partition(" ")
    return f"{verb.removesuffix('s') if verb != 'does' else 'do'} {rest}"
