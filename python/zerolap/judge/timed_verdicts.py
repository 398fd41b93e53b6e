"""Verdicts from timed trials: starts are the samples, their variance is shared by all cases of a comparison."""

import math
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from zerolap import _core
from zerolap.judge.look_levels import LookError, look_at_time
from zerolap.judge.looks import ALL_LOOKS, timed_looks
from zerolap.judge.lopsided_starts import OfAllCases, looked_at_wild_starts
from zerolap.judge.verdict_rule import (
    HINT,
    Look,
    Q,
    UnadjustedVerdict,
    moderated_change,
    sides_around,
)
from zerolap.judge.wild_starts import bounded, bounded_starts
from zerolap.records import BASE, HEAD, METRICS, UNCHANGED, Side, SliceRecord, Spread, Timeline, Verdict

RESOLUTION = 0.001
"""The smallest standard deviation of a start's log ratio: no timer resolves less."""


@dataclass(frozen=True)
class TimedPair:
    """One start of both sides: what its slices come to, and what the start as a whole does.

    Slices of the same place are a pair.

    `changes` holds the trimmed mean of the pairs' log ratios by metric, `centres` the sum of both sides' trimmed means
    of logarithms; a metric that a slice did not measure is in neither. `rates` and `batches` hold figures of single
    slices by side: requests per second, and requests that each read or cycle brought.
    """

    slices: int
    changes: Mapping[str, float]
    centres: Mapping[str, float]
    rates: Mapping[Side, "array[float]"]
    reads: Mapping[Side, "array[float]"]
    cycles: Mapping[Side, "array[float]"]

    @classmethod
    def of(cls, base: Timeline, head: Timeline, whole: Mapping[str, tuple[float, float]] | None = None) -> "TimedPair":
        """Return the summary of a start's slices; `whole` has metrics of the start, of base and head."""
        pairs = list(zip(base.slices, head.slices, strict=True))
        every = [one for pair in pairs for one in pair]
        names = [name for name in METRICS if every and all(name in one.metrics for one in every)]
        changes, centres = {}, {}
        for name in names:
            change = _core.trimmed_mean([math.log(head.metrics[name] / base.metrics[name]) for base, head in pairs])
            if change is not None:
                changes[name] = change
            centres[name] = sum(
                _core.trimmed_mean([math.log(one.metrics[name]) for one in timeline.slices]) or 0.0
                for timeline in (base, head)
            )
        for name, (of_base, of_head) in (whole or {}).items():
            changes[name], centres[name] = math.log(of_head / of_base), math.log(of_head) + math.log(of_base)
        sides = {BASE: base.slices, HEAD: head.slices}
        return cls(
            slices=len(pairs),
            changes=changes,
            centres=centres,
            rates=_by_side(sides, lambda one: one.metrics.get("ops_per_sec")),
            reads=_by_side(sides, lambda one: one.requests_per_read),
            cycles=_by_side(sides, lambda one: one.requests_per_cycle),
        )


def _by_side(
    sides: Mapping[Side, Sequence[SliceRecord]], value: Callable[[SliceRecord], float | None]
) -> dict[Side, "array[float]"]:
    """Return a figure of the slices by side, of those that have it."""
    return {
        side: array("d", [figure for one in slices if (figure := value(one)) is not None])
        for side, slices in sides.items()
    }


def judge_timed(
    metric: str,
    cases: Mapping[str, Sequence[TimedPair]],
    min_effect: float,
    bank: Sequence[Spread] = (),
    q: float = Q,
    layout_variance: float = 0.0,
    *,
    look_at: Callable[[float, int, float], LookError] = look_at_time,
) -> dict[str, UnadjustedVerdict]:
    """Return the verdicts on one metric by case; a case that did not measure it has none.

    A start's sample is the trimmed mean of its pairs' log ratios. Its variance is moderated by those of the other cases
    and by the `bank`, what earlier comparisons of the platform came to: cases and bank have to be of one topology and
    of one kind of placement. Where today's variances are of another size than the bank's, the bank is left out. What
    single starts can do is bounded; wild ones can leave a verdict unsure.

    `layout_variance` is that of a change between two layouts: where each side has the same one in all starts, they show
    nothing of it, and no number of starts averages it out. `look_at` is what a look at so many starts may err, whose
    variance is known with such degrees of freedom beside their own.
    """
    measured = {name: changes for name, starts in cases.items() if (changes := start_changes(metric, starts))}
    bounded_cases = bounded_starts(measured)
    samples = {name: starts.values for name, starts in bounded_cases.items()}
    of_all = OfAllCases.of(bounded_cases.values())
    prior = _prior(samples.values(), bank)
    judged = {}
    for name, changes in samples.items():
        if len(changes) < 2 and prior is None:
            continue
        change_at = partial(moderated_change, *_with_layout(changes, prior, layout_variance), RESOLUTION)
        starts = cases[name]
        error = look_at(min_effect, len(starts), 0.0 if prior is None else prior[1])
        look = Look(METRICS[metric], change_at, error, min_effect, q)
        word, found = look.judged()
        word, wild_starts = looked_at_wild_starts(METRICS[metric], bounded_cases[name], word, look.margin, of_all)
        # Both sides' trimmed means, on the logarithmic scale as the changes are. Pairs measure the change better than
        # each side's own mean, as both sides of a pair share the state of the machine.
        centre = math.exp(sum(start.centres[metric] for start in starts) / (2 * len(starts)))
        pairs = sum(start.slices for start in starts)
        sides = sides_around(centre, found.change)
        judged[name] = look.verdict((word, found), sides, len(starts), pairs, wild_starts)
    return judged


