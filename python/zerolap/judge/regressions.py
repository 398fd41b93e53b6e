"""Regressions on a branch over its pushes: which push brought one, and with which it went away again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zerolap.records import Comparison

TOLERANCE = 2.0
"""A regression is gone once what is left of it is below so many minimum effects: both are measured with errors."""


@dataclass(frozen=True)
class CaseRegression:
    """A case that a push made worse on a platform, by the metric that decided."""

    platform: str
    case: str
    metric: str


@dataclass(frozen=True)
class PushChange:
    """A metric of a case that a push changed on a platform beyond doubt, with the minimum effect as the judge had it.

    `is_regression` is whether it decided that the case is one.
    """

    of: CaseRegression
    change: float
    min_effect: float
    is_regression: bool


def changes_in(comparison: Comparison) -> tuple[PushChange, ...]:
    """Return what a comparison reports as changed."""
    return tuple(
        PushChange(
            CaseRegression(comparison.platform.name, case.case, verdict.metric),
            verdict.change,
            verdict.min_effect,
            case.verdict == "regression" and case.deciding == verdict.metric,
        )
        for case in comparison.cases
        for verdict in case.verdicts
        if verdict.verdict in ("regression", "improvement")
    )


def regressed_in(changes: Iterable[PushChange]) -> list[CaseRegression]:
    """Return what one push made worse."""
    return [change.of for change in changes if change.is_regression]


def repaired_by(regressed: Sequence[CaseRegression], pushes: Sequence[Sequence[PushChange]]) -> int | None:
    """Return the place in `pushes` of the one with which regressions went away; the first brought them.

    None while any of them is there. What comes back later is another regression.
    """
    repairs = (last for last in range(1, len(pushes)) if all(is_gone(one, pushes[: last + 1]) for one in regressed))
    return next(repairs, None)


def is_gone(regressed: CaseRegression, pushes: Sequence[Sequence[PushChange]]) -> bool:
    """Whether later pushes have undone a regression; the first of `pushes` brought it.

    Each push is compared with the one before it, so that the factors of their changes multiply. Of those in between
    that are the same only what is beyond the minimum effect counts: a slow drift is another matter.
    """
    factor, minimum = 1.0, 0.0
    less_is_better = any(change.of == regressed and change.change > 0 for change in pushes[0])
    for changes in pushes:
        for change in changes:
            if change.of == regressed:
                factor *= 1 + change.change
                minimum = max(minimum, change.min_effect)
    worse = factor - 1 if less_is_better else 1 / factor - 1
    return worse <= TOLERANCE * minimum
