"""Regressions on a branch over its pushes: which push brought one, and with which it went away again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from zerolap.records import CaseResult, Comparison, metric_named

TOLERANCE = 2.0
"""A regression is gone once what is left of it is below so many minimum effects: both are measured with errors."""


@dataclass(frozen=True)
class Regressed:
    """A case that a push made worse on a platform, by the metric that decided."""

    platform: str
    case: str
    metric: str


def regressed_in(comparisons: Sequence[Comparison]) -> list[Regressed]:
    """Return what comparisons of one push report as regressions."""
    return [
        Regressed(comparison.platform.name, case.case, case.deciding)
        for comparison in comparisons
        for case in comparison.cases
        if case.verdict == "regression" and case.deciding is not None
    ]


def repaired_by(regressed: Sequence[Regressed], pushes: Sequence[Sequence[Comparison]]) -> int | None:
    """Return the place in `pushes` of the one with which regressions went away; the first brought them.

    None while any of them is there. What comes back later is another regression.
    """
    repairs = (last for last in range(1, len(pushes)) if all(is_gone(one, pushes[: last + 1]) for one in regressed))
    return next(repairs, None)


def is_gone(regressed: Regressed, pushes: Sequence[Sequence[Comparison]]) -> bool:
    """Whether later pushes have undone a regression; the first of `pushes` brought it.

    Each push is compared with the one before it, so that the factors of their changes multiply. Of those in between
    that are the same only what is beyond the minimum effect counts: a slow drift is another matter.
    """
    factor, minimum = 1.0, 0.0
    for comparisons in pushes:
        for verdict_change, min_effect in _changes(regressed, comparisons):
            factor *= 1 + verdict_change
            minimum = max(minimum, min_effect)
    worse = factor - 1 if metric_named(regressed.metric).less_is_better else 1 / factor - 1
    return worse <= TOLERANCE * minimum


def _changes(regressed: Regressed, comparisons: Sequence[Comparison]) -> Iterator[tuple[float, float]]:
    """Yield the changes of the metric, which are beyond doubt, with the minimum effect."""
    for comparison in comparisons:
        if comparison.platform.name != regressed.platform:
            continue
        for case in comparison.cases:
            yield from _verdicts(case, regressed)


def _verdicts(case: CaseResult, regressed: Regressed) -> Iterator[tuple[float, float]]:
    if case.case != regressed.case:
        return
    for verdict in case.verdicts:
        if verdict.metric == regressed.metric and verdict.verdict in ("regression", "improvement"):
            yield verdict.change, verdict.min_effect