def _with_layout(
    changes: Sequence[float], prior: tuple[float, float] | None, layout_variance: float
) -> tuple[list[float], tuple[float, float] | None]:
    """Return starts and prior as they are where the mean has the variance of a layout too.

    The starts keep their mean, and their variance grows by as much as makes that of the mean grow by the layout's.
    """
    found = _core.sample_variance(list(changes))
    added = layout_variance * len(changes)
    if not added or found is None or found[0] <= 0:
        return list(changes), prior
    mean, factor = math.fsum(changes) / len(changes), math.sqrt(1 + added / found[0])
    wider = [mean + (change - mean) * factor for change in changes]
    return wider, None if prior is None else (prior[0] + added, prior[1])


def _prior(samples: Iterable[list[float]], bank: Sequence[Spread]) -> tuple[float, float] | None:
    """Return variance and degrees of freedom that the cases of this comparison and the bank are worth."""
    today = [variance for changes in samples if (variance := _core.sample_variance(changes)) is not None]
    before = [(spread.variance, spread.degrees) for spread in bank]
    return _core.fit_prior([*today, *before] if _core.variances_agree(today, before) else today)


def spread_of_starts(metric: str, starts: Sequence[TimedPair]) -> Spread | None:
    """Return how much the starts of a case differed; none of fewer than two."""
    found = _core.sample_variance(bounded({"": start_changes(metric, starts)})[""])
    return None if found is None or found[0] == 0 else Spread(variance=found[0], degrees=found[1])


def start_changes(metric: str, starts: Sequence[TimedPair]) -> list[float]:
    """Return each start's change as a log ratio; nothing if a slice did not measure the metric."""
    if any(metric not in start.centres for start in starts):
        return []
    return [start.changes[metric] for start in starts if metric in start.changes]


def wants_more_starts(judged: UnadjustedVerdict, starts: int, comparisons: int, q: float = Q) -> bool:
    """Whether a further look could decide what is still unsure, or a change that q would not bear out.

    A change that is certain, and about as large as matters, is looked at longer than others.
    """
    verdict = judged.verdict
    last = timed_looks(verdict.min_effect)[-1]
    if starts >= last:
        return starts < ALL_LOOKS[-1] and judged.p * comparisons <= q and _may_matter(verdict)
    if verdict.verdict == "unsure":
        return not _is_out_of_reach(judged, starts, last)
    return verdict.verdict not in UNCHANGED and not is_certain_change(judged, comparisons, q)


def _may_matter(verdict: Verdict) -> bool:
    """Whether a change that no chance explains may be as large as matters, though its estimate is smaller."""
    is_of_typical_starts = verdict.wild_starts is None or verdict.wild_starts.reason is None
    return (
        verdict.verdict == "unsure"
        and is_of_typical_starts
        and abs(verdict.change) <= verdict.min_effect < max(abs(verdict.low), abs(verdict.high))
    )


def is_certain_change(judged: UnadjustedVerdict, comparisons: int, q: float = Q) -> bool:
    """Whether a metric has changed, also if it were the only one of so many that did (Bonferroni)."""
    return judged.verdict.verdict not in ("unsure", *UNCHANGED) and judged.p * comparisons <= q


def hints_at_change(judged: UnadjustedVerdict, starts: int, comparisons: int, q: float = Q) -> bool:
    """Whether a further look could confirm a change of a metric that is not looked at until it is decided.

    It is undecided, and the change is likely.
    """
    verdict = judged.verdict
    last = timed_looks(verdict.min_effect)[-1]
    is_decided = verdict.verdict in UNCHANGED or is_certain_change(judged, comparisons, q)
    return starts < last and not is_decided and _is_likely(judged, starts)


def _is_likely(judged: UnadjustedVerdict, starts: int) -> bool:
    """Whether chance gives such a change at this look to less than `HINT` of comparisons without one.

    A p is for all looks and at most 1: at a look of less error than `HINT` no change is likely whose p is 1.
    """
    return judged.p < look_at_time(judged.verdict.min_effect, starts).of_all(HINT)


def _is_out_of_reach(judged: UnadjustedVerdict, starts: int, last: int) -> bool:
    """Whether a metric that need not be more exact than its margin would not be even after all starts.

    So it is where others use the processors all the time. By the last look the interval shrinks with the root of the
    starts, and is wider than that of the test of equivalence by about two thirds.
    """
    verdict = judged.verdict
    if verdict.margin is None or _is_likely(judged, starts):
        return False
    half_width = (verdict.high - verdict.low) / 2 * math.sqrt(starts / last)
    return half_width * 0.6 > verdict.margin
