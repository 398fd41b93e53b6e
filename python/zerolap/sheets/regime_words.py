"""What cases do in other regimes than their own, in words."""

from collections.abc import Iterator, Sequence

from zerolap.records import CaseResult, Comparison, MeasuredRegime
from zerolap.sheets.detail import Lengths
from zerolap.sheets.format import counted, listing


def with_regime(subject: str, case: CaseResult, lengths: Lengths) -> str:
    """Return the subject of a sentence on a case with the regime that it is in: `GET (16 KiB values)`."""
    return f"{subject} ({lengths.foreign(case.regime)})" if case.regime else subject


def regime_sentences(comparison: Comparison, lengths: Lengths) -> Iterator[str]:
    """Yield in one sentence what did not change further in other regimes, and in one more what has no answer there."""
    regimes = comparison.regimes
    same = [regime for regime in regimes if regime.same and not regime.differing]
    if same:
        cases = {case for regime in same for case in regime.same}
        of_cases = f" of {counted(len(cases), 'case', 'cases')}"
        yield f"{_number(len(same))}{of_cases}: no further change ({_names(same, lengths)})"
    if differing := [regime for regime in regimes if regime.differing]:
        yield f"{_number(len(differing))} with a difference: {_names(differing, lengths)}"
    if without := [regime for regime in regimes if regime.unmeasured]:
        first = next(iter(without[0].unmeasured.values()))
        yield f"{_number(len(without))} without an answer: {_names(without, lengths)} ({lengths.foreign(first)})"


def _number(regimes: int) -> str:
    return counted(regimes, "regime", "regimes")


def _names(regimes: Sequence[MeasuredRegime], lengths: Lengths) -> str:
    return listing([lengths.foreign(regime.regime) for regime in regimes])
